"""Versions of API groups that a Handler of the process answers."""

import asyncio
import json
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.composition.cluster import Cluster
from tests.aggregator.servers import API_SERVICES, DOCUMENTS, FISCHER, LIST, NAME, PATH, V3_DOCUMENT, Fish
from tests.apiextensions.definitions import definition, version
from tests.apiserver.conftest import Receiver

AGGREGATED = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}


async def ask(cluster: Cluster, path: str, method: str = "GET", *, body: bytes = b"", **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await cluster.apiserver.handle(Request(method, path, headers=named, body=body))


async def read(cluster: Cluster, path: str, **headers: str) -> Any:
    answer = await ask(cluster, path, **headers)
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


async def available(cluster: Cluster, name: str = NAME) -> tuple[str, str, str]:
    found = await read(cluster, f"{API_SERVICES}/{name}")
    condition = found["status"]["conditions"][0]
    return condition["status"], condition["reason"], condition["message"]


async def row(cluster: Cluster, group: str = "wardle.dev") -> Any:
    items = (await read(cluster, "/apis", **AGGREGATED))["items"]
    return next((each["versions"] for each in items if each["metadata"]["name"] == group), None)


async def test_a_handler_is_discovered_and_asked() -> None:
    """Given a Handler for a version of a group / when the cluster has settled / then an APIService
    says that it is available, every form of discovery and OpenAPI names what it serves, and
    requests reach it.
    """
    async with Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, Fish())
        await cluster.settle()
        assert await available(cluster) == ("True", "Passed", "all checks passed")
        assert (await read(cluster, "/apis"))["groups"][-1]["name"] == "wardle.dev"
        assert (await read(cluster, "/apis/wardle.dev"))["preferredVersion"] == {
            "groupVersion": "wardle.dev/v1", "version": "v1"}
        assert await row(cluster) == [{"version": "v1", "resources": [{
            "resource": "fischers", "responseKind": {"group": "", "version": "", "kind": "Fischer"}, "scope": "Namespaced",
            "singularResource": "fischer", "verbs": ["get", "list", "watch"], "shortNames": ["fi"], "subresources": [
                {"subresource": "status", "responseKind": {"group": "", "version": "", "kind": "Fischer"}, "verbs": ["get"]}],
        }], "freshness": "Current"}]
        assert (await read(cluster, "/openapi/v3"))["paths"]["apis/wardle.dev/v1"] == {
            "serverRelativeURL": "/openapi/v3/apis/wardle.dev/v1?hash=FISH"}
        assert await read(cluster, "/openapi/v3/apis/wardle.dev/v1") == V3_DOCUMENT
        assert f"{PATH}/fischers" in (await read(cluster, "/openapi/v2"))["paths"]
        assert {"/apis/wardle.dev", PATH} <= set((await read(cluster, "/"))["paths"])
        fischers = await cluster.client.resource("fi")
        assert (await cluster.client.list(fischers)).items == LIST["items"]
        assert await cluster.client.get(fischers, "anna", "default") == FISCHER


async def test_openapi_v2_has_what_the_server_says_of_its_version() -> None:
    """Given a Handler whose document speaks of other paths too / when ours is read / then it has
    its own paths and what they need, and another tag than before; a protobuf form exists.
    """
    async with Cluster(controllers="") as cluster:
        before = await ask(cluster, "/openapi/v2")
        cluster.aggregate(NAME, Fish())
        await cluster.settle()
        answer = await ask(cluster, "/openapi/v2")
        found, ours = json.loads(answer.body), json.loads(before.body)
        assert set(found["paths"]) - set(ours["paths"]) == {f"{PATH}/fischers"}
        assert set(found["definitions"]) - set(ours["definitions"]) == {"dev.wardle.Fischer", "dev.wardle.Other"}
        assert dict(answer.headers)["ETag"] != dict(before.headers)["ETag"]
        encoded = await ask(cluster, "/openapi/v2", accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
        assert b"dev.wardle.Fischer" in encoded.body


async def test_what_the_server_is_told() -> None:
    """Given a Handler / when somebody who acts as another writes / then it sees whom they act as,
    and headers that are meant for us, or that claim an identity, do not reach it.
    """
    async with Cluster(controllers="") as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        answer = await ask(
            cluster, f"{PATH}/echo", "POST", body=b"hello", impersonate_user="robin", x_remote_user="evil", x_own="yes",
            authorization=f"Bearer {cluster.token}", x_forwarded_for="10.1.2.3", content_type="text/plain")
        assert (answer.status, answer.body) == (201, b"hello")
        names = [name for name, _ in answer.headers]
        assert "X-Own" in names
        assert "Access-Control-Allow-Origin" not in names
        asked = fish.asked[-1]
        assert asked.user is not None
        assert asked.user.name == "robin"
        assert dict(asked.headers) == {
            "x-own": "yes", "content-type": "text/plain", "x-forwarded-for": "10.1.2.3, 127.0.0.1",
            "x-forwarded-host": "v1.wardle.dev.handlers.fakekube.invalid:443", "x-forwarded-proto": "https",
            "x-forwarded-uri": f"{PATH}/echo"}


async def test_whoever_deletes_the_apiservice_ends_it() -> None:
    """Given a watch of a Handler's objects / when its APIService is deleted / then the watch ends,
    nothing of the version is served or discovered, and who is asked is we again.
    """
    async with Cluster(controllers="") as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        receiver = Receiver()
        answer = await cluster.apiserver.handle(Request("GET", f"{PATH}/fischers", {"watch": ["true"]}))
        assert answer.stream is not None
        answer.stream.start(receiver)
        fish.stream.tell("ADDED")
        assert [event["type"] for event in receiver.events] == ["ADDED"]
        assert (await ask(cluster, f"{API_SERVICES}/{NAME}", "DELETE")).status == 200
        assert (receiver.ended, fish.stream.is_stopped) == (True, True)
        fish.stream.tell("MODIFIED")
        assert len(receiver.events) == 1
        for path in (PATH, "/apis/wardle.dev", f"{PATH}/fischers"):
            answer = await ask(cluster, path)
            assert (answer.status, answer.body) == (404, b"404 page not found\n")
        assert await row(cluster) is None
        assert "apis/wardle.dev/v1" not in (await read(cluster, "/openapi/v3"))["paths"]


async def test_a_watch_that_is_answered_too_late_ends_at_once() -> None:
    """Given a Handler that takes its time with a watch / when the APIService is deleted meanwhile /
    then the watch ends as it begins.
    """
    class Slow(Fish):
        def __init__(self) -> None:
            super().__init__()
            self.may_answer = asyncio.Event()

        async def handle(self, request: Request) -> Response:
            if request.flag("watch"):
                await self.may_answer.wait()
            return await super().handle(request)

    async with Cluster(controllers="") as cluster:
        fish = Slow()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        asked = asyncio.ensure_future(
            cluster.apiserver.handle(Request("GET", f"{PATH}/fischers", {"watch": ["true"]})))
        await asyncio.sleep(0)
        await ask(cluster, f"{API_SERVICES}/{NAME}", "DELETE")
        fish.may_answer.set()
        answer = await asked
        assert answer.stream is not None
        receiver = Receiver()
        answer.stream.start(receiver)
        assert (receiver.ended, fish.stream.is_stopped) == (True, True)


async def test_a_handler_that_raises() -> None:
    """Given a Handler with a defect / when a client meets it / then 500, and the next request is
    answered; when the check meets it / then the cluster raises it, as the defect of a test.
    """
    class Broken(Fish):
        async def handle(self, request: Request) -> Response:
            if request.path in (f"{PATH}/broken", "/apis/lake.dev/v1"):
                raise RuntimeError("of the test")
            return await super().handle(request)

    cluster = Cluster(controllers="")
    await cluster.start()
    cluster.aggregate(NAME, Broken())
    await cluster.settle()
    answer = await ask(cluster, f"{PATH}/broken")
    assert (answer.status, b"RuntimeError: of the test" in answer.body) == (500, True)
    assert (await ask(cluster, f"{PATH}/fischers")).status == 200
    cluster.aggregate("v1.lake.dev", Broken())
    with pytest.raises(RuntimeError, match="of the test"):
        await cluster.settle()
    await cluster.stop()


async def test_a_receiver_that_leaves_stops_the_stream() -> None:
    """Given a watch of a Handler's objects / when the receiver leaves / then the Handler knows."""
    async with Cluster(controllers="") as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        answer = await cluster.apiserver.handle(Request("GET", f"{PATH}/fischers", {"watch": ["true"]}))
        assert answer.stream is not None
        answer.stream.start(Receiver())
        answer.stream.stop()
        assert fish.stream.is_stopped


@pytest.mark.parametrize(("path", "garbage"), [
    (PATH, b"{"), (PATH, b"[]"), (PATH, b'{"resources": [{"name": 5}]}'), (PATH, b'{"resources": {"a": 1}}'),
    (PATH, b'{"resources": [{"name": "a/b", "verbs": 7}]}'), (PATH, b"[" * 100_000),
    (PATH, b'{"resources": [{"name": "a", "namespaced": true}, {"name": "a/b"}]}'),
])
async def test_discovery_that_is_none(path: str, garbage: bytes) -> None:
    """Given a Handler whose discovery is garbage / when clients discover / then its version is
    there, stale and empty, and everything else as ever.
    """
    async with Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, Fish(DOCUMENTS | {path: garbage}))
        await cluster.settle()
        assert await row(cluster) == [{"version": "v1", "freshness": "Stale"}]
        assert (await row(cluster, "apps"))[0]["freshness"] == "Current"


@pytest.mark.parametrize(("path", "garbage"), [
    ("/openapi/v2", b"{"), ("/openapi/v2", b'{"paths": []}'), ("/openapi/v2", b'{"paths": {"/apis/wardle.dev/v1/x": 5}}'),
    ("/openapi/v2", b'{"paths": {}, "definitions": {"a": [1]}}'), ("/openapi/v3", b"7"), ("/openapi/v3", b'{"paths": {"a": 1}}'),
    ("/openapi/v2", b'{"paths": {"/apis/wardle.dev/v1/x": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}}"),
])
async def test_openapi_that_is_none(path: str, garbage: bytes) -> None:
    """Given a Handler whose OpenAPI is garbage / when ours is read in each form / then it is ours
    alone.
    """
    async with Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, Fish(DOCUMENTS | {path: garbage}))
        await cluster.settle()
        for each in ("/openapi/v2", "/openapi/v3"):
            assert "/apis/apps/v1/deployments" in str((await read(cluster, each))["paths"]) or each == "/openapi/v3"
        encoded = await ask(cluster, "/openapi/v2", accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
        assert encoded.status == 200


async def test_openapi_v3_of_a_server_that_has_v2_alone() -> None:
    """Given a Handler without OpenAPI v3 / when ours is read / then it names a document, which is
    made of the other one; its hash stays while that does.
    """
    operation = {
        "consumes": ["application/json"], "produces": ["application/json"], "operationId": "create",
        "x-kubernetes-action": "post",
        "parameters": [{"name": "body", "in": "body", "schema": {"$ref": "#/definitions/Pike"}},
                       {"name": "pretty", "in": "query", "type": "string", "uniqueItems": True}],
        "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/Pike", "description": "it"}}}}
    pike = {"type": "object", "properties": {
        "next": {"$ref": "#/definitions/Pike"}, "all": {"type": "array", "items": {"$ref": "#/definitions/Pike"}},
        "any": {"type": "object", "additionalProperties": {"$ref": "#/definitions/Pike"}}}}
    v2 = {"swagger": "2.0", "info": {"title": "fish", "version": "1"}, "definitions": {"Pike": pike}, "paths": {
        f"{PATH}/pikes": {"post": operation, "parameters": [
            {"name": "namespace", "in": "path", "required": True, "type": "string"}]}}}
    documents = {path: found for path, found in DOCUMENTS.items() if not path.startswith("/openapi")} | {"/openapi/v2": v2}
    async with Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, Fish(documents))
        await cluster.settle()
        url = (await read(cluster, "/openapi/v3"))["paths"]["apis/wardle.dev/v1"]["serverRelativeURL"]
        path, _, digest = url.partition("?hash=")
        found = await read(cluster, path)
        reference = {"$ref": "#/components/schemas/Pike"}
        content = {"application/json": {"schema": reference}}
        answered = {"application/json": {"schema": {"description": "it", "allOf": [reference]}}}
        assert found["paths"][f"{PATH}/pikes"] == {
            "post": {"operationId": "create", "x-kubernetes-action": "post", "requestBody": {"content": content}, "parameters": [
                {"name": "pretty", "in": "query", "schema": {"type": "string", "uniqueItems": True}}], "responses": {"200": {
                    "description": "OK", "content": answered}}},
            "parameters": [{"name": "namespace", "in": "path", "required": True, "schema": {"type": "string"}}]}
        assert found["components"]["schemas"]["Pike"]["properties"] == {
            "next": reference, "all": {"type": "array", "items": reference},
            "any": {"type": "object", "additionalProperties": reference}}
        assert (await ask(cluster, path, if_none_match=f'"{digest}"')).status == 304
        encoded = await ask(cluster, path, accept="application/com.github.proto-openapi.spec.v3.v1.0+protobuf")
        assert b"Pike" in encoded.body
        await cluster.advance(31)
        assert (await read(cluster, "/openapi/v3"))["paths"]["apis/wardle.dev/v1"]["serverRelativeURL"] == url


async def test_openapi_v3_of_versions_that_are_ours_stays_ours() -> None:
    """Given a Handler that claims documents of ours / when they are read / then they are ours, but
    for that of a version which the Handler has taken over.
    """
    def index(*names: str) -> dict[str, Any]:
        return {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash=FISH"} for name in names}}

    documents = DOCUMENTS | {
        "/openapi/v3": index("api/v1", "apis", "version", "apis/apps", "apis/apps/v1", "apis/probe.dev/v1", "apis/own.dev"),
        "/apis/probe.dev/v1": {"resources": []}, "/openapi/v3/apis/probe.dev/v1": V3_DOCUMENT}
    async with Cluster(controllers="") as cluster:
        cluster.aggregate("v1.probe.dev", Fish(documents))
        await cluster.load([definition()])
        await cluster.settle()
        paths = (await read(cluster, "/openapi/v3"))["paths"]
        claimed = [name for name, entry in paths.items() if entry["serverRelativeURL"].endswith("FISH")]
        assert sorted(claimed) == ["apis/own.dev", "apis/probe.dev/v1"]
        assert await read(cluster, "/openapi/v3/apis/probe.dev/v1") == V3_DOCUMENT
        assert (await read(cluster, "/openapi/v3/apis/apps/v1"))["info"]["title"] == "Kubernetes"


async def test_aggregated_discovery_of_a_server_is_preferred() -> None:
    """Given a Handler with an aggregated document / when clients discover / then its rows are
    those, looked at field by field.
    """
    class Aggregated(Fish):
        async def handle(self, request: Request) -> Response:
            answer = await super().handle(request)
            if request.path == "/apis":
                answer.content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            return answer

    served = {"resource": "pikes", "scope": "Cluster", "verbs": ["get"], "responseKind": None, "odd": 1}
    document = {"items": [{"metadata": {"name": "wardle.dev"}, "versions": [{"version": "v1", "resources": [served]}]}]}
    async with Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, Aggregated(DOCUMENTS | {"/apis": document}))
        await cluster.settle()
        assert await row(cluster) == [{"version": "v1", "resources": [{
            "resource": "pikes", "responseKind": {"group": "", "version": "", "kind": ""}, "scope": "Cluster",
            "singularResource": "", "verbs": ["get"]}], "freshness": "Current"}]


async def test_a_server_that_fails_its_check_is_not_asked() -> None:
    """Given a Handler that does not serve its version / when it is checked / then its APIService
    says so, requests get 503 in plain text, and discovery is stale; when it serves it / then it is
    available after a retry.
    """
    async with Cluster(controllers="") as cluster:
        fish = Fish({})
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        url = f"https://{NAME}.handlers.fakekube.invalid:443{PATH}"
        assert await available(cluster) == (
            "False", "FailedDiscoveryCheck", f"failing or missing response from {url}: bad status from {url}: 404")
        answer = await ask(cluster, f"{PATH}/fischers")
        assert (answer.status, answer.body, answer.content_type) == (503, b"service unavailable\n", "text/plain; charset=utf-8")
        assert dict(answer.headers)["X-Content-Type-Options"] == "nosniff"
        assert await row(cluster) == [{"version": "v1", "freshness": "Stale"}]
        fish.documents = dict(DOCUMENTS)
        await cluster.advance(1)
        assert (await available(cluster))[0] == "True"
        assert (await row(cluster))[0]["freshness"] == "Current"


async def test_a_server_that_dies_later_is_noticed() -> None:
    """Given a Handler that is available / when it does not serve its version any more / then that
    is noticed half a minute later, and its documents are gone.
    """
    async with Cluster(controllers="") as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        fish.documents = {}
        await cluster.advance(31)
        assert (await available(cluster))[1] == "FailedDiscoveryCheck"
        assert "apis/wardle.dev/v1" not in (await read(cluster, "/openapi/v3"))["paths"]


async def test_the_apiservice_decides_who_answers() -> None:
    """Given a definition of a group / when somebody lets another server answer for its version /
    then it does; when the APIService goes / then we do again, by an APIService of our own.
    """
    fish = Fish(DOCUMENTS | {"/apis/probe.dev/v1/widgets": {"kind": "Whale"}, "/apis/probe.dev/v1": {"resources": []}})
    async with Cluster(controllers="") as cluster:
        await cluster.load([definition(versions=[version(), version("v2", storage=False)])])
        assert (await read(cluster, "/apis/probe.dev/v1/widgets"))["kind"] == "WidgetList"
        await ask(cluster, f"{API_SERVICES}/v1.probe.dev", "DELETE")
        service = cluster._calls.registered.add("v1.probe.dev", fish, ca_bundle=b"", group_priority=10, version_priority=5)
        found = await read(cluster, f"{API_SERVICES}/v1.probe.dev")
        service["metadata"] = {**found["metadata"], "labels": {}}
        assert (await ask(cluster, f"{API_SERVICES}/v1.probe.dev", "PUT", body=json.dumps(service).encode(),
                          content_type="application/json")).status == 200
        await cluster.settle()
        assert (await read(cluster, "/apis/probe.dev/v1/widgets"))["kind"] == "Whale"
        assert (await read(cluster, "/apis/probe.dev/v2/widgets"))["kind"] == "WidgetList"
        assert [each["version"] for each in await row(cluster, "probe.dev")] == ["v2", "v1"]
        await ask(cluster, f"{API_SERVICES}/v1.probe.dev", "DELETE")
        assert (await read(cluster, "/apis/probe.dev/v1/widgets"))["kind"] == "WidgetList"
        assert (await available(cluster, "v1.probe.dev"))[1] == "Local"
        assert [each["version"] for each in await row(cluster, "probe.dev")] == ["v2", "v1"]


async def test_groups_are_in_the_order_of_their_apiservices() -> None:
    """Given Handlers for groups with priorities / when clients discover / then both documents have
    them where their priorities say.
    """
    async with Cluster(controllers="") as cluster:
        cluster.aggregate("v1.first.dev", Fish(), group_priority=19000)
        cluster.aggregate("v1.last.dev", Fish(), group_priority=5)
        cluster.aggregate("v1beta1.first.dev", Fish(), group_priority=1, version_priority=100)
        await cluster.load([definition()])
        await cluster.settle()
        plain = [each["name"] for each in (await read(cluster, "/apis"))["groups"]]
        assert plain[:3] == ["apiregistration.k8s.io", "first.dev", "apps"]
        assert plain[-2:] == ["probe.dev", "last.dev"]
        assert [each["metadata"]["name"] for each in (await read(cluster, "/apis", **AGGREGATED))["items"]] == plain
        assert (await read(cluster, "/apis/first.dev"))["preferredVersion"]["version"] == "v1beta1"


async def test_documents_are_kept_while_nothing_changes() -> None:
    """Given a Handler / when discovery is read with the tag of what was read / then 304, until what
    is served changes.
    """
    async with Cluster(controllers="") as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        tag = dict((await ask(cluster, "/apis", **AGGREGATED)).headers)["ETag"]
        media = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        assert b"fischers" in (await ask(cluster, "/apis", accept=media)).body
        await cluster.advance(31)
        assert (await ask(cluster, "/apis", **AGGREGATED, if_none_match=tag)).status == 304
        fish.documents[PATH] = {"resources": []}
        await cluster.advance(31)
        assert (await ask(cluster, "/apis", **AGGREGATED, if_none_match=tag)).status == 200


async def test_our_own_server_behind_an_apiservice_does_not_hang() -> None:
    """Given an APIService that leads back to ourselves / when it is asked / then 503, also when
    somebody says that it is available.
    """
    async with Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, cluster.apiserver)
        await cluster.settle()
        assert (await available(cluster))[1] == "FailedDiscoveryCheck"
        assert (await ask(cluster, PATH)).body == b"service unavailable\n"
        found = await read(cluster, f"{API_SERVICES}/{NAME}")
        found["status"]["conditions"][0]["status"] = "True"
        body = json.dumps(found).encode()
        await ask(cluster, f"{API_SERVICES}/{NAME}/status", "PUT", body=body, content_type="application/json")
        answer = await ask(cluster, PATH)
        assert (answer.status, answer.body) == (503, b"error trying to reach service: stopped after 16 proxies\n")


async def test_a_redirect_is_not_passed_on() -> None:
    """Given a Handler that redirects / when it is asked / then 502, as upstream has it."""
    class Redirecting(Fish):
        async def handle(self, request: Request) -> Response:
            if request.path == f"{PATH}/elsewhere":
                return Response(307, headers=[("Location", "/api")])
            return await super().handle(request)

    async with Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, Redirecting())
        await cluster.settle()
        answer = await ask(cluster, f"{PATH}/elsewhere")
        text = b"the backend attempted to redirect this request, which is not permitted"
        assert (answer.status, answer.body) == (502, text)


async def test_rbac_holds_for_aggregated_resources() -> None:
    """Given RBAC / when somebody without a role asks for a Handler's objects / then 403, and the
    Handler is not asked.
    """
    async with Cluster(controllers="", authorization_mode="RBAC") as cluster:
        fish = Fish()
        cluster.aggregate(NAME, fish)
        await cluster.settle()
        before = len(fish.asked)
        request = Request("GET", f"{PATH}/namespaces/default/fischers", user=UserInfo("robin"))
        answer = await cluster.apiserver.handle(request)
        assert answer.status == 403
        assert b'cannot list resource \\"fischers\\" in API group \\"wardle.dev\\"' in answer.body
        assert len(fish.asked) == before


async def test_names_that_are_taken_or_no_version() -> None:
    """Given a Handler for a version / when another one is to have it / then ValueError; when a name
    is no version of a group / then an APIError.
    """
    async with Cluster(controllers="") as cluster:
        cluster.aggregate(NAME, Fish())
        with pytest.raises(ValueError, match=r"there is a server for 'v1\.wardle\.dev' already"):
            cluster.aggregate(NAME, Fish())
        with pytest.raises(APIError, match=r"spec\.version"):
            cluster.aggregate("1.wardle.dev", Fish())


async def test_it_is_there_again_after_a_reset() -> None:
    """Given Handlers that were named before the start and after it / when the cluster is reset /
    then both answer again; a fork has the APIServices, and says that nobody answers.
    """
    cluster = Cluster(controllers="")
    cluster.aggregate(NAME, Fish())
    async with cluster:
        cluster.aggregate("v1.lake.dev", Fish({"/apis/lake.dev/v1": {"resources": []}}))
        await cluster.settle()
        await cluster.reset()
        await cluster.settle()
        for name in (NAME, "v1.lake.dev"):
            assert await available(cluster, name) == ("True", "Passed", "all checks passed")
        assert (await ask(cluster, f"{PATH}/fischers")).status == 200
        async with cluster.fork() as other:
            await other.advance(31)
            assert (await available(other))[2].endswith("no handler v1.wardle.dev is registered")
            assert (await ask(other, f"{PATH}/fischers")).status == 503
