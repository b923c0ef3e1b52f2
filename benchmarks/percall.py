"""What one call costs: CPU time of this process, beside decodes of the same bodies at the same
moment.

A shared machine changes its speed within seconds, so calls and decodes take turns; of several
rounds it is the median by the ratio of both. Python's collector runs as it does for everybody, so
what calls leave behind is counted too.
"""

import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import NamedTuple

import orjson

from benchmarks import shapes
from benchmarks.table import Figure, decode_seconds
from fakekube.apimachinery.http import Request
from fakekube.composition.cluster import Cluster

BATCH = shapes.SHAPES
BATCHES = 3
ROUNDS = 5
DECODES = 3
TURNS, REQUESTS = 15, 200


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


class Side(NamedTuple):
    """A cluster, the requests that it is sent by number, and the status that they are answered
    with.
    """

    cluster: Cluster
    make: Callable[[int], Request]
    status: int = 201


class Pair(NamedTuple):
    """What a request takes on one side and on the other, in seconds, and the decodes meanwhile."""

    without: float
    with_it: float
    decode: float


async def in_turns(without: Side, with_it: Side) -> list[Pair]:
    """Requests to one side and to the other, in turns, each with numbers that were never used."""
    pairs = []
    for turn in range(TURNS + 1):
        if turn % 2:
            first, second = await _timed(without, turn), await _timed(with_it, turn)
        else:
            second, first = await _timed(with_it, turn), await _timed(without, turn)
        pairs.append(Pair(first, second, decode_seconds()))
    return pairs[1:]  # the first one also imports and compiles


async def ratio(name: str, without: Side, with_it: Side, must: float) -> Figure:
    """A row in hundredths: what a request takes on one side, over what it takes on the other."""
    pairs = await in_turns(without, with_it)
    found = sorted(pairs, key=lambda pair: pair.with_it / pair.without)[TURNS // 2]
    return Figure(name, 100 * found.with_it / found.without, "%", must, note=(
        f"{found.with_it * 1e6:,.0f} us over {found.without * 1e6:,.0f} us"))


async def added(name: str, without: Side, with_it: Side, must: float | None = None) -> Figure:
    """A row in microseconds: what one side adds to a request of the other."""
    pairs = await in_turns(without, with_it)
    found = median((pair.with_it - pair.without) / pair.decode for pair in pairs)
    decode = median(pair.decode for pair in pairs)
    return Figure(name, found * decode * 1e6, "us", must, decode_seconds=decode)


async def _timed(side: Side, turn: int) -> float:
    requests = [side.make(turn * REQUESTS + number) for number in range(REQUESTS)]
    started = time.process_time()
    for request in requests:
        answer = await side.cluster.apiserver.handle(request)
    seconds = time.process_time() - started
    assert answer.status == side.status, answer.body
    return seconds / REQUESTS
