"""Definitions that are refused, in upstream's words, and what a change may leave as it was."""

from typing import Any

import orjson
import pytest

from fakekube.apimachinery.types import Tree
from tests.apiextensions.definitions import definition, version
from tests.apiextensions.test_serving import DEFINITIONS, create
from tests.apiserver.conftest import Api, api

__all__ = ["api"]

ROOT = "spec.validation.openAPIV3Schema"
SPEC = f"{ROOT}.properties[spec]"
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
    "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')")


async def errors(api: Api, tree: Tree) -> list[str]:
    """What is wrong with a new definition, each as path and text; empty when it is taken."""
    answer = await api("POST", f"{DEFINITIONS}?dryRun=All", tree)
    assert answer.status in (201, 422), answer.tree
    causes = answer.tree["details"]["causes"] if answer.status == 422 else []
    return [f"{cause['field']}: {cause['message']}" for cause in causes]


def with_spec(**fields: Any) -> Tree:
    """A definition with other fields in its spec."""
    tree = definition()
    tree["spec"] |= fields
    return tree


def with_schema(schema: Tree, **more: Any) -> Tree:
    """A definition whose spec has this schema."""
    return definition(versions=[version(schema={"type": "object", "properties": {"spec": schema}}, **more)])


PROPERTIES = {"a": {"type": "string"}}
ITEMS = {"type": "object", "properties": PROPERTIES, "required": ["a"]}


@pytest.mark.parametrize(("tree", "wrong"), [
    (with_spec(group="flat"), [
        'metadata.name: Invalid value: "widgets.probe.dev": must be spec.names.plural+"."+spec.group',
        'spec.group: Invalid value: "flat": should be a domain with at least one dot']),
    (with_spec(scope="Global"), ['spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"']),
    (with_spec(names={"plural": "widgets", "kind": "Widget", "listKind": "Widget"}), [
        'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same']),
    (with_spec(names={"plural": "widgets", "kind": "Widget", "categories": ["A_b"]}), [
        f'spec.names.categories[0]: Invalid value: "A_b": {LABEL}']),
    (with_spec(versions=[]), [
        "spec.versions: Invalid value: []: must have exactly one version marked as storage version",
        "status.storedVersions: Invalid value: null: must have at least one stored version"]),
    (with_spec(versions=[version(), version(storage=False)]), [
        ('spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,'
        '"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,'
        '"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,'
        '"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names')]),
    (with_spec(versions=[{"name": "v1", "served": True, "storage": True}]), [
        "spec.versions[0].schema.openAPIV3Schema: Required value"]),
    (with_spec(versions=[version(deprecationWarning="old")]), [
        'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions']),
    (with_spec(preserveUnknownFields=True), [
        ("spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true "
        "in spec.versions[*].schema instead")]),
    (with_spec(conversion={"strategy": "Webhook"}), [
        "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
        "spec.conversion.conversionReviewVersions: Required value"]),
    (with_spec(conversion={"strategy": "Webhook", "webhook": {
        "clientConfig": {"url": "https://h"}, "conversionReviewVersions": ["v9", "v9"]}}), [
        'spec.conversion.conversionReviewVersions[1]: Invalid value: "v9": duplicate version',
        'spec.conversion.conversionReviewVersions: Invalid value: ["v9","v9"]: must include at least one of v1, v1beta1']),
    (with_spec(conversion={"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}), [
        "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook"]),
])
async def test_what_is_around_a_schema(api: Api, tree: Tree, wrong: list[str]) -> None:
    """Given a definition with a mistake in names, versions or conversion / when it is created /
    then upstream's words say what is wrong.
    """
    assert await errors(api, tree) == wrong


@pytest.mark.parametrize(("schema", "wrong"), [
    ({}, [f"{SPEC}.type: Required value: must not be empty for specified object fields"]),
    ({"type": "text"}, [
        (f'{SPEC}.type: Unsupported value: "text": '
        'supported values: "array", "boolean", "integer", "number", "object", "string"')]),
    ({"type": "array"}, [f"{SPEC}.items: Required value: must be specified"]),
    ({"type": "array", "items": {}}, [f"{SPEC}.items.type: Required value: must not be empty for specified array items"]),
    ({"type": "string", "pattern": "a("}, [
        (f'{SPEC}.pattern: Invalid value: "a(": must be a valid regular expression, but isn\'t: error parsing regexp: missing '
        "closing ): `a(`")]),
    ({"type": "string", "uniqueItems": True}, [
        f"{SPEC}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"]),
    ({"type": "object", "x-kubernetes-preserve-unknown-fields": False}, [
        f"{SPEC}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"]),
    ({"type": "string", "anyOf": [{"type": "string"}]}, [f"{SPEC}.anyOf[0].type: Forbidden: must be empty to be structural"]),
    ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, []),
    ({"type": "object", "additionalProperties": {"type": "string"}, "properties": PROPERTIES}, [
        f"{SPEC}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]),
    ({"type": "object", "x-kubernetes-embedded-resource": True}, [
        (f"{SPEC}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without "
        "x-kubernetes-preserve-unknown-fields")]),
    ({"type": "object", "$ref": "#/a"}, [f"{SPEC}.$ref: Forbidden: $ref is not supported"]),
    ({"type": "array", "items": ITEMS, "x-kubernetes-list-type": "map"}, [
        f"{SPEC}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"]),
    ({"type": "array", "items": {"type": "object", "properties": PROPERTIES}, "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"]}, [
        (f"{SPEC}.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a "
        "default or be a required property")]),
    ({"type": "array", "items": ITEMS, "x-kubernetes-list-type": "set"}, [
        (f"{SPEC}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with "
        "x-kubernetes-list-type=set")]),
    ({"type": "integer", "default": "x"}, [
        f'{SPEC}.default: Invalid value: "string":  in body must be of type integer: "string"']),
    ({"type": "object", "properties": PROPERTIES, "default": {"b": 1}}, [
        f'{SPEC}.default: Invalid value: {{"b":1}}: must not have unknown fields']),
    ({"type": "string", "x-kubernetes-validations": [{"rule": " "}]}, [
        f"{SPEC}.x-kubernetes-validations[0].rule: Required value: rule is not specified"]),
])
async def test_schemas(api: Api, schema: Tree, wrong: list[str]) -> None:
    """Given a schema with a mistake / when its definition is created / then upstream's words say
    what is wrong, and where in the schema that all versions have.
    """
    assert await errors(api, with_schema(schema)) == wrong


async def test_what_a_junctor_speaks_of_is_there(api: Api) -> None:
    """Given a root whose anyOf names a field that it has not / when the definition is created /
    then the field is required.
    """
    schema = {"type": "object", "anyOf": [{"properties": {"spec": {"minLength": 1}}}]}
    assert await errors(api, definition(versions=[version(schema=schema)])) == [
        f"{SPEC}: Required value: because it is defined in {ROOT}.anyOf[0].properties[spec]"]


async def test_metadata_may_be_narrowed_by_its_names_alone(api: Api) -> None:
    """Given schemas of metadata / when definitions have them / then only name and generateName may
    be described.
    """
    def of(metadata: Tree) -> Tree:
        return definition(versions=[version(schema={"type": "object", "properties": {"metadata": metadata}})])

    assert await errors(api, of({"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}})) == []
    assert await errors(api, of({"type": "object", "properties": {"labels": {"type": "object"}}})) == [
        (f"{ROOT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is "
        "implicitly specified")]
    assert await errors(api, of({"type": "object", "default": {}})) == [
        f"{ROOT}.properties[metadata].default: Forbidden: must not be set in top-level metadata"]


@pytest.mark.parametrize(("more", "wrong"), [
    ({"additionalPrinterColumns": [{"name": "A", "type": "text", "jsonPath": "spec.a"}]}, [
        'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec.a": must be a simple json path starting with .']),
    ({"subresources": {"scale": {"specReplicasPath": ".status.a", "statusReplicasPath": ".status.a"}}}, [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec']),
    ({"selectableFields": [{"jsonPath": ".spec.x"}]}, [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid field']),
    ({"selectableFields": [{"jsonPath": ".spec"}]}, [
        ('spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. '
        "Enum string fields and strings with formats are allowed.")]),
    ({"selectableFields": [{"jsonPath": ".spec.a"}] * 2}, ['spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"']),
])
async def test_paths(api: Api, more: Tree, wrong: list[str]) -> None:
    """Given columns, scale paths and selectable fields that lead nowhere / when the definition is
    created / then upstream's words say so.
    """
    assert await errors(api, with_schema({"type": "object", "properties": PROPERTIES}, **more)) == wrong


async def test_what_differs_between_versions_is_named_by_version(api: Api) -> None:
    """Given two versions with different schemas / when one has a mistake / then the path names it.
    """
    bad = {"type": "object", "properties": {"spec": {}}}
    tree = definition(versions=[version(), version("v2", storage=False, schema=bad)])
    assert await errors(api, tree) == [
        ("spec.versions[1].schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object "
        "fields")]


async def test_groups_of_the_community_need_approval(api: Api) -> None:
    """Given a group of Kubernetes / when its definition lacks the approval, or has one / then it is
    refused, or taken.
    """
    tree = definition(group="probe.k8s.io")
    assert await errors(api, tree) == [
        ("metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "
        '"api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111')]
    tree["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    assert await errors(api, tree) == []


@pytest.mark.parametrize(("text", "status", "reason", "message"), [
    ("https://example.com/1", "True", "ApprovedAnnotation", "approved in https://example.com/1"),
    ("unapproved, a test", "False", "UnapprovedAnnotation", 'not approved: "unapproved, a test"'),
])
async def test_a_condition_tells_of_the_approval(api: Api, text: str, status: str, reason: str, message: str) -> None:
    """Given a definition in a group of Kubernetes / when it is created, and when its annotation
    changes / then a condition tells whether it was approved; others have no such condition.
    """
    async def told(name: str) -> list[Tree]:
        tree = (await api("GET", f"{DEFINITIONS}/{name}")).tree
        return [found for found in tree["status"]["conditions"] if found["type"] == "KubernetesAPIApprovalPolicyConformant"]

    for group in ("probe.k8s.io", "probe.x-k8s.io"):
        tree = definition(group=group)
        tree["metadata"]["annotations"] = {"api-approved.kubernetes.io": text}
        assert (await api("POST", DEFINITIONS, tree)).status == 201
    [found] = await told("widgets.probe.k8s.io")
    assert (found["status"], found["reason"], found["message"]) == (status, reason, message)
    assert await told("widgets.probe.x-k8s.io") == []
    other = {"metadata": {"annotations": {"api-approved.kubernetes.io": "unapproved: later"}}}
    assert (await api.patch(f"{DEFINITIONS}/widgets.probe.k8s.io", other, "application/merge-patch+json")).status == 200
    [found] = await told("widgets.probe.k8s.io")
    assert (found["status"], found["reason"], found["message"]) == (
        "False", "UnapprovedAnnotation", 'not approved: "unapproved: later"')


async def test_a_definition_without_versions_has_none(api: Api) -> None:
    """Given no versions, or an empty list of them / when the definition is created / then the error
    shows what was given.
    """
    for versions, shown in ((None, "null"), ([], "[]")):
        tree = definition()
        tree["spec"]["versions"] = versions
        assert (await errors(api, tree))[0] == (
            f"spec.versions: Invalid value: {shown}: must have exactly one version marked as storage version")


async def test_a_generated_name_is_never_the_right_one(api: Api) -> None:
    """Given a generateName besides the name / when the definition is created / then it is looked at
    as a name, and each has its errors together.
    """
    tree = definition()
    tree["metadata"] = {"name": "Other", "generateName": "Widgets-"}
    wrong, needed = "a lowercase RFC 1123 subdomain must", 'must be spec.names.plural+"."+spec.group'
    expected = [
        (path, text, why) for path, text in (("metadata.generateName", "Widgets-"), ("metadata.name", "Other"))
        for why in (wrong, needed)]
    found = await errors(api, tree)
    assert len(found) == len(expected)
    for error, (path, text, why) in zip(found, expected, strict=True):
        assert error.startswith(f'{path}: Invalid value: "{text}": {why}')


async def test_a_live_definition_keeps_its_names_and_stored_versions(api: Api) -> None:
    """Given an established definition / when a change takes kind, scope, or a stored version away /
    then it is refused, and another stored version may come.
    """
    await create(api, definition())
    url = f"{DEFINITIONS}/widgets.probe.dev"
    refused = await api.patch(url, {"spec": {"scope": "Cluster", "names": {"kind": "Other"}}})
    assert [cause["message"] for cause in refused.tree["details"]["causes"]] == [
        'Invalid value: "Cluster": field is immutable', 'Invalid value: "Other": field is immutable']
    added = await api.patch(url, {"spec": {"versions": [version(storage=False), version("v2")]}})
    assert added.tree["status"]["storedVersions"] == ["v1", "v2"]
    dropped = await api.patch(url, {"spec": {"versions": [version("v2")]}})
    assert dropped.tree["details"]["causes"][0]["field"] == "status.storedVersions[0]"
    assert (await api.patch(f"{url}/status", {"status": {"storedVersions": ["v2"]}})).status == 200
    assert (await api.patch(url, {"spec": {"versions": [version("v2")]}})).status == 200


async def test_the_same_rule_in_several_places(api: Api) -> None:
    """Given a rule on nodes that differ in a type, in a bound or in nothing but where they stand /
    when definitions have them / then each is judged by its own node, and told at its own place.
    """
    def node(size: Tree, **more: Any) -> Tree:
        rules = [{"rule": "self.size == 'a'"}]
        return {"type": "object", "properties": {"size": size}, "description": "d", "x-kubernetes-validations": rules, **more}

    text, number = {"type": "string"}, {"type": "integer"}
    assert await errors(api, with_schema(node(text))) == []
    both = {"type": "object", "properties": {"a": node(number), "b": node(text), "c": node(number, description="other")}}
    told = await errors(api, with_schema(both))
    assert [line.split(": ")[0] for line in told] == [
        f"{SPEC}.properties[{name}].x-kubernetes-validations[0].rule" for name in ("a", "c")]
    assert all("found no matching overload for '_==_' applied to '(int, string)'" in line for line in told)
    items = {"type": "object", "properties": {"list": {"type": "array", "items": node(text | {"maxLength": 5})}}}
    assert await errors(api, with_schema(items)) == []


@pytest.mark.parametrize(("sent", "read"), [
    ("18446744073709551616", 1.8446744073709552e19), ("-9223372036854775809", -9.223372036854776e18),
    ("-1e19", -1e19), ("1e19", 10000000000000000000), ("9007199254740993", 9007199254740992), ("1.2345678901234567e19",
     12345678901234567000), ("1e400", None), ("10.0", 10), ("0.5", 0.5)])
async def test_bounds_are_numbers_of_64_bits(api: Api, sent: str, read: float | None) -> None:
    """Given a bound of a number at the edge of what integers hold, when a definition has it, then
    it is read as Go reads a float64, and what is none is refused.
    """
    text = orjson.dumps(with_schema({"type": "object", "properties": {"a": {"type": "number", "maximum": "HERE"}}}))
    answer = await api("POST", f"{DEFINITIONS}?dryRun=All", text.replace(b'"HERE"', sent.encode()))
    assert answer.status == (400 if read is None else 201), answer.tree
    if read is not None:
        schema = answer.tree["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        found = schema["properties"]["spec"]["properties"]["a"]["maximum"]
        assert (found, type(found)) == (read, type(read))
