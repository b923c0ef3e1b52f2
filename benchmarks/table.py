"""Figures, and the table that they are printed in.

Targets were set on a machine that decodes the calibration's pod in 7.1 microseconds, as it did in
those very runs. ``here`` is what they come to on this machine at this moment, and what the verdict
goes by. The last column says what one operation costs in decodes of the bodies that it was measured
with, and beside (``150.0 x 3.1 us``: so many, each of which takes so long); else in units of the
calibration: decodes of its pod, or runs of a plain loop for what takes long. It stays the same,
more or less, from machine to machine.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import orjson

from benchmarks import pods

LOOP = 10_000_000
REFERENCE_DECODE_SECONDS = 7.1e-6
TIMES = ("ms", "s", "us")
LEAST_LOOPS = 0.001  # what takes less is not worth a comparison with so long a loop


@dataclass(frozen=True, slots=True)
class Figure:
    """One line.

    ``must`` and ``aim`` are targets in the figure's unit; rates (``/s``) want to be high, all else
    low.

    ``decode_seconds`` is the calibration while it was measured, of a figure that took care to know;
    None is that of the run. ``body_seconds`` is what a decode of the bodies took that the figure
    was measured with.
    """

    name: str
    value: float
    unit: str
    must: float | None = None
    aim: float | None = None
    note: str = ""
    decode_seconds: float | None = None
    body_seconds: float | None = None

    def at(self, slowness: float) -> "Figure":
        """The same with the targets of a machine that is so many times slower."""
        factor = 1 / slowness if self.unit == "/s" else slowness if self.unit in TIMES else 1.0
        must, aim = (None if target is None else target * factor for target in (self.must, self.aim))
        return replace(self, must=must, aim=aim)

    @property
    def verdict(self) -> str:
        """Whether the targets are met: good, ok, short, and FAR by more than twice."""
        if self.must is None:
            return ""
        if self.aim is not None and self._meets(self.aim):
            return "good"
        if self._meets(self.must):
            return "ok"
        return "short" if self._meets(self.must, slack=2.0) else "FAR"

    def _meets(self, target: float, slack: float = 1.0) -> bool:
        return self.value * slack >= target if self.unit in ("/s", "x") else self.value <= target * slack

    @property
    def targets(self) -> str:
        """The target, and the aim beyond it."""
        target = "" if self.must is None else _number(self.must)
        return f"{target} ({_number(self.aim)})" if self.aim is not None else target


@dataclass(frozen=True, slots=True)
class Calibration:
    """What this machine does at this moment. Seconds of CPU time."""

    decode_seconds: float
    loop_seconds: float

    @property
    def slowness(self) -> float:
        """How many times slower than the machine of the targets."""
        return self.decode_seconds / REFERENCE_DECODE_SECONDS

    def ratio(self, figure: Figure) -> str:
        """An operation in units of the calibration."""
        if figure.unit == "/s" and figure.value:
            return f"{1 / figure.value / self.decode_seconds:,.1f} decodes"
        seconds = {"us": figure.value / 1e6, "ms": figure.value / 1000, "s": figure.value}.get(figure.unit)
        if seconds is None:
            return ""
        if figure.body_seconds is not None:
            return f"{seconds / figure.body_seconds:,.1f} x {figure.body_seconds * 1e6:.1f} us"
        if figure.decode_seconds is not None:
            return f"{seconds / figure.decode_seconds:,.0f} decodes"
        return f"{seconds / self.loop_seconds:.3f} loops" if seconds > LEAST_LOOPS * self.loop_seconds else ""


def calibrate() -> Calibration:
    """Decode a pod for half a second, and run a loop of ten million steps."""
    body = pods.body(0)
    decode = 1 / rate(lambda: orjson.loads(body), seconds=0.5)
    started = time.process_time()
    for _ in range(LOOP):
        pass
    return Calibration(decode, time.process_time() - started)


def rate(function: Callable[[], object], *, seconds: float = 1.0, batch: int = 100) -> float:
    """Calls a second of CPU time, the best of many batches in about so many seconds."""
    best = 0.0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.process_time()
        for _ in range(batch):
            function()
        best = max(best, batch / (time.process_time() - started))
    return best


def decode_seconds(batches: int = 5, batch: int = 40, *, bodies: Sequence[bytes] = ()) -> float:
    """CPU time of a decode at this moment, of the calibration's pod or of other bodies: the best of
    some batches.
    """
    texts, best = bodies or [pods.body(0)] * batch, 1.0
    for _ in range(batches):
        started = time.process_time()
        for text in texts:
            orjson.loads(text)
        best = min(best, (time.process_time() - started) / len(texts))
    return best


def median(found: list[tuple[float, float]]) -> tuple[float, float]:
    """Of rates with the seconds of a decode at their time, the one in the middle by how many
    decodes a call takes.
    """
    return sorted(found, key=lambda one: one[0] * one[1])[len(found) // 2]


def show(calibration: Calibration, figures: Iterable[Figure]) -> None:
    """Print the table, each line as soon as it is measured."""
    print(f"calibration: a pod of {len(pods.body(0))} bytes is decoded in {calibration.decode_seconds * 1e6:.1f} us, "
          f"{LOOP // 1_000_000} million steps of a loop take {calibration.loop_seconds:.2f} s\n")
    print(f"{'figure':<58} {'measured':>14} {'target':>18} {'here':>18} {'':<6} {'ratio':>18}")
    for figure in figures:
        found = calibration if figure.decode_seconds is None else replace(calibration, decode_seconds=figure.decode_seconds)
        here = figure.at(found.slowness)
        print(f"{figure.name:<58} {_number(figure.value) + ' ' + figure.unit:>14} {figure.targets:>18} {here.targets:>18} "
              f"{here.verdict:<6} {found.ratio(figure):>18}  {figure.note}".rstrip(), flush=True)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
