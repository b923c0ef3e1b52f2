"""Admission webhooks, as functions and over HTTPS: what they see, what becomes of what they say."""

import asyncio
import base64
import json
from contextlib import suppress
from typing import Any

import orjson
import pytest
from aiohttp import web

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from fakekube.testing.background import BackgroundCluster
from fakekube.webhooks import AdmissionRequest, Denied
from tests.webhooks.servers import Answering, Authority

MAPS = Resource("", "v1", "configmaps", "ConfigMap")
SERVICES = Resource("", "v1", "services", "Service")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
MUTATING = Resource(
    "admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", namespaced=False)
VALIDATING = Resource(
    "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", namespaced=False)
DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)
WEBS = Resource("example.com", "v1", "webs", "Web", namespaced=False)
DEFINITION: dict[str, Any] = {
    "metadata": {"name": "webs.example.com"}, "spec": {
        "group": "example.com", "scope": "Cluster", "names": {"plural": "webs", "kind": "Web"}, "versions": [{
            "name": "v1", "served": True, "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
PLAIN: dict[str, Any] = {"nodes": 0, "controllers": "", "clock": "manual"}


def config_map(name: str = "a", **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


async def refusal(client: Client, tree: dict[str, Any], **options: Any) -> APIError:
    with pytest.raises(APIError) as caught:
        await client.create(MAPS, tree, **options)
    return caught.value


@pytest.mark.spec("API-162")
async def test_function_that_denies() -> None:
    """Given a function that refuses some objects, when they are written, then the answer is that of
    a denying webhook, and nothing is stored.
    """
    async with Cluster(**PLAIN) as cluster:
        @cluster.webhook("configmaps", operations=["CREATE"])
        def no_secrets(request: AdmissionRequest) -> None:
            data = request.object.get("data", {})
            if "password" in data:
                raise Denied("no passwords", code=409, reason="Secret", details={"kind": "x"})
            if not data:
                raise Denied

        error = await refusal(cluster.client, config_map(password="x"))
        assert (error.code, error.reason, error.details) == (409, "Secret", {"kind": "x"})
        assert error.message == 'admission webhook "no-secrets.webhooks.fakekube.dev" denied the request: no passwords'
        error = await refusal(cluster.client, config_map())
        assert (error.code, error.reason) == (400, "")
        assert error.message.endswith("denied the request without explanation")
        assert (await cluster.client.list(MAPS, namespace="default")).items == []
        await cluster.client.create(MAPS, config_map(user="x"))


async def test_configuration_that_stands_for_a_function() -> None:
    """Given a function registered before the start, when the cluster runs, then there is a
    configuration of it, and whoever deletes it ends the calls."""
    cluster = Cluster(**PLAIN)

    @cluster.webhook("configmaps", failure_policy="Ignore", timeout_seconds=3)
    def deny_all(request: AdmissionRequest) -> None:
        raise Denied("no")

    async with cluster:
        found = await cluster.client.get(VALIDATING, "deny-all")
        [hook] = found["webhooks"]
        assert (hook["failurePolicy"], hook["timeoutSeconds"], hook["matchPolicy"]) == ("Ignore", 3, "Equivalent")
        await refusal(cluster.client, config_map())
        await cluster.client.delete(VALIDATING, "deny-all")
        await cluster.client.create(MAPS, config_map())
        await cluster.reset()
        await refusal(cluster.client, config_map())


@pytest.mark.spec("API-161")
async def test_mutation_is_decoded_defaulted_and_validated() -> None:
    """Given a function that changes services, when one is written, then what it adds is defaulted,
    and what is wrong with it is told as of any body."""
    async with Cluster(**PLAIN) as cluster:
        @cluster.webhook("services", operations=["CREATE"], mutating=True)
        def add_port(request: AdmissionRequest) -> None:
            if request.object["metadata"]["name"] == "mistyped":
                request.object["spec"]["ports"] = "none"
                return
            port = int(request.object["metadata"]["labels"]["port"])
            request.object["spec"]["ports"].append({"name": "more", "port": port})
            request.object["unknown"] = 1

        def service(name: str, port: str) -> dict[str, Any]:
            metadata = {"name": name, "namespace": "default", "labels": {"port": port}}
            return {
                "apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"name": "a", "port": 80}]}}

        made = await cluster.client.create(SERVICES, service("good", "81"))
        assert made["spec"]["ports"][1] == {"name": "more", "port": 81, "protocol": "TCP", "targetPort": 81}
        assert "unknown" not in made
        with pytest.raises(APIError) as caught:
            await cluster.client.create(SERVICES, service("bad", "70000"))
        assert caught.value.code == 422
        assert "spec.ports[1].port: Invalid value: 70000" in caught.value.message
        with pytest.raises(APIError) as caught:
            await cluster.client.create(SERVICES, service("mistyped", "1"))
        assert (caught.value.code, caught.value.reason) == (500, "InternalError")
        assert "cannot unmarshal string into Go struct field" in caught.value.message


@pytest.mark.spec("API-161")
async def test_reinvocation() -> None:
    """Given three mutating functions, the first of which wants to be asked again, when a later one
    changes the object, then the first alone is asked once more."""
    async with Cluster(**PLAIN) as cluster:
        calls: list[str] = []

        def adds(name: str, **options: Any) -> None:
            @cluster.webhook("configmaps", name=name, mutating=True, **options)
            def add(request: AdmissionRequest) -> None:
                calls.append(name)
                request.object.setdefault("data", {})[name] = "x"

        adds("a", reinvocation_policy="IfNeeded")
        adds("b")
        adds("c", reinvocation_policy="IfNeeded")
        made = await cluster.client.create(MAPS, config_map())
        assert calls == ["a", "b", "c", "a"]
        assert made["data"] == {"a": "x", "b": "x", "c": "x"}


@pytest.mark.spec("API-164")
async def test_what_functions_see() -> None:
    """Given a function that is asked about everything, when objects are written in every way, then
    it sees dry runs, old objects, options and the generated name; its own configuration it never
    sees.
    """
    async with Cluster(**PLAIN) as cluster:
        seen: list[Any] = []

        @cluster.webhook("*", "*/*", operations=["*"])
        def look(request: AdmissionRequest) -> None:
            seen.append((request.operation, request.name, request.dry_run, request.options.get("kind"),
                         request.object and request.object["data"], request.old_object and request.old_object["data"]))
            request.warn(f"saw {request.operation}")

        client = cluster.client
        await client.create(MAPS, config_map(k="1"), dry_run=True)
        await client.create(MAPS, config_map(k="1"))
        await client.patch(MAPS, "a", "default", {"data": {"k": "2"}})
        await client.delete(MAPS, "a", namespace="default")
        await client.delete(VALIDATING, "look")
        assert seen == [
            ("CREATE", "a", True, "CreateOptions", {"k": "1"}, None),
            ("CREATE", "a", False, "CreateOptions", {"k": "1"}, None),
            ("UPDATE", "a", False, "UpdateOptions", {"k": "2"}, {"k": "1"}),
            ("DELETE", "a", False, "DeleteOptions", None, {"k": "2"})]


async def test_connections() -> None:
    """Given a function that is asked about exec, when somebody asks for a command, then it sees the
    options of the connection, and its refusal is the answer."""
    from fakekube.apimachinery.http import Request

    async with Cluster(**PLAIN) as cluster:
        seen = []

        @cluster.webhook("pods/exec", operations=["CONNECT"])
        def no_exec(request: AdmissionRequest) -> None:
            seen.append((request.kind.kind, request.subresource, request.name, request.object))
            raise Denied("no commands", code=403)

        query = {"command": ["ls", "-l"], "stdout": ["true"], "stdin": ["false"]}
        answer = await cluster.apiserver.handle(Request("POST", "/api/v1/namespaces/default/pods/p/exec", query=query))
        assert (answer.status, b"denied the request: no commands" in answer.body) == (403, True)
        assert seen == [("PodExecOptions", "exec", "p", {
            "kind": "PodExecOptions", "apiVersion": "v1", "stdout": True, "command": ["ls", "-l"]})]


async def test_time_stands_still_for_a_webhook_outside() -> None:
    """Given a timer an hour away on a clock that leaps, when a write waits for a slow webhook
    behind HTTPS, then no time passes."""
    authority = Authority()

    async def slow(request: web.Request) -> web.Response:
        await asyncio.sleep(0.2)
        review = await request.json()
        return web.json_response({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], "allowed": True}})

    async with authority.serve(slow) as url, Cluster(nodes=0, controllers="", clock="auto") as cluster:
        await configure(cluster.client, url, authority)
        sleeping = asyncio.ensure_future(cluster.clock.sleep(3600))
        before = cluster.clock.time()
        await cluster.client.create(MAPS, config_map())
        assert cluster.clock.time() == before
        await sleeping
        assert cluster.clock.time() == before + 3600


async def test_function_that_waits() -> None:
    """Given an async function that sleeps on the cluster's clock and calls back, when a write waits
    for it, then both work, and one that sleeps too long has failed."""
    async with Cluster(nodes=0, controllers="", clock="auto") as cluster:
        @cluster.webhook("configmaps", timeout_seconds=5)
        async def slow(request: AdmissionRequest) -> None:
            await cluster.client.list(NAMESPACES)
            await cluster.clock.sleep(float(request.object["data"]["seconds"]))

        await cluster.client.create(MAPS, config_map("short", seconds="4"))
        error = await refusal(cluster.client, config_map("long", seconds="60"))
        assert error.message.endswith("context deadline exceeded")


def test_function_with_a_blocking_client() -> None:
    """Given a function in a background cluster that reads with a client that blocks, when a write
    asks it, then it answers."""
    from urllib.request import urlopen

    with BackgroundCluster(nodes=0, controllers="") as cluster:
        @cluster.webhook("configmaps", mutating=True)
        def count(request: AdmissionRequest) -> None:
            with urlopen(f"{cluster.url}/api/v1/namespaces") as answer:
                request.object["data"]["namespaces"] = str(len(orjson.loads(answer.read())["items"]))

        made = cluster.call(lambda each: each.client.create(MAPS, config_map(a="b")))
        assert int(made["data"]["namespaces"]) > 2


def hook(url: str, authority: Authority, **values: Any) -> dict[str, Any]:
    return {
        "name": "test.example.com", "clientConfig": {"url": url, "caBundle": authority.bundle}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "timeoutSeconds": 2,
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}], **values}


async def configure(client: Client, url: str, authority: Authority, resource: Resource = VALIDATING, **values: Any) -> None:
    await client.create(resource, {
        "apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": "test"},
        "webhooks": [hook(url, authority, **values)]})


def answering(**response: Any) -> Answering:
    async def answer(request: web.Request) -> web.Response:
        review = await request.json()
        return web.json_response({
            "apiVersion": review["apiVersion"], "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], "allowed": True, **response}})

    return answer


def patch(*operations: Any) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


@pytest.mark.spec("API-163")
async def test_unreachable_webhook_under_both_policies() -> None:
    """Given a webhook where nobody listens, when something is written, then it fails under Fail and
    passes under Ignore, with a note in the audit log of either."""
    authority = Authority()
    async with Cluster(**PLAIN) as cluster:
        await configure(cluster.client, "https://127.0.0.1:1/x", authority)
        error = await refusal(cluster.client, config_map())
        assert (error.code, error.reason) == (500, "InternalError")
        assert error.message == (
            'Internal error occurred: failed calling webhook "test.example.com": failed to call webhook: Post '
            '"https://127.0.0.1:1/x?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused')
        await cluster.client.delete(VALIDATING, "test")
        await configure(cluster.client, "https://127.0.0.1:1/x", authority, failurePolicy="Ignore")
        await cluster.client.create(MAPS, config_map())


@pytest.mark.spec("API-162", "API-163")
@pytest.mark.parametrize(("response", "code", "message"), [
    ({"allowed": False, "status": {"code": 70000, "message": "x"}}, 500, "denied the request: x"),
    ({"allowed": False, "status": {"code": "x"}}, 500, "cannot unmarshal string into Go struct field Status.code of type int32"),
    ({"allowed": False, "status": {"details": {"causes": 1}}}, 500, "StatusDetails.details.causes of type []v1.StatusCause"),
    ({"allowed": "yes"}, 500, "cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool"),
    ({"uid": "other"}, 500, 'received invalid webhook response: expected response.uid="'),
    ({"patch": "%%%"}, 500, "illegal base64 data at input byte 0"),
    ({"patch": "W10=", "patchType": "JSONPatch"}, 500, "validating webhook may not return response.patch"),
    ({"warnings": [1]}, 500, "cannot unmarshal number into Go struct field"),
])
async def test_answers_that_break_the_rules(response: dict[str, Any], code: int, message: str) -> None:
    """Given a validating webhook whose answer is no proper one, when something is written, then it
    fails in upstream's words."""
    authority = Authority()
    async with authority.serve(answering(**response)) as url, Cluster(**PLAIN) as cluster:
        await configure(cluster.client, url, authority)
        error = await refusal(cluster.client, config_map())
        assert (error.code, message in error.message) == (code, True), error.message


async def test_huge_and_deep_patches() -> None:
    """Given a webhook whose patch makes an object too deep or copies without end, when something is
    written, then it is refused, and the next request is answered."""
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    copies = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "x" * 100_000}}] + [
        {"op": "copy", "from": "/metadata/annotations", "path": f"/metadata/labels{number}"} for number in range(100)]
    authority = Authority()
    for operations in ([{"op": "add", "path": "/data", "value": deep}], copies):
        async with authority.serve(answering(**patch(*operations))) as url, Cluster(**PLAIN) as cluster:
            await configure(cluster.client, url, authority, MUTATING)
            error = await refusal(cluster.client, config_map())
            assert error.code == 500
            assert (await cluster.client.list(MAPS, namespace="default")).items == []


@pytest.mark.parametrize(("operations", "message"), [
    ([{"op": "remove", "path": "/nothing"}],
     "error in remove for path: '/nothing': Unable to remove nonexistent key: nothing: missing value"),
    ([{"op": "replace", "path": "/metadata/namespace", "value": "kube-system"}],
     "the namespace of the provided object does not match the namespace sent on the request"),
    ([{"op": "replace", "path": "/kind", "value": "Secret"}], "converting (v1.Secret) to (core.ConfigMap): unknown conversion"),
    ([{"op": "replace", "path": "/kind", "value": "Nothing"}], 'no kind "Nothing" is registered for version "v1"'),
    ([1], "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
])
async def test_patches_that_are_refused(operations: list[Any], message: str) -> None:
    """Given a webhook that answers a patch which cannot be, when something is written, then it is
    refused in upstream's words and nothing is stored."""
    authority = Authority()
    async with authority.serve(answering(**patch(*operations))) as url, Cluster(**PLAIN) as cluster:
        await configure(cluster.client, url, authority, MUTATING)
        error = await refusal(cluster.client, config_map())
        assert message in error.message
        assert (await cluster.client.list(MAPS, namespace="default")).items == []


async def test_what_only_the_server_knows_stays() -> None:
    """Given a webhook that gives a new object another name, uid, time and version, when it is
    created, then it has the name, and the server's uid and time."""
    authority = Authority()
    operations = [
        {"op": "add", "path": f"/metadata/{name}", "value": value} for name, value in (
            ("name", "other"), ("uid", "11111111-2222-3333-4444-555555555555"), ("creationTimestamp", "2001-01-01T00:00:00Z"))]
    async with authority.serve(answering(**patch(*operations))) as url, Cluster(**PLAIN) as cluster:
        await configure(cluster.client, url, authority, MUTATING)
        made = await cluster.client.create(MAPS, config_map())
        assert made["metadata"]["name"] == "other"
        assert not made["metadata"]["uid"].startswith("11111111")
        assert made["metadata"]["creationTimestamp"].startswith("2026")


async def test_update_that_changes_the_name() -> None:
    """Given a webhook that renames what is updated, when something is, then that is refused."""
    authority = Authority()
    renaming = answering(**patch({"op": "replace", "path": "/metadata/name", "value": "x"}))
    async with authority.serve(renaming) as url, Cluster(**PLAIN) as cluster:
        await cluster.client.create(MAPS, config_map())
        await configure(cluster.client, url, authority, MUTATING)
        with pytest.raises(APIError) as caught:
            await cluster.client.patch(MAPS, "a", "default", {"data": {"k": "v"}})
        assert (caught.value.code, "metadata.name" in caught.value.message) == (422, True)
        assert "data" not in await cluster.client.get(MAPS, "a", namespace="default")


async def test_two_webhooks_that_wait_for_each_other() -> None:
    """Given a webhook that writes what another is asked about, and the other way round, when
    something is written, then it ends by their timeouts, and other requests are answered meanwhile.
    """
    authority = Authority()
    async with Cluster(**PLAIN) as cluster:
        depth = 0

        async def answer(request: web.Request) -> web.Response:
            nonlocal depth
            review = await request.json()
            depth += 1
            with suppress(APIError):
                await cluster.client.create(MAPS, config_map(f"deep-{depth}"))
            return web.json_response({
                "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "response": {"uid": review["request"]["uid"], "allowed": True}})

        async with authority.serve(answer) as url:
            await configure(cluster.client, url, authority, timeoutSeconds=1)
            writing = asyncio.ensure_future(refusal(cluster.client, config_map()))
            assert await cluster.client.list(NAMESPACES)
            error = await writing
            assert "context deadline exceeded" in error.message
            await cluster.client.delete(VALIDATING, "test")


async def test_selectors_and_equivalent_versions() -> None:
    """Given a webhook for one version, one namespace and one label, when objects are written in
    another version, then it sees them in its own, and none of other places."""
    authority, seen = Authority(), []

    async def answer(request: web.Request) -> web.Response:
        review = await request.json()
        seen.append((review["request"]["object"]["apiVersion"], review["request"]["requestKind"]["version"]))
        return web.json_response({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], "allowed": True}})

    scalers = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")

    def scaler(name: str, namespace: str, label: str) -> dict[str, Any]:
        return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": name, "namespace": namespace, "labels": {"kind": label}},
                "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}}

    async with authority.serve(answer) as url, Cluster(**PLAIN) as cluster:
        await configure(
            cluster.client, url, authority, objectSelector={"matchLabels": {"kind": "x"}},
            namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "default"}},
            rules=[{"apiGroups": ["autoscaling"], "apiVersions": ["v1"], "operations": ["CREATE"],
                    "resources": ["horizontalpodautoscalers"]}],
            matchConditions=[{"name": "named", "expression": "object.metadata.name != 'skipped'"}])
        for name, namespace, label in (
            ("a", "default", "x"), ("b", "default", "y"), ("c", "kube-system", "x"), ("skipped", "default", "x"),
        ):
            await cluster.client.create(scalers, scaler(name, namespace, label))
    assert seen == [("autoscaling/v1", "v2")]


async def test_which_writes_a_rule_covers_follows_what_is_configured_and_served() -> None:
    """Given webhooks for new config maps and for custom resources, when rules change, and a kind is
    served, goes and comes again, then each write is asked about by the rules and kinds of its
    moment."""
    asked: list[tuple[str, str]] = []
    async with Cluster(**PLAIN) as cluster:
        rule = {"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["configmaps"]}

        @cluster.webhook("configmaps", rules=[rule], mutating=True)
        def maps(request: AdmissionRequest) -> None:
            asked.append((request.operation, request.name))

        @cluster.webhook("*.example.com", rules=[{**rule, "apiGroups": ["example.com"], "resources": ["*"]}])
        def custom(request: AdmissionRequest) -> None:
            asked.append((request.operation, request.name))

        await cluster.client.create(MAPS, config_map("first"))
        with pytest.raises(APIError):
            await cluster.client.create(WEBS, {"metadata": {"name": "early"}})
        await cluster.client.create(DEFINITIONS, DEFINITION)
        await cluster.settle()
        await cluster.client.create(WEBS, {"metadata": {"name": "late"}})
        rules = [{**rule, "operations": ["DELETE"]}]
        await cluster.client.patch(
            MUTATING, "maps", body=[{"op": "replace", "path": "/webhooks/0/rules", "value": rules}], type="json")
        await cluster.client.create(MAPS, config_map("second"))
        await cluster.client.delete(MAPS, "first", "default")
        await cluster.client.delete(DEFINITIONS, DEFINITION["metadata"]["name"])
        await cluster.settle()
        await cluster.client.create(DEFINITIONS, DEFINITION)
        await cluster.settle()
        await cluster.client.create(WEBS, {"metadata": {"name": "again"}})
    assert asked == [("CREATE", "first"), ("CREATE", "late"), ("DELETE", "first"), ("CREATE", "again")]


async def test_equivalent_version_that_a_webhook_converts() -> None:
    """Given a custom kind whose versions a webhook converts and a function that is asked about the
    other version, when an object is written, then the function sees it as that version, and what it
    changes comes back."""
    from tests.apiextensions.definitions import custom_object, definition
    from tests.apiextensions.test_conversion import VERSIONS, Webhook

    async def convert(request: web.Request) -> web.Response:
        asked = (await request.json())["request"]
        converted = [Webhook.converted(each, asked["desiredAPIVersion"]) for each in asked["objects"]]
        return web.json_response({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "response": {"uid": asked["uid"], "result": {"status": "Success"}, "convertedObjects": converted}})

    authority, seen = Authority(), []
    async with authority.serve(convert) as url, Cluster(**PLAIN) as cluster:
        await cluster.load([definition(versions=VERSIONS, conversion={"strategy": "Webhook", "webhook": {
            "clientConfig": {"url": url, "caBundle": authority.bundle}, "conversionReviewVersions": ["v1"]}})])

        @cluster.webhook(mutating=True, rules=[{
            "apiGroups": ["probe.dev"], "apiVersions": ["v2"], "operations": ["CREATE"], "resources": ["widgets"]}])
        def widen(request: AdmissionRequest) -> None:
            seen.append((request.kind.version, dict(request.object["spec"])))
            request.object["spec"]["width"] += 1

        widgets = Resource("probe.dev", "v1", "widgets", "Widget")
        tree = custom_object("a", spec={"size": 1})
        tree["metadata"]["namespace"] = "default"
        made = await cluster.client.create(widgets, tree)
    assert (seen, made["spec"]) == ([("v2", {"width": 1})], {"size": 2})
