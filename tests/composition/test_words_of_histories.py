"""What is said of a history, of members of a fleet, and of what is no version; word for word."""

from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apiserver.nodeproxy import LogOptions
from fakekube.composition import fleet
from fakekube.composition.nodeagents import NodeAgents
from fakekube.composition.options import OptionError
from fakekube.composition.snapshot_diff import ObjectDifference, of_clusters
from fakekube.testing import explain
from fakekube.util.treediff import Difference

Tree = dict[str, Any]


def change(number: int, time: float, obj: Tree, **more: Any) -> Any:
    values: Tree = {
        "revision": number, "time": time, "type": "MODIFIED", "name": "pods a/p", "object": obj, "before": None, "cause": None,
        "resource": GroupResource("", "pods"), "event": SimpleNamespace(record=SimpleNamespace(uid=f"u{number}"))}
    return SimpleNamespace(**{**values, **more})


def cause(acting: Any = None, fault: str = "") -> Any:
    return SimpleNamespace(method="PUT", path="/p", user_agent="agent", user="me", acting=acting, fault=fault)


def acted(component: str, key: Any, revision: str) -> Any:
    return SimpleNamespace(component=component, key=key, revision=revision)


class History:
    """One that is written down."""

    started = 10.0

    def __init__(self, *changes: Any) -> None:
        self.changes = list(changes)
        self.snapshot = SimpleNamespace(
            options=SimpleNamespace(seed=7, kubernetes_version="1.37", clock="auto"),
            storage=SimpleNamespace(has=lambda _: False))

    def change_at(self, revision: str) -> Any:
        return next((one for one in self.changes if str(one.revision) == revision), None)


@pytest.mark.parametrize(("by", "text"), [
    (None, "  by the server itself"), (cause(), "  PUT /p  by agent as me"),
    (cause(acted("job", ("a", "j"), "")), "  PUT /p  by agent as me, job at a/j"),
    (cause(acted("job", ("a", "j"), "5")), "  PUT /p  by agent as me, job at a/j, acting on #5"),
    (cause(acted("", None, "5"), "slow"), "  PUT /p  by agent as me, acting on #5, which met the fault slow"),
])
def test_a_write_has_a_line(by: Any, text: str) -> None:
    """Given a write, when it is told, then it is with all that is known of its request."""
    history: Any = History()
    assert explain.line(history, change(3, 75.5, {}, cause=by)) == f"#3 +1m5.5s MODIFIED pods a/p{text}"


def test_the_fields_of_a_write() -> None:
    """Given a write, when it is told, then six of its fields stand below it, without times and
    bookkeeping; those of what came or went, and of Events, do not.
    """
    history: Any = History()
    before: Tree = {"metadata": {"resourceVersion": "1"}, "lastProbeTime": 1}
    after: Tree = {"metadata": {"resourceVersion": "2"}, "lastProbeTime": 2, **{f"f{number}": number for number in range(7)}}
    told = list(explain.lines(history, change(3, 10, after, before=before)))
    assert told == ["#3 +0s MODIFIED pods a/p  by the server itself",
        *(f"    f{number}: (none) -> {number}" for number in range(6)),
                    "    and 1 more"]
    assert len(list(explain.lines(history, change(3, 10, after, before=before), 7))) == 8
    assert list(explain.lines(history, change(3, 10, after, before=before), 2))[-1] == "    and 5 more"
    for more in ({"before": None}, {"type": "DELETED", "before": before}, {"resource": GroupResource("", "events"),
        "before": before}):
        assert len(list(explain.lines(history, change(3, 10, after, **more)))) == 1


def event(number: int, uid: str, **more: Any) -> Any:
    about = {"kind": "Pod", "namespace": "a", "name": "p"}
    tree = {"type": "Normal", "reason": "R", "message": f"m{number}", "involvedObject": about, **more.pop("tree", {})}
    return change(number, 10.0 + number, tree, resource=GroupResource("", "events"), name=f"events a/{uid}", **{
        "event": SimpleNamespace(record=SimpleNamespace(uid=uid)), **more})


def test_what_is_explained() -> None:
    """Given a history, when it is explained, then the last Events and writes are told, 15 of each,
    without what was said already, and at last how to have it again.
    """
    writes = [change(number, 10.0, {}) for number in range(100, 117)]
    leases = change(117, 10.0, {}, resource=GroupResource("coordination.k8s.io", "leases"))
    events = [event(1, "e"), event(2, "f"), event(3, "e", tree={"count": 2}), event(4, "g", type="DELETED"),
              event(5, "h", tree={"type": "Warning", "involvedObject": {"kind": "Node", "name": "n"}})]
    history: Any = History(*events, *writes, leases)
    again = ("seed 7, Kubernetes 1.37, clock auto: @pytest.mark.fakekube(seed=7) or Cluster(seed=7) has the same history again")
    lines = [
        "the last Events:", "  +2s Normal R pod a/p: m2", "  +3s Normal R pod a/p: m3 (2 times)", "  +5s Warning R node n: m5",
        "the last writes:", *(f"  #{number} +0s MODIFIED pods a/p  by the server itself" for number in range(102, 117)), again]
    assert list(explain.explanation(history)) == lines
    assert list(explain.explanation(history, told=f"m5 {again} +2s Normal R pod a/p: m2")) == ["the last Events:", lines[2],
        *lines[4:-1]]
    assert [one.revision for one in explain.last_events(history, 2)] == [3, 5]
    assert [one.revision for one in explain.last_writes(history, 2)] == [115, 116]


def test_what_led_to_a_change() -> None:
    """Given changes that led to each other, when one is explained, then they are told, the latest
    first, twelve at most, and each once.
    """
    changes = [change(number, 10.0, {}, cause=cause(acted("c", None, str(number - 1)))) for number in range(1, 15)]
    history: Any = History(*changes)
    found = explain.chain(history, changes[-1])
    assert [one.revision for one in found] == list(range(14, 2, -1))
    assert next(iter(explain.explanation(history, changes[0]))) == "which came about like this, the latest first:"
    changes[0].cause.acting.revision = "2"
    assert [one.revision for one in explain.chain(history, changes[1])] == [2, 1]
    changes[1].cause = None
    assert [one.revision for one in explain.chain(history, changes[2])] == [3, 2]


@pytest.mark.parametrize(("names", "members", "options", "told"), [
    ((), {}, {}, "fleet: name its clusters, 100 at most: manager,worker1,worker2"),
    (tuple(f"a{number}" for number in range(101)), {}, {}, "fleet: name its clusters, 100 at most: manager,worker1,worker2"),
    (("A",), {}, {}, "fleet: 'A' is no name of a cluster: say letters, digits and dashes, as worker1"),
    (("a-",), {}, {}, "fleet: 'a-' is no name of a cluster: say letters, digits and dashes, as worker1"),
    (("a" * 64,), {}, {}, f"fleet: '{'a' * 64}' is no name of a cluster: say letters, digits and dashes, as worker1"),
    (("a", "a"), {}, {}, "fleet: there are two clusters 'a'"), (("a", "b"), {"c": {}}, {},
        "fleet: 'c' is none of its clusters: a, b"),
    (("a",), {"a": {"clock": "real"}}, {}, "fleet: clock is the same for all clusters: say it for the fleet"),
    (("a",), {}, {"state": 1}, "fleet: its clusters take no state"), (("a",), {"a": {"member": 1}}, {},
        "fleet: its clusters take no member"),
    (tuple(f"a{number}" for number in range(100)), {"a1": {"nodes": 1}}, {"nodes": 2}, None), (("a" * 63,), {}, {}, None),
])
def test_members_of_a_fleet(names: tuple[str, ...], members: Tree, options: Tree, told: str | None) -> None:
    """Given the names and options of a fleet, when it is made, then what is not possible is told.
    """
    if told is None:
        fleet._check(names, members, options)
        return
    with pytest.raises(OptionError) as refused:
        fleet._check(names, members, options)
    assert str(refused.value) == told
    assert fleet.names_of("a, b c,,") == ("a", "b", "c")


def test_what_differs_between_snapshots() -> None:
    """Given two snapshots, when they are compared, then objects and options that differ are told.
    """
    assert list(ObjectDifference("~", "pods", "a", "p", (Difference("a", 1, 2),)).lines()) == ["~ pods a/p", "    a: 1 -> 2"]
    assert list(ObjectDifference("+", "nodes", "", "n", ()).lines()) == ["+ nodes n"]
    from fakekube.composition.options import ClusterOptions

    first, second = (SimpleNamespace(time=time, options=ClusterOptions.of(**options)) for time, options in (
        (0.0, {"anonymous_auth": None}), (60.0, {"nodes": 2, "anonymous_auth": True})))
    assert list(of_clusters(cast("Any", first), cast("Any", second))) == [
        "time: 1970-01-01T00:00:00Z -> 1970-01-01T00:01:00Z", "nodes: 1 -> 2", "anonymous_auth: (none) -> true"]
    assert list(of_clusters(cast("Any", first), cast("Any", first))) == []


POD: Tree = {"metadata": {"namespace": "a", "name": "p"}, "spec": {}, "status": {}}


@pytest.mark.parametrize(("previous", "told"), [
    (True, 'previous terminated container "c" in pod "p" not found'),
    (False, 'container "c" in pod "p" is waiting to start: '),
])
async def test_logs_that_there_are_not(previous: bool, told: str) -> None:
    """Given no kubelet, when logs are asked for, then a kubelet's words say why there are none."""
    with pytest.raises(APIError) as refused:
        await NodeAgents(lambda: None).logs(POD, "c", LogOptions(previous=previous))
    assert refused.value.message.startswith(told)


@pytest.mark.parametrize(("path", "code", "body", "kind"), [
    ("/healthz", 200, b"ok", "text/plain; charset=utf-8"), ("/healthz/", 200, b"ok", "text/plain; charset=utf-8"),
    ("/x", 404, b"404 page not found\n", "text/plain; charset=utf-8"),
    *((path, 200, orjson.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": ["n"]}), "application/json")
      for path in ("/pods", "/pods/", "/runningpods")),
])
def test_pages_of_a_kubelet(path: str, code: int, body: bytes, kind: str) -> None:
    """Given a kubelet, when its pages are asked for, then they are as a kubelet's; of a silent node
    there is none.
    """
    kubelet = SimpleNamespace(server=SimpleNamespace(responds=lambda name: name == "n", pods_on=lambda name: [name]))
    agents = NodeAgents(lambda: kubelet)
    found = agents.node_page("n", path)
    assert found is not None
    assert (found.status, found.body, found.content_type) == (code, body, kind)
    assert agents.node_page("other", path) is None
    assert NodeAgents(lambda: None).node_page("n", path) is None
