"""What holds for every kind that a cluster can serve."""

from collections.abc import Iterator

import pytest

from fakekube.apimachinery.http import Frame, Request
from fakekube.apiserver.apiserver import APIServer
from fakekube.composition.controlplane import build_apiserver
from fakekube.composition.identity import Identity
from fakekube.composition.nodeagents import NodeAgents
from fakekube.composition.options import ClusterOptions
from fakekube.registry.kind import Kind
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng

FORMS = {
    "json": "application/json", "yaml": "application/yaml", "protobuf": "application/vnd.kubernetes.protobuf",
    "table": "application/json;as=Table;g=meta.k8s.io;v=v1",
}
ONE_BY_ONE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
STREAMED_LIST = {
    "watch": ["1"], "allowWatchBookmarks": ["1"], "sendInitialEvents": ["1"], "resourceVersionMatch": ["NotOlderThan"]}


class Receiver:
    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.ended = False

    def send(self, frame: Frame) -> None:
        self.frames.append(frame.data)

    def end(self) -> None:
        self.ended = True


@pytest.fixture(scope="module")
def server() -> APIServer:
    options = ClusterOptions.of(runtime_config="api/all=true")
    plane = build_apiserver(
        options, ManualClock(), Rng(0), identity=Identity(options), nodes=NodeAgents(lambda: None),
        service_accounts=lambda: False)
    return plane.apiserver


def kinds_with(server: APIServer, verb: str) -> Iterator[tuple[Kind, str]]:
    for kind in server.resources.kinds:
        if verb in kind.verbs:
            yield kind, f"/apis/{kind.api_version}/{kind.plural}" if kind.group else f"/api/{kind.version}/{kind.plural}"


@pytest.mark.parametrize("form", FORMS)
async def test_every_list_in_every_form(server: APIServer, form: str) -> None:
    """Given all kinds with what they hold from the start / when each is listed in a form / then all
    answer.
    """
    wrong = []
    for _, path in kinds_with(server, "list"):
        answer = await server.handle(Request("GET", path, {}, {"accept": FORMS[form]}))
        if answer.status != 200:
            wrong.append((path, answer.status, answer.body[:200]))
    assert wrong == []


@pytest.mark.spec("API-081")
@pytest.mark.parametrize("accept", [FORMS["json"], FORMS["table"], ONE_BY_ONE])
async def test_every_streamed_list_ends_in_its_bookmark(server: APIServer, accept: str) -> None:
    """Given all kinds / when each is watched with its list first / then the last frame so far marks
    the end of the list.
    """
    wrong = []
    for _, path in kinds_with(server, "watch"):
        answer = await server.handle(Request("GET", path, STREAMED_LIST, {"accept": accept}))
        assert answer.stream, path
        receiver = Receiver()
        answer.stream.start(receiver)
        answer.stream.stop()
        if receiver.ended or b"k8s.io/initial-events-end" not in receiver.frames[-1]:
            wrong.append((path, receiver.frames[-1:]))
    assert wrong == []


async def test_every_kind_has_its_patch_in_openapi(server: APIServer) -> None:
    """Given all kinds that can be patched / when OpenAPI v3 is read / then each has a PATCH that
    knows fieldValidation.
    """
    import orjson

    index = orjson.loads((await server.handle(Request("GET", "/openapi/v3"))).body)["paths"]
    found = []
    for name in index:
        document = orjson.loads((await server.handle(Request("GET", f"/openapi/v3/{name}"))).body)
        for item in document["paths"].values():
            if patch := item.get("patch"):
                assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]
                found.append(patch["x-kubernetes-group-version-kind"])
    for kind, _ in kinds_with(server, "patch"):
        assert {"group": kind.group, "version": kind.version, "kind": kind.kind} in found
