"""What a server says of what it serves, as it is read, converted and merged."""

from typing import Any

import pytest

from fakekube.aggregator import swagger
from fakekube.aggregator.conversion import to_v3
from fakekube.aggregator.documents import documents_of, of_list
from fakekube.aggregator.merging import Named, group_list, groups_of, named
from fakekube.aggregator.remote import Documents
from fakekube.apimachinery.http import Response
from fakekube.apimachinery.types import Tree
from tests.aggregator.parts import OneServer, handled

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ROW = {
    "resource": "webs", "responseKind": {"group": "g.example", "version": "v1", "kind": "Web"}, "scope": "Namespaced",
    "singularResource": "web", "verbs": ["get", "list"], "shortNames": ["w"], "categories": ["all"],
    "subresources": [{"subresource": "status", "responseKind": {"group": "", "version": "", "kind": "Web"}, "verbs": ["get"]}]}
LISTED = {"resources": [
    {"name": "webs", "singularName": "web", "namespaced": True, "group": "g.example", "version": "v1", "kind": "Web",
     "verbs": ["get", "list"], "shortNames": ["w"], "categories": ["all"], "other": 1},
    {"name": "webs/status", "namespaced": True, "kind": "Web", "verbs": ["get"]}]}


def page(tree: Any, content_type: str = AGGREGATED, status: int = 200) -> Response:
    import orjson

    return Response(status, orjson.dumps(tree), content_type)


def items(*rows: Any, group: str = "g.example", version: str = "v1") -> Tree:
    return {"items": [
        {"metadata": {"name": "other"}, "versions": [{"version": "v1", "resources": [1]}]},
        {"metadata": {"name": group}, "versions": [{"version": "v0", "resources": [1]},
            {"version": version, "resources": list(rows)}]}]}


@pytest.mark.parametrize(("pages", "resources"), [
    ({}, None), ({"_apis": page(items(ROW))}, (ROW,)), ({"_apis": page(items(ROW, version="v2"))}, ()),
    ({"_apis": page(items(ROW, group="h"))}, ()), ({"_apis": page(items({"resource": 1}))}, None),
    ({"_apis": page(items({**ROW, "verbs": "get"}))}, None), ({"_apis": page([])}, None),
    ({"_apis": page(items(ROW), AGGREGATED, 503), "_apis_g.example_v1": LISTED}, None),
    ({"_apis": page(items(ROW), AGGREGATED, 406), "_apis_g.example_v1": LISTED}, (ROW,)),
    ({"_apis": page(items(ROW), "application/json"), "_apis_g.example_v1": LISTED}, (ROW,)),
    ({"_apis": page(items(ROW), "application/json;g=apidiscovery.k8s.io;v=v2"), "_apis_g.example_v1": LISTED}, (ROW,)),
    ({"_apis": page({}, "text/plain"), "_apis_g.example_v1": page(LISTED, "application/json", 500)}, None),
    ({"_apis": page({}, "text/plain"), "_apis_g.example_v1": {"resources": [{"name": 7}]}}, None),
])
async def test_discovery_is_read(pages: dict[str, Any], resources: tuple[Tree, ...] | None) -> None:
    """Given aggregated documents, plain ones and nonsense, when a server is asked, then the rows of
    its version are read, or nothing is known.
    """
    server = OneServer(**pages)
    assert await documents_of(handled(server)) == Documents(resources)
    who = {request.path: (request.user.name if request.user else "", request.headers) for request in server.asked}
    assert who["/apis"] == ("system:kube-aggregator", {"accept": AGGREGATED})
    assert who["/openapi/v3"] == who["/openapi/v2"] == ("system:aggregator", {"accept": "application/json"})


def test_rows_of_a_list() -> None:
    """Given an APIResourceList with what is below a resource that is not there, and one whose scope
    differs, when read, then the first stands by itself, and the second is refused.
    """
    assert of_list({"resources": [{"name": "a/scale", "namespaced": False, "kind": "Scale", "verbs": None}]}) == ({
        "resource": "a", "responseKind": {"group": "", "version": "", "kind": ""}, "scope": "Cluster", "singularResource": "",
        "verbs": [], "subresources": [
            {"subresource": "scale", "responseKind": {"group": "", "version": "", "kind": "Scale"}, "verbs": []}]},)
    assert of_list({}) == ()
    with pytest.raises(ValueError, match="scopes of a and a/b do not match"):
        of_list({"resources": [{"name": "a", "namespaced": True}, {"name": "a/b"}]})


V2 = {"swagger": "2.0", "paths": {"/apis/g.example/v1/": {"get": {"responses": {}}}, "/other": {}}, "definitions": {}}


async def test_openapi_is_read_and_kept() -> None:
    """Given both documents, when a server is asked twice, then what did not change is the same
    object; one that has no v3 gets it made of its v2.
    """
    entry = {"paths": {"apis/g.example/v1": {"serverRelativeURL": "/x"}}}
    server = OneServer(_openapi_v3=entry, _openapi_v2=V2)
    remote = handled(server)
    first = remote.documents = await documents_of(remote)
    assert (first.v3, first.converted) == ({"apis/g.example/v1": "/x"}, None)
    assert first.v2 == {"paths": {"/apis/g.example/v1/": {"get": {"responses": {}}}}, "definitions": {}}
    assert (await documents_of(remote)).v2 is first.v2
    server.pages["/openapi/v3"] = None
    old = remote.documents = await documents_of(remote)
    assert old.v3 == {}
    assert old.converted is not None
    assert (await documents_of(remote)).converted is old.converted
    server.pages["/openapi/v2"] = {**V2, "paths": 7}
    broken = await documents_of(remote)
    assert (broken.v2, broken.converted, broken.v2_body) != (None, None, b"")
    assert (broken.v2, broken.converted) == (None, None)
    server.pages["/openapi/v2"] = page(V2, "application/json", 500)
    assert await documents_of(remote) == Documents()


def reference(name: str) -> Tree:
    return {"$ref": f"#/definitions/{name}"}


def test_v2_becomes_v3() -> None:
    """Given a v2 document with everything that is converted, then the whole v3 is upstream's."""
    parameter = {
        "name": "p", "in": "query", "description": "d", "required": True, "type": "string", "format": "f", "uniqueItems": True,
        "x-a": 1, "other": 2}
    body = {"name": "body", "in": "body", "schema": reference("A")}
    operation = {
        "description": "d", "externalDocs": {}, "tags": ["t"], "summary": "s", "deprecated": True, "operationId": "o", "x-b": 1,
        "consumes": ["c/d"], "produces": ["e/f", "g/h"], "schemes": ["https"], "parameters": [body, parameter],
        "responses": {"200": {"description": "OK", "schema": reference("A")}, "401": {"schema": {}}, "500": {}}}
    plain = {"responses": {"200": {"description": "OK", "schema": {"type": "string"}}}, "parameters": [
        {"name": "body", "in": "query", "schema": None} | {"schema": reference("B")} | {"name": "b"}]}
    document = {
        "info": {"title": "t"},
        "paths": {"/a": {"get": operation, "patch": plain, "x-c": 1, "parameters": [parameter], "trace": {}}},
        "definitions": {
            "A": {"type": "object", "properties": {"b": reference("B"), "c": {"description": "d", **reference("B")}},
                  "additionalProperties": reference("B"), "additionalItems": True},
            "B": {"type": "array", "items": [reference("A"), {"items": reference("A")}]}},
        "securityDefinitions": {"s": {"description": "d", "type": "apiKey", "name": "n", "in": "header", "flow": "x"}}}
    in_v3 = {"$ref": "#/components/schemas/B"}, {"$ref": "#/components/schemas/A"}
    of_parameter = {
        "name": "p", "in": "query", "description": "d", "required": True, "x-a": 1,
        "schema": {"type": "string", "format": "f", "uniqueItems": True}}
    assert to_v3(document) == {
        "openapi": "3.0.0", "info": {"title": "t"},
        "paths": {"/a": {
            "x-c": 1, "parameters": [of_parameter],
            "get": {
                "description": "d", "externalDocs": {}, "tags": ["t"], "summary": "s", "deprecated": True, "operationId": "o",
                "x-b": 1, "requestBody": {"content": {"c/d": {"schema": in_v3[1]}}}, "parameters": [of_parameter],
                "responses": {
                    "200": {"description": "OK", "content": {"e/f": {"schema": in_v3[1]}, "g/h": {"schema": in_v3[1]}}},
                    "401": {"description": "", "content": {"e/f": {"schema": {}}, "g/h": {"schema": {}}}},
                    "500": {"description": ""}}},
            "patch": {"parameters": [{"name": "b", "in": "query", "schema": in_v3[0]}],
                "responses": {"200": {"description": "OK"}}}}},
        "components": {
            "schemas": {
                "A": {"type": "object", "properties": {"b": in_v3[0], "c": {"description": "d", "allOf": [in_v3[0]]}},
                      "additionalProperties": in_v3[0], "additionalItems": True},
                "B": {"type": "array", "items": [in_v3[1], {"items": in_v3[1]}]}},
            "securitySchemes": {"s": {"description": "d", "type": "apiKey", "name": "n", "in": "header"}}}}
    assert to_v3({"paths": {}}) == {"openapi": "3.0.0", "info": {}, "paths": {}, "components": {"schemas": {}}}


def test_what_is_about_a_version() -> None:
    """Given paths of two versions and definitions of both, of one and of none, then what only the
    other version needs goes.
    """
    def path(name: str) -> Tree:
        return {"get": {"responses": {"200": {"schema": reference(name)}}, "parameters": [
            {"name": "body", "in": "body", "schema": reference("Listed")}]}}

    definitions = {
        "Own": {"properties": {"x": reference("Deep")}}, "Deep": {"items": reference("Own")}, "Other": {}, "Unused": {},
        "Listed": {}}
    own, other = path("Own"), path("Other")
    made = swagger.about({"paths": {"/a/x": own, "/b": other}, "definitions": definitions}, "/a/")
    assert made == {"paths": {"/a/x": own}, "definitions": {
        name: definitions[name] for name in ("Own", "Deep", "Unused", "Listed")}}
    assert swagger.about({"paths": {"/a/x": own}, "definitions": definitions}, "/a/") == {
        "paths": {"/a/x": own}, "definitions": definitions}
    assert swagger.about({"paths": {}}, "/a/") == {"paths": {}, "definitions": {}}
    for broken in ({"paths": {"/a/x": {"get": {1}}}}, {"paths": {"/a/x": {"get": 5}}}):
        with pytest.raises((TypeError, ValueError, AttributeError, KeyError)):
            swagger.about(broken, "/a/")


def test_documents_are_merged() -> None:
    """Given definitions of one name that are the same, that differ in their kinds alone, and that
    differ, then the last get new names, also where they are referred to; our paths stay.
    """
    kinds = {"x-kubernetes-group-version-kind": [1]}
    own = {"swagger": "2.0", "paths": {"/b": {"own": 1}}, "definitions": {
        "Same": {"type": "object"}, "Kinds": {"type": "object"}, "Taken": {"a": 1}, "Taken_v2": {}}}
    other = {"paths": {"/a": {"s": [reference("Taken"), reference("Same")]}, "/b": {"other": 1}}, "definitions": {
        "Same": {"type": "object"}, "Kinds": {"type": "object", **kinds}, "Taken": {"items": reference("Taken")}, "New": {}}}
    merged = swagger.merged(own, [other, {"paths": {"/c": {"x": reference("New")}}, "definitions": {"New": {}}}])
    assert merged == {
        "swagger": "2.0",
        "paths": {"/a": {"s": [reference("Taken_v3"), reference("Same")]}, "/b": {"own": 1}, "/c": {"x": reference("New")}},
        "definitions": {
            "Kinds": {"type": "object"}, "New": {}, "Same": {"type": "object"}, "Taken": {"a": 1}, "Taken_v2": {},
            "Taken_v3": {"items": reference("Taken_v3")}}}
    assert list(merged["paths"]) == ["/a", "/b", "/c"]
    assert list(merged["definitions"]) == ["Kinds", "New", "Same", "Taken", "Taken_v2", "Taken_v3"]
    assert own["paths"] == {"/b": {"own": 1}}


def test_the_order_of_groups_and_versions() -> None:
    """Given APIServices of several priorities, then groups stand by theirs, then by the object's
    name, versions by theirs, then as Kubernetes orders versions; the core group is none, the own
    one first.
    """
    assert named({"group": "g", "version": "v1", "groupPriorityMinimum": 3, "versionPriority": 4}) == Named("g", "v1", 3, 4)
    assert named({}) == Named("", "", 0, 0)
    services = [
        Named("", "v1", 9, 9), Named("b", "v1beta1", 5, 1), Named("b", "v2", 5, 1), Named("b", "v1", 5, 1),
        Named("b", "v0", 5, 2),
        Named("a", "v1", 5, 1), Named("c", "v1", 7, 1), Named("apiregistration.k8s.io", "v1", 1, 1)]
    groups = groups_of(services)
    assert list(groups.items()) == [
        ("c", ["v1"]), ("b", ["v0", "v2", "v1", "v1beta1"]), ("a", ["v1"]), ("apiregistration.k8s.io", ["v1"])]
    listed = group_list(services)
    assert (listed["kind"], listed["apiVersion"]) == ("APIGroupList", "v1")
    assert [each["name"] for each in listed["groups"]] == ["apiregistration.k8s.io", "c", "b", "a"]
    assert listed["groups"][2] == {
        "name": "b", "versions": [{"groupVersion": f"b/{each}", "version": each} for each in ("v0", "v2", "v1", "v1beta1")],
        "preferredVersion": {"groupVersion": "b/v0", "version": "v0"}}
