"""``fakekube trace``: what led to the state of an object of a served cluster, or of a snapshot."""

import asyncio
from typing import TYPE_CHECKING

import click

from fakekube.cli import remote

if TYPE_CHECKING:
    from fakekube.tracing.trace import Trace

PATH = "/fakekube/v1/trace"


def run(
    what: str, *, server: str | None, kubeconfig: str | None, snapshot: str | None, namespace: str, field: str, last: int,
    output: str, otlp: str | None,
) -> None:
    """Print the trace of one object, named as ``pod/web-0``, or send it to a collector.

    Raises ClickException where there is no such object, and where it cannot be sent.
    """
    if snapshot is not None and (server is not None or kubeconfig is not None):
        raise click.UsageError("a trace is of a snapshot or of a served cluster: give --from, or say where the cluster is")
    if snapshot is not None:
        from fakekube.composition.fakekube_api import encoded_trace

        found = asyncio.run(_of_snapshot(snapshot, what, namespace, field, last))
        if otlp is not None:
            _send(found, otlp)
        else:
            click.echo(encoded_trace(found, output), nl=False)
        return
    form = "json" if otlp is not None else output
    query = {"object": [what], "namespace": [namespace], "last": [str(last)], "output": [form]}
    if field:
        query["field"] = [field]
    data = remote.call(server, kubeconfig, "GET", PATH, query=query)
    if otlp is None:
        click.echo(data, nl=False)
        return
    import orjson

    from fakekube.tracing.trace import Trace

    _send(Trace.of(orjson.loads(data)), otlp)


async def _of_snapshot(path: str, what: str, namespace: str, field: str, last: int) -> "Trace":
    from fakekube.apimachinery.errors import APIError
    from fakekube.composition.cluster import Cluster
    from fakekube.composition.options import OptionError
    from fakekube.composition.snapshot import SnapshotError, read

    try:
        cluster = Cluster(state=read(path))
        try:
            return await cluster.trace(what, namespace=namespace, field=field, last=last)
        finally:
            await cluster.close()
    except APIError as error:
        raise click.ClickException(error.message) from error
    except (SnapshotError, OptionError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _send(found: "Trace", endpoint: str) -> None:
    from fakekube.tracing.otlp import OTLPError

    try:
        found.send(endpoint)
    except OTLPError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"sent {len(found.steps)} spans to {endpoint}")
