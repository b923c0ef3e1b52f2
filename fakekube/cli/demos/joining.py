"""``--join``: a demonstration's cluster on a loopback port, so that kubectl can look at it until
Ctrl-C.
"""

import asyncio
import contextlib
import shlex
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import click

from fakekube.composition.cluster import Cluster
from fakekube.composition.fleet import Fleet


@contextlib.asynccontextmanager
async def served(cluster: Cluster | Fleet, kubeconfig: str | None) -> AsyncIterator[str]:
    """Serve the cluster; gives the line that leads a shell there. Raises ClickException.

    ``kubeconfig`` is the file to write; without one it is a temporary one, which goes at the end.
    """
    with tempfile.TemporaryDirectory(prefix="fakekube-demo-") as directory:
        path = _absolute(kubeconfig or f"{directory}/kubeconfig")
        server = await cluster.serve()
        try:
            server.write_kubeconfig(path)
        except OSError as error:
            raise click.ClickException(f"kubeconfig: {error}") from error
        yield f"export KUBECONFIG={shlex.quote(str(path))}"


def _absolute(name: str) -> Path:
    return Path(name).absolute()


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM cancel what runs here, so that it ends in order."""
    loop, running = asyncio.get_running_loop(), asyncio.current_task()
    assert running is not None
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, running.cancel)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
