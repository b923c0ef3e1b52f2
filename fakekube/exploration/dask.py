"""Sweeps over the workers of a Dask cluster, which may be other machines: ``fakekube[dask]``."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress

from distributed import Client

WORKERS_SECONDS = 10.0
"""How long to wait for the first worker of a cluster that has just begun."""


@contextmanager
def connected(address: str) -> Iterator[tuple[Executor, int]]:
    """What runs functions on the workers of the scheduler at an address, and how many there are.

    Raises OSError where nobody answers, ValueError for what is no address, or has no worker.
    """
    with Client(address, timeout="10s") as client:
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=WORKERS_SECONDS)
        workers = sum(client.nthreads().values())
        if not workers:
            raise ValueError(f"the scheduler at {address} has no worker")
        with client.get_executor(pure=False) as executor:
            yield executor, workers
