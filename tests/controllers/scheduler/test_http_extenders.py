"""What is sent to an extender, and what becomes of its answer."""

import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from fakekube_controllers.scheduler.config.model import ConfigurationError, ExtenderConfig
from fakekube_controllers.scheduler.framework.extender import ExtenderError
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.http_extender import HTTPExtender
from tests.controllers.scheduler.plugins.cases import node, pod

VERBS = {"filterVerb": "f", "prioritizeVerb": "p", "bindVerb": "b", "preemptVerb": "e", "weight": 2}
POD, NODES = pod_info(pod()), [node("a"), node("b")]
TREES = [each.node for each in NODES]


class Server:
    """Answers every POST in one way, and remembers them."""

    def __init__(self, answer: Any = None, status: int = 200, body: bytes | None = None, error: OSError | None = None) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self._answer = status, orjson.dumps(answer) if body is None else body
        self._error = error

    async def post(self, url: str, body: bytes, authorities: bytes, seconds: float) -> tuple[int, bytes]:
        """One POST."""
        self.sent.append((url, orjson.loads(body), authorities, seconds))
        if self._error is not None:
            raise self._error
        return self._answer


def extender(server: Server | None = None, **fields: Any) -> HTTPExtender:
    context: Any = SimpleNamespace(options={} if server is None else {"post": server.post})
    return HTTPExtender(context, ExtenderConfig.model_validate({"urlPrefix": "http://x/", **VERBS, **fields}))


def test_an_extender_is_what_the_configuration_says() -> None:
    """Given a configuration / then the extender has its name, weight, verbs, and whether it may be
    ignored.
    """
    made, bare = extender(Server(), ignorable=True), extender(Server(), **dict.fromkeys(list(VERBS)[:4], ""))
    assert (made.name, made.weight, made.is_ignorable) == ("http://x/", 2, True)
    assert (made.is_filter, made.is_prioritizer, made.is_binder, made.supports_preemption) == (True,) * 4
    assert (bare.is_ignorable, bare.is_filter, bare.is_prioritizer, bare.is_binder, bare.supports_preemption) == (False,) * 5


async def test_nodes_are_sent_whole_or_by_name() -> None:
    """Given an extender without and with a cache of nodes / then it gets the pod with the nodes, or
    with their names, and its answer may be either.
    """
    server = Server({"Nodes": {"items": [TREES[1]]}, "NodeNames": ["a"], "FailedNodes": {"a": "no"},
    "FailedAndUnresolvableNodes": {"c": "never"}})
    result = await extender(server).filter(POD, NODES)
    assert (list(result.nodes), result.failed, result.unresolvable) == ([NODES[1]], {"a": "no"}, {"c": "never"})
    result = await extender(server, nodeCacheCapable=True, httpTimeout="3s").filter(POD, NODES)
    assert (list(result.nodes), result.failed) == ([NODES[0]], {"a": "no"})
    assert server.sent == [
        ("http://x/f", {"Pod": POD.pod, "Nodes": {"metadata": {}, "items": TREES}, "NodeNames": None}, b"", 5.0),
        ("http://x/f", {"Pod": POD.pod, "Nodes": None, "NodeNames": ["a", "b"]}, b"", 3.0)]
    empty = await extender(Server({})).filter(POD, NODES)
    assert (list(empty.nodes), empty.failed, empty.unresolvable) == ([], {}, {})
    whole = await extender(Server({"Nodes": {"items": [TREES[1]]}}), nodeCacheCapable=True).filter(POD, NODES)
    assert list(whole.nodes) == [NODES[1]]


async def test_scores_binding_and_preemption() -> None:
    """Given an extender / then its scores are by host, it is told which pod goes where, and which
    victims there are.
    """
    server = Server([{"Host": "a", "Score": 3}, {"Host": "b", "Score": "7"}])
    assert await extender(server).prioritize(POD, NODES) == {"a": 3, "b": 7}
    assert server.sent[0][0] == "http://x/p"
    server = Server({})
    await extender(server).bind(POD, "a")
    assert server.sent[0][:2] == ("http://x/b", {"PodName": "p", "PodNamespace": "n", "PodUID": "n/p", "Node": "a"})
    victims = {"a": [pod_info(pod("v")), pod_info(pod("w"))], "b": [pod_info(pod("u"))]}
    server = Server({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "n/w"}]}, "b": None}})
    kept = await extender(server).process_preemption(POD, victims, {"a": 4})
    assert kept == {"a": [victims["a"][1]], "b": []}
    assert server.sent[0][:2] == ("http://x/e", {"Pod": POD.pod, "NodeNameToVictims": {
        "a": {"Pods": [each.pod for each in victims["a"]], "NumPDBViolations": 4},
        "b": {"Pods": [victims["b"][0].pod], "NumPDBViolations": 0}}})
    await extender(server, nodeCacheCapable=True).process_preemption(POD, victims, {})
    assert server.sent[1][1]["NodeNameToMetaVictims"]["a"] == {"Pods": [{"UID": "n/v"}, {"UID": "n/w"}], "NumPDBViolations": 0}
    assert await extender(Server({})).process_preemption(POD, victims, {}) == {}


NOT_THERE = 'extender "http://x/" claims a filtered node "c" which is not found in the input node list'


@pytest.mark.parametrize(("server", "call", "text"), [
    (Server({"Nodes": {"items": [{"metadata": {"name": "c"}}]}}), "filter", NOT_THERE),
    (Server({"Error": "bad"}), "filter", "bad"),
    (Server([]), "filter", "extender http://x/: the answer to f is no object"), (Server(None, 500), "filter", (
        "failed f with extender at URL http://x/f, code 500")),
    (Server(body=b"{"), "filter", "extender http://x/: the answer to f is no JSON"),
    (Server(error=OSError("down")), "filter", 'Post "http://x/f": down'),
    (Server([{"Host": "a"}]), "prioritize", "extender http://x/: the answer is no list of hosts with scores"),
    (Server([{"Host": "a", "Score": "x"}]), "prioritize", "extender http://x/: the answer is no list of hosts with scores"),
    (Server(3), "prioritize", "extender http://x/: the answer is no list of hosts with scores"),
    (Server({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "z"}]}}}), "preempt", (
        "extender: http://x/ claims to preempt a pod that is not on node a")),
    (Server({"Error": "busy"}), "bind", "busy"),
])
async def test_an_answer_that_makes_no_sense_says_so(server: Server, call: str, text: str) -> None:
    """Given an extender that cannot be asked, or answers with nonsense / then the error says which
    and how.
    """
    made = extender(server)
    calls = {
        "filter": lambda: made.filter(POD, NODES), "prioritize": lambda: made.prioritize(POD, NODES),
        "bind": lambda: made.bind(POD, "a"), "preempt": lambda: made.process_preemption(POD, {"a": []}, {})}
    with pytest.raises(ExtenderError) as failed:
        await calls[call]()
    assert str(failed.value) == text


@pytest.mark.parametrize(("spec", "interested"), [
    ({}, False), ({"containers": [{"name": "c", "resources": {"requests": {"a.b/c": "1"}}}]}, True),
    ({"containers": [{"name": "c", "resources": {"limits": {"a.b/c": "1"}}}]}, True),
    ({"containers": [{"name": "c", "resources": {"requests": {"a.b/d": "1"}}}]}, False),
    ({"initContainers": [{"name": "c", "resources": {"requests": {"a.b/c": "1"}}}]}, True),
])
def test_an_extender_manages_some_resources(spec: Any, interested: bool) -> None:
    """Given an extender that manages a resource / then only pods that ask for it concern it; one
    that manages none is asked about all.
    """
    assert extender(Server(), managedResources=[{"name": "a.b/c"}]).is_interested(pod_info(pod(**spec))) is interested
    assert extender(Server()).is_interested(pod_info(pod(**spec)))


async def test_authorities_come_from_the_configuration_or_a_file(tmp_path: Path) -> None:
    """Given authorities as data or in a file / then they are used for the requests; what is not
    modelled, or cannot be read, is refused.
    """
    file = tmp_path / "ca"
    file.write_bytes(b"from a file")
    for tls, expected in (({"caData": base64.b64encode(b"data").decode()}, b"data"), ({"caFile": str(file)}, b"from a file"),
    ({}, b"")):
        server = Server({})
        await extender(server, tlsConfig=tls).bind(POD, "a")
        assert server.sent[0][2] == expected
    for refused in ({"certFile": "x"}, {"certData": "x"}, {"insecure": True}):
        with pytest.raises(ConfigurationError,
        match=r"^extender http://x/: client certificates and insecure TLS are not modelled$"):
            extender(Server(), tlsConfig=refused)
    for broken in ({"caData": "x"}, {"caFile": str(tmp_path / "none")}):
        with pytest.raises(ConfigurationError, match=r"^extender http://x/: tlsConfig: "):
            extender(Server(), tlsConfig=broken)
    with pytest.raises(ConfigurationError, match=r"^extender http://x/: nothing here sends requests to extenders$"):
        extender()
