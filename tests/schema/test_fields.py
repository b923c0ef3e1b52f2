"""Kinds that no release has: what becomes of the fields that a declaration names."""

import pytest

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.schema import definitions
from fakekube.schema.decode import Codec, DecodeError
from fakekube.schema.fields import Node, definitions_for

GREETING = GroupVersionKind("demo.example", "v1", "Greeting")
TIME = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"
FIELDS: dict[str, Node] = {
    "spec": {"text": "string", "times": "integer int32", "said": {"when": TIME, "by": ["string"]}, "words": {"*": "string"}},
    "status": {"parts": [{"ready": "boolean"}]},
}


def codec() -> Codec:
    known = definitions.load("1.37")
    known.define(GREETING, FIELDS)
    schema = known.schema(GREETING)
    assert schema is not None
    return Codec(schema)


def test_objects_are_definitions_by_the_names_of_custom_resources() -> None:
    """Given fields, when they are defined, then the kind, its list and each object are, by the
    group backwards.
    """
    assert list(definitions_for(GREETING, FIELDS)) == [
        "example.demo.v1.GreetingSpecSaid", "example.demo.v1.GreetingSpec", "example.demo.v1.GreetingStatusParts",
        "example.demo.v1.GreetingStatus", "example.demo.v1.Greeting", "example.demo.v1.GreetingList"]


def test_a_body_keeps_what_has_its_type() -> None:
    """Given a body of every notation, when it is decoded, then it is as it was, with the structs
    that Go always prints.
    """
    spec = {"text": "hi", "times": 0, "said": {"when": "2026-01-01T00:00:00Z", "by": ["me"]}, "words": {"a": "b"}}
    decoded = codec().decode({"kind": "Greeting", "apiVersion": "demo.example/v1", "metadata": {"name": "g"}, "spec": spec})
    assert (decoded.tree["spec"], decoded.tree["status"], decoded.unknown) == (spec, {}, [])


def test_unknown_fields_are_told() -> None:
    """Given fields that the kind has not, when a body is decoded, then their paths are told, those
    in lists too.
    """
    body = {"spec": {"tims": 1, "said": {"who": "me"}}, "status": {"parts": [{"redy": True}]}}
    assert codec().decode(body).unknown == ["spec.tims", "spec.said.who", "status.parts[0].redy"]


@pytest.mark.parametrize(("spec", "text"), [
    ({"times": "x"}, "json: cannot unmarshal string into Go struct field GreetingSpec.spec.times of type int32"),
    ({"words": {"a": 1}}, "json: cannot unmarshal number into Go struct field GreetingSpec.spec.words of type string"),
])
def test_wrong_types_are_refused_in_the_words_of_go(spec: object, text: str) -> None:
    """Given a field of another type, when a body is decoded, then it is refused as a built-in
    kind's is.
    """
    with pytest.raises(DecodeError) as refused:
        codec().decode({"spec": spec})
    assert str(refused.value) == text


@pytest.mark.parametrize("node", ["strin", [], ["string", "string"], {"*": "string", "a": "string"}, 3])
def test_another_notation_is_refused(node: Node) -> None:
    """Given a field in no notation, when it is defined, then the error names the field and the
    notations there are.
    """
    with pytest.raises(ValueError, match=r"GreetingSpecText: .* is no field: write 'string', .*, the name of a definition, "):
        definitions_for(GREETING, {"spec": {"text": node}})


def test_a_list_has_the_metadata_of_lists_and_items_of_the_kind() -> None:
    """Given fields, when they are defined, then the list's definition has its own metadata, and
    items that are of the kind.
    """
    properties = definitions_for(GREETING, FIELDS)["example.demo.v1.GreetingList"]["properties"]
    assert sorted(properties) == ["apiVersion", "items", "kind", "metadata"]
    assert "ListMeta" in str(properties["metadata"])
    assert "example.demo.v1.Greeting" in str(properties["items"])
