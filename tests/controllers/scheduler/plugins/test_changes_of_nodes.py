"""What plugins of nodes say would help a pod, and to what they listen."""

from collections.abc import Mapping
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from fakekube_controllers.scheduler.plugins.node_affinity import NodeAffinity
from fakekube_controllers.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from fakekube_controllers.scheduler.plugins.node_name import NodeName
from fakekube_controllers.scheduler.plugins.node_ports import NodePorts
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from fakekube_controllers.scheduler.plugins.node_unschedulable import NodeUnschedulable
from fakekube_controllers.scheduler.plugins.pod_topology_spread import PodTopologySpread
from fakekube_controllers.scheduler.plugins.scheduling_gates import SchedulingGates
from fakekube_controllers.scheduler.plugins.taint_toleration import TaintToleration
from tests.controllers.scheduler.plugins.cases import HOSTNAME, ZONE, Handle, hints, node, other, plugin_of, pod, said

NODE, TARGET, ASSIGNED = EventResource.NODE, EventResource.TARGET_POD, EventResource.ASSIGNED_POD
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
A = ActionType


def missing(plugin: Any, waiting: Any, on: Any) -> list[str] | None:
    """The texts of what is missing."""
    state, info = CycleState(), pod_info(waiting)
    found = plugin.missing(state, info, on)
    return None if found is None else [each.text for each in found]


def wanting(*terms: Mapping[str, Any]) -> Any:
    return pod("p", affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}})


def having(*expressions: tuple[Any, ...]) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)} for key, operator,
    *values in expressions]}


FIELD = {"key": "metadata.name", "operator": "In", "values": ["b"]}


@pytest.mark.parametrize(("spec", "expected"), [
    (pod(), []), (pod("p", nodeSelector={"a": "2", "c": "3", "b": "x"}), ["label a=2 on node a", "label c=3 on node a"]),
    (wanting(having(("a", "In", "2", "3"))), ["label a=2 on node a"]),
    (wanting(having(("a", "NotIn", "1"))), ["no label a on node a"]),
    (wanting(having(("b", "DoesNotExist"))), ["no label b on node a"]),
    (wanting(having(("c", "Exists"))), ["label c= on node a"]),
    (wanting(having(("a", "Gt", "5"))), ["label a=6 on node a"]), (wanting(having(("a", "Lt", "1"))), ["label a=0 on node a"]),
    (wanting(having(("a", "Gt", "x"))), None), (wanting(having(("a", "In", "1"))), []), (wanting({}), None), (wanting(), None),
    (wanting({"matchFields": [FIELD]}), None),
    (wanting({"matchFields": [FIELD]}, having(("c", "In", "1"))), ["label c=1 on node a"]),
    (wanting(having(("c", "Exists"), ("d", "In", "1")), having(("a", "In", "9"))), ["label a=9 on node a"]),
    (wanting(having(("c", "In", "1")), having(("a", "In", "9"))), ["label c=1 on node a"]),
])
def test_labels_that_a_node_lacks(spec: Any, expected: list[str] | None) -> None:
    """Given a node with the labels a=1 and b=x / then the fewest labels are named that a pod wants,
    or nothing where labels do not help.
    """
    assert missing(plugin_of(NodeAffinity, Handle()), spec, node("a", labels={"a": "1", "b": "x"})) == expected


def test_labels_that_the_scheduler_adds() -> None:
    """Given affinity of the scheduler's own / then its labels are named too, after the pod's."""
    added = {REQUIRED: {"nodeSelectorTerms": [having(("pool", "In", "x"))]}}
    plugin = plugin_of(NodeAffinity, Handle(), addedAffinity=added)
    assert missing(plugin, pod("p", nodeSelector={"c": "1"}), node("a", labels={})) == ["label c=1 on node a",
    "label pool=x on node a"]
    assert missing(plugin, pod(), None) is None
    assert hints(plugin, NODE, A.ADD, pod(), None, node("a", labels={"pool": "x"}).node) == "QUEUE"
    assert hints(plugin, NODE, A.ADD, pod(), None, node("a", labels={"pool": "y"}).node) == "SKIP"
    info = pod_info(pod("p", nodeSelector={"c": "1"}))
    assert plugin.node_fields(info) == ("c", "pool")
    assert plugin.sign_node(("c", "metadata.name ", "pool"), node("a", labels={"pool": "y"})) == (None, "a", "y")


def port(number: int, **more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "ports": [{"containerPort": 1, "hostPort": number, **more}]}]}


TAINTED = node("a", taints=[
    {"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"},
    {"key": "soft", "effect": "PreferNoSchedule"}])
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
GATED = pod("p", schedulingGates=[{"name": "one"}, {"name": "two"}])


@pytest.mark.parametrize(("plugin", "waiting", "on", "expected"), [
    (TaintToleration, pod(), TAINTED, [
        "remove taint k=v:NoSchedule from node a, or tolerate it", "remove taint k:NoExecute from node a, or tolerate it"]),
    (TaintToleration, pod("p", tolerations=[{"key": "k", "value": "v"}]), TAINTED,
     ["remove taint k:NoExecute from node a, or tolerate it"]),
    (TaintToleration, pod(), node("a", taints=[CORDON], unschedulable=True), ["uncordon node a"]),
    (TaintToleration, pod(), node("a", taints=[CORDON]), [
        "remove taint node.kubernetes.io/unschedulable:NoSchedule from node a, or tolerate it"]),
    (TaintToleration, pod(), None, None), (NodeUnschedulable, pod(), node("a", unschedulable=True), ["uncordon node a"]),
    (NodeUnschedulable, pod(), None, None), (NodePorts, pod("p", **port(80)), None, None),
    (NodePorts, pod("p", **port(80)), node("a", pod("x", **port(80)), pod("y", **port(81)), pod("z", **port(80, protocol="UDP"))),
     ["delete pod n/x, which has the same host port"]),
    (SchedulingGates, GATED, None, ["lift the scheduling gate one of pod p", "lift the scheduling gate two of pod p"]),
    (NodeResourcesFit, pod(), None, None), (NodeResourcesFit, pod("p", requests={"cpu": "4"}), node("a"), []),
    (NodeResourcesFit, pod("p", requests={"cpu": "3", "memory": "9Gi", "example.com/gpu": "2"}),
     node("a", pod("x", requests={"cpu": "2500m"}), pods="1"), [
        "room for 1 more pods on node a", "1500m more cpu on node a", "1Gi more memory on node a",
        "2 more example.com/gpu on node a"]),
])
def test_what_else_would_help(plugin: Any, waiting: Any, on: Any, expected: list[str] | None) -> None:
    """Given a pod that a plugin rejects / then these changes would help, and nothing is said where
    none is known.
    """
    assert missing(plugin({}, Handle()), waiting, on) == expected


def test_gates_are_named() -> None:
    """Given a pod with gates / then it waits for them by name, and one without is free."""
    plugin = plugin_of(SchedulingGates, Handle())
    text = "waiting for scheduling gates: [one two]"
    assert said(plugin.pre_enqueue(pod_info(GATED))) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, text)
    assert plugin.pre_enqueue(pod_info(pod())) is None
    gone = A.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    assert hints(plugin, TARGET, gone, GATED, GATED, pod("p")) == "QUEUE"
    assert hints(plugin, TARGET, gone, GATED, GATED, pod("a")) == "SKIP"
    assert hints(plugin, TARGET, gone, GATED, GATED, pod("q")) == "SKIP"
    assert hints(plugin, TARGET, gone, GATED, GATED, None) == "SKIP"


def test_nodes_by_name() -> None:
    """Given a pod that names a node / then the others are refused, and nodes differ by name only
    for such pods.
    """
    plugin, named = plugin_of(NodeName, Handle()), pod_info(pod("p", nodeName="a"))
    refused = (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node(s) didn't match the requested node name")
    assert [said(plugin.filter(CycleState(), each, node("b"))) for each in (named, pod_info(pod()))] == [refused, None]
    assert plugin.filter(CycleState(), named, node("a")) is None
    assert (plugin.sign_pod(named), plugin.sign_pod(pod_info(pod())), plugin.node_fields(named)) == ("a", "", True)
    assert [plugin.sign_node(fields, node("b")) for fields in (True, False)] == ["b", ""]


@pytest.mark.parametrize("version", ["1.33", "1.37"])
def test_a_taint_without_a_value_is_named_too(version: str) -> None:
    """Given a taint without a value / then releases before 1.34 name it, and newer ones do not."""
    plugin = plugin_of(TaintToleration, Handle(version=version))
    text = "node(s) had untolerated taint {k: }" if version == "1.33" else "node(s) had untolerated taint(s)"
    status = plugin.filter(CycleState(), pod_info(pod()), node("a", taints=[{"key": "k", "effect": "NoExecute"}]))
    assert said(status) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, text)
    assert plugin.filter(CycleState(), pod_info(pod()), node("a")) is None


def test_what_makes_nodes_and_pods_alike() -> None:
    """Given plugins that sign / then pods differ by the fields that a plugin reads, nodes by what
    it reads of them.
    """
    tolerant = pod_info(pod("p", tolerations=[{"operator": "Exists"}]))
    plain = pod_info(pod("q", nodeSelector={"a": "1"}))
    handle = Handle()
    for kind in (TaintToleration, NodeUnschedulable):
        plugin: Any = plugin_of(kind, handle)
        assert [plugin.sign_pod(each) for each in (tolerant, plain)] == [b'[[{"operator":"Exists"}]]', b""]
        assert plugin.node_fields(tolerant) is None
    assert plugin_of(NodeAffinity, handle).sign_pod(plain) == b'[{"a":"1"},null]'
    assert plugin_of(NodeAffinity, handle).node_fields(tolerant) == ()
    assert [plugin_of(TaintToleration, handle).sign_node(None, each) for each in (node("a"), node("b", taints=[CORDON]))] == [
        b"", b'[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]']
    cordoned = plugin_of(NodeUnschedulable, handle)
    assert [cordoned.sign_node(None, each) for each in (node("a"), node("b", unschedulable=True))] == [False, True]
    features = plugin_of(NodeDeclaredFeatures, handle)
    needs = pod_info(pod("p", hostNetwork=True, hostUsers=False))
    declares = node("a", status={"declaredFeatures": ["X"]})
    assert (features.sign_pod(needs), features.node_fields(needs), features.node_fields(plain)) == (
        ("UserNamespacesHostNetworkSupport",), True, False)
    assert [features.sign_node(fields, declares) for fields in (True, False)] == [("X",), ()]


def on_node(name: str = "x", labels: Any = None, **spec: Any) -> Any:
    return pod(name, labels, nodeName="a", **spec)


def term(kind: str, labels: Mapping[str, str], key: str = ZONE) -> dict[str, Any]:
    return {kind: {REQUIRED: [{"topologyKey": key, "labelSelector": {"matchLabels": labels}}]}}


NEAR = pod("p", affinity=term("podAffinity", {"app": "web"}))
APART = pod("p", {"app": "me"}, affinity=term("podAntiAffinity", {"app": "web"}))
WEB, DB = on_node(labels={"app": "web"}), on_node(labels={"app": "db"})
SPREAD = pod("p", {"app": "web"}, topologySpreadConstraints=[
    {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}])
HONORING = pod("p", {"app": "web"}, topologySpreadConstraints=[
    {**SPREAD["spec"]["topologySpreadConstraints"][0], "nodeTaintsPolicy": "Honor"}])
BROKEN = pod("p", affinity={"podAffinity": {REQUIRED: [{"topologyKey": ZONE, "labelSelector": {
    "matchExpressions": [{"key": "a", "operator": "Is"}]}}]}})


def in_zone(zone: str | None, **more: Any) -> Any:
    return node("a", labels={HOSTNAME: "a"} | ({ZONE: zone} if zone else {}), **more).node


@pytest.mark.parametrize(("kind", "waiting", "resource", "action", "old", "new", "answer"), [
    # affinity, pods with nodes
    (InterPodAffinity, NEAR, ASSIGNED, A.ADD, None, WEB, "QUEUE"), (InterPodAffinity, NEAR, ASSIGNED, A.ADD, None, DB, "SKIP"),
    (InterPodAffinity, NEAR, ASSIGNED, A.ADD, None, pod("x", {"app": "web"}), "SKIP"),
    (InterPodAffinity, NEAR, ASSIGNED, A.ADD, None, other(pod("x", {"app": "web"}), status={"nominatedNodeName": "a"}), "QUEUE"),
    (InterPodAffinity, NEAR, ASSIGNED, A.UPDATE_POD_LABEL, DB, WEB, "QUEUE"),
    (InterPodAffinity, NEAR, ASSIGNED, A.UPDATE_POD_LABEL, WEB, DB, "SKIP"),
    (InterPodAffinity, NEAR, ASSIGNED, A.DELETE, WEB, None, "SKIP"),
    (InterPodAffinity, APART, ASSIGNED, A.DELETE, WEB, None, "QUEUE"),
    (InterPodAffinity, APART, ASSIGNED, A.DELETE, DB, None, "SKIP"),
    (InterPodAffinity, APART, ASSIGNED, A.ADD, None, WEB, "SKIP"),
    (InterPodAffinity, APART, ASSIGNED, A.UPDATE_POD_LABEL, WEB, DB, "QUEUE"),
    (InterPodAffinity, APART, ASSIGNED, A.UPDATE_POD_LABEL, DB, WEB, "SKIP"),
    (InterPodAffinity, APART, ASSIGNED, A.DELETE, on_node(affinity=term("podAntiAffinity", {"app": "me"})), None, "QUEUE"),
    (InterPodAffinity, APART, ASSIGNED, A.DELETE, on_node(affinity=term("podAntiAffinity", {"app": "you"})), None, "SKIP"),
    (InterPodAffinity, APART, TARGET, A.UPDATE_POD_LABEL, APART, APART, "QUEUE"),
    (InterPodAffinity, BROKEN, ASSIGNED, A.ADD, None, DB, "QUEUE"),
    (InterPodAffinity, BROKEN, NODE, A.ADD, None, in_zone(None), "QUEUE"),
    # affinity, nodes
    (InterPodAffinity, NEAR, NODE, A.ADD, None, in_zone("z"), "QUEUE"),
    (InterPodAffinity, NEAR, NODE, A.ADD, None, in_zone(None), "SKIP"),
    (InterPodAffinity, APART, NODE, A.ADD, None, in_zone(None), "QUEUE"),
    (InterPodAffinity, NEAR, NODE, A.UPDATE_NODE_LABEL, in_zone("y"), in_zone("z"), "QUEUE"),
    (InterPodAffinity, NEAR, NODE, A.UPDATE_NODE_LABEL, in_zone("z"), in_zone("z"), "SKIP"),
    (InterPodAffinity, NEAR, NODE, A.UPDATE_NODE_LABEL, in_zone("z"), in_zone(None), "SKIP"),
    (InterPodAffinity, APART, NODE, A.UPDATE_NODE_LABEL, in_zone("z"), in_zone(None), "QUEUE"),
    (InterPodAffinity, APART, NODE, A.UPDATE_NODE_LABEL, in_zone("z"), in_zone("z"), "SKIP"),
    (InterPodAffinity, APART, NODE, A.UPDATE_NODE_LABEL, in_zone(None), in_zone("z"), "SKIP"),
    # spreading, pods
    (PodTopologySpread, SPREAD, ASSIGNED, A.ADD, None, WEB, "QUEUE"),
    (PodTopologySpread, SPREAD, ASSIGNED, A.ADD, None, DB, "SKIP"),
    (PodTopologySpread, SPREAD, ASSIGNED, A.DELETE, WEB, None, "QUEUE"),
    (PodTopologySpread, SPREAD, ASSIGNED, A.DELETE, DB, None, "SKIP"),
    (PodTopologySpread, SPREAD, ASSIGNED, A.ADD, None, pod("x", {"app": "web"}), "SKIP"),
    (PodTopologySpread, SPREAD, ASSIGNED, A.ADD, None, pod("x", {"app": "web"}, namespace="m", nodeName="a"), "SKIP"),
    (PodTopologySpread, SPREAD, ASSIGNED, A.UPDATE_POD_LABEL, WEB, DB, "QUEUE"),
    (PodTopologySpread, SPREAD, ASSIGNED, A.UPDATE_POD_LABEL, WEB, WEB, "SKIP"),
    (PodTopologySpread, SPREAD, ASSIGNED, A.UPDATE_POD_LABEL, DB, on_node(labels={"app": "db", "x": "y"}), "SKIP"),
    (PodTopologySpread, SPREAD, TARGET, A.UPDATE_POD_LABEL, SPREAD, other(SPREAD, metadata={"labels": {}}), "QUEUE"),
    (PodTopologySpread, SPREAD, TARGET, A.UPDATE_POD_TOLERATION, SPREAD, other(SPREAD, spec={"tolerations": [{}]}), "SKIP"),
    (PodTopologySpread, HONORING, TARGET, A.UPDATE_POD_TOLERATION, HONORING, other(HONORING, spec={"tolerations": [{}]}),
     "QUEUE"),
    # spreading, nodes
    (PodTopologySpread, SPREAD, NODE, A.ADD, None, in_zone("z"), "QUEUE"),
    (PodTopologySpread, SPREAD, NODE, A.ADD, None, in_zone(None), "SKIP"),
    (PodTopologySpread, SPREAD, NODE, A.DELETE, in_zone("z"), None, "QUEUE"),
    (PodTopologySpread, SPREAD, NODE, A.DELETE, in_zone(None), None, "SKIP"),
    (PodTopologySpread, SPREAD, NODE, A.UPDATE_NODE_LABEL, in_zone(None), in_zone("z"), "QUEUE"),
    (PodTopologySpread, SPREAD, NODE, A.UPDATE_NODE_LABEL, in_zone("z"), in_zone(None), "QUEUE"),
    (PodTopologySpread, SPREAD, NODE, A.UPDATE_NODE_LABEL, in_zone("y"), in_zone("z"), "QUEUE"),
    (PodTopologySpread, SPREAD, NODE, A.UPDATE_NODE_LABEL, in_zone("z"), in_zone("z"), "SKIP"),
    (PodTopologySpread, SPREAD, NODE, A.UPDATE_NODE_TAINT, in_zone("z", taints=[CORDON]), in_zone("z"), "QUEUE"),
    (PodTopologySpread, SPREAD, NODE, A.UPDATE_NODE_TAINT, in_zone(None, taints=[CORDON]), in_zone(None), "SKIP"),
    # the node itself
    (NodeUnschedulable, pod(), NODE, A.ADD, None, None, "SKIP"),
    (NodeUnschedulable, pod(), TARGET, A.UPDATE_POD_TOLERATION, pod(), None, "SKIP"),
    (NodeUnschedulable, pod("p"), TARGET, A.UPDATE_POD_TOLERATION, pod("p"), pod("p", tolerations=[{"operator": "Exists"}]),
     "QUEUE"),
    (NodeUnschedulable, pod("p"), TARGET, A.UPDATE_POD_TOLERATION, pod("p"), pod("q", tolerations=[{"operator": "Exists"}]),
     "SKIP"),
    (TaintToleration, pod(), NODE, A.ADD, None, None, "SKIP"), (TaintToleration, pod(), NODE, A.ADD, None, TAINTED.node, "SKIP"),
    (TaintToleration, pod(), NODE, A.UPDATE_NODE_TAINT, node("a").node, node("a").node, "SKIP"),
    (TaintToleration, pod("p"), TARGET, A.UPDATE_POD_TOLERATION, pod("p"), pod("q"), "SKIP"),
    (TaintToleration, pod("p"), TARGET, A.UPDATE_POD_TOLERATION, pod("p"), pod("a"), "SKIP"),
    (TaintToleration, pod("p"), TARGET, A.UPDATE_POD_TOLERATION, pod("p"), None, "SKIP"),
    (NodePorts, pod("p", **port(80)), ASSIGNED, A.DELETE, pod("x", **port(80)), None, "SKIP"),
    (NodeDeclaredFeatures, pod(), TARGET, A.UPDATE, pod(), pod(), "SKIP"),
    (NodeDeclaredFeatures, pod(), TARGET, A.UPDATE, None, pod(), "QUEUE"),
    (NodeDeclaredFeatures, pod(), NODE, A.ADD, None, node("a").node, "QUEUE"),
    (NodeResourcesFit, pod(), ASSIGNED, A.DELETE, pod("x"), None, "SKIP"),
    (NodeResourcesFit, pod(), ASSIGNED, A.DELETE, DB, None, "QUEUE"),
    (NodeResourcesFit, pod(), NODE, A.ADD, None, None, "SKIP"),
    (NodeResourcesFit, pod(), NODE, A.ADD, None, node("a", pods="0").node, "SKIP"),
    (NodeResourcesFit, pod("p", requests={"cpu": "4"}), NODE, A.ADD, None, node("a").node, "QUEUE"),
    (NodeResourcesFit, pod("p", requests={"cpu": "4001m"}), NODE, A.ADD, None, node("a").node, "SKIP"),
    (NodeResourcesFit, pod("p", requests={"cpu": "1"}), NODE, A.UPDATE_NODE_ALLOCATABLE, node("a").node, node("a", cpu="5").node,
     "QUEUE"),
    (NodeResourcesFit, pod("p", requests={"cpu": "1"}), NODE, A.UPDATE_NODE_ALLOCATABLE, node("a").node,
     node("a", memory="9Gi").node, "SKIP"),
    (NodeResourcesFit, pod(), NODE, A.UPDATE_NODE_ALLOCATABLE, node("a").node, node("a", pods="11").node, "QUEUE"),
    (NodeResourcesFit, pod(), NODE, A.UPDATE_NODE_ALLOCATABLE, node("a").node, node("a", pods="9").node, "SKIP"),
])
def test_events_that_may_help(kind: Any, waiting: Any, resource: Any, action: Any, old: Any, new: Any, answer: str) -> None:
    """Given a pod that a plugin has rejected / then those events help that may change its mind."""
    assert hints(plugin_of(kind, Handle()), resource, action, waiting, old, new) == answer


RESIZED = ["InPlacePodVerticalScaling"]


@pytest.mark.parametrize(("old", "new", "answer"), [
    (on_node(requests={"cpu": "2"}), on_node(requests={"cpu": "1"}), "QUEUE"),
    (on_node(requests={"cpu": "1"}), on_node(), "QUEUE"),
    (on_node(requests={"cpu": "1"}), on_node(requests={"cpu": "1"}), "SKIP"),
    (on_node(requests={"memory": "2"}), on_node(), "SKIP"),
    (pod("x", requests={"cpu": "2"}), pod("x", requests={"cpu": "1"}), "SKIP"), (None, on_node(), "QUEUE"),
])
def test_a_pod_that_needs_less_may_help(old: Any, new: Any, answer: str) -> None:
    """Given a pod on a node that is resized / then that helps if it gives back what is asked
    for."""
    plugin = plugin_of(NodeResourcesFit, Handle(gates=RESIZED))
    waiting = pod("p", requests={"cpu": "1"})
    assert hints(plugin, ASSIGNED, A.UPDATE_POD_SCALE_DOWN, waiting, old, new) == answer
