"""What is published of definitions, part by part, and texts at the edge of their formats."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apiextensions.objects.formats import format_named
from fakekube.apiextensions.publishing import PublishedVersion
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree

GVK = GroupVersionKind("x.dev", "v1", "W")


class Words:
    """A printer that refers by name."""

    def __init__(self, *, v3: bool, words: bool) -> None:
        self.v3, self._words = v3, words

    def reference(self, name: str) -> Tree:
        return {"$ref": name.rpartition(".")[2]}

    def description(self, name: str, field: str) -> str:
        return f"{field} of {name.rpartition('.')[2]}" if self._words else ""


def published(schema: Tree, *, v3: bool, words: bool = False, **entry: Any) -> Tree:
    version: Any = SimpleNamespace(
        gvk=GVK, entry=entry, plural="ws", namespaced=True, read_openapi=lambda: schema,
        definition={"status": {"acceptedNames": {"listKind": "WList"}}})
    return dict(PublishedVersion(version).schemas(Words(v3=v3, words=words)))


MARKS = {"x-kubernetes-group-version-kind": [{"group": "x.dev", "kind": "W", "version": "v1"}]}
TEXT = {"type": "string"}


def test_what_is_published_of_a_kind() -> None:
    """Given a definition / when its schemas are published / then the kind and its list have what
    every object has, with and without words.
    """
    schema = {"type": "object", "properties": {"spec": {"type": "object"}, "metadata": {"type": "object"}}}
    assert published(schema, v3=True, words=True, selectableFields=[{"jsonPath": ".spec.a"}]) == {
        "dev.x.v1.W": {
            "type": "object", **MARKS, "x-kubernetes-selectable-fields": [{"fieldPath": "spec.a"}], "properties": {
                "apiVersion": {**TEXT, "description": "apiVersion of Pod"}, "kind": {**TEXT, "description": "kind of Pod"},
                "metadata": {"description": "metadata of Pod", "allOf": [{"$ref": "ObjectMeta"}]}, "spec": {"type": "object"}}},
        "dev.x.v1.WList": {
            "description": "WList is a list of W", "type": "object", "required": ["items"], "properties": {
                "apiVersion": {**TEXT, "description": "apiVersion of PodList"}, "kind": {**TEXT,
                    "description": "kind of PodList"},
                "metadata": {"description": "metadata of PodList", "allOf": [{"$ref": "ListMeta"}]},
                "items": {"type": "array", "items": {"$ref": "W"}, "description": (
                    "List of ws. More info: "
                    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md")}},
            "x-kubernetes-group-version-kind": [{"group": "x.dev", "kind": "WList", "version": "v1"}],
            "x-kubernetes-selectable-fields": [{"fieldPath": "spec.a"}]}}
    for bare in ({}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}):
        assert published(bare, v3=False)["dev.x.v1.W"] == {"type": "object", **MARKS}
    assert list(published(schema, v3=False)["dev.x.v1.W"]["properties"]) == ["apiVersion", "kind", "metadata", "spec"]
    assert published(schema, v3=False)["dev.x.v1.W"]["properties"]["metadata"] == {"$ref": "ObjectMeta"}


OBJECT = {"type": "object"}
NULL = {"type": "string", "nullable": True}
EITHER = [{"type": "integer"}, {"type": "string"}]


@pytest.mark.parametrize(("schema", "three", "two"), [
    ({**TEXT, "anyOf": [{}], "allOf": [{}], "oneOf": [{}], "not": {}, "default": "a", "nullable": False, "enum": ["a"]},
     None, {**TEXT, "enum": ["a"]}),
    ({**OBJECT, "additionalProperties": True}, None, OBJECT), ({**OBJECT, "additionalProperties": False}, None, OBJECT),
    ({**OBJECT, "additionalProperties": NULL, "required": ["a"]}, None, {**OBJECT, "additionalProperties": {}}),
    ({**OBJECT, "additionalProperties": TEXT, "required": ["a"]}, None, {**OBJECT, "additionalProperties": TEXT,
        "required": ["a"]}),
    ({**OBJECT, "properties": {"b": NULL, "a": TEXT}, "required": ["b", "a"]}, None,
     {**OBJECT, "properties": {"a": TEXT, "b": {}}, "required": ["a"]}),
    ({**OBJECT, "properties": {"b": NULL}, "required": ["b"]}, None, {**OBJECT, "properties": {"b": {}}}),
    ({**OBJECT, "nullable": True, "properties": {"a": TEXT}, "required": ["a"]}, None, {"required": ["a"]}),
    ({"type": "array"}, None, {}), ({"type": "array", "items": TEXT}, None, None), ({"type": "array", "items": TEXT,
        "nullable": True},
                                                                                     None, {}),
    ({**TEXT, "x-kubernetes-preserve-unknown-fields": True}, None, None),
    ({**OBJECT, "x-kubernetes-preserve-unknown-fields": True, "additionalProperties": TEXT}, None,
     {"x-kubernetes-preserve-unknown-fields": True, "additionalProperties": TEXT}),
    ({"x-kubernetes-int-or-string": True, "anyOf": EITHER}, None, {"x-kubernetes-int-or-string": True}),
    ({"x-kubernetes-int-or-string": True, "allOf": [{"anyOf": EITHER}]}, None, {"x-kubernetes-int-or-string": True}),
    ({"x-kubernetes-int-or-string": True, "anyOf": [{}], "allOf": [{"a": 1}]},
     {"x-kubernetes-int-or-string": True, "anyOf": [{}], "allOf": [{"anyOf": EITHER}, {"a": 1}]},
     {"x-kubernetes-int-or-string": True}),
    ({"x-kubernetes-int-or-string": True}, {"x-kubernetes-int-or-string": True, "anyOf": EITHER},
    {"x-kubernetes-int-or-string": True}),
])
def test_what_is_published_of_a_part(schema: Tree, three: Tree | None, two: Tree | None) -> None:
    """Given a part of a schema / when it is published / then version 3 says it as it stands, and
    version 2 what kubectl can read; None is: as it stands.
    """
    whole = {"type": "object", "properties": {"x": schema}}
    for v3, expected in ((True, three), (False, two)):
        assert published(whole, v3=v3)["dev.x.v1.W"]["properties"]["x"] == (schema if expected is None else expected)


def test_what_is_published_of_an_embedded_object() -> None:
    """Given an embedded object / when it is published / then it has kind, apiVersion and metadata,
    of which the first two are required.
    """
    schema = {**OBJECT, "x-kubernetes-embedded-resource": True, "required": ["kind", "a"], "properties": {"a": TEXT}}
    found = published({"type": "object", "properties": {"x": schema}}, v3=True)["dev.x.v1.W"]["properties"]["x"]
    more = "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
    assert found == {**schema, "required": ["kind", "a", "apiVersion"], "properties": {
        "a": TEXT, "metadata": {"allOf": [{"$ref": "ObjectMeta"}]},
        "apiVersion": {**TEXT, "description": (
            f"apiVersion defines the versioned schema of this representation of an object. {more}#resources")},
        "kind": {**TEXT,
            "description": f"kind is a string value representing the type of this object. In CamelCase. {more}#types-kinds"}}}


MORE_TEXTS: dict[str, tuple[list[str], list[str]]] = {
    "bsonobjectid": ([], ["507f1f77bcf86cd7994390", "507f1f77bcf86cd79943901122"]),
    "cidr": (["0.0.0.0/32", "255.255.255.255/0", "::/128", "::ffff:1.2.3.4/96"], ["::/", "/8", "1.2.3.4/8/9", "1.2.3.4/x",
        "::/0129"]),
    "creditcard": (["4222222222222", "5555555555554444", "6011111111111117", "30569309025904", "38520000023237",
        "3530111333300000"],
                   ["4222222222223", "0000000000000000"]),
    "email": (['"Ann B" <a@b>', "Ann B. <a@b>", "<a@b>", "é@b", " a@b "], ["", "a@b.", "a(b@c", '"@b', "Ann( <a@b>", "a@[b",
        "a@b]"]),
    "hexcolor": (["#AbC", "000"], ["##fff", "#fffffff", "#ggg"]),
    "hostname": (["a-b", "ö.de"], ["a-.b", "a.b-", "a.1", ".a", "a" * 64 + ".de"]),
    "ipv4": (["0.0.0.0", "255.255.255.255", "0000255.1.1.1"], ["1.2.3.4.5", "1..2.3", "1.2.3.", "-1.2.3.4", "²1.2.3.4"]),
    "isbn10": (["0 9752 2980 X"], ["097522980x", "X975229800", "0975229801", "09752298"]),
    "isbn13": (["978\t0321751041"], ["9780321751040", "97803217510411"]),
    "mac": (["00-00-5E-00-53-01", "0000:0000" * 0 + "02:00:5e:10:00:00:00:01", "0200.5e10.0000.0001",
             ":".join(["aa"] * 20)], ["00:00:5e:00:53:0", "0000.5e00", "000:05:e0:05:30:1", "", ":".join(["aa"] * 19)]),
    "rgbcolor": (["rgb(0,0,0)", "rgb( 255 , 199 , 10 )"], ["rgb(0,0,0", "rgb(00,0,0)", "rgb(0,0,2560)", "RGB(0,0,0)",
        "rgb(0, 0, 256)"]),
    "ssn": (["123 45 6789", "123-45 6789"], ["123-456-789", "1234-5-6789"]),
    "uuid3": (["123E4567E89B32D3A456426614174000"], ["123e4567-e89b-32d3-a456-42661417400", "123e4567e89b32d3a4564266141740001"]),
    "uuid4": (["123E4567E89B42D3B456426614174000"], ["123e4567-e89b-42d3-7456-426614174000",
        "123e4567e89b42d38456426614174000a"]),
    "uuid5": (["123E4567E89B52D38456426614174000"], ["123e4567-e89b-52d3-7456-426614174000",
        "123e4567e89b52d38456426614174000a"]),
    "k8s-short-name": (["0", "a-b"], ["", "a-", "a_b"]),
    "k8s-long-name": (["a" * 253, "a.b.c"], ["", "a.", ".a", "a.-b"]),
}


@pytest.mark.parametrize("name", MORE_TEXTS)
def test_texts_at_the_edge_of_a_format(name: str) -> None:
    """Given texts that are just of a format, and texts that just are not / when they are looked at
    / then each is told rightly.
    """
    is_format = format_named(name, 37)
    assert is_format is not None
    good, bad = MORE_TEXTS[name]
    assert ([text for text in good if not is_format(text)], [text for text in bad if is_format(text)]) == ([], [])


@pytest.mark.parametrize(("minor", "known"), [(33, False), (34, True), (37, True)])
def test_formats_of_names_came_later(minor: int, known: bool) -> None:
    """Given releases / when formats of names are looked up / then they are known since 1.34."""
    assert [format_named(name, minor) is not None for name in ("k8s-short-name", "k8s-long-name", "uuid")] == [known, known, True]
