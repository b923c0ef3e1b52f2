"""A random scenario: writes of every kind that a server serves, reads and watches between them,
several at a time.

``python -m tests.differential.scenario STEPS SEED ...`` prints a line a step, with the digest of
its answers and what was asked, then the digest of the whole history; of several seeds one after the
other, in one process. A server that remembers things and one that remembers nothing have to print
the same lines: the first that differs names the step and its requests. Nothing here depends on
anything but the seed and the answers. Seed 0 is no random one: it is the life of an object of every
kind.
"""

import asyncio
import hashlib
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from fakekube.apimachinery.http import Frame, Request, Stream
from fakekube.client import users
from fakekube.composition.cluster import Cluster
from fakekube.registry.kind import Kind
from tests.differential.histories import history
from tests.differential.moves import Move, Moves
from tests.differential.servers import Turning, use_plugin
from tests.fuzz.conftest import Hurried

MOST_AT_ONCE = 4
MOST_WATCHES = 4
WATCHED_STEPS = 6


class Watcher:
    """Takes the frames of a watch for some steps."""

    def __init__(self, stream: Stream, until: int) -> None:
        self.stream, self.until = stream, until
        self.frames: list[bytes] = []

    def send(self, frame: Frame) -> None:
        self.frames.append(frame.data)

    def end(self) -> None:
        self.frames.append(b"end")


class Scenario:
    """One run. ``lines`` are what was said so far."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster, self.rng = cluster, random.Random(seed)
        self.moves = Moves(self.rng, [kind for kind in cluster.apiserver.resources.kinds if "create" in kind.verbs])
        self.watchers: list[Watcher] = []
        self.codes: list[int] = []

    async def step(self, number: int) -> str:
        """Some requests at once, or time that passes; a line."""
        rng = self.rng
        if rng.random() < 0.06:
            seconds = rng.choice([0.5, 1, 10, 61, 3700])
            await self.cluster.advance(seconds)
            asked, answers, codes = [f"advance {seconds}"], [], []
        else:
            count = 1 if rng.random() < 0.6 else rng.randint(2, MOST_AT_ONCE)
            moves = [self.moves.draw() for _ in range(count)]
            asked = [move.text for move in moves]
            told = await asyncio.gather(*(self.answer(move, number) for move in moves))
            answers, codes = [part for parts in told for part in parts], [int(parts[0]) for parts in told]
            if rng.random() < 0.5:
                await self.cluster.settle()
        answers += self.frames(number)
        digest = hashlib.sha256(b"\0".join(answers)).hexdigest()[:16]
        self.codes += codes
        return f"{number} {digest} {self.cluster.apiserver.storage.revision} {codes} {' | '.join(asked)}"

    async def step_of_kind(self, number: int, kind: Kind) -> str:
        """The life of an object of a kind, one request after the other; a line."""
        parts, codes = [], []
        for move in self.moves.every(kind):
            told = await self.answer(move, number)
            codes.append(int(told[0]))
            parts += told
        self.codes += codes
        return f"{number} {hashlib.sha256(b'|'.join(parts)).hexdigest()[:16]} {codes} {kind.api_version} {kind.kind}"

    async def answer(self, move: Move, number: int) -> list[bytes]:
        """What a request is answered, all of it; what it tells is kept for later requests."""
        query = {name: [value] for name, value in move.query.items()}
        response = await self.cluster.apiserver.handle(Request(
            move.method, move.path, query, dict(move.headers), move.body, user=users.admin(), patience=Hurried(),
            canonical=move.canonical))
        assert b'"reason":"InternalError"' not in response.body, (move, response.body)
        if response.stream is not None:
            watcher = Watcher(response.stream, number + WATCHED_STEPS)
            response.stream.start(watcher)
            self.watchers.append(watcher)
            if len(self.watchers) > MOST_WATCHES:
                self.watchers[0].until = number
        self.moves.learn(move, response.status, response.body, self.cluster.apiserver.storage.revision)
        return [str(response.status).encode(), response.body, str(sorted(response.headers)).encode()]

    def frames(self, number: int) -> Iterator[bytes]:
        """What watches said since the last step; those that are old enough end."""
        for watcher in list(self.watchers):
            yield from watcher.frames
            watcher.frames.clear()
            if watcher.until <= number:
                watcher.stream.stop()
                self.watchers.remove(watcher)


def options(seed: int) -> dict[str, Any]:
    """A cluster without nodes and with few controllers, or with all of them; of some release."""
    chosen: dict[str, Any] = {"clock": "manual", "seed": seed, "runtime_config": "api/all=true"}
    if seed % 2 or not seed:
        chosen |= {"nodes": 0, "controllers": "namespace,serviceaccount,resourcequota"}
    else:
        chosen["nodes"] = 2
    if seed and seed % 3 == 0:
        chosen["kubernetes_version"] = ("1.30", "1.33", "1.35", "1.36")[seed // 3 % 4]
    return chosen


async def run(seed: int, steps: int) -> list[str]:
    """The lines of a scenario."""
    async with Cluster(**options(seed)) as cluster:
        use_plugin(cluster, Turning(random.Random(seed)))
        scenario = Scenario(cluster, seed)
        if seed:
            lines = [await scenario.step(number) for number in range(steps)]
        else:
            lines = [await scenario.step_of_kind(number, kind) for number, kind in enumerate(scenario.moves.kinds)]
        await cluster.settle()
        return [f"seed {seed}", *lines, f"answers {dict(Counter(scenario.codes))}", f"history {history(cluster)[-1]}"]


def main() -> None:
    """Print some."""
    steps, *seeds = (int(word) for word in sys.argv[1:])
    for seed in seeds:
        sys.stdout.write("\n".join(asyncio.run(run(seed, steps))) + "\n")


if __name__ == "__main__":
    main()
