"""What a pass over all nodes writes and says, and which events make one."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import LEASES, NODES, PODS
from fakekube_controllers.nodelifecycle.controller import NodeLifecycleReconciler
from tests.controllers.scene import Scene

STAMP, UNREACHABLE, NOT_READY = "1970-01-01T00:16:40Z", "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"
MONITOR = ("monitor", "")


class Nodes(Scene):
    """Nodes, with timers that never end, and a queue that notes for how long a key is put off."""

    version, late_seconds = "1.37", 0.0

    def __init__(self, *objects: tuple[Any, Tree], gates: tuple[str, ...] = (), now: float = 1000.0) -> None:
        super().__init__(objects, now=now, gates=gates)
        self.later: list[tuple[Any, float]] = []
        self.index: Any = None

    def informer(self, resource: Any) -> Any:
        return self if resource == LEASES else self.lister(PODS)

    def lister(self, resource: Any) -> Any:
        found = super().lister(resource)
        found.add_index("node", lambda each: [each["spec"].get("nodeName", "")])
        return found

    def call_at(self, when: float, *_: Any, **__: Any) -> Any:
        return type("Timer", (), {"when": when, "cancelled": False, "cancel": lambda _: None})()

    def on_close(self, _: Any) -> None:
        pass

    def add_after(self, key: Any, seconds: float, *, daemon: bool = False) -> None:
        self.later.append((key, seconds))
        assert daemon or key == MONITOR


def node(name: str = "n", ready: str = "True", *taints: tuple[str, str], labels: Tree | None = None, uid: str = "u",
         conditions: tuple[Tree, ...] = (), unschedulable: bool = False) -> tuple[Any, Tree]:
    known = [{"type": "Ready", "status": ready, "reason": "R", "message": "m"}] if ready else []
    return NODES, {
        "metadata": {"name": name, "uid": uid, "labels": labels or {}, "creationTimestamp": "made", "resourceVersion": "3"},
        "spec": {"taints": [{"key": key, "effect": effect} for key, effect in taints]} | (
            {"unschedulable": True} if unschedulable else {}), "status": {"conditions": [*known, *conditions]}}


def pod(name: str = "p", ready: str = "True", on: str = "n") -> tuple[Any, Tree]:
    return PODS, {"metadata": {"name": name, "namespace": "x"}, "spec": {"nodeName": on}, "status": {
        "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": "old"}] if ready else []}}


def started(scene: Nodes) -> NodeLifecycleReconciler:
    """A controller that has heard of all nodes, at the time of the scene."""
    one = NodeLifecycleReconciler(cast("Any", scene))
    one.setup(cast("Any", scene))
    for plural, obj in scene.objects:
        if plural == "nodes":
            one._node_seen(obj)
    scene.queued.clear()
    return one


def unknown(kind: str, posted: bool = False) -> Tree:
    if posted:
        return {"type": kind, "status": "Unknown", "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": STAMP}
    return {"type": kind, "status": "Unknown", "reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status.",
            "lastHeartbeatTime": "made", "lastTransitionTime": STAMP}


def tainted(*taints: Tree) -> Tree:
    return {"metadata": {"resourceVersion": "3"}, "spec": {"taints": list(taints) or None}}


def driving(key: str = UNREACHABLE, effect: str = "NoExecute") -> Tree:
    return {"key": key, "effect": effect, "timeAdded": STAMP}


async def test_a_silent_node_is_given_up() -> None:
    """Given nodes of which one is silent for 50 s / when a pass is made / then its conditions are
    unknown, its ready pods are not, both are told, and it is tainted.
    """
    scene = Nodes(node(conditions=({"type": "DiskPressure", "status": "Unknown", "reason": "kept"},)), node("m"), pod(),
                  pod("q", "False"), pod("r", ""), pod("s", on="m"), now=950.0)
    one = started(scene)
    one.health.nodes["m"].heard_at = 1000.0
    scene.now = 999.9
    await one.reconcile(MONITOR)
    assert scene.done == []
    scene.now = 1000.0
    await one.reconcile(MONITOR)
    conditions = [unknown("Ready", posted=True), {"type": "DiskPressure", "status": "Unknown", "reason": "kept"},
                  unknown("MemoryPressure"), unknown("PIDPressure")]
    told, unready = scene.done[1], scene.done[2]
    assert scene.done[0][:3] == ("update", "nodes/status", "n")
    assert scene.done[0][3]["status"]["conditions"] == conditions
    assert told == ("event", "n", "Normal", "NodeNotReady", "Node n status is now: NodeNotReady")
    assert unready[:3] == ("update", "pods/status", "p")
    assert unready[3]["status"]["conditions"] == [{"type": "Ready", "status": "False", "lastTransitionTime": STAMP}]
    assert scene.done[3:] == [
        ("event", "p", "Warning", "NodeNotReady", "Node is not ready"), ("patch", "nodes", "n", tainted(driving()))]
    assert scene.later == []


async def test_a_node_that_was_not_ready_tells_nothing_more() -> None:
    """Given a silent node that was not ready / then its pods are let alone and nothing is told; one
    that never said anything has a minute.
    """
    for ready, since, given_up in (("False", 950.0, True), ("", 950.0, False), ("", 940.0, True), ("Unknown", 900.0, False)):
        scene = Nodes(node(ready=ready), node("m"), pod(), now=since)
        one = started(scene)
        one.health.nodes["m"].heard_at = scene.now = 1000.0
        await one.reconcile(MONITOR)
        expected = (["nodes/status"] if given_up else []) + (["nodes"] if ready or given_up else [])
        assert [each[1] for each in scene.done] == expected


@pytest.mark.parametrize(("code", "raised"), [(404, False), (409, True)])
async def test_pods_that_go_meanwhile(code: int, raised: bool) -> None:
    """Given a pod of a node that is given up / when it is gone / then that is all right."""
    scene = Nodes(node(ready="False"), pod())
    scene.refuse["update", "pods"] = APIError(code, "x", "no")
    one = started(scene)
    key = ("pod", cast("Any", type("Key", (), {"namespace": "x", "name": "p"})))
    if raised:
        with pytest.raises(APIError, match="no"):
            await one.reconcile(key)
    else:
        await one.reconcile(key)
    assert scene.done == []
    await one.reconcile(("pod", cast("Any", type("Key", (), {"namespace": "x", "name": "none"}))))


OURS, OTHER = (UNREACHABLE, "NoExecute"), ("other", "NoExecute")


@pytest.mark.parametrize(("found", "sent"), [
    (node(ready="False"), tainted(driving(NOT_READY))), (node(ready="Unknown"), tainted(driving())),
    (node("n", "Unknown", OURS), None), (node("n", "True", OURS), tainted()), (node("n", "True", OTHER), None),
    (node("n", "False", OURS, OTHER), tainted({"key": "other", "effect": "NoExecute"}, driving(NOT_READY))),
    (node("n", "True", (UNREACHABLE, "NoSchedule")), None), (node(ready=""), None), (node("n", "", OURS), None),
    (node("n", "", (NOT_READY, "NoExecute")), None)])
async def test_taints_that_drive_away(found: tuple[Any, Tree], sent: Tree | None) -> None:
    """Given a node / then it has the NoExecute taint of its state, and no other of the two."""
    scene = Nodes(found, node("m"))
    await started(scene).reconcile(MONITOR)
    assert scene.done == ([] if sent is None else [("patch", "nodes", "n", sent)])


async def test_nodes_are_tainted_one_by_one_and_none_where_all_are_lost() -> None:
    """Given lost nodes beside one that is well / then the second is tainted ten seconds after the
    first; where all are lost none is, and taints that are there go; when one is back all get their
    time anew.
    """
    scene = Nodes(node("a", "Unknown"), node("b", "Unknown"), node("c"))
    one = started(scene)
    await one.reconcile(MONITOR)
    assert ([each[2] for each in scene.done], scene.later) == (["a"], [(MONITOR, 10.0)])
    scene.now += 10
    scene.objects[0] = ("nodes", node("a", "Unknown", OURS)[1])
    await one.reconcile(MONITOR)
    assert [each[2] for each in scene.done] == ["a", "b"]
    scene.done.clear()
    scene.objects[2] = ("nodes", node("c", "False")[1])
    one._node_seen(scene.objects[2][1])
    await one.reconcile(MONITOR)
    assert scene.done == [("patch", "nodes", "a", tainted())]
    one.health.nodes["c"].ready = "True"
    scene.now += 100
    for each in one.health.nodes.values():
        each.heard_at = scene.now - 20
    await one.reconcile(MONITOR)
    assert [each.heard_at for each in one.health.nodes.values()] == [scene.now] * 3


async def test_nodes_that_do_not_count_for_their_zone() -> None:
    """Given the only other node excluded from disruption / then all that count are lost."""
    excluded = {"node.kubernetes.io/exclude-disruption": ""}
    scene = Nodes(node(ready="Unknown"), node("m", labels=excluded))
    await started(scene).reconcile(MONITOR)
    assert scene.done == []


@pytest.mark.parametrize(("gates", "version", "given_up"), [((), "7", True), ((), "8", False),
    (("NodeControllerLeaseCircuitBreaker",), "8", False)])
async def test_leases_that_the_cache_does_not_show(gates: tuple[str, ...], version: str, given_up: bool) -> None:
    """Given a silent node / when its lease is newer than what was heard / then it is not given up
    yet, and looked at again after five seconds.
    """
    lease = {"metadata": {"name": "n", "namespace": "kube-node-lease", "resourceVersion": version}}
    scene = Nodes(node(), node("m"), (LEASES, lease), gates=gates, now=950.0)
    one = started(scene)
    one.health.nodes["n"].lease_version = "7"
    one.health.nodes["m"].heard_at = scene.now = 1000.0
    await one.reconcile(MONITOR)
    assert (one.health.nodes["n"].ready, scene.later) == (("Unknown", []) if given_up else ("True", [(MONITOR, 5.0)]))
    assert one.health.nodes["n"].doubted is (not given_up and not gates)
    if gates:
        scene.caught_up = False
        await one.reconcile(MONITOR)
        assert one.health.nodes["n"].ready == "True"
    elif not given_up:
        scene.now += 50
        one.health.nodes["m"].heard_at = scene.now
        await one.reconcile(MONITOR)
        assert one.health.nodes["n"].ready == "Unknown"


async def test_one_node_is_mended() -> None:
    """Given a node with conditions, a cordon and labels of its system / then taints and old labels
    follow; it is registered once, and told when it is gone or another one.
    """
    os = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64", "beta.kubernetes.io/arch": "arm64"}
    scene = Nodes(node("n", "True", ("node.kubernetes.io/disk-pressure", "NoSchedule"), labels=os, unschedulable=True))
    one = started(scene)
    await one.reconcile(("node", "n"))
    registered = ("event", "n", "Normal", "RegisteredNode", "Node n event: Registered Node n in Controller")
    assert scene.done == [registered, ("patch", "nodes", "n", tainted(driving("node.kubernetes.io/unschedulable", "NoSchedule"))),
                          ("patch", "nodes", "n", {"metadata": {"labels": {"beta.kubernetes.io/os": "linux"}}})]
    removed = ("event", "n", "Normal", "RemovingNode", "Node n event: Removing Node n from Controller")
    scene.done.clear()
    scene.objects[0] = ("nodes", node(uid="another")[1])
    await one.reconcile(("node", "n"))
    await one.reconcile(("node", "n"))
    assert scene.done == [removed, registered]
    scene.objects.clear()
    await one.reconcile(("node", "n"))
    await one.reconcile(("node", "n"))
    assert scene.done == [removed, registered, removed]


def test_what_makes_a_pass() -> None:
    """Given a node / when it becomes ready or is no more, has taints though it is ready, or goes /
    then a pass is made; pods that come to a node that is given up are looked at.
    """
    scene = Nodes(node())
    one = started(scene)
    one._known["n"] = node()[1]

    def queued(call: Any, *objects: Any) -> list[Any]:
        scene.queued.clear()
        call(*objects)
        return [key[0] for key in scene.queued]

    seen = [queued(one._node_seen, node(ready=ready)[1]) for ready in ("True", "False", "Unknown", "Unknown", "True", "",
        "False", "True")]
    assert seen == [[], ["node", "monitor"], ["node", "monitor"], ["node"], ["monitor"], [], ["node", "monitor"], ["monitor"]]
    assert queued(one._node_seen, node("n", "True", OURS)[1]) == ["monitor"]
    assert queued(one._node_seen, node("n", "True", (NOT_READY, "NoExecute"))[1]) == ["monitor"]
    assert queued(one._node_seen, node("n", "True", OTHER)[1]) == []
    assert queued(one._node_seen, node(labels={"kubernetes.io/os": "x"})[1]) == ["node"]
    assert queued(one._node_gone, node()[1]) == ["node", "monitor"]
    assert queued(one._pod_seen, pod()[1]) == []
    one._node_seen(node(ready="Unknown")[1])
    assert (queued(one._pod_seen, pod()[1]), queued(one._pod_seen, pod(on="m")[1])) == (["pod"], [])
    assert (queued(one._pod_changed, pod()[1], pod()[1]), queued(one._pod_changed, pod(on="m")[1], pod()[1])) == ([], ["pod"])
    lease = {"metadata": {"name": "n", "namespace": "kube-node-lease", "resourceVersion": "9"}}
    one._lease_seen({"metadata": {**lease["metadata"], "namespace": "x"}})
    assert one.health.nodes["n"].renewals == 0
    one._lease_seen(lease)
    assert one.health.nodes["n"].renewals == 1
