"""A Stage, read from a manifest and checked: which objects it is for, when it comes, and what it does.

All forms that KWOK has had are read: ``next`` with its status template, ``next.patches``, and ``steps``; keys of the selector and
sources of values alone or under ``jq``. Upstream: kwok/pkg/apis/v1alpha1/stage_types.go, kwok/pkg/utils/lifecycle.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fakekube.apimachinery import times
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.util import durations
from fakekube_controllers.kubelet.stages import jq, template
from fakekube_controllers.kubelet.stages.template import Template, TemplateError

API_GROUP, API_VERSION = "kwok.x-k8s.io", "kwok.x-k8s.io/v1alpha1"
KINDS = ("Pod", "Node")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
PATCH_TYPES = ("json", "merge", "strategic")


class StageError(ValueError):
    """A Stage that cannot be meant, or not be carried out here; the text names the stage and the field."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One of matchExpressions."""

    query: jq.Query
    operator: str
    values: tuple[str, ...]

    def matches(self, tree: ReadOnlyTree) -> bool:
        """Whether an object meets it."""
        found = self.query(tree)
        if self.operator in ("Exists", "DoesNotExist"):
            return any(value is not None for value in found) == (self.operator == "Exists")
        return any(_word(value) in self.values for value in found) == (self.operator == "In")


@dataclass(frozen=True, slots=True)
class Value:
    """A number, or what a query finds in the object."""

    number: float | None = None
    query: jq.Query | None = None

    def found(self, tree: ReadOnlyTree) -> Any:
        """What the query finds first; None without one, and where it finds nothing."""
        values = self.query(tree) if self.query is not None else ()
        return values[0] if values else None


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a Stage does. ``patch`` is the sub-resource, the root, the kind of patch, and the template."""

    event: tuple[str, str, Template] | None = None
    finalizers: tuple[tuple[str, ...], tuple[str, ...], bool] | None = None  # to add, to remove, whether none is to be left
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


def _word(value: Any) -> str:
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


def read(manifest: ReadOnlyTree, functions: Collection[str]) -> Stage:
    """The Stage that a manifest is. Raises StageError."""
    return _Reader(manifest, functions).read()


class _Reader:
    def __init__(self, manifest: ReadOnlyTree, functions: Collection[str]) -> None:
        self._manifest, self._functions = manifest, functions
        self._name = str((manifest.get("metadata") or {}).get("name") or "")

    def _error(self, path: str, text: str) -> StageError:
        return StageError(f'Stage "{self._name}": {path}: {text}')

    def read(self) -> Stage:
        if not self._name:
            raise self._error("metadata.name", "is missing")
        if self._manifest.get("apiVersion") != API_VERSION:
            raise self._error("apiVersion", f"{self._manifest.get('apiVersion')!r} is not {API_VERSION}")
        spec = self._tree(self._manifest.get("spec"), "spec")
        self._known(spec, "spec", (
            "resourceRef", "selector", "weight", "weightFrom", "delay", "next", "steps", "immediateNextStage"))
        kind = self._tree(spec.get("resourceRef"), "spec.resourceRef").get("kind")
        if kind not in KINDS:
            raise self._error("spec.resourceRef.kind", f"{kind!r} is not supported: only Pod and Node are")
        if spec.get("selector") is None:
            raise self._error("spec.selector", "is missing: without one it is for nothing")
        selector = self._tree(spec["selector"], "spec.selector")
        self._known(selector, "spec.selector", ("matchLabels", "matchAnnotations", "matchExpressions"))
        delay = self._tree(spec.get("delay") or {}, "spec.delay")
        self._known(delay, "spec.delay", (
            "durationMilliseconds", "durationFrom", "jitterDurationMilliseconds", "jitterDurationFrom"))
        return Stage(
            self._name, str(kind), self._tree(selector.get("matchLabels") or {}, "spec.selector.matchLabels"),
            self._tree(selector.get("matchAnnotations") or {}, "spec.selector.matchAnnotations"),
            [self._requirement(each, f"spec.selector.matchExpressions[{at}]")
             for at, each in enumerate(self._list(selector.get("matchExpressions"), "spec.selector.matchExpressions"))],
            self._value(spec, "spec", "weight", "weightFrom", 1.0),
            self._value(delay, "spec.delay", "durationMilliseconds", "durationFrom", 0.001),
            self._value(delay, "spec.delay", "jitterDurationMilliseconds", "jitterDurationFrom", 0.001),
            self._steps(spec), bool(spec.get("immediateNextStage")))

    def _tree(self, value: Any, path: str) -> ReadOnlyTree:
        if not isinstance(value, Mapping):
            raise self._error(path, "is missing" if value is None else f"{value!r} is no object")
        return value

    def _list(self, value: Any, path: str) -> Sequence[Any]:
        if not isinstance(value or [], list):
            raise self._error(path, f"{value!r} is no list")
        return value or []

    def _known(self, tree: ReadOnlyTree, path: str, names: Collection[str]) -> None:
        for name in tree:
            if name not in names:
                raise self._error(f"{path}.{name}", "is not known")

    def _query(self, text: Any, path: str) -> jq.Query:
        try:
            return jq.compile(str(text))
        except jq.JqError as error:
            raise self._error(path, str(error)) from error

    def _requirement(self, value: Any, path: str) -> Requirement:
        tree = self._tree(value, path)
        self._known(tree, path, ("key", "operator", "values", "jq", "cel"))
        if "cel" in tree:
            raise self._error(f"{path}.cel", "CEL is not supported")
        if "jq" in tree:
            tree, path = self._tree(tree["jq"], f"{path}.jq"), f"{path}.jq"
        operator, values = tree.get("operator"), self._list(tree.get("values"), f"{path}.values")
        if not tree.get("key"):
            raise self._error(f"{path}.key", "is missing")
        if operator not in OPERATORS:
            raise self._error(f"{path}.operator", f"{operator!r} is none of {', '.join(OPERATORS)}")
        if bool(values) != (operator in ("In", "NotIn")):
            raise self._error(f"{path}.values", f"must be {'given' if not values else 'empty'} with {operator}")
        return Requirement(self._query(tree["key"], f"{path}.key"), str(operator), tuple(_word(value) for value in values))

    def _value(self, tree: ReadOnlyTree, path: str, name: str, source: str, unit: float) -> Value:
        number, given = tree.get(name), tree.get(source)
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
            raise self._error(f"{path}.{name}", f"{number!r} is no whole number of at least 0")
        query = None
        if given is not None:
            place = f"{path}.{source}"
            known = self._tree(given, place)
            self._known(known, place, ("expressionFrom", "jq", "cel"))
            if "cel" in known:
                raise self._error(f"{place}.cel", "CEL is not supported")
            text = known.get("expressionFrom") or self._tree(known.get("jq"), f"{place}.jq").get("expression")
            query = self._query(text or "", place)
        if number is None and given is not None and name == "durationMilliseconds":
            number = 0  # as KWOK takes it
        return Value(None if number is None else number * unit, query)

    # what it does

    def _steps(self, spec: ReadOnlyTree) -> list[Step]:
        steps = [self._step(self._tree(each, f"spec.steps[{at}]"), f"spec.steps[{at}]")
                 for at, each in enumerate(self._list(spec.get("steps"), "spec.steps"))]
        if spec.get("next") is None:
            if not steps:
                raise self._error("spec.next", "is missing")
            return steps
        after = self._tree(spec["next"], "spec.next")
        self._known(after, "spec.next", (
            "event", "finalizers", "delete", "patches", "statusTemplate", "statusSubresource", "statusPatchAs"))
        listed = self._list(after.get("patches"), "spec.next.patches")
        patches = [self._patch(each, f"spec.next.patches[{at}]") for at, each in enumerate(listed)]
        if after.get("statusPatchAs"):
            raise self._error("spec.next.statusPatchAs", "impersonation is not supported")
        if after.get("statusTemplate"):
            made = self._template(after["statusTemplate"], "spec.next.statusTemplate")
            patches.insert(0, (str(after.get("statusSubresource") or "status"), "status", "strategic", made))
        first = self._step({key: after[key] for key in ("event", "finalizers", "delete") if key in after}, "spec.next")
        if first != Step():
            steps.append(first)
        return steps + [Step(patch=patch) for patch in patches]

    def _step(self, step: ReadOnlyTree, path: str) -> Step:
        self._known(step, path, ("event", "finalizers", "delete", "patch"))
        event, finalizers, patch = step.get("event"), step.get("finalizers"), step.get("patch")
        return Step(
            None if not event else self._event(self._tree(event, f"{path}.event"), f"{path}.event"),
            None if not finalizers else self._finalizers(self._tree(finalizers, f"{path}.finalizers"), f"{path}.finalizers"),
            bool(step.get("delete")), None if not patch else self._patch(patch, f"{path}.patch"))

    def _event(self, event: ReadOnlyTree, path: str) -> tuple[str, str, Template]:
        kind = event.get("type") or "Normal"
        if kind not in ("Normal", "Warning"):
            raise self._error(f"{path}.type", f"{kind!r} is neither Normal nor Warning")
        return kind, str(event.get("reason") or ""), self._template(event.get("message") or "", f"{path}.message")

    def _finalizers(self, tree: ReadOnlyTree, path: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        self._known(tree, path, ("add", "remove", "empty"))

        def names(key: str) -> tuple[str, ...]:
            items = self._list(tree.get(key), f"{path}.{key}")
            return tuple(str(self._tree(item, f"{path}.{key}").get("value")) for item in items)

        return names("add"), names("remove"), bool(tree.get("empty"))

    def _patch(self, value: Any, path: str) -> tuple[str, str, str, Template]:
        patch = self._tree(value, path)
        self._known(patch, path, ("subresource", "root", "template", "type", "impersonation"))
        if patch.get("impersonation"):
            raise self._error(f"{path}.impersonation", "impersonation is not supported")
        kind = patch.get("type") or "strategic"
        if kind not in PATCH_TYPES:
            raise self._error(f"{path}.type", f"{kind!r} is none of {', '.join(PATCH_TYPES)}")
        made = self._template(patch.get("template") or "", f"{path}.template")
        return str(patch.get("subresource") or ""), str(patch.get("root") or ""), str(kind), made

    def _template(self, text: Any, path: str) -> Template:
        try:
            return template.parse(str(text).strip(), self._functions)
        except TemplateError as error:
            raise self._error(path, str(error)) from error
