"""What nodes are and say of themselves: names, labels, taints, ports, images, features."""

import pytest

from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.plugins.arguments import ArgumentsError
from fakekube_controllers.scheduler.plugins.image_locality import ImageLocality, normalized
from fakekube_controllers.scheduler.plugins.node_affinity import NodeAffinity
from fakekube_controllers.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from fakekube_controllers.scheduler.plugins.node_name import NodeName
from fakekube_controllers.scheduler.plugins.node_ports import NodePorts
from fakekube_controllers.scheduler.plugins.node_unschedulable import NodeUnschedulable
from fakekube_controllers.scheduler.plugins.taint_toleration import TaintToleration
from tests.controllers.scheduler.plugins.cases import Handle, hints, node, other, plugin_of, pod, scores, statuses

NEVER, NOT_NOW = Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.UNSCHEDULABLE
NODE, TARGET, ASSIGNED = EventResource.NODE, EventResource.TARGET_POD, EventResource.ASSIGNED_POD
REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"


def filtered(kind, incoming, *nodes, gates=(), version="1.37", **args):
    handle = Handle(gates=gates, version=version)
    return statuses(plugin_of(kind, handle, **args), incoming, nodes, handle)


def scored(kind, incoming, *nodes, **args):
    handle = Handle()
    return scores(plugin_of(kind, handle, **args), incoming, nodes, handle)


# names


def test_a_pod_that_names_its_node_goes_there():
    """Given a pod with a node's name / then that is the only candidate; one without has nothing to
    say.
    """
    assert filtered(NodeName, pod("p", nodeName="a"), node("a"), node("b")) == ["a"]
    assert filtered(NodeName, pod(), node("a")) == "skipped"


# labels


def affinity(required=None, preferred=None):
    found = {}
    if required is not None:
        found[REQUIRED] = {"nodeSelectorTerms": required}
    if preferred is not None:
        found[PREFERRED] = [{"weight": weight, "preference": term} for weight, term in preferred]
    return {"nodeAffinity": found}


def labelled(key, *values, operator="In"):
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}


def named(*names):
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(names)}]}


NO_MATCH = (NEVER, "node(s) didn't match Pod's node affinity/selector")
POOLS = (node("a", labels={"pool": "x"}), node("b", labels={"pool": "y", "rank": "7"}))


@pytest.mark.parametrize(("spec", "expected"), [
    ({}, "skipped"), ({"nodeSelector": {"pool": "x"}}, {"a": None, "b": NO_MATCH}),
    ({"affinity": affinity([labelled("pool", "x"), labelled("rank", "5", operator="Gt")])}, {"a": None, "b": None}),
    ({"affinity": affinity([labelled("rank", "7", operator="Lt")])}, {"a": NO_MATCH, "b": NO_MATCH}),
    ({"affinity": affinity([])}, {"a": NO_MATCH, "b": NO_MATCH}),
    ({"nodeSelector": {"pool": "x"}, "affinity": affinity([labelled("pool", "y")])}, {"a": NO_MATCH, "b": NO_MATCH}),
    ({"affinity": affinity([named("a"), named("b")])}, ["a", "b"]),
    ({"affinity": affinity([{"matchFields": [*named("a")["matchFields"], *named("b")["matchFields"]]}])},
     (NEVER, "pod affinity terms conflict")),
])
def test_node_selectors_and_required_affinity(spec, expected):
    """Given nodes of two pools / then a pod gets those that it selects."""
    assert filtered(NodeAffinity, pod("p", **spec), *POOLS) == expected


def test_affinity_that_the_scheduler_adds():
    """Given added affinity / then it holds for every pod, and says so."""
    added = affinity([labelled("pool", "x")])["nodeAffinity"]
    enforced = (NEVER, "node(s) didn't match scheduler-enforced node affinity")
    assert filtered(NodeAffinity, pod(), *POOLS, addedAffinity=added) == {"a": None, "b": enforced}
    found = filtered(NodeAffinity, pod("p", nodeSelector={"pool": "y"}), *POOLS, addedAffinity=added)
    assert found == {"a": NO_MATCH, "b": enforced}


def test_preferred_affinity():
    """Given preferred terms, of the pod and of the scheduler / then weights of those that match add
    up, and the most is 100.
    """
    prefers = pod("p", affinity=affinity(preferred=[(1, labelled("pool", "x")), (3, labelled("pool", "y"))]))
    assert scored(NodeAffinity, prefers, *POOLS) == {"a": 33, "b": 100}
    added = affinity(preferred=[(2, labelled("pool", "x"))])["nodeAffinity"]
    assert scored(NodeAffinity, pod(), *POOLS, addedAffinity=added) == {"a": 100, "b": 0}
    assert scored(NodeAffinity, prefers, *POOLS, addedAffinity=added) == {"a": 100, "b": 100}
    assert scored(NodeAffinity, pod(), *POOLS) == "skipped"


@pytest.mark.parametrize(("added", "text"), [
    (affinity([labelled("pool", operator="In")]),
     r"\[0\].matchExpressions\[0\].values: Invalid value: \[\]: for 'in', 'notin' operators, values set can't be"),
    (affinity([labelled("pool", "x", operator="Is")]),
     r'\[0\].operator: Unsupported value: "Is": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'),
    (affinity(preferred=[(1, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]})]),
     r'\[0\].matchFields\[0\].values: Invalid value: \["a","b"\]: must have one element$'),
])
def test_added_affinity_that_is_wrong(added, text):
    """Given terms that nobody could match / then the plugin cannot be made."""
    with pytest.raises(ArgumentsError, match=text):
        NodeAffinity({"addedAffinity": added["nodeAffinity"]}, Handle())


# taints


def taint(effect="NoSchedule", value="v"):
    return {"key": "k", "value": value, "effect": effect}


def tolerating(**toleration):
    return pod("p", tolerations=[{"key": "k", **toleration}])


@pytest.mark.parametrize(("version", "text"), [
    ("1.37", "node(s) had untolerated taint(s)"), ("1.34", "node(s) had untolerated taint(s)"),
    ("1.33", "node(s) had untolerated taint {k: v}")])
def test_taints_that_are_not_tolerated(version, text):
    """Given a tainted node / then a pod that does not tolerate it stays away; releases before 1.34
    name the taint.
    """
    tainted = node("a", taints=[taint("PreferNoSchedule"), taint("NoExecute")])
    assert filtered(TaintToleration, pod(), tainted, version=version) == {"a": (NEVER, text)}
    assert filtered(TaintToleration, tolerating(operator="Exists"), tainted) == {"a": None}


@pytest.mark.parametrize(("operator", "wanted", "tolerated"), [
    ("Gt", "5", True), ("Gt", "7", False), ("Lt", "9", True), ("Lt", "x", False), ("Lt", "08", False)])
def test_tolerations_that_compare_numbers(operator, wanted, tolerated):
    """Given a taint with a number / then a toleration compares with it, where the gate is on."""
    tainted, incoming = node("a", taints=[taint(value="7")]), tolerating(operator=operator, value=wanted)
    on = filtered(TaintToleration, incoming, tainted, gates=["TaintTolerationComparisonOperators"])
    assert (on["a"] is None) == tolerated
    assert filtered(TaintToleration, incoming, tainted)["a"] is not None


def test_taints_that_are_only_preferred():
    """Given nodes with taints that pods should avoid / then those with fewer are better.
    """
    nodes = [node("a", taints=[taint("PreferNoSchedule", "1"), taint("PreferNoSchedule", "2")]),
             node("b", taints=[taint("PreferNoSchedule", "1")]), node("c")]
    assert scored(TaintToleration, pod(), *nodes) == {"a": 0, "b": 50, "c": 100}
    assert scored(TaintToleration, tolerating(operator="Equal", value="1"), *nodes) == {"a": 0, "b": 100, "c": 100}


def test_cordoned_nodes():
    """Given a cordoned node / then only a pod that tolerates that goes there."""
    cordoned = node("a", unschedulable=True)
    assert filtered(NodeUnschedulable, pod(), cordoned, node("b")) == {"a": (NEVER, "node(s) were unschedulable"), "b": None}
    tolerant = pod("p", tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}])
    assert filtered(NodeUnschedulable, tolerant, cordoned) == {"a": None}


# ports


def with_port(number, name="p", **port):
    return pod(name, containers=[{"name": "c", "ports": [{"containerPort": 1, "hostPort": number, **port}]}])


@pytest.mark.parametrize(("wanted", "fits"), [
    (with_port(80), False), (with_port(81), True), (with_port(80, protocol="UDP"), True),
    (with_port(80, hostIP="10.0.0.1"), False)])
def test_host_ports(wanted, fits):
    """Given a pod with a port of the node / then no other has the same."""
    expected = None if fits else (NOT_NOW, "node(s) didn't have free ports for the requested pod ports")
    assert filtered(NodePorts, wanted, node("a", with_port(80, "x"))) == {"a": expected}
    assert filtered(NodePorts, pod(), node("a")) == "skipped"


def test_host_ports_of_other_addresses():
    """Given a port of one address / then the same of another is free."""
    present = with_port(80, "x", hostIP="10.0.0.1")
    assert filtered(NodePorts, with_port(80, hostIP="10.0.0.2"), node("a", present)) == {"a": None}
    assert filtered(NodePorts, with_port(80), node("a", present))["a"] is not None


# images

MIB = 1 << 20


def having(name, **sizes):
    images = [{"names": [f"{image}:latest"], "sizeBytes": size} for image, size in sizes.items()]
    return node(name, status={"images": images})


def test_nodes_that_have_the_image_are_better():
    """Given an image of 500 MiB on one of two nodes / then its node scores by half of that, between
    23 MiB and 1000 MiB.
    """
    incoming = pod("p", containers=[{"name": "c", "image": "big"}])
    found = scored(ImageLocality, incoming, having("a", big=500 * MIB), having("b"))
    assert found == {"a": 100 * (250 - 23) // (1000 - 23), "b": 0}
    assert scored(ImageLocality, incoming, having("a", other=500 * MIB)) == "skipped"


def test_all_images_of_a_pod_count():
    """Given a pod with an init container and an image volume / then all their images count, and
    raise the limit.
    """
    incoming = pod(
        "p", containers=[{"name": "c", "image": "one"}], initContainers=[{"name": "i", "image": "two"}],
        volumes=[{"name": "v", "image": {"reference": "three"}}])
    found = scored(ImageLocality, incoming, having("a", one=200 * MIB, two=300 * MIB, three=400 * MIB))
    assert found == {"a": 100 * (900 - 23) // (3000 - 23)}


@pytest.mark.parametrize(("name", "full"), [
    ("a", "a:latest"), ("a:1", "a:1"), ("host:5000/a", "host:5000/a:latest"), ("host:5000/a:1", "host:5000/a:1")])
def test_names_of_images(name, full):
    """Given an image without a tag / then the newest is meant."""
    assert normalized(name) == full


# features

RESTARTING = pod("p", containers=[{"name": "c", "restartPolicyRules": [{"action": "RestartAllContainers"}]}])


@pytest.mark.parametrize(("incoming", "feature"), [
    (RESTARTING, "RestartAllContainersOnContainerExits"),
    (pod("p", hostNetwork=True, hostUsers=False), "UserNamespacesHostNetworkSupport"),
    (pod("p", containers=[{"name": "c", "volumeMounts": [{"bindMountOptions": ["noexec"]}]}]), "VolumeBindMountOptions"),
])
def test_features_that_a_pod_needs(incoming, feature):
    """Given a pod that needs a feature of its node / then the node has to declare it."""
    found = filtered(NodeDeclaredFeatures, incoming, node("a", status={"declaredFeatures": [feature]}), node("b"))
    assert found == {"a": None, "b": (NEVER, "node(s) didn't match Pod's required features")}
    assert filtered(NodeDeclaredFeatures, pod(), node("b")) == "skipped"


# hints

TAINTED, PLAIN = node("a", taints=[taint()]).node, node("a").node
CORDONED = node("a", unschedulable=True).node
POOL_X, POOL_Y = POOLS[0].node, POOLS[1].node
TOLERANT = tolerating(operator="Exists")
DECLARES = node("a", status={"declaredFeatures": ["RestartAllContainersOnContainerExits"]}).node


@pytest.mark.parametrize(("kind", "waiting", "resource", "action", "old", "new", "answer"), [
    (NodeName, pod("p", nodeName="a"), NODE, ActionType.ADD, None, PLAIN, "QUEUE"),
    (NodeUnschedulable, pod(), NODE, ActionType.ADD, None, PLAIN, "QUEUE"),
    (NodeUnschedulable, pod(), NODE, ActionType.ADD, None, CORDONED, "SKIP"),
    (NodeUnschedulable, pod(), NODE, ActionType.UPDATE_NODE_TAINT, CORDONED, PLAIN, "QUEUE"),
    (NodeUnschedulable, pod(), NODE, ActionType.UPDATE_NODE_TAINT, PLAIN, TAINTED, "SKIP"),
    (NodeUnschedulable, pod(), TARGET, ActionType.UPDATE_POD_TOLERATION, pod(), TOLERANT, "SKIP"),
    (TaintToleration, pod(), NODE, ActionType.UPDATE_NODE_TAINT, TAINTED, PLAIN, "QUEUE"),
    (TaintToleration, pod(), NODE, ActionType.UPDATE_NODE_TAINT, PLAIN, TAINTED, "SKIP"),
    (TaintToleration, TOLERANT, NODE, ActionType.ADD, None, TAINTED, "QUEUE"),
    (TaintToleration, pod(), TARGET, ActionType.UPDATE_POD_TOLERATION, pod(), TOLERANT, "QUEUE"),
    (NodeAffinity, pod("p", nodeSelector={"pool": "x"}), NODE, ActionType.ADD, None, POOL_X, "QUEUE"),
    (NodeAffinity, pod("p", nodeSelector={"pool": "x"}), NODE, ActionType.ADD, None, POOL_Y, "SKIP"),
    (NodeAffinity, pod("p", nodeSelector={"pool": "x"}), NODE, ActionType.UPDATE_NODE_LABEL, POOL_Y, POOL_X, "QUEUE"),
    (NodeAffinity, pod("p", nodeSelector={"pool": "x"}), NODE, ActionType.UPDATE_NODE_LABEL, POOL_X, POOL_X, "SKIP"),
    (NodePorts, with_port(80), ASSIGNED, ActionType.DELETE, other(with_port(80, "x"), spec={"nodeName": "a"}), None, "QUEUE"),
    (NodePorts, with_port(80), ASSIGNED, ActionType.DELETE, other(with_port(81, "x"), spec={"nodeName": "a"}), None, "SKIP"),
    (NodePorts, with_port(80), NODE, ActionType.ADD, None, PLAIN, "QUEUE"),
    (NodeDeclaredFeatures, RESTARTING, NODE, ActionType.UPDATE_NODE_DECLARED_FEATURE, PLAIN, DECLARES, "QUEUE"),
    (NodeDeclaredFeatures, RESTARTING, NODE, ActionType.UPDATE_NODE_DECLARED_FEATURE, DECLARES, DECLARES, "SKIP"),
    (NodeDeclaredFeatures, RESTARTING, TARGET, ActionType.UPDATE, RESTARTING, pod(), "QUEUE"),
])
def test_events_that_may_help(kind, waiting, resource, action, old, new, answer):
    """Given a pod that a plugin has rejected / then those events help that may change its mind."""
    assert hints(plugin_of(kind, Handle()), resource, action, waiting, old, new) == answer
