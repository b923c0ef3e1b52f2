"""The longest time for which a server answers nobody else: at rest with very many pods, and while a
large Job lives.

CPU time, the collector's included: one moment in which another process has the machine would hide
all else.
"""

import asyncio
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import orjson

from benchmarks import definitions, lives, shapes
from benchmarks.inprocess import PODS, call, fill
from benchmarks.table import Figure, decode_seconds
from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster
from fakekube.util.collector import PacedCollector

MANY = 50_000
LARGE = 10_000
NODES = 100
SECONDS = 2.0
SPENDING, SPENDS = 250, "self.a.all(x, self.a.all(y, !isURL('https://a.b/c?d=e') || x + y >= 0))"


def figures() -> Iterator[Figure]:
    """The large Job has processes of its own, for the sake of its memory: one whose collector is
    Python's, as where the library is used, and one whose collector is set as ``serve`` does.
    """
    before = decode_seconds(50)
    seconds, where = asyncio.run(_at_rest())
    decode = decode_seconds(50)
    yield Figure(
        f"longest pause, {MANY:,} pods at rest", seconds * 1000, "ms", 20, note=where, decode_seconds=(before + decode) / 2)
    yield _spent()
    for collector, name in (("python", "as a library"), ("paced", "as serve")):
        command = [sys.executable, "-m", "benchmarks.pauses", collector]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        yield Figure(
            f"longest pause, a Job of {LARGE:,} pods living, {name}", float(printed) * 1000, "ms", 100,
            decode_seconds=(decode + decode_seconds(50)) / 2)


def _spent() -> Figure:
    """An object whose rules spend all that they may, of calls that take long for their cost."""
    turns = Turns()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(turns)) as runner:
        seconds, decode = runner.run(_spending(turns)), decode_seconds(50)
    return Figure(
        "longest pause, a custom object that spends its budget", turns.longest * 1000, "ms", 50, decode_seconds=decode,
        note=f"{seconds:.1f} s in all")


async def _spending(turns: "Turns") -> float:
    """How long the second such object takes; the first also compiles the rules."""
    numbers = {"type": "array", "maxItems": SPENDING, "items": {"type": "integer"}}
    tree = definitions.definition("spenders", 1)
    tree["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": {
        "type": "object", "properties": {"a": numbers}, "x-kubernetes-validations": [{"rule": SPENDS}] * 20}}}
    body = orjson.dumps({
        "apiVersion": f"{definitions.GROUP}/v1", "kind": tree["spec"]["names"]["kind"], "metadata": {"name": "s"},
        "spec": {"a": list(range(SPENDING))}})
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await cluster.load([tree])
        for _ in range(2):
            turns.restart()
            started = time.process_time()
            answer = await call(cluster, "POST", definitions.path("spenders"), body)
            assert answer.status == 422, answer.body
            seconds = time.process_time() - started
        return seconds


async def _at_rest() -> tuple[float, str]:
    """The longest request and what it was: none awaits anything in-process."""
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        await fill(cluster, MANY)
        longest, where, end, number = 0.0, "", time.perf_counter() + SECONDS, MANY
        while time.perf_counter() < end:
            number += 1
            for method, path, body, query in (
                ("POST", PODS, shapes.body(number), {}), ("GET", f"{PODS}/pod-{number}", b"", {}),
                ("GET", PODS, b"", {"limit": "500"}), ("DELETE", f"{PODS}/pod-{number}", b"", {}),
            ):
                started = time.process_time()
                answer = await call(cluster, method, path, body, **query)
                took = time.process_time() - started
                assert answer.status < 300, answer.body
                if took > longest:
                    longest, where = took, f"{method} {query or ''}".strip()
    return longest, where


class Turns(selectors.DefaultSelector):
    """Notes how long the turns of an event loop take: a loop asks for what has come in once a turn,
    and nobody else is answered before that.
    """

    def __init__(self) -> None:
        super().__init__()
        self.longest, self._since = 0.0, time.process_time()

    def restart(self) -> None:
        """Forget what was."""
        self.longest, self._since = 0.0, time.process_time()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What has come in."""
        self.longest = max(self.longest, time.process_time() - self._since)
        result: list[Any] = super().select(timeout)
        self._since = time.process_time()
        return result


async def _living(turns: Turns, *, paced: bool) -> float:
    if paced:
        PacedCollector(asyncio.get_running_loop().call_later).start()
    async with Cluster(nodes=NODES, clock="manual") as cluster:
        await cluster.settle()
        turns.restart()
        await cluster.client.create(JOBS, shapes.job(0, LARGE))
        await cluster.run_until(lives.are_complete(cluster, 1))
        return turns.longest


def main() -> None:
    """Print the longest turn in the life of the large Job, in seconds."""
    turns = Turns()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(turns)) as runner:
        print(runner.run(_living(turns, paced=sys.argv[1:] == ["paced"])))


if __name__ == "__main__":
    main()
