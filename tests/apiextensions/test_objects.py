"""Custom objects through the API: what is read, filled in, refused, kept, and who owns it."""

from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from tests.apiextensions.definitions import custom_object, definition, version
from tests.apiserver.conftest import Answer, Api, api

__all__ = ["api"]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/probe.dev/v1/namespaces/t/widgets"
MERGE = {"content-type": "application/merge-patch+json"}
APPLY = {"content-type": "application/apply-patch+yaml"}
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def object_of(**fields: Tree) -> Tree:
    return {"type": "object", "properties": fields}


async def define(api: Api, *, subresources: Tree | None = None, **fields: Tree) -> None:
    """A definition of Widgets whose schema has these fields."""
    more = {"subresources": subresources} if subresources else {}
    answer = await api("POST", DEFINITIONS, definition(versions=[version(schema=object_of(**fields), **more)]))
    assert answer.status == 201, answer.tree


async def redefine(api: Api, **fields: Tree) -> None:
    """Another schema for the Widgets."""
    path = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": object_of(**fields)}]
    answer = await api("PATCH", f"{DEFINITIONS}/widgets.probe.dev", path, {"content-type": "application/json-patch+json"})
    assert answer.status == 200, answer.tree


async def create(api: Api, spec: Any = None, *, query: str = "", **fields: Any) -> Answer:
    body = custom_object(**({} if spec is None else {"spec": spec}), **fields)
    return await api("POST", f"{WIDGETS}{query}", body)


def causes(answer: Answer) -> list[tuple[str, str]]:
    assert answer.status == 422, answer.tree
    return [(cause["field"], cause["message"]) for cause in answer.tree["details"]["causes"]]


# reading


@pytest.mark.spec("API-047")
async def test_unknown_fields_are_pruned_with_a_warning_or_refused(api: Api) -> None:
    """Given fields that the schema does not know, when an object is written, then they are gone and
    a Warning names each; with Strict it is refused, with Ignore nothing is said.
    """
    await define(api, spec=object_of(a=TEXT))
    body = {"a": "x", "z": 1}
    answer = await create(api, body, name="a", extra=1)
    assert (answer.status, answer.tree["spec"]) == (201, {"a": "x"})
    assert answer.warnings == ['299 - "unknown field \\"extra\\""', '299 - "unknown field \\"spec.z\\""']
    strict = await create(api, body, name="b", query="?fieldValidation=Strict")
    assert (strict.status, strict.message) == (
        400, 'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.z"')
    ignored = await create(api, body, name="c", query="?fieldValidation=Ignore")
    assert (ignored.status, ignored.warnings) == (201, [])
    patched = await api("PATCH", f"{WIDGETS}/a", {"spec": {"y": 1}}, MERGE)
    assert (patched.status, patched.tree["spec"], patched.warnings) == (200, {"a": "x"}, ['299 - "unknown field \\"spec.y\\""'])


async def test_keys_given_twice_are_told(api: Api) -> None:
    """Given a body that gives keys twice, then a strict reader refuses it, whatever the schema says
    of them.
    """
    await define(api, spec=object_of(a=TEXT))
    body = b'{"apiVersion":"probe.dev/v1","kind":"Widget","metadata":{"name":"d"},"spec":{"a":"x","a":"y","z":1}}'
    answer = await api("POST", f"{WIDGETS}?fieldValidation=Strict", body)
    assert answer.message.endswith('strict decoding error: duplicate field "spec.a", unknown field "spec.z"')


async def test_metadata_is_typed_whatever_the_schema_says(api: Api) -> None:
    """Given metadata of a wrong type, with unknown fields or none, then it is read as that of
    built-ins is.
    """
    await define(api, spec=object_of(a=TEXT))
    wrong = await api("POST", WIDGETS, {**custom_object(), "metadata": {"name": "a", "labels": {"a": 1}}})
    assert (wrong.status, wrong.message) == (400, (
        'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field '
        "ObjectMeta.labels of type string"))
    unknown = await api("POST", WIDGETS, {**custom_object(), "metadata": {"name": "a", "label": 1, "finalizers": None}})
    assert (unknown.status, unknown.warnings) == (201, ['299 - "unknown field \\"metadata.label\\""'])
    assert not {"label", "finalizers"} & unknown.tree["metadata"].keys()
    without = await api("POST", WIDGETS, {**custom_object(), "metadata": None})
    assert causes(without) == [("metadata.name", "Required value: name or generateName is required")]


@pytest.mark.parametrize(("body", "status", "message"), [
    ({"kind": "Gadget"}, 422, 'Gadget.probe.dev "w" is invalid: kind: Invalid value: "Gadget": must be Widget'),
    ({"apiVersion": "probe.dev/v2"}, 400, (
        "the API version in the data (probe.dev/v2) does not match the expected API version (probe.dev/v1)")),
    ({"apiVersion": ""}, 400, "the API version in the data () does not match the expected API version (probe.dev/v1)"),
    ({"kind": ""}, 400, (
        "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in "
        """'{"apiVersion":"probe.dev/v1","kind":"","metadata":{"name":"w"}}' ({"apiVersion":"probe.dev/v1"," ...)""")),
])
async def test_an_object_is_of_its_endpoints_kind(api: Api, body: Tree, status: int, message: str) -> None:
    """Given a body of another kind or version, or of none, then upstream's words refuse it."""
    await define(api)
    answer = await api("POST", WIDGETS, custom_object() | body)
    assert (answer.status, answer.message) == (status, message)


async def test_numbers_are_stored_as_go_prints_them(api: Api) -> None:
    """Given whole numbers with a fraction and integers beyond 64 bits, then the first are stored as
    integers, the second as floats.
    """
    await define(api, spec=object_of(n={"type": "number"}, i=NUMBER, free={"x-kubernetes-preserve-unknown-fields": True}))
    body = b'{"apiVersion":"probe.dev/v1","kind":"Widget","metadata":{"name":"n"},"spec":{"n":2.0,"i":1.0,"free":[1.5,3.0]}}'
    answer = await api("POST", WIDGETS, body)
    assert answer.status == 201
    assert b'"spec":{"free":[1.5,3],"i":1,"n":2}' in answer.response.body
    large = await create(api, {"i": (1 << 63) + 1}, name="large")
    assert causes(large)[0][0] == "spec.i"


# filling in


@pytest.mark.spec("API-046")
async def test_defaults_come_on_writes_and_on_reads(api: Api) -> None:
    """Given defaults, when an object is written, then they are in the answer; when the definition
    gets another, then objects that were there have it too, at the version that they had.
    """
    await define(api, spec={**object_of(a=TEXT | {"default": "x"}), "default": {}})
    created = (await create(api)).tree
    assert created["spec"] == {"a": "x"}
    await redefine(api, spec={**object_of(a=TEXT | {"default": "x"}, late=TEXT | {"default": "now"}), "default": {}})
    read = (await api("GET", f"{WIDGETS}/w")).tree
    assert read["spec"] == {"a": "x", "late": "now"}
    assert read["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
    assert [item["spec"] for item in (await api("GET", WIDGETS)).tree["items"]] == [{"a": "x", "late": "now"}]


async def test_what_a_definition_forgets_comes_back_with_it(api: Api) -> None:
    """Given a stored field, when the schema loses it, then it is not shown; when the schema has it
    again and nobody wrote the object, then it is shown again; after a write it is gone.
    """
    both, one = object_of(a=TEXT, b=TEXT), object_of(a=TEXT)
    await define(api, spec=both)
    await create(api, {"a": "x", "b": "y"})
    await redefine(api, spec=one)
    assert (await api("GET", f"{WIDGETS}/w")).tree["spec"] == {"a": "x"}
    await redefine(api, spec=both)
    assert (await api("GET", f"{WIDGETS}/w")).tree["spec"] == {"a": "x", "b": "y"}
    await redefine(api, spec=one)
    assert (await api("PATCH", f"{WIDGETS}/w", {"spec": {"a": "z"}}, MERGE)).status == 200
    await redefine(api, spec=both)
    assert (await api("GET", f"{WIDGETS}/w")).tree["spec"] == {"a": "z"}


# refusing


@pytest.mark.spec("API-157")
async def test_values_are_validated_with_upstreams_words(api: Api) -> None:
    """Given values of wrong types, missing and beyond bounds, then each is told; what is nullable
    or int-or-string is honoured, a null that may not be is dropped.
    """
    fields = object_of(
        t=TEXT, e={"type": "string", "enum": ["a", "b"]}, p={"type": "string", "pattern": "^[a-z]+$"},
        n={"type": "integer", "minimum": 1}, ios={"x-kubernetes-int-or-string": True}, u=TEXT | {"nullable": True})
    await define(api, spec={**fields, "required": ["t"]})
    answer = await create(api, {"e": "z", "p": "Z", "n": 0, "ios": True})
    assert sorted(causes(answer)) == [
        ("spec.e", 'Unsupported value: "z": supported values: "a", "b"'),
        ("spec.ios", 'Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean"'),
        ("spec.n", "Invalid value: 0: spec.n in body should be greater than or equal to 1"),
        ("spec.p", "Invalid value: \"Z\": spec.p in body should match '^[a-z]+$'"),
        ("spec.t", "Required value")]
    reasons = {cause["field"]: cause["reason"] for cause in answer.tree["details"]["causes"]}
    assert (reasons["spec.ios"], reasons["spec.t"]) == ("FieldValueTypeInvalid", "FieldValueRequired")
    nulls = await create(api, {"t": "x", "u": None, "p": None, "ios": "5%"})
    assert (nulls.status, nulls.tree["spec"]) == (201, {"t": "x", "u": None, "ios": "5%"})


async def test_embedded_objects_have_a_type_and_sound_metadata(api: Api) -> None:
    """Given embedded objects without a kind, with a bad label, with metadata of a wrong type, then
    each is refused; what is unknown in their metadata goes.
    """
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    await define(api, spec=object_of(r=embedded))
    fits = await create(api, {"r": {"apiVersion": "v1", "kind": "Any", "metadata": {"name": "A_b", "odd": 1}, "x": 1}})
    assert (fits.status, fits.warnings) == (201, ['299 - "unknown field \\"spec.r.metadata.odd\\""'])
    assert fits.tree["spec"]["r"] == {"apiVersion": "v1", "kind": "Any", "metadata": {"name": "A_b"}, "x": 1}
    bad = await create(api, {"r": {"apiVersion": "a/b/c", "metadata": {"labels": {"a b": "c"}}}}, name="b")
    assert [field for field, _ in causes(bad)] == ["spec.r.kind", "spec.r.apiVersion", "spec.r.metadata.labels"]
    wrong = await create(api, {"r": {"apiVersion": "v1", "kind": "Any", "metadata": {"name": "a", "labels": {"a": 1}}}}, name="c")
    assert (wrong.status, wrong.message) == (400, (
        'Widget in version "v1" cannot be handled as a Widget: spec.r.metadata: Invalid value: {"labels":{"a":1},"name":"a"}: '
        "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"))


async def test_what_was_wrong_before_may_stay(api: Api) -> None:
    """Given an object that a stricter schema would refuse, when other fields change, then it may go
    on as it is; what the update changes has to fit, and lists may repeat no more than they did.
    """
    items = {"type": "array", "items": TEXT}
    await define(api, spec=object_of(a=TEXT, b=NUMBER, s=items))
    await create(api, {"a": "UPPER", "b": 50, "s": ["x", "x"]})
    strict = items | {"x-kubernetes-list-type": "set"}
    await redefine(api, spec=object_of(a=TEXT | {"pattern": "^[a-z]+$"}, b=NUMBER | {"maximum": 10}, s=strict))
    other = await api("PATCH", f"{WIDGETS}/w", {"spec": {"b": 5}}, MERGE)
    assert (other.status, other.warnings) == (200, [])
    changed = await api("PATCH", f"{WIDGETS}/w", {"spec": {"a": "LOUD"}}, MERGE)
    assert causes(changed) == [("spec.a", "Invalid value: \"LOUD\": spec.a in body should match '^[a-z]+$'")]
    assert causes(await create(api, {"s": ["x", "x"]}, name="new")) == [("spec.s[1]", 'Duplicate value: "x"')]


async def test_odd_finalizers_get_a_warning(api: Api) -> None:
    """Given finalizers without a domain, when they come, then a Warning says so, and not again."""
    await define(api)
    answer = await api("POST", WIDGETS, {**custom_object(), "metadata": {"name": "w", "finalizers": ["plain", "a.b", "a.b/c"]}})
    text = "prefer a domain-qualified finalizer name{} to avoid accidental conflicts with other finalizer writers"
    assert answer.warnings == [
        f'299 - "metadata.finalizers: \\"a.b\\": {text.format(" including a path (/)")}"',
        f'299 - "metadata.finalizers: \\"plain\\": {text.format("")}"']
    assert (await api("PATCH", f"{WIDGETS}/w", {"metadata": {"labels": {"a": "b"}}}, MERGE)).warnings == []


# rules in CEL


@pytest.mark.spec("API-158")
async def test_rules_are_asked_of_objects_and_of_changes(api: Api) -> None:
    """Given rules on an object, a scalar and a transition, then a broken one on an object prints no
    value, one on a scalar does, and a transition rule runs on updates alone.
    """
    rules = [{"rule": "self.low <= self.high", "message": " low exceeds high "}]
    fixed = TEXT | {"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "immutable"}]}
    odd = NUMBER | {"x-kubernetes-validations": [{"rule": "self % 2 == 0", "messageExpression": "string(self)"}]}
    await define(api, spec=object_of(low=NUMBER, high=NUMBER, fixed=fixed, n=odd) | {"x-kubernetes-validations": rules})
    assert causes(await create(api, {"low": 2, "high": 1, "n": 3})) == [
        ("spec", "Invalid value: low exceeds high"), ("spec.n", "Invalid value: 3: 3")]
    assert causes(await create(api, {"high": 1})) == [
        ("spec", 'Invalid value: "object": no such key: low evaluating rule: low exceeds high')]
    assert (await create(api, {"low": 1, "high": 1, "fixed": "a"})).status == 201
    changed = await api("PATCH", f"{WIDGETS}/w", {"spec": {"fixed": "b"}}, MERGE)
    assert causes(changed) == [("spec.fixed", 'Invalid value: "b": immutable')]


async def test_a_rule_of_the_whole_object_sees_the_old_one(api: Api) -> None:
    """Given a transition rule at the root, then it compares with the stored object."""
    schema = object_of(spec=object_of(n=NUMBER)) | {"x-kubernetes-validations": [
        {"rule": "self.spec.n >= oldSelf.spec.n && self.metadata.name == oldSelf.metadata.name", "message": "never less"}]}
    await api("POST", DEFINITIONS, definition(versions=[version(schema=schema)]))
    await create(api, {"n": 2})
    assert causes(await api("PATCH", f"{WIDGETS}/w", {"spec": {"n": 1}}, MERGE)) == [("<nil>", "Invalid value: never less")]
    assert (await api("PATCH", f"{WIDGETS}/w", {"spec": {"n": 3}}, MERGE)).status == 200


async def test_rules_wait_until_the_values_fit(api: Api) -> None:
    """Given a wrong type beside a broken rule, then the answer says that the rule was not asked."""
    rules = [{"rule": "false"}]
    await define(api, spec=object_of(a=TEXT) | {"x-kubernetes-validations": rules})
    found = causes(await create(api, {"a": 1}))
    assert [field for field, _ in found] == ["spec.a", "<nil>"]
    assert found[1][1].startswith("Invalid value: null: some validation rules were not checked because the object was invalid")


async def test_reasons_paths_and_optional_old_values(api: Api) -> None:
    """Given rules with a reason, a path and an optional old value, then errors are of that kind, at
    that path, and the last rule runs on creation too.
    """
    rules = [
        {"rule": "self.n < 10", "reason": "FieldValueForbidden", "message": "too large", "fieldPath": ".n"},
        {"rule": "oldSelf.hasValue() || self.n == 1", "optionalOldSelf": True, "message": "begins with one"},
        {"rule": "self.m.all(k, self.m[k] != 'bad')", "reason": "FieldValueRequired", "message": "good", "fieldPath": "['m']"}]
    tags = {"type": "object", "maxProperties": 3, "additionalProperties": TEXT | {"maxLength": 9}}
    await define(api, spec=object_of(n=NUMBER, m=tags) | {"x-kubernetes-validations": rules})
    answer = await create(api, {"n": 10, "m": {"a": "bad"}})
    assert causes(answer) == [
        ("spec.n", "Forbidden: too large"), ("spec", "Invalid value: begins with one"), ("spec.m", "Required value: good")]
    assert (await create(api, {"n": 1, "m": {}})).status == 201
    assert (await api("PATCH", f"{WIDGETS}/w", {"spec": {"n": 5}}, MERGE)).status == 200


async def test_a_rule_that_was_broken_before_warns(api: Api) -> None:
    """Given a rule that an old value breaks, when an update leaves the value, then it warns."""
    await define(api, spec=object_of(n=NUMBER))
    await create(api, {"n": 50})
    await redefine(api, spec=object_of(n=NUMBER | {"x-kubernetes-validations": [{"rule": "self < 20", "message": "below"}]}))
    left = await api("PATCH", f"{WIDGETS}/w", {"metadata": {"labels": {"a": "b"}}}, MERGE)
    assert (left.status, left.warnings) == (200, ['299 - "spec.n: Invalid value: 50: below"'])
    assert causes(await api("PATCH", f"{WIDGETS}/w", {"spec": {"n": 60}}, MERGE)) == [("spec.n", "Invalid value: 60: below")]


async def test_a_definition_with_a_broken_rule_is_refused(api: Api) -> None:
    """Given rules that do not compile or cost too much, then the definition is refused with
    upstream's words.
    """
    rule = {"rule": "self.a + 1 == 2"}
    schema = object_of(spec=object_of(a=TEXT) | {"x-kubernetes-validations": [rule]})
    answer = await api("POST", DEFINITIONS, definition(versions=[version(schema=schema)]))
    field, message = causes(answer)[0]
    assert field == "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"
    assert message.endswith(
        "compilation failed: ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(string, int)'\n"
        " | self.a + 1 == 2\n | .......^")
    dear = object_of(spec={"type": "array", "items": TEXT, "x-kubernetes-validations": [
        {"rule": "self.all(x, self.all(y, x.contains(y)))"}]})
    told = causes(await api("POST", DEFINITIONS, definition(versions=[version(schema=dear)])))
    assert [text[:60] for _, text in told] == [
        "Forbidden: estimated rule cost exceeds budget by factor of m",
        "Forbidden: contributed to estimated rule cost total exceedin",
        "Forbidden: x-kubernetes-validations estimated rule cost tota"]


# status and scale


@pytest.mark.spec("API-128", "API-129")
async def test_spec_and_status_are_written_apart(api: Api) -> None:
    """Given a status sub-resource, when the object is written, then its status stays; when the
    status is, then all else stays, and the generation counts the spec alone.
    """
    await define(api, spec=object_of(a=TEXT), status=object_of(b=NUMBER | {"maximum": 3}), subresources={"status": {}})
    created = (await create(api, {"a": "x"}, status={"b": 1})).tree
    assert "status" not in created
    written = await api("PUT", f"{WIDGETS}/w/status", {**created, "spec": {"a": "y"}, "status": {"b": 2}, "metadata": {
        **created["metadata"], "labels": {"l": "v"}}})
    assert (written.status, written.tree["spec"], written.tree["status"]) == (200, {"a": "x"}, {"b": 2})
    assert (written.tree["metadata"]["generation"], "labels" in written.tree["metadata"]) == (1, False)
    changed = (await api("PUT", f"{WIDGETS}/w", {**written.tree, "spec": {"a": "z"}, "status": {"b": 3}})).tree
    assert (changed["spec"], changed["status"], changed["metadata"]["generation"]) == ({"a": "z"}, {"b": 2}, 2)
    bad = await api("PATCH", f"{WIDGETS}/w/status", {"status": {"b": 4}}, MERGE)
    assert causes(bad) == [("status.b", "Invalid value: 4: b in body should be less than or equal to 3")]
    managers = {entry.get("subresource", ""): entry["fieldsV1"] for entry in changed["metadata"]["managedFields"]}
    assert managers == {"": {"f:spec": {".": {}, "f:a": {}}}, "status": {"f:status": {".": {}, "f:b": {}}}}


@pytest.mark.spec("API-131")
async def test_without_a_status_sub_resource_the_status_is_a_field(api: Api) -> None:
    """Given no sub-resources, then their paths are not found by the object's name, and a change of
    the status counts as any other.
    """
    await define(api, spec=object_of(a=TEXT), status=object_of(b=TEXT))
    assert (await create(api, {"a": "x"}, status={"b": "y"})).tree["status"] == {"b": "y"}
    missing = await api("GET", f"{WIDGETS}/w/status")
    assert (missing.status, missing.message) == (404, 'widgets.probe.dev "w" not found')
    changed = await api("PATCH", f"{WIDGETS}/w", {"status": {"b": "z"}}, MERGE)
    assert changed.tree["metadata"]["generation"] == 2


async def test_the_scale_stands_where_the_definition_says(api: Api) -> None:
    """Given paths of a scale, then it is read and written through them, and who writes it owns the
    replicas; an object without replicas has none to read, and gets them by a write.
    """
    scale = {
        "specReplicasPath": ".spec.size.count", "statusReplicasPath": ".status.count", "labelSelectorPath": ".status.selector"}
    size = object_of(count=NUMBER | {"minimum": 0})
    await define(api, spec=object_of(size=size), status=object_of(count=NUMBER, selector=TEXT), subresources={
        "status": {}, "scale": scale})
    await create(api, {"size": {"count": 2}})
    await api("PATCH", f"{WIDGETS}/w/status", {"status": {"count": 1, "selector": "a=b"}}, MERGE)
    found = (await api("GET", f"{WIDGETS}/w/scale")).tree
    assert (found["spec"], found["status"]) == ({"replicas": 2}, {"replicas": 1, "selector": "a=b"})
    put = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "w"}, "spec": {"replicas": 5}}
    assert (await api("PUT", f"{WIDGETS}/w/scale", put)).tree["spec"] == {"replicas": 5}
    parent = (await api("GET", f"{WIDGETS}/w")).tree
    assert (parent["spec"], parent["metadata"]["generation"]) == ({"size": {"count": 5}}, 2)
    owned = [entry["fieldsV1"] for entry in parent["metadata"]["managedFields"] if entry.get("subresource") == "scale"]
    assert owned == [{"f:spec": {"f:size": {"f:count": {}}}}]
    negative = await api("PATCH", f"{WIDGETS}/w/scale", {"spec": {"replicas": -1}}, MERGE)
    assert [field for field, _ in causes(negative)] == ["spec.size.count", ".spec.size.count"]
    await create(api, {}, name="bare")
    none = await api("GET", f"{WIDGETS}/bare/scale")
    assert (none.status, none.message) == (
        500, 'Internal error occurred: the spec replicas field ".spec.size.count" does not exist')
    assert (await api("PATCH", f"{WIDGETS}/bare/scale", {"spec": {"replicas": 1}}, MERGE)).tree["spec"] == {"replicas": 1}


# patching


@pytest.mark.spec("API-107")
async def test_a_strategic_merge_patch_is_refused(api: Api) -> None:
    """Given a strategic merge patch, then 415 lists what a custom object takes."""
    await define(api, spec=object_of(a=TEXT))
    await create(api, {"a": "x"})
    answer = await api("PATCH", f"{WIDGETS}/w", {"spec": {}}, {"content-type": "application/strategic-merge-patch+json"})
    assert (answer.status, answer.message) == (415, (
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
        "application/merge-patch+json, application/apply-patch+yaml"))


async def test_apply_knows_lists_by_their_types(api: Api) -> None:
    """Given keyed lists, sets and atomic maps, when two managers apply, then each owns its items,
    and the whole of what is atomic.
    """
    keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
        **object_of(k=TEXT, v=NUMBER), "required": ["k"]}}
    whole = {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": TEXT}
    tags = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
    await define(api, spec=object_of(m=keyed, s=tags, o=whole))
    mine = custom_object(spec={"m": [{"k": "a", "v": 1}], "s": ["x"], "o": {"p": "q"}})
    assert (await api("PATCH", f"{WIDGETS}/w?fieldManager=one", mine, APPLY)).status == 201
    theirs = custom_object(spec={"m": [{"k": "b", "v": 2}], "s": ["y"]})
    both = (await api("PATCH", f"{WIDGETS}/w?fieldManager=two", theirs, APPLY)).tree
    assert both["spec"] == {"m": [{"k": "a", "v": 1}, {"k": "b", "v": 2}], "s": ["x", "y"], "o": {"p": "q"}}
    conflict = await api("PATCH", f"{WIDGETS}/w?fieldManager=two", custom_object(spec={"o": {"r": "s"}}), APPLY)
    assert (conflict.status, [cause["field"] for cause in conflict.tree["details"]["causes"]]) == (409, [".spec.o"])


async def test_an_apply_leaves_the_rest_as_the_schema_of_the_moment_has_it(api: Api) -> None:
    """Given a stored object, when its definition drops a field and gives another a default, and
    somebody applies labels or a status, then the spec is as the new schema says, a set in it that
    repeats itself may stay, and one of the status may repeat itself then, too.
    """
    texts = {"type": "array", "items": TEXT}
    fields: Tree = {"spec": object_of(a=TEXT, b=TEXT, s=texts), "status": object_of(s=texts)}
    await define(api, subresources={"status": {}}, **fields)
    await create(api, {"a": "x", "b": "y", "s": ["z", "z"]}, name="w")
    unique = {**texts, "x-kubernetes-list-type": "set"}
    await redefine(api, spec=object_of(a=TEXT, c={**TEXT, "default": "d"}, s=unique), status=object_of(s=unique))
    spec = {"a": "x", "c": "d", "s": ["z", "z"]}
    body = {**custom_object(), "metadata": {"name": "w", "labels": {"k": "v"}}}
    labels = await api("PATCH", f"{WIDGETS}/w?fieldManager=one", body, APPLY)
    assert (labels.status, labels.tree["spec"]) == (200, spec)
    status = custom_object(name="w", status={"s": ["q"]})
    answer = await api("PATCH", f"{WIDGETS}/w/status?fieldManager=two", status, APPLY)
    assert (answer.status, answer.tree["spec"], answer.tree["status"]) == (200, spec, {"s": ["q"]})
    twice = {"s": ["q", "q"]}
    answer = await api("PATCH", f"{WIDGETS}/w/status", {"status": twice}, MERGE)
    assert (answer.status, answer.tree["spec"], answer.tree["status"]) == (200, spec, twice)
    assert (await api("GET", f"{WIDGETS}/w")).tree["spec"] == spec


@pytest.mark.parametrize(("spec", "status", "message"), [
    ({"embedded": {"apiVersion": "v1", "kind": {}}}, 500,
     ".spec.embedded.kind: expected string, got &value.valueUnstructured{Value:map[string]interface {}{}}"),
    ({"embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": []}}}, 500,
     ".spec.embedded.metadata.labels: expected map, got &{[]}"),
    ({"port": {"a": 1}}, 422, 'spec.port: Invalid value: "object": spec.port in body must be of type integer,string: "object"'),
])
async def test_what_is_applied_is_typed_as_it_is_published(api: Api, spec: Tree, status: int, message: str) -> None:
    """Given an embedded object and a field that is an integer or a text / when something else is
    applied / then kind and metadata of the one are typed, and of the other the validation tells.
    """
    await define(api, spec=object_of(port={"x-kubernetes-int-or-string": True}, embedded={
        "type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}))
    answer = await api("PATCH", f"{WIDGETS}/w?fieldManager=one", custom_object(spec=spec), APPLY)
    head = {
        500: "failed to create typed patch object (/w; probe.dev/v1, Kind=Widget)", 422: 'Widget.probe.dev "w" is invalid'}
    assert (answer.status, answer.message) == (status, f"{head[status]}: {message}")


@pytest.mark.parametrize("name", [{"": None}, -1, None])
async def test_a_name_that_is_no_text_is_none(api: Api, name: Any) -> None:
    """Given a configuration whose name is no text / when it is applied / then the error knows no
    name.
    """
    await define(api)
    body = {**custom_object(), "metadata": {"name": name, "labels": 5}}
    answer = await api("PATCH", f"{WIDGETS}/w?fieldManager=one", body, APPLY)
    assert answer.message.startswith("failed to create typed patch object (/; probe.dev/v1, Kind=Widget): ")


async def test_ownership_stays_where_versions_know_different_fields(api: Api) -> None:
    """Given an owner in a version that has not a field which another version has, when that field
    is written, then ownership stays as it was.
    """
    one, two = object_of(spec=object_of(a=NUMBER, b=TEXT)), object_of(spec=object_of(a=NUMBER, c=TEXT))
    await api("POST", DEFINITIONS, definition(versions=[version(schema=one), version("v2", storage=False, schema=two)]))
    before = (await create(api, {"a": 1, "b": "x"})).tree["metadata"]["managedFields"]
    changed = (await api("PATCH", f"{WIDGETS.replace('v1', 'v2')}/w", {"spec": {"a": 2, "c": "y"}}, MERGE)).tree
    assert (changed["apiVersion"], changed["spec"], changed["metadata"]["managedFields"]) == ("probe.dev/v2", {"a": 2}, before)
