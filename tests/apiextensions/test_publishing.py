"""What OpenAPI says of custom kinds, as a real server said it of this definition."""

from typing import Any

import orjson

from fakekube.apimachinery.types import Tree
from tests.apiextensions.definitions import definition, version
from tests.apiserver.conftest import Api, api

__all__ = ["api"]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
EITHER = [NUMBER, TEXT]
SPEC: Tree = {
    "type": "object", "required": ["s", "u"], "properties": {
        "any": {"x-kubernetes-preserve-unknown-fields": True},
        "d": {"type": "object", "default": {"x": 1}, "properties": {"x": NUMBER}},
        "emb": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object"}}},
        "embp": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": TEXT}},
        "ios": {"x-kubernetes-int-or-string": True},
        "iosa": {"x-kubernetes-int-or-string": True, "anyOf": [{"maximum": 5}]},
        "l": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT, "maxItems": 3},
        "nl": {"type": "array", "nullable": True, "items": TEXT},
        "one": {"type": "object", "properties": {"a": NUMBER}, "oneOf": [{"required": ["a"]}]},
        "s": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "u": {"type": "string", "nullable": True},
    }}


async def documents(api: Api) -> tuple[Tree, Tree]:
    """The schemas of version 3 and of version 2, after the definition of Widgets."""
    schema = {"type": "object", "description": "A widget.", "properties": {"spec": SPEC}}
    entry = version(schema=schema, selectableFields=[{"jsonPath": ".spec.s"}], subresources={"status": {}})
    answer = await api("POST", DEFINITIONS, definition(versions=[entry]))
    assert answer.status == 201, answer.tree
    three, two = await api("GET", "/openapi/v3/apis/probe.dev/v1"), await api("GET", "/openapi/v2")
    return three.tree["components"]["schemas"], two.tree["definitions"]


def without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_words(item) for key, item in value.items() if key != "description"}
    return [without_words(item) for item in value] if isinstance(value, list) else value


async def test_version_3_has_the_schema_as_it_stands(api: Api) -> None:
    """Given a definition, then version 3 has its schema with what every object has, int-or-string
    spelled out, and the type of embedded objects.
    """
    schemas, _ = await documents(api)
    widget = schemas["dev.probe.v1.Widget"]
    assert widget["description"] == "A widget."
    assert widget["x-kubernetes-group-version-kind"] == [{"group": "probe.dev", "kind": "Widget", "version": "v1"}]
    assert widget["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.s"}]
    metadata = {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]}
    assert without_words(widget["properties"]["metadata"]) == metadata
    fields = without_words(widget["properties"]["spec"]["properties"])
    changed = {
        "ios": SPEC["properties"]["ios"] | {"anyOf": EITHER},
        "iosa": SPEC["properties"]["iosa"] | {"allOf": [{"anyOf": EITHER}]},
        "emb": SPEC["properties"]["emb"] | {"required": ["kind", "apiVersion"], "properties": {
            "spec": {"type": "object"}, "apiVersion": TEXT, "kind": TEXT, "metadata": metadata}},
        "embp": SPEC["properties"]["embp"] | {"required": ["kind", "apiVersion"], "properties": {
            "apiVersion": TEXT, "kind": TEXT, "metadata": metadata}}}
    assert fields == SPEC["properties"] | changed
    assert schemas["dev.probe.v1.WidgetList"]["properties"]["items"]["items"] == {
        "$ref": "#/components/schemas/dev.probe.v1.Widget"}


async def test_version_2_says_less(api: Api) -> None:
    """Given what swagger cannot say or kubectl would misread, then version 2 leaves it out."""
    _, schemas = await documents(api)
    spec = schemas["dev.probe.v1.Widget"]["properties"]["spec"]
    assert spec["required"] == ["s"]
    fields = without_words(spec["properties"])
    marks = {"x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    assert fields["embp"] == marks
    assert fields["emb"]["properties"]["metadata"] == {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    del fields["embp"], fields["emb"]
    assert fields == {
        "any": {"x-kubernetes-preserve-unknown-fields": True}, "d": {"type": "object", "properties": {"x": NUMBER}},
        "free": {"x-kubernetes-preserve-unknown-fields": True}, "ios": {"x-kubernetes-int-or-string": True},
        "iosa": {"x-kubernetes-int-or-string": True}, "l": SPEC["properties"]["l"], "nl": {},
        "one": {"type": "object", "properties": {"a": NUMBER}}, "s": {"type": "string", "enum": ["a", "b"]}, "u": {}}


async def test_paths_are_those_of_a_definition(api: Api) -> None:
    """Given a definition with a status, then its paths have the operations, names and media types
    of custom kinds.
    """
    await documents(api)
    document = (await api("GET", "/openapi/v3/apis/probe.dev/v1")).tree
    assert document["info"] == {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
    named = "/apis/probe.dev/v1/namespaces/{namespace}/widgets/{name}"
    assert {f"{named}/status", named, "/apis/probe.dev/v1/widgets"} < document["paths"].keys()
    patch = document["paths"][named]["patch"]
    assert (patch["operationId"], patch["tags"]) == ("patchProbeDevV1NamespacedWidget", ["probeDev_v1"])
    assert list(patch["requestBody"]["content"]) == [
        "application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"]
    assert list(patch["responses"]["200"]["content"]) == ["application/json", "application/yaml"]


async def test_what_is_published_follows_the_definition(api: Api) -> None:
    """Given a client that keeps what it read by its ETag, when the schema changes, then the hash in
    the index and the ETags do; when the definition goes, then so does the document.
    """
    await documents(api)

    async def tags() -> tuple[str, str]:
        index = orjson.loads((await api("GET", "/openapi/v3")).response.body)["paths"]["apis/probe.dev/v1"]
        return index["serverRelativeURL"], (await api("GET", "/openapi/v2")).headers("ETag")[0]

    before = await tags()
    assert await tags() == before
    path = [{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/more", "value": TEXT}]
    await api("PATCH", f"{DEFINITIONS}/widgets.probe.dev", path, {"content-type": "application/json-patch+json"})
    after = await tags()
    assert before[0] != after[0]
    assert before[1] != after[1]
    document = (await api("GET", "/openapi/v3/apis/probe.dev/v1")).tree
    assert "more" in document["components"]["schemas"]["dev.probe.v1.Widget"]["properties"]
    await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")
    assert (await api("GET", "/openapi/v3/apis/probe.dev/v1")).status == 404


async def test_a_root_that_keeps_unknown_fields_says_nothing_in_version_2(api: Api) -> None:
    """Given a root that keeps unknown fields, then version 2 names no field at all, or kubectl
    would refuse the others.
    """
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    await api("POST", DEFINITIONS, definition(versions=[version(schema=schema)]))
    published = (await api("GET", "/openapi/v2")).tree["definitions"]["dev.probe.v1.Widget"]
    assert published == {"type": "object", "x-kubernetes-group-version-kind": [
        {"group": "probe.dev", "kind": "Widget", "version": "v1"}]}
