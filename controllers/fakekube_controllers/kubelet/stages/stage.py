"""A Stage as it is carried out: which objects it is for, when it comes, and what it does.

``manifest.py`` reads one. Upstream: kwok/pkg/utils/lifecycle.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fakekube.apimachinery import times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util import durations
from fakekube_controllers.kubelet.stages.queries import Query
from fakekube_controllers.kubelet.stages.template import Template


class StageError(ValueError):
    """A Stage that cannot be meant, or not be carried out here; the text names the stage and the
    field.
    """


@dataclass(frozen=True, slots=True)
class Requirement:
    """One of matchExpressions."""

    query: Query
    operator: str
    values: tuple[str, ...]

    def matches(self, tree: ReadOnlyTree) -> bool:
        """Whether an object meets it."""
        found = self.query(tree)
        if self.operator in ("Exists", "DoesNotExist"):
            return any(value is not None for value in found) == (self.operator == "Exists")
        return any(word(value) in self.values for value in found) == (self.operator == "In")


@dataclass(frozen=True, slots=True)
class Value:
    """A number, or what a query finds in the object."""

    number: float | None = None
    query: Query | None = None

    def found(self, tree: ReadOnlyTree) -> Any:
        """What the query finds first; None without one, and where it finds nothing."""
        values = self.query(tree) if self.query is not None else ()
        return values[0] if values else None


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a Stage does.

    ``patch`` is the sub-resource, the root, the kind of patch, and the template.
    """

    event: tuple[str, str, Template] | None = None
    # to add, to remove, whether none is to be left
    finalizers: tuple[tuple[str, ...], tuple[str, ...], bool] | None = None
    delete: bool = False
    patch: tuple[str, str, str, Template] | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """A Stage. Durations in seconds."""

    name: str
    kind: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    requirements: Sequence[Requirement]
    weight: Value
    delay: Value
    jitter: Value
    steps: Sequence[Step]
    immediate: bool = False

    def matches(self, tree: ReadOnlyTree) -> bool:
        """Whether it is for the object, as it is now."""
        metadata = tree["metadata"]
        return (
            _within(self.labels, metadata.get("labels")) and _within(self.annotations, metadata.get("annotations"))
            and all(requirement.matches(tree) for requirement in self.requirements))

    def weight_of(self, tree: ReadOnlyTree) -> int | None:
        """Its weight; None when the object says something that is no number."""
        found = self.weight.found(tree)
        if found is None:
            return int(self.weight.number or 0)
        if isinstance(found, str):
            return int(found) if found.removeprefix("-").isdecimal() else None
        return int(found)

    def delay_seconds(self, tree: ReadOnlyTree, now: float, between: Callable[[float, float], float]) -> float:
        """How long from now until it comes. ``between`` picks a number by chance."""
        least = _seconds(self.delay, tree, now)
        if least is None:
            return 0.0
        most = _seconds(self.jitter, tree, now)
        if most is None or most <= least:
            return max(0.0, least if most is None else most)
        return max(0.0, between(least, most))


def _within(wanted: Mapping[str, str], present: Mapping[str, str] | None) -> bool:
    return all((present or {}).get(key) == value for key, value in wanted.items())


def word(value: Any) -> str:
    """A value as a requirement names it: ``true``, ``3``."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _seconds(value: Value, tree: ReadOnlyTree, now: float) -> float | None:
    found = value.found(tree)
    if isinstance(found, str) and found:
        try:
            return times.parse_time(found) - now
        except times.TimeError:
            pass
        try:
            return durations.seconds_of(found)
        except ValueError:
            return value.number
    return value.number
