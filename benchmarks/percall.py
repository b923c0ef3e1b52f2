"""What one call costs: CPU time of this process, beside decodes of the same bodies at the same
moment.

A shared machine changes its speed within seconds, so calls and decodes take turns; of several
rounds it is the median by the ratio of both. Python's collector runs as it does for everybody, so
what calls leave behind is counted too.
"""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import orjson

from benchmarks import shapes
from benchmarks.table import Figure, decode_seconds

BATCH = shapes.SHAPES
BATCHES = 3
ROUNDS = 5
DECODES = 3


class Call(NamedTuple):
    """One call, ready to be made, and the body whose decode it is compared with."""

    make: Callable[[], Awaitable[object]]
    body: bytes


class Round(NamedTuple):
    """Seconds a call, a decode of its body, and a decode of the calibration's pod."""

    call: float
    body: float
    decode: float


async def per_call(
    name: str, prepare: Callable[[int], Awaitable[Call]], aim: float | None = None, stretch: float | None = None, *,
    batches: int = BATCHES,
) -> Figure:
    """A row in microseconds.

    ``prepare`` is given numbers that it never was given before; what it does is not counted.
    """
    number, rounds = 0, []
    for turn in range(-1, ROUNDS):
        seconds = bodies = decode = 0.0
        for _ in range(batches):
            calls = [await prepare(number + position) for position in range(BATCH)]
            number += BATCH
            started = time.process_time()
            for call in calls:
                await call.make()
            seconds += time.process_time() - started
            started = time.process_time()
            for _ in range(DECODES):
                for call in calls:
                    orjson.loads(call.body)
            bodies += time.process_time() - started
            decode += decode_seconds()
        if turn >= 0:  # the first one also imports and compiles
            count = batches * BATCH
            rounds.append(Round(seconds / count, bodies / count / DECODES, decode / batches))
    found = sorted(rounds, key=lambda round_: round_.call / round_.decode)[ROUNDS // 2]
    return Figure(name, found.call * 1e6, "us", aim, stretch, decode_seconds=found.decode, body_seconds=found.body)
