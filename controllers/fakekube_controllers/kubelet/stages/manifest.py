"""A Stage's manifest: a pydantic model that reads it, and the Stage that it makes.

All forms that KWOK has had are read: ``next`` with its status template, ``next.patches``, and
``steps``; keys of the selector and sources of values alone or under ``jq``. A null, or an empty
text, is as good as nothing. Upstream: kwok/pkg/apis/v1alpha1/stage_types.go.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kubelet.stages import queries, stage, template
from fakekube_controllers.kubelet.stages.queries import Query
from fakekube_controllers.kubelet.stages.stage import Requirement, Stage, StageError, Step, Value

API_VERSION = "kwok.x-k8s.io/v1alpha1"
KINDS = ("Pod", "Node")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


class _Incomplete(ValueError):
    """What is wrong with one field, found by a look at several."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def _one_of(text: str, *allowed: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"{value!r} is {text or 'none of ' + ', '.join(allowed)}")
        return value

    return BeforeValidator(check)


def _refused(text: str) -> PlainValidator:
    def check(value: Any) -> None:
        if value:
            raise ValueError(text)

    return PlainValidator(check)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no whole number of at least 0")
    return value


def _template(value: Any, info: ValidationInfo) -> template.Template:
    return template.parse(str(value).strip(), info.context or ())


Text = Annotated[str, BeforeValidator(str)]
Word = Annotated[str, BeforeValidator(stage.word)]
Whole = Annotated[int, PlainValidator(_whole)]
QueryText = Annotated[Query, PlainValidator(lambda value: queries.compile(str(value)))]
TemplateText = Annotated[template.Template, PlainValidator(_template)]
Cel = Annotated[None, _refused("CEL is not supported")]
Impersonation = Annotated[None, _refused("impersonation is not supported")]


class Part(BaseModel):
    """A part of a manifest, with the names of the wire."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, value: Any) -> Any:
        return {key: item for key, item in value.items() if item not in (None, "")} if isinstance(value, dict) else value


class Jq(Part):
    """An expression that finds a value."""

    expression: QueryText


class Source(Part):
    """Where an object says a value."""

    expression_from: QueryText | None = None
    jq: Jq | None = None
    cel: Cel = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.expression_from is None and self.jq is None:
            raise _Incomplete("jq", "is missing")
        return self

    @property
    def query(self) -> Query | None:
        """The query, in whichever form it was written."""
        return self.expression_from if self.jq is None else self.jq.expression


class Condition(Part):
    """A requirement of the selector."""

    key: QueryText | None = None
    operator: Annotated[str, _one_of("", *OPERATORS)] | None = None
    values: tuple[Word, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self.check()
        return self

    def check(self) -> None:
        """Raise for what is missing, or one too many."""
        if self.key is None:
            raise _Incomplete("key", "is missing")
        if self.operator is None:
            raise _Incomplete("operator", f"is missing: it is one of {', '.join(OPERATORS)}")
        if bool(self.values) != (self.operator in ("In", "NotIn")):
            raise _Incomplete("values", f"must be {'empty' if self.values else 'given'} with {self.operator}")

    def requirement(self) -> Requirement:
        """What is required."""
        assert self.key is not None, "it is complete"
        assert self.operator is not None, "it is complete"
        return Requirement(self.key, self.operator, self.values)


class Expression(Condition):
    """A requirement of the selector, alone or under ``jq``."""

    jq: Condition | None = None
    cel: Cel = None

    def check(self) -> None:
        """The same, unless all of it stands under ``jq``."""
        if self.jq is None:
            super().check()

    def requirement(self) -> Requirement:
        """What is required, in whichever form it was written."""
        return super().requirement() if self.jq is None else self.jq.requirement()


class Selector(Part):
    """Which objects a Stage is for."""

    match_labels: dict[str, Any] = {}
    match_annotations: dict[str, Any] = {}
    match_expressions: list[Expression] = []


class Delay(Part):
    """When a Stage comes."""

    duration_milliseconds: Whole | None = None
    duration_from: Source | None = None
    jitter_duration_milliseconds: Whole | None = None
    jitter_duration_from: Source | None = None


class Event(Part):
    """An Event to record."""

    type: Annotated[str, _one_of("neither Normal nor Warning", "Normal", "Warning")] = "Normal"
    reason: Text = ""
    message: TemplateText | None = None


class Finalizer(Part):
    """The name of a finalizer."""

    value: Text


class Finalizers(Part):
    """Finalizers to add and to remove; ``empty`` leaves none."""

    add: list[Finalizer] = []
    remove: list[Finalizer] = []
    empty: bool = False


class Patch(Part):
    """A patch to the object, or to what is below ``root``."""

    subresource: Text = ""
    root: Text = ""
    template: TemplateText | None = None
    type: Annotated[str, _one_of("", "json", "merge", "strategic")] = "strategic"
    impersonation: Impersonation = None

    def step(self) -> Step:
        """The step that it is."""
        return Step(patch=(self.subresource, self.root, self.type, self.template or template.parse("", ())))


class Action(Part):
    """What steps and ``next`` have in common."""

    event: Event | None = None
    finalizers: Finalizers | None = None
    delete: bool = False

    def steps(self) -> list[Step]:
        """The steps that it comes to, none if it says nothing."""
        event, finalizers = self.event, self.finalizers
        if event is None and finalizers is None and not self.delete:
            return []
        return [Step(
            (event.type, event.reason, event.message or template.parse("", ())) if event and event.model_fields_set else None,
            (tuple(each.value for each in finalizers.add), tuple(each.value for each in finalizers.remove), finalizers.empty)
            if finalizers and finalizers.model_fields_set else None, self.delete)]


class StepAction(Action):
    """One of ``steps``."""

    patch: Patch | None = None

    def steps(self) -> list[Step]:
        """The step, which may do several things."""
        found = super().steps() or [Step()]
        if self.patch is None:
            return found
        return [replace(found[0], patch=self.patch.step().patch)]


class Next(Action):
    """What happens, as it is written where there are no ``steps``."""

    patches: list[Patch] = []
    status_template: TemplateText | None = None
    status_subresource: Text = "status"
    status_patch_as: Impersonation = None

    def steps(self) -> list[Step]:
        """The steps: what is common, then the status, then the patches."""
        steps = super().steps()
        if self.status_template is not None:
            steps.append(Step(patch=(self.status_subresource, "status", "strategic", self.status_template)))
        return steps + [each.step() for each in self.patches]


class ResourceRef(Part):
    """The kind that a Stage is for."""

    model_config = ConfigDict(extra="ignore")

    kind: Annotated[str, _one_of("not supported: only Pod and Node are", *KINDS)]


class Spec(Part):
    """What a Stage says."""

    resource_ref: ResourceRef
    selector: Selector
    weight: Whole | None = None
    weight_from: Source | None = None
    delay: Delay = Delay()
    next: Next | None = None
    steps: list[StepAction] = []
    immediate_next_stage: bool = False

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.next is None and not self.steps:
            raise _Incomplete("next", "is missing")
        return self


def _known_version(value: Any) -> Any:
    if value != API_VERSION:
        raise ValueError(f"{value!r} is not {API_VERSION}")
    return value


class Manifest(Part):
    """A Stage in a file."""

    model_config = ConfigDict(extra="ignore")

    api_version: Annotated[str, BeforeValidator(_known_version)]
    spec: Spec


def read(manifest: ReadOnlyTree, functions: Collection[str]) -> Stage:
    """The Stage that a manifest is; its templates may call these functions.

    Raises StageError, with the field.
    """
    name = str((manifest.get("metadata") or {}).get("name") or "")
    if not name:
        raise StageError('Stage "": metadata.name: is missing')
    try:
        spec = Manifest.model_validate(manifest, context=functions).spec
    except ValidationError as error:
        raise StageError(f'Stage "{name}": {_sentence(error)}') from None
    delay = spec.delay
    return Stage(
        name, spec.resource_ref.kind, spec.selector.match_labels, spec.selector.match_annotations,
        [each.requirement() for each in spec.selector.match_expressions],
        _value(spec.weight, spec.weight_from, 1.0), _milliseconds(delay.duration_milliseconds, delay.duration_from),
        _value(delay.jitter_duration_milliseconds, delay.jitter_duration_from, 0.001),
        [step for action in spec.steps for step in action.steps()] + (spec.next.steps() if spec.next is not None else []),
        spec.immediate_next_stage)


def _milliseconds(number: int | None, source: Source | None) -> Value:
    # as KWOK takes it
    return _value(0 if number is None and source is not None else number, source, 0.001)


def _value(number: int | None, source: Source | None, unit: float) -> Value:
    return Value(None if number is None else number * unit, source.query if source is not None else None)


def _sentence(error: ValidationError) -> str:
    """The first of what is wrong: the field, and what it is."""
    first = error.errors(include_url=False)[0]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).removeprefix(".")
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, _Incomplete):
        return f"{path}.{cause.field}: {cause}"
    if cause is not None:
        return f"{path}: {cause}"
    texts = {
        "missing": "is missing", "extra_forbidden": "is not known", "model_type": f"{first['input']!r} is no object",
        "dict_type": f"{first['input']!r} is no object", "list_type": f"{first['input']!r} is no list",
        "tuple_type": f"{first['input']!r} is no list",
    }
    return f"{path}: {texts.get(first['type'], first['msg'])}"
