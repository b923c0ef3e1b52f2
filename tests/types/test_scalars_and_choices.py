"""Scalars that remember how they were written, and fields that are confined to some values."""

import copy
import enum
import pickle
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import ValidationError, WithJsonSchema

from fakekube.client.resources import Resource
from fakekube.types import Lease, Model, Object, PersistentVolumeClaim, empty, quantity
from fakekube.types.definitions import schema_of

CLAIM = {
    "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
    "spec": {"resources": {"requests": {"a": 2, "b": 0.5, "c": "1Gi"}}}}


class Grade(enum.Enum):
    LOW = 1
    HIGH = 2


class Choices(Model):
    one: Literal["a"] = "a"
    text_or_number: int | str = 0
    number: int | float = 0
    bare_texts: Annotated[Any, WithJsonSchema({"enum": ["a", "b"]})] = None
    bare_numbers: Annotated[Any, WithJsonSchema({"enum": [1, 2]})] = None
    bare_bools: Annotated[Any, WithJsonSchema({"enum": [True]})] = None
    bare_mixture: Annotated[Any, WithJsonSchema({"enum": [True, 1]})] = None
    bare_const: Annotated[Any, WithJsonSchema({"const": "x"})] = None
    mixed: Literal["a", 3] = 3
    one_or_none: Literal["a"] | None = None
    grade: Grade = Grade.LOW
    longer: int | str | bool = 0


class Chooser(Object):
    resource: ClassVar[Resource] = Resource("example.com", "v1", "choosers", "Chooser")

    spec: Choices = empty(Choices)


INTEGER = {"type": "integer", "format": "int64"}


@pytest.mark.parametrize(("field", "schema"), [
    ("one", {"type": "string", "enum": ["a"], "default": "a"}),
    ("textOrNumber", {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}),
    ("number", {"type": "number", "format": "double"}),
    ("bareTexts", {"type": "string", "enum": ["a", "b"]}),
    ("bareNumbers", {"type": "integer", "format": "int64", "enum": [1, 2]}),
    ("bareBools", {"type": "boolean", "enum": [True]}),
    ("bareMixture", {"enum": [True, 1], "x-kubernetes-preserve-unknown-fields": True}),
    ("bareConst", {"type": "string", "enum": ["x"]}),
    ("mixed", {"enum": ["a", 3], "x-kubernetes-preserve-unknown-fields": True, "default": 3}),
    ("oneOrNone", {"type": "string", "enum": ["a"]}),
    ("grade", {"type": "integer", "format": "int64", "enum": [1, 2], "default": 1}),
    ("longer", {"x-kubernetes-preserve-unknown-fields": True}),
])
def test_what_a_definition_says_of_choices(field: str, schema: dict[str, Any]) -> None:
    """Given a field that is confined to values, or has a choice of types / when the schema is made
    / then it says so in words that structural schemas have.
    """
    found = schema_of(Chooser)["properties"]["spec"]["properties"][field]
    found.pop("description", None)
    assert found == schema


def test_quantities_that_are_numbers_survive_copies() -> None:
    """Given quantities that were written as numbers / when the model is copied or pickled / then
    they read as texts, and are written as the numbers.
    """
    claim = PersistentVolumeClaim.from_tree(CLAIM)
    for each in (claim, copy.deepcopy(claim), claim.model_copy(deep=True), pickle.loads(pickle.dumps(claim))):
        requests = each.spec.resources.requests
        assert requests == {"a": "2", "b": "0.5", "c": "1Gi"}
        assert each.to_tree() == CLAIM
        # one model may be made of parts of another
        again = PersistentVolumeClaim.from_tree({**CLAIM, "spec": {"resources": {"requests": dict(requests)}}})
        assert again.to_tree() == CLAIM
        assert [type(value) for value in again.to_tree()["spec"]["resources"]["requests"].values()] == [int, float, str]


def test_what_quantities_amount_to() -> None:
    """Given quantities / when they are read / then they compute."""
    assert [quantity(text).milli_value for text in ("500m", "2", "1k", "-0.5")] == [500, 2000, 1000000, -500]
    with pytest.raises(ValueError, match="quantities must match the regular expression"):
        quantity("1x")


@pytest.mark.parametrize("value", [3, 1.5, True, [], {}, b"2026-01-01T00:00:00Z", timedelta(1)])
def test_what_is_no_time(value: Any) -> None:
    """Given a value that is no time / when a model reads it / then it says what a time is."""
    with pytest.raises(ValidationError) as refused:
        Lease.model_validate({"metadata": {}, "spec": {"renewTime": value}})
    assert [(each["loc"], each["msg"]) for each in refused.value.errors()] == [
        (("spec", "renewTime"), "Value error, a time is a text, as in 2026-01-01T00:00:00Z, or an aware datetime")]


def test_what_is_a_time() -> None:
    """Given times with an offset, made and read again / when they are written / then a text stands
    as it was, and what a program makes is in UTC.
    """
    text = "2026-01-01T02:00:00.5+02:00"
    lease = Lease.model_validate({"metadata": {}, "spec": {"renewTime": text}})
    assert lease.spec.renew_time == datetime(2026, 1, 1, 0, 0, 0, 500000, UTC)
    for time, written in ((lease.spec.renew_time, text), (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00.000000Z")):
        made = Lease.model_validate({"metadata": {}, "spec": {"renewTime": time}})
        assert made.to_tree()["spec"]["renewTime"] == written
