"""The storage and the engine alone, from their own modules, as lines of the table without targets.
"""

import asyncio
from collections.abc import Iterator

from benchmarks import engine, storage
from benchmarks.table import Figure


def figures() -> Iterator[Figure]:
    """What ``benchmarks.storage`` and ``benchmarks.engine`` print by themselves."""
    for name, microseconds in storage.rows():
        yield Figure(f"storage: {name}", microseconds, "us")
    for name, rate in asyncio.run(engine.measure()).items():
        yield Figure(f"engine: {name}", rate, "/s")
