"""Counters, gauges and histograms that components keep, and the text in which a scraper reads them.

A component gets the store of its manager with its context; names, labels and buckets are
upstream's. Counts go on when a component stops and starts again: they belong to the process, as a
Prometheus registry does.
Upstream: component-base/metrics. Left out: stability levels, exemplars, summaries, the limit of a
label's values.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from fakekube.workqueue.queue import WorkQueue

Values = tuple[str, ...]
S = TypeVar("S", bound="Series")

QUEUE_LABELS = ("name",)


class Series:
    """One metric: a number for each combination of its labels' values."""

    kind = "untyped"

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.name, self.text, self.labels = name, text, tuple(labels)
        self._numbers: dict[Values, float] = {}

    def value(self, wanted: Mapping[str, str]) -> float:
        """The sum over all combinations with these labels.

        KeyError for a label that the metric does not have.
        """
        places = [(self.labels.index(label), value) for label, value in wanted.items() if self._has(label)]
        return sum(number for values, number in self._numbers.items() if all(values[place] == value for place, value in places))

    def _has(self, label: str) -> bool:
        if label not in self.labels:
            raise KeyError(f"{self.name} has no label {label!r}: there are {', '.join(self.labels) or 'none'}")
        return True

    def samples(self) -> Iterator[tuple[str, Values, Sequence[str], float]]:
        """Name, labels' values, the labels' names and the number of every line, in the order of the
        values.
        """
        for values in sorted(self._numbers):
            yield self.name, values, self.labels, self._numbers[values]


class Counter(Series):
    """Goes up only."""

    kind = "counter"

    def add(self, amount: float, *values: str) -> None:
        """Count so many more; 0 shows that there were none. ValueError for less than that."""
        if amount < 0:
            raise ValueError(f"{self.name} only goes up, not by {amount:g}")
        self._numbers[values] = self._numbers.get(values, 0) + amount

    def inc(self, *values: str) -> None:
        """Count one more, with a value for each label."""
        self._numbers[values] = self._numbers.get(values, 0) + 1


class Gauge(Series):
    """Goes up and down."""

    kind = "gauge"

    def set(self, number: float, *values: str) -> None:
        """Be this from now on."""
        self._numbers[values] = number

    def clear(self) -> None:
        """Show nothing, until it is set again."""
        self._numbers.clear()


class Histogram(Series):
    """How often which size was seen. Its ``value`` is the number of observations."""

    kind = "histogram"

    def __init__(self, name: str, text: str, labels: Sequence[str] = (), buckets: Sequence[float] = ()) -> None:
        super().__init__(name, text, labels)
        self.buckets = tuple(buckets)
        self._sums: dict[Values, float] = {}
        self._counts: dict[Values, list[int]] = {}

    def observe(self, size: float, *values: str) -> None:
        """Take in one observation."""
        counts = self._counts.get(values)
        if counts is None:
            counts = self._counts[values] = [0] * (len(self.buckets) + 1)
        counts[bisect_left(self.buckets, size)] += 1
        self._numbers[values] = self._numbers.get(values, 0) + 1
        self._sums[values] = self._sums.get(values, 0.0) + size

    def samples(self) -> Iterator[tuple[str, Values, Sequence[str], float]]:
        """The buckets, each with all that is smaller, then the sum and the count."""
        labels = (*self.labels, "le")
        for values in sorted(self._numbers):
            total = 0
            for bound, count in zip([*map(_number, self.buckets), "+Inf"], self._counts[values], strict=True):
                total += count
                yield f"{self.name}_bucket", (*values, bound), labels, total
            yield f"{self.name}_sum", values, self.labels, self._sums[values]
            yield f"{self.name}_count", values, self.labels, self._numbers[values]


class Metrics:
    """The store: what one manager's components count."""

    def __init__(self) -> None:
        self._series: dict[str, Series] = {}
        self._queues: list[WorkQueue[Any]] = []
        self._before: dict[Callable[[], None], None] = {}
        self._adds = self.counter("workqueue_adds_total", "Total number of adds handled by workqueue", QUEUE_LABELS)
        self._depth = self.gauge("workqueue_depth", "Current depth of workqueue", QUEUE_LABELS)
        self._retries = self.counter("workqueue_retries_total", "Total number of retries handled by workqueue", QUEUE_LABELS)

    def counter(self, name: str, text: str, labels: Sequence[str] = ()) -> Counter:
        """The counter of that name, made when there is none.

        ValueError when there is another metric of that name.
        """
        return self._known(Counter(name, text, labels))

    def gauge(self, name: str, text: str, labels: Sequence[str] = ()) -> Gauge:
        """The gauge of that name, likewise."""
        return self._known(Gauge(name, text, labels))

    def histogram(self, name: str, text: str, labels: Sequence[str] = (), *, buckets: Sequence[float]) -> Histogram:
        """The histogram of that name, likewise; ``buckets`` are upper bounds, ascending."""
        return self._known(Histogram(name, text, labels, buckets))

    def _known(self, made: S) -> S:
        present = self._series.setdefault(made.name, made)
        if type(present) is not type(made) or present.labels != made.labels:
            labels = ", ".join(present.labels) or "no label"
            raise ValueError(f"there is another metric {made.name}: a {present.kind} of {labels}")
        return present

    def value(self, name: str, /, **labels: str) -> float:
        """What a metric stands at, summed over the labels that are not given; 0 for what was never
        counted.

        For a histogram, how many observations there were. KeyError for an unknown metric or label.
        """
        self._look_at_queues()
        if name not in self._series:
            raise KeyError(f"there is no metric {name}: there are {', '.join(sorted(self._series))}")
        return self._series[name].value(labels)

    def text(self) -> str:
        """All of it in Prometheus' text format, in the order of the names."""
        self._look_at_queues()
        lines: list[str] = []
        for name in sorted(self._series):
            series = self._series[name]
            samples = [f"{line}{_labels(names, values)} {_number(number)}" for line, values, names, number in series.samples()]
            if samples:
                lines += [f"# HELP {name} {_escaped(series.text)}", f"# TYPE {name} {series.kind}", *samples]
        return "".join(line + "\n" for line in lines)

    def before_reading(self, function: Callable[[], None]) -> Callable[[], None]:
        """Call a function before the metrics are read, to set gauges; returns what ends that."""
        self._before[function] = None

        def end() -> None:
            function()
            self._before.pop(function, None)

        return end

    def watch_queue(self, queue: "WorkQueue[Any]") -> None:
        """Show how a queue does from now on, by its name."""
        self._queues.append(queue)

    def drop_queue(self, queue: "WorkQueue[Any]") -> None:
        """It is shut down: what went through it stays counted."""
        self._look_at_queues()
        self._queues.remove(queue)

    def _look_at_queues(self) -> None:
        for function in self._before:
            function()
        for queue in self._queues:
            self._adds.add(queue.added, queue.name)
            self._retries.add(queue.retried, queue.name)
            self._depth.set(len(queue), queue.name)
            queue.added = queue.retried = 0


def _number(number: float) -> str:
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "+Inf" if number > 0 else "-Inf"
    return str(int(number)) if number == int(number) else repr(number)


def _labels(names: Sequence[str], values: Values) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{_escaped(value).replace(chr(34), chr(92) + chr(34))}"' for name, value in zip(names, values, strict=True))
    return f"{{{','.join(pairs)}}}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
