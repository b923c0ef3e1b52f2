"""In which order custom objects are asked what their definition asks, by writes of all sorts, and
what is read of them.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apiextensions import cleanup
from fakekube.apiextensions.objects.metadata import MetadataReader, coerce_embedded
from fakekube.apiextensions.reading import CustomReader
from fakekube.apiextensions.rules.checking import checker
from fakekube.apiextensions.strategy import CustomResourceStrategy
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.schema import definitions
from fakekube.schema.decode import DecodeError
from fakekube.schema.structural import OBJECT_META, from_openapi

TEXT: Tree = {"type": "string"}
SHORT: Tree = {"type": "string", "maxLength": 1}
NUMBER: Tree = {"type": "integer"}
SET: Tree = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
GVK = GroupVersionKind("x.dev", "v1", "W")
METADATA = definitions.load("1.37").named(OBJECT_META)
NOT_CHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation")
NO_MAP = "accessor error: 5 is of the type int64, expected map[string]interface{}"
LONG = "Too long: may not be more than 1 byte"


def object_of(**fields: Tree) -> Tree:
    return {"type": "object", "properties": fields}


def ruled(schema: Tree, rule: str) -> Tree:
    return {**schema, "x-kubernetes-validations": [{"rule": rule}]}


def strategy(
    schema: Tree, *, status: bool = True, scale: Tree | None = None, terminating: bool = False,
) -> CustomResourceStrategy:
    subresources: Tree = ({"status": {}} if status else {}) | ({"scale": scale} if scale else {})
    structural = from_openapi(schema)
    version: Any = SimpleNamespace(
        gvk=GVK, openapi=schema, schema=structural, plural="ws", subresources=subresources, has_status=status,
        is_terminating=terminating, reader=CustomReader(GVK, structural, METADATA),
        checker=lambda minor: checker(structural, schema, minor))
    return CustomResourceStrategy(version)


def context(*, ratchets: bool = True) -> Any:
    warned: list[str] = []
    return SimpleNamespace(
        minor=37, cluster=SimpleNamespace(gate=lambda name: ratchets and name == "CRDValidationRatcheting"), warn=warned.append,
        turn=None, warned=warned)


def obj(**fields: Any) -> Tree:
    return {"apiVersion": "x.dev/v1", "kind": "W", "metadata": {"name": "n"}, **fields}


def texts(found: list[FieldError]) -> list[str]:
    return [str(error) for error in found]


OF_METADATA = invalid("metadata.name", "n", "bad")
SCALE = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}
ALL = object_of(
    spec=object_of(a=SHORT, n=NUMBER, s=SET),
    status=ruled(object_of(a=SHORT, n=NUMBER, s=TEXT, l=SET), "!has(self.n) || self.n != 7"))


@pytest.mark.parametrize(("tree", "told"), [
    (obj(), []), (obj(spec={"a": "x", "n": 1, "s": ["a"]}), []),
    ({**obj(spec={"a": "xx"}), "kind": "V"}, ['kind: Invalid value: "V": must be W']),
    ({**obj(spec={"a": "xx", "s": ["a", "a"]}), "kind": "V", "apiVersion": "v1"}, [
        'kind: Invalid value: "V": must be W', 'apiVersion: Invalid value: "v1": must be x.dev/v1',
        'spec.s[1]: Duplicate value: "a"']),
    (obj(spec={"a": "xx"}), [f"spec.a: {LONG}", NOT_CHECKED]),
    (obj(spec={"n": -1}), [".spec.n: Invalid value: -1: should be a non-negative integer"]),
    (obj(spec={"s": ["a", "a"]}), ['spec.s[1]: Duplicate value: "a"']),
    (obj(spec={"n": -1, "s": ["a", "a"]}, status={"n": -2, "s": "a"}), [
        ".spec.n: Invalid value: -1: should be a non-negative integer",
        ".status.n: Invalid value: -2: should be a non-negative integer", 'spec.s[1]: Duplicate value: "a"']),
    (obj(status={"n": 7}), ["status: Invalid value: failed rule: !has(self.n) || self.n != 7"]),
])
def test_what_a_new_object_is_asked(tree: Tree, told: list[str]) -> None:
    """Given an object / when it is created, or replaces another / then type, values, scale,
    repetitions and rules are told in that order; metadata stands ahead of values, and nothing but
    repetitions is asked of an object of another type.
    """
    of_type = any("must be" in text for text in told)
    asked = strategy(ALL, scale=SCALE)
    created = texts(asked.validate_create(tree, [OF_METADATA], context()))
    assert created == ([] if of_type else ['metadata.name: Invalid value: "n": bad']) + told
    assert texts(asked.validate_update(tree, obj(spec={}), context())) == told


@pytest.mark.parametrize(("new", "old", "told"), [
    (obj(status={"a": "x"}), obj(), []), (obj(status={"a": "xx"}), obj(), [f"status.a: {LONG}", NOT_CHECKED]),
    (obj(status={"a": "xx", "n": 1}, spec={"a": "xx"}), obj(status={"a": "xx"}), []), (obj(), obj(status={"a": "xx"}), []),
    (obj(status={"a": "xx"}), obj(status={"a": "yy"}), [f"status.a: {LONG}", NOT_CHECKED]),
    (obj(status=None), obj(), ['status: Invalid value: "null":  in body must be of type object: "null"', NOT_CHECKED]),
    (obj(status=5), obj(), [
        'status: Invalid value: "integer":  in body must be of type object: "integer"',
        f".status.n: Invalid value: 0: .status.n {NO_MAP}", f'.status.s: Invalid value: "": .status.s {NO_MAP}', NOT_CHECKED]),
    (obj(spec={"n": -1}, status={"n": -1}), obj(), [".status.n: Invalid value: -1: should be a non-negative integer"]),
    (obj(status={"l": ["a", "a"]}), obj(), ['status.l[1]: Duplicate value: "a"']),
    (obj(status={"n": 7}), obj(), ["status: Invalid value: failed rule: !has(self.n) || self.n != 7"]),
    ({**obj(status={"a": "xx"}), "kind": "V"}, obj(), ['kind: Invalid value: "V": must be W']),
])
def test_what_a_status_is_asked(new: Tree, old: Tree, told: list[str]) -> None:
    """Given a status / when it is written / then its values, the scale's status and repetitions are
    told, and nothing of the spec.
    """
    assert texts(strategy(ALL, scale=SCALE).validate_status_update(new, old, context())) == told


def test_what_an_update_leaves() -> None:
    """Given an object with wrong values, repetitions and broken rules / when an update leaves them
    / then it may, and a broken rule warns; without ratcheting all is told.
    """
    schema = object_of(spec=ruled(object_of(a=SHORT, b=TEXT, s=SET), "!has(self.a) || self.a == 'x'"), labels=TEXT)
    old, new = obj(spec={"a": "y"}), obj(spec={"a": "y"}, labels="l")
    rule = "spec: Invalid value: failed rule: !has(self.a) || self.a == 'x'"
    ctx = context()
    assert (texts(strategy(schema).validate_update(new, old, ctx)), ctx.warned) == ([], [rule])
    ctx = context(ratchets=False)
    assert (texts(strategy(schema).validate_update(new, old, ctx)), ctx.warned) == ([rule], [])
    long = obj(spec={"a": "xx"})
    assert texts(strategy(object_of(spec=object_of(a=SHORT))).validate_update({**long, "l": 1}, long, context())) == []
    for asked in (strategy(object_of(spec=object_of(a=SHORT))).validate_update, strategy(
            object_of(status=object_of(a=SHORT))).validate_status_update):
        where = "status" if "status" in asked.__name__ else "spec"
        assert texts(asked(obj(**{where: {"a": "xx"}}), obj(**{where: {"a": "xx"}}), context(ratchets=False))) == [
            f"{where}.a: {LONG}"]
    twice, thrice = obj(spec={"s": ["a", "a"]}), obj(spec={"s": ["a", "a", "b", "b"]})
    assert texts(strategy(schema).validate_update(thrice, twice, context())) == []
    assert texts(strategy(schema).validate_update(twice, obj(spec={"s": ["a"]}), context())) == [
        'spec.s[1]: Duplicate value: "a"']


def test_who_writes_a_status() -> None:
    """Given a status in what is written / when there is a sub-resource for it / then the write has
    none of its own; else it is a field as all others.
    """
    for status, created, updated in ((True, obj(), obj(status=2)), (False, obj(status=1), obj(status=1))):
        new, changed, bare = obj(status=1), obj(status=1), obj(status=1)
        asked = strategy(object_of(status={"x-kubernetes-preserve-unknown-fields": True}), status=status)
        asked.prepare_for_create(new, context())
        asked.prepare_for_update(changed, obj(status=2), context())
        asked.prepare_for_update(bare, obj(), context())
        assert (new, changed, bare) == (created, updated, created)
        asked.prepare_for_create(obj(), context())
    with pytest.raises(APIError) as refused:
        strategy(ALL, terminating=True).prepare_for_create(obj(), context())
    assert str(refused.value) == (
        'ws.x.dev "n" is forbidden: create not allowed while custom resource definition is terminating')


def test_what_counts_as_a_change() -> None:
    """Given two objects / when they differ in anything but metadata / then the generation counts
    on.
    """
    asked = strategy(ALL)
    assert [asked.spec_changed(new, old) for new, old in (
        (obj(), obj()), (obj(a=1), obj(a=1)), (obj(a=1), obj(a=2)), (obj(a=1), obj()), (obj(), obj(a=1)),
        ({**obj(), "metadata": {}}, obj()), (obj(a={"b": [1]}), obj(a={"b": [1]})), (obj(a=1), obj(a=True)),
    )] == [False, False, True, True, True, False, False, True]


def test_floats_at_the_top_print_as_gos() -> None:
    """Given floats in a new and in a changed object / when they are stored / then whole ones are
    integers, but in metadata and in what is the old object's own.
    """
    shared: Tree = {"x": 1.0}
    tree = obj(a=1.0, b=1.5, c=[2.0], d={"e": 3.0}, f=shared, g="1.0")
    tree["metadata"]["odd"] = 4.0
    strategy(ALL).canonicalize_changed(tree, {"f": shared})
    stored = obj(a=1, b=1.5, c=[2], d={"e": 3}, f={"x": 1.0}, g="1.0")
    assert repr(tree) == repr({**stored, "metadata": {"name": "n", "odd": 4.0}})
    strategy(ALL).canonicalize(tree)
    assert repr(tree["f"]) == "{'x': 1}"


def test_defaults_of_writes() -> None:
    """Given defaults / when an object, a change or a status is written / then they come, but not
    in what is the old object's own; without any nothing happens.
    """
    schema = object_of(spec=object_of(a={**TEXT, "default": "x"}), status=object_of(b={**TEXT, "default": "y"}))
    asked, shared = strategy(schema), dict[str, Any]()
    new = obj(spec={}, status={})
    asked.default(new, context())
    assert new == obj(spec={"a": "x"}, status={"b": "y"})
    for fill in (asked.default_update, asked.default_status):
        changed = obj(spec=shared, status={})
        fill(changed, obj(spec=shared), context())
        assert changed == obj(spec={}, status={"b": "y"})
        bare = obj(spec={})
        getattr(strategy(ALL), fill.__name__)(bare, obj(), context())
        assert bare == obj(spec={})


def test_warnings_of_finalizers() -> None:
    """Given finalizers / when some of them are new / then those are warned of, by the alphabet."""
    tree = {"metadata": {"finalizers": ["z", "a", "x.dev/y", "orphan"]}}
    found = strategy(ALL).warnings(tree, None, context())
    assert [text.split(": ")[1] for text in found] == ['"a"', '"z"']
    found = strategy(ALL).warnings(tree, {"metadata": {"finalizers": ["a"]}}, context())
    assert [text.split(": ")[1] for text in found] == ['"z"']
    assert strategy(ALL).warnings(tree, tree, context()) == []
    assert strategy(ALL).warnings({"metadata": {}}, tree, context()) == []


EMBEDDED: Tree = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
CREATED = "2026-01-01T00:00:00Z"
UNREADABLE = (
    'e.metadata: Invalid value: {"labels":{"a":1},"name":"n"}: json: cannot unmarshal number into Go struct field '
    "ObjectMeta.labels of type string")


@pytest.mark.parametrize(("tree", "told", "lenient"), [
    ({"e": {"apiVersion": 1}}, "e.apiVersion: Invalid value: 1: must be a string", {"e": {}}),
    ({"e": {"kind": [1]}}, "e.kind: Invalid value: [1]: must be a string", {"e": {}}),
    ({"e": {"metadata": 5}}, "e.metadata: Invalid value: 5: ", {"e": {"metadata": 5}}),
    ({"e": {"metadata": {"labels": {"a": 1}, "name": "n"}}}, UNREADABLE, {"e": {"metadata": {"name": "n"}}}),
    ({"e": {"metadata": None}}, "", {"e": {"metadata": None}}),
    ({"e": {"metadata": {"creationTimestamp": CREATED}}}, "", {"e": {"metadata": {"creationTimestamp": CREATED}}}),
    ({"e": {"metadata": {"creationTimestamp": None, "name": "n"}}}, "", {"e": {"metadata": {"name": "n"}}}),
])
def test_embedded_objects_as_they_are_read(tree: Tree, told: str, lenient: Tree) -> None:
    """Given embedded objects whose kind, apiVersion or metadata cannot be read / when they come /
    then they are refused; when they are stored already, then what cannot be read is gone.
    """
    schema, reader = from_openapi(object_of(e=EMBEDDED)), MetadataReader(METADATA)
    strict: Tree = {"e": dict(tree["e"])}
    if told:
        with pytest.raises(DecodeError) as refused:
            coerce_embedded(strict, schema, reader)
        assert str(refused.value).startswith(told)
    else:
        assert coerce_embedded(strict, schema, reader) == []
    assert coerce_embedded(tree, schema, reader, lenient=True) == []
    assert tree == lenient


def test_what_is_unknown_in_embedded_metadata() -> None:
    """Given unknown fields in the metadata of embedded objects / when they are read / then their
    paths are told by the alphabet, and they are gone.
    """
    schema = from_openapi(object_of(z=EMBEDDED, l={"type": "array", "items": EMBEDDED}, m={
        "type": "object", "additionalProperties": EMBEDDED}))

    def odd(**more: Tree) -> Tree:
        return {"metadata": {"odd": 1, "name": "n"}, **more}

    tree: Tree = {"z": odd(inner=odd()), "l": [{}, odd()], "m": {"k": odd()}}
    assert coerce_embedded(tree, schema, MetadataReader(METADATA)) == ["l[1].metadata.odd", "m[k].metadata.odd", "z.metadata.odd"]
    read = {"metadata": {"name": "n"}}
    assert tree == {"z": {**read, "inner": odd()}, "l": [{}, read], "m": {"k": read}}


def test_who_waits_for_the_last_object() -> None:
    """Given definitions with and without a deletion and the finalizer / when they are looked at /
    then those with both wait for their objects, and say so once.
    """
    name = "customresourcecleanup.apiextensions.k8s.io"
    assert [cleanup.is_due({"metadata": meta}) for meta in (
        {"deletionTimestamp": "t", "finalizers": ["x", name]}, {"deletionTimestamp": "t", "finalizers": ["x"]},
        {"deletionTimestamp": "t"}, {"finalizers": [name]})] == [True, False, False, False]
    status = cleanup.in_progress({"status": {"conditions": [], "storedVersions": ["v1"]}}, "now")
    assert status == {"storedVersions": ["v1"], "conditions": [{
        "type": "Terminating", "status": "True", "lastTransitionTime": "now", "reason": "InstanceDeletionInProgress",
        "message": "CustomResource deletion is in progress"}]}
    assert cleanup.in_progress({"status": status}, "later") is None
