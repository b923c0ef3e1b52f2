"""How long the names of whole objects may be, as the estimates of rules have it."""

from typing import Any

import orjson
import pytest

from fakekube.apiextensions.rules import definitions
from fakekube.cel import decltypes
from fakekube.cel.library import kubernetes
from fakekube.schema.structural import from_openapi

TEXT = {"type": "string"}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True}
PLACES = {"type": "object", "properties": {
    "f": EMBEDDED, "l": {"type": "array", "maxItems": 3, "items": EMBEDDED},
    "m": {"type": "object", "maxProperties": 2, "additionalProperties": EMBEDDED}}}
ENDLESS = (6, 314578)


def whole(**names: dict[str, Any]) -> dict[str, Any]:
    """A schema that says this of the metadata."""
    return {"type": "object", "properties": {"metadata": {"type": "object", "properties": names}}}


def estimate(schema: dict[str, Any], text: str, *, root: bool = True, names_end: bool = True) -> tuple[int, int]:
    """What a rule may cost."""
    declared = decltypes.of_schema(from_openapi(schema), root=root, names_end=names_end)
    assert declared is not None
    found = kubernetes.environment(37, stored=False).extended({"self": declared}).compile(text).estimate()
    return found.min, found.max


@pytest.mark.parametrize(("schema", "name", "generated"), [
    ({"type": "object"}, (6, 107), (6, 106)),
    (whole(name={**TEXT, "maxLength": 5}), (6, 7), (6, 106)),
    (whole(name={**TEXT, "maxLength": 900}, generateName={**TEXT, "maxLength": 252}), (6, 107), (6, 106)),
    (whole(generateName={**TEXT, "maxLength": 7}, labels=TEXT), (6, 107), (6, 8)),
    (whole(name=TEXT, generateName=TEXT), (6, 107), (6, 106)),
])
def test_names_end(schema: dict[str, Any], name: tuple[int, int], generated: tuple[int, int]) -> None:
    """given a schema that says little of its metadata, when rules compare names, then these are no
    longer than names may be; before 1.37 they had no end
    """
    rules = ("self.metadata.name == self.kind", "self.metadata.generateName == self.kind")
    assert [estimate(schema, text) for text in rules] == [name, generated]
    assert [estimate(schema, text, names_end=False) for text in rules] == [ENDLESS, ENDLESS]
    assert estimate(schema, "self.kind == self.apiVersion") == (5, 314577)


def test_a_schema_that_says_all_is_taken_at_its_word() -> None:
    """given a schema with all of them, when rules compare names, then it counts"""
    schema = whole(name=TEXT, generateName={**TEXT, "maxLength": 3})
    schema["properties"] |= {"kind": TEXT, "apiVersion": TEXT}
    assert estimate(schema, "self.metadata.name == self.kind") == ENDLESS
    assert estimate(schema, "self.metadata.generateName == self.kind") == (6, 7)


@pytest.mark.parametrize(("text", "most", "before"), [
    ("self.f.metadata.name == self.f.kind", (8, 109), (8, 314580)),
    ("self.l[0].metadata.generateName == self.f.kind", (9, 109), (9, 314581)),
    ("self.l.all(x, x.metadata.name == x.kind)", (3, 333), (3, 943746)),
    ("self.m.all(k, self.m[k].metadata.name == self.m[k].kind)", (3, 235), (3, 629177)),
])
def test_names_of_embedded_objects(text: str, most: tuple[int, int], before: tuple[int, int]) -> None:
    """given objects within an object, when rules compare their names, then the same is true"""
    assert estimate(PLACES, text, root=False) == most
    assert estimate(PLACES, text, root=False, names_end=False) == before


@pytest.mark.parametrize(("minor", "most"), [(36, 314578), (37, 107)])
def test_rules_of_definitions_since_which_release(minor: int, most: int) -> None:
    """given a rule of a definition on the object's name, when its cost is estimated, then the name
    ends since 1.37
    """
    schema = {"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name == self.kind"}]}
    facts = definitions._facts(orjson.dumps(schema), minor, True, ((False, False),))
    assert facts is not None
    assert [rule.cost for rule in facts.rules] == [most]
