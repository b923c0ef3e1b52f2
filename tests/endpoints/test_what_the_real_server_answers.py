"""Corners of requests, with the answers of a kube-apiserver 1.37.1 to the very same requests."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
import pytest
import pytest_asyncio

from fakekube import Cluster
from fakekube.apimachinery.http import Request
from fakekube.client import users

Answer = tuple[int, Any]
Ask = Callable[..., Awaitable[Answer]]
MAPS, NOPE = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/configmaps/nope"
MERGE, STRATEGIC, JSON_PATCH = (f"application/{name}+json" for name in ("merge-patch", "strategic-merge-patch", "json-patch"))
THING = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.x.example"},
    "spec": {"group": "x.example", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"}, "versions": [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}


@pytest_asyncio.fixture
async def ask() -> AsyncIterator[Ask]:
    """Sends a request to a cluster with a ConfigMap ``a`` and the kind Thing."""
    async with Cluster(nodes=0, controllers="namespace,serviceaccount", clock="manual") as cluster:
        async def send(method: str, path: str, body: Any = None, media: str = "application/json", **headers: str) -> Answer:
            path, _, query = path.partition("?")
            pairs = [pair.partition("=") for pair in query.split("&") if pair]
            data = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
            answer = await cluster.apiserver.handle(Request(
                method, path, {name: [value] for name, _, value in pairs}, {"content-type": media, **headers}, data,
                user=users.admin()))
            return answer.status, orjson.loads(answer.body)

        assert (await send("POST", MAPS, {"metadata": {"name": "a"}}))[0] == 201
        assert (await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", THING))[0] == 201
        await cluster.settle()
        yield send


@pytest.mark.parametrize(("path", "rows"), [
    (MAPS, []), ("/api/v1/pods", []), ("/apis/apps/v1/deployments", []), ("/apis/x.example/v1/things", []),
    ("/api/v1/limitranges", None), ("/apis/rbac.authorization.k8s.io/v1/roles", None),
    ("/apis/rbac.authorization.k8s.io/v1/clusterroles", None), ("/apis/storage.k8s.io/v1/csistoragecapacities", None),
    ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", None),
])
async def test_lists_of_nothing(ask: Ask, path: str, rows: Any) -> None:
    """Given no object that is meant, when a list is asked for as a Table or of metadata alone, then
    its rows are null where the kind has no printer of its own, and the items always are.
    """
    nobody = f"{path}?labelSelector=zz"
    _, found = await ask("GET", nobody, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert (found["kind"], found["rows"]) == ("Table", rows)
    _, found = await ask("GET", nobody, accept="application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
    assert (found["kind"], found["items"]) == ("PartialObjectMetadataList", None)
    assert (await ask("GET", nobody))[1]["items"] == []


@pytest.mark.parametrize(("media", "body", "told"), [
    (MERGE, b"null", "Invalid JSON Patch"),
    (MERGE, b"5", "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"),
    (MERGE, b'{"a":1e999}', "error decoding patch: json: cannot unmarshal number 1e999 into Go value of type float64"),
    (STRATEGIC, b"[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    (JSON_PATCH, b"{}", "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
    (JSON_PATCH, b"[5]", "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
])
async def test_a_patch_of_what_is_not_there(ask: Ask, media: str, body: bytes, told: str) -> None:
    """Given a patch that is JSON, but no patch, when its object is not there, then that is said;
    else what is wrong with the patch. One that is no JSON is refused first.
    """
    strict = "?fieldValidation=Strict"
    code, found = await ask("PATCH", NOPE + strict, body, media)
    assert (code, found["message"]) == (404, 'configmaps "nope" not found')
    code, found = await ask("PATCH", f"{MAPS}/a{strict}", body, media)
    assert (code, found["message"]) == (400, told)
    code, found = await ask("PATCH", NOPE + strict, b"{", media)
    assert (code, found["message"]) == (400, "invalid JSON patch")


@pytest.mark.parametrize(("query", "told"), [
    ("uid=x", "the UID in the precondition (x) does not match the UID in record ("),
    ("resourceVersion=1", "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ("),
    ("resourceVersion=1&uid=x", "the UID in the precondition (x) does not match the UID in record ("),
])
async def test_preconditions_of_a_deletion_in_its_query(ask: Ask, query: str, told: str) -> None:
    """Given no body, when a deletion's query has a uid or a version, then these are its
    preconditions; empty ones are none.
    """
    code, found = await ask("DELETE", f"{MAPS}/a?dryRun=All&{query}")
    assert (code, found["message"].partition(": ")[2][:len(told)]) == (409, told)
    assert (await ask("DELETE", f"{MAPS}/a?dryRun=All&uid=&resourceVersion="))[0] == 200
    code, found = await ask("DELETE", f"{MAPS}/a?{query}&ignoreStoreReadErrorWithClusterBreakingPotential=true")
    assert (code, found["message"]) == (
        422, ('DeleteOptions.meta.k8s.io "" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: '
        "cannot be set together with .preconditions"))


@pytest.mark.parametrize(("method", "path", "kind"), [("POST", MAPS, "CreateOptions"), ("PUT", f"{MAPS}/a", "UpdateOptions")])
async def test_the_order_of_what_is_wrong_with_options(ask: Ask, method: str, path: str, kind: str) -> None:
    """Given options that are all wrong, when they are told, then the manager comes first."""
    query = "?dryRun=x&fieldValidation=x&fieldManager=a\n"
    code, found = await ask(method, path + query, {"metadata": {"name": "a"}})
    assert (code, found["message"]) == (
        422, (f'{kind}.meta.k8s.io "" is invalid: [fieldManager: Invalid value: "a\\n": invalid character U+000A '
        '(at position 1), dryRun: Unsupported value: ["x"]: supported values: "All", fieldValidation: Unsupported value: "x": '
        'supported values: "", "Ignore", "Strict", "Warn"]'))


@pytest.mark.parametrize(("body", "told"), [(b"", "empty data (<empty>)"), (b"k8s\0", "empty body (6b387300)")])
async def test_protobuf_of_nothing(ask: Ask, body: bytes, told: str) -> None:
    """Given Protobuf without an object, when it is posted, then it is told what it is not."""
    code, found = await ask("POST", MAPS, body, "application/vnd.kubernetes.protobuf")
    assert (code, found["message"]) == (400, f"the object provided is unrecognized (must be of type ConfigMap): {told}")


NOT_REGISTERED, UNKNOWN = "no kind {} is registered for version {} in scheme ", "converting ({}) to ({}): unknown conversion"
DEFINITIONS, SERVICES = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/apiregistration.k8s.io/v1/apiservices"


@pytest.mark.parametrize(("path", "version", "kind", "told"), [
    (MAPS, "apps/v1", "Deployment", UNKNOWN.format("v1.Deployment", "core.ConfigMap")),
    (MAPS, "v1", "Status", UNKNOWN.format("v1.Status", "core.ConfigMap")),
    (MAPS, "x.example/v1", "Thing", NOT_REGISTERED.format('"Thing"', '"x.example/v1"')),
    (MAPS, "apiregistration.k8s.io/v1", "APIService", NOT_REGISTERED.format('"APIService"', '"apiregistration.k8s.io/v1"')),
    (DEFINITIONS, "v1", "Pod", NOT_REGISTERED.format('"Pod"', '"v1"')),
    (DEFINITIONS, "v1", "Status", UNKNOWN.format("v1.Status", "apiextensions.CustomResourceDefinition")),
    (SERVICES, "apiextensions.k8s.io/v1", "CustomResourceDefinition",
     NOT_REGISTERED.format('"CustomResourceDefinition"', '"apiextensions.k8s.io/v1"')),
])
async def test_what_each_scheme_knows(ask: Ask, path: str, version: str, kind: str, told: str) -> None:
    """Given the schemes of three servers, when a body is of another kind, then it is unknown to
    the endpoint's scheme, or cannot be converted in it; custom kinds are in none.
    """
    code, found = await ask("POST", path, {"apiVersion": version, "kind": kind})
    assert code == 400
    assert found["message"].startswith(f'{kind} in version "v1" cannot be handled as a ')
    assert told in found["message"]


@pytest.mark.parametrize("path", [
    "/api/v1/nodes/n/proxy", "/api/v1/nodes/nope/proxy/", "/api/v1/namespaces/default/pods/nope/proxy",
    "/api/v1/namespaces/default/services/nope/proxy/"])
async def test_proxies_of_what_has_no_address(ask: Ask, path: str) -> None:
    """Given a node without addresses, when its proxy is asked, then that is an error of the server;
    a dry run is refused before anything is looked for.
    """
    await ask("POST", "/api/v1/nodes", {"metadata": {"name": "n"}})
    code, found = await ask("POST", f"{path}?dryRun=All")
    assert (code, found["message"]) == (400, "dryRun is not supported")
    assert (await ask("GET", f"{path}?dryRun="))[1]["message"] == "dryRun is not supported"
    assert await ask("GET", "/api/v1/nodes/n/proxy/") == (500, {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 500,
        "message": "no preferred addresses found; known addresses: []"})


async def test_an_autoscaler_of_v1_as_v2(ask: Ask) -> None:
    """Given an autoscaler that was made through v1, when it is read as v2, then it has what v2
    prints in any case.
    """
    path = "/apis/autoscaling/v{}/namespaces/default/horizontalpodautoscalers"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 40}
    assert (await ask("POST", path.format(1), {"metadata": {"name": "h"}, "spec": spec}))[0] == 201
    _, found = await ask("GET", f"{path.format(2)}/h")
    assert found["status"] == {"desiredReplicas": 0, "currentMetrics": None}
    _, found = await ask("GET", f"{path.format(1)}/h")
    assert found["status"] == {"currentReplicas": 0, "desiredReplicas": 0}


async def test_an_apply_of_fields_below_what_keeps_unknown_ones(ask: Ask) -> None:
    """Given a custom kind whose root keeps unknown fields, when an apply has one two levels below,
    in an item of a list too, then it is taken, though the schema there names fields.
    """
    inner = {"type": "object", "properties": {"a": {"type": "integer"}}}
    spec = {"type": "object", "properties": {"one": inner, "many": {"type": "array", "items": inner}}}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"spec": spec}}
    definition = orjson.loads(orjson.dumps(THING).replace(b"hing", b"rust"))
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    assert (await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition))[0] == 201
    body = {"apiVersion": "x.example/v1", "kind": "Trust", "metadata": {"name": "t"},
            "spec": {"one": {"a": 1, "other": "x"}, "many": [{"other": 1}]}}
    code, found = await ask(
        "PATCH", "/apis/x.example/v1/namespaces/default/trusts/t?fieldManager=m&fieldValidation=Ignore", body,
        "application/apply-patch+yaml")
    assert code == 201
    assert found["metadata"]["managedFields"][0]["fieldsV1"] == {
        "f:spec": {"f:many": {}, "f:one": {"f:a": {}, "f:other": {}}}}


async def test_nulls_that_an_apply_brings(ask: Ask) -> None:
    """Given a custom kind, when nulls stand where none may be, then an apply is refused, for a new
    object and for one that is there; a POST and a patch drop them.
    """
    spec = {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "boolean"}}, "d": {
        "type": "string", "default": "x"}, "n": {"type": "string", "nullable": True}}}
    definition = orjson.loads(orjson.dumps(THING).replace(b"hing", b"rust"))
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": spec}}
    assert (await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition))[0] == 201
    path, applied = "/apis/x.example/v1/namespaces/default/trusts", "application/apply-patch+yaml"

    def body(name: str, **spec: Any) -> Any:
        return {"apiVersion": "x.example/v1", "kind": "Trust", "metadata": {"name": name}, "spec": spec}

    code, found = await ask("POST", path, body("t", b=None, d=None, n=None))
    assert (code, found["spec"]) == (201, {"d": "x", "n": None})
    for name in ("t", "new"):
        code, found = await ask("PATCH", f"{path}/{name}?fieldManager=m&force=true", body(name, b=None), applied)
        assert (code, found["message"]) == (422, (
            f'Trust.x.example "{name}" is invalid: spec.b: Invalid value: "null": spec.b in body must be of type array: "null"'))
        code, found = await ask("PATCH", f"{path}/{name}?fieldManager=m&force=true", body(name, d=None, n=None), applied)
        assert (code, found["spec"]) == (200 if name == "t" else 201, {"d": "x", "n": None})
    code, found = await ask("PATCH", f"{path}/t", {"spec": {"b": None}}, MERGE)
    assert (code, found["spec"]) == (200, {"d": "x", "n": None})


async def test_the_generation_counts_fields_that_are_null(ask: Ask) -> None:
    """Given a custom object that keeps unknown fields, when a null is taken out of it, then its
    generation is another.
    """
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = orjson.loads(orjson.dumps(THING).replace(b"hing", b"rust"))
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    assert (await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition))[0] == 201
    path, head = "/apis/x.example/v1/namespaces/default/trusts", {"apiVersion": "x.example/v1", "kind": "Trust"}
    _, made = await ask("POST", path, {**head, "metadata": {"name": "t"}, "a": None})
    version = made["metadata"]["resourceVersion"]
    _, found = await ask("PUT", f"{path}/t", {**head, "metadata": {"name": "t", "resourceVersion": version}})
    assert (made["metadata"]["generation"], found["metadata"]["generation"]) == (1, 2)


async def test_what_probes_and_hooks_have_while_a_gate_is_off(ask: Ask) -> None:
    """Given a pod whose probes and hooks name a protocol and a mode, when the gates for them are
    off, then both are dropped before anybody looks at them.
    """
    hook = {"httpGet": {"path": "/", "port": 1, "protocol": "ICMP"}}
    container = {"name": "c", "image": "i", "lifecycle": {"postStart": hook, "preStop": hook},
                 "livenessProbe": hook, "readinessProbe": {"grpc": {"port": 1, "mode": "None"}}}
    code, found = await ask("POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": "p"}, "spec": {
        "containers": [container]}})
    assert code == 201
    read = found["spec"]["containers"][0]
    kept = {"path": "/", "port": 1, "scheme": "HTTP"}
    assert [read["lifecycle"]["postStart"]["httpGet"], read["livenessProbe"]["httpGet"]] == [kept, kept]
    assert read["readinessProbe"]["grpc"] == {"port": 1, "service": ""}


async def test_how_a_selector_is_shown(ask: Ask) -> None:
    """Given a Job, when its selector is to change, then it is told with its labels first, in the
    order of their keys.
    """
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
    path = "/apis/batch/v1/namespaces/default/jobs"
    _, made = await ask("POST", path, {"metadata": {"name": "j"}, "spec": spec})
    labels = made["spec"]["selector"]["matchLabels"]
    made["spec"]["selector"] = {
        "matchExpressions": [{"key": "k", "operator": "Exists"}], "matchLabels": {"z": "1", **labels, "a": "2"}}
    code, found = await ask("PUT", f"{path}/j", made)
    [(key, uid)] = labels.items()
    shown = (f'{{"matchLabels":{{"a":"2","{key}":"{uid}","z":"1"}},"matchExpressions":[{{"key":"k","operator":"Exists"}}]}}')
    assert code == 422
    assert f"spec.selector: Invalid value: {shown}: field is immutable" in found["message"]


async def test_fields_of_leases_while_their_gate_is_off(ask: Ask) -> None:
    """Given a Lease, when an update brings fields of coordinated leader election, then they are
    dropped where the gate for them is off, as those of a new one are.
    """
    path, brought = "/apis/coordination.k8s.io/v1/namespaces/default/leases", {"strategy": "x", "preferredHolder": "y"}
    _, made = await ask("POST", path, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", **brought}})
    code, found = await ask("PATCH", f"{path}/l", {"spec": brought}, MERGE)
    assert (made["spec"], code, found["spec"]) == ({"holderIdentity": "me"}, 200, {"holderIdentity": "me"})


async def test_an_object_of_no_declared_type_in_cel(ask: Ask) -> None:
    """Given a condition with an object of a type that nobody declared, when it is checked, then
    what is in the object is not looked at.
    """
    hook = {"name": "a.example.com", "clientConfig": {"url": "https://a.example/x"}, "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "matchConditions": [{"name": "m", "expression": "Object{metadata: Other{a: b}}"}]}
    path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    code, found = await ask("POST", path, {"metadata": {"name": "m"}, "webhooks": [hook]})
    assert code == 422
    assert found["message"].endswith(
        "compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object' (in container '')\n"
        " | Object{metadata: Other{a: b}}\n | ......^")


async def test_the_health_of_volumes_while_its_gate_is_off(ask: Ask) -> None:
    """Given a pod, when a status tells of its volumes' health, then that is dropped where the gate
    for it is off.
    """
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert (await ask("POST", "/api/v1/namespaces/default/pods", pod))[0] == 201
    told = {"status": {"phase": "Running", "volumeHealth": [{"name": "v", "healthConditions": []}]}}
    code, found = await ask("PATCH", "/api/v1/namespaces/default/pods/p/status", told, MERGE)
    assert (code, found["status"]["phase"], "volumeHealth" in found["status"]) == (200, "Running", False)
