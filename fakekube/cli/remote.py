"""A served cluster from the command line: where it is, and its own paths."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fakekube.composition.options import DEFAULT_KUBECONFIG

if TYPE_CHECKING:
    from fakekube.apimachinery.http import Response
    from fakekube.client.client import Client
    from fakekube.client.rest import Query


def call(
    server: str | None, kubeconfig: str | None, method: str, path: str, body: bytes = b"", *, query: "Query | None" = None,
) -> bytes:
    """Ask a served cluster for one of its own paths; the answer's body.

    Raises ClickException for any that is an error.
    """
    with told_in_a_sentence():
        return asyncio.run(_call(server, kubeconfig, method, path, body, query))


async def _call(
    server: str | None, kubeconfig: str | None, method: str, path: str, body: bytes, query: "Query | None",
) -> bytes:
    client = client_of(server, kubeconfig)
    try:
        answer: Response = await client.request(method, path, query=query, body=body)
    finally:
        await client.close()
    return answer.body


@contextmanager
def told_in_a_sentence() -> Iterator[None]:
    """Errors of a client in the block become ClickExceptions."""
    from fakekube.apimachinery.errors import APIError
    from fakekube.client.kubeconfig import ConfigError
    from fakekube.client.transport import TransportError

    try:
        yield
    except APIError as error:
        if error.code == 404 and not (error.details or {}).get("name"):
            raise click.ClickException("what answers there is no fakekube that knows this command") from error
        raise click.ClickException(error.message) from error
    except (ConfigError, TransportError) as error:
        raise click.ClickException(str(error)) from error


def client_of(server: str | None, kubeconfig: str | None) -> "Client":
    """The client that leads to a URL, or to where a kubeconfig says.

    Raises ConfigError.
    """
    from fakekube.client.client import Client
    from fakekube.client.http import HTTP
    from fakekube.client.kubeconfig import load_client

    if server:
        return Client(HTTP(server if "://" in server else f"http://{server}"))
    if kubeconfig is None and not os.environ.get("KUBECONFIG") and Path(DEFAULT_KUBECONFIG).exists():
        kubeconfig = DEFAULT_KUBECONFIG
    return load_client(kubeconfig)
