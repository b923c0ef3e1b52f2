"""Events, statuses, pods and nodes, as plugins get them."""

from collections.abc import Mapping
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework import events
from fakekube_controllers.scheduler.framework.events import ActionType, ClusterEvent, EventResource
from fakekube_controllers.scheduler.framework.status import SKIP, WAIT, Code, FitError, Status, error, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo, encoded_fields, pod_info, usage_of, zone_of
from tests.controllers.scheduler.plugins.cases import node, other, pod

# events


def test_events_have_upstreams_names() -> None:
    """Given every action on a node and a pod / then its name in metrics is upstream's, and actions
    that nobody named have none.
    """
    labels = {ClusterEvent(EventResource.NODE, action).label for action in ActionType}
    assert labels == {
        "NodeAdd", "NodeDelete", "NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel", "NodeUpdateNodeTaint",
        "NodeUpdateNodeCondition", "NodeUpdateNodeAnnotation", "NodeUpdateNodeDeclaredFeature", "NodeUpdateNodePreemptionPolicy",
        "NodeUpdatePodLabel", "NodeUpdatePodScaleDown", "NodeUpdatePodScaleUp", "NodeUpdatePodToleration",
        "NodeUpdatePodSchedulingGatesEliminated", "NodeUpdatePodGeneratedResourceClaim"}
    assert [ClusterEvent(EventResource.NODE, action).label for action in (ActionType.UPDATE, ActionType.ALL,
    ActionType.NONE)] == [
        "NodeUpdate", "NodeAll", "Node"]
    found = [each.label for each in (
        events.ASSIGNED_POD_ADD, events.ASSIGNED_POD_DELETE, events.UNSCHEDULED_POD_ADD, events.UNSCHEDULED_POD_UPDATE,
        events.UNSCHEDULED_POD_DELETE, events.NODE_ADD, events.NODE_DELETE, events.UNSCHEDULABLE_TIMEOUT, events.FORCE_ACTIVATE,
        events.WILD_CARD)]
    assert found == [
        "AssignedPodAdd", "AssignedPodDelete", "UnscheduledPodAdd", "UnscheduledPodUpdate", "UnscheduledPodDelete", "NodeAdd",
        "NodeDelete", "UnschedulableTimeout", "ForceActivate", "*All"]
    assert (events.SCHEDULE_ATTEMPT_FAILURE, events.BACKOFF_COMPLETE, events.POP_FROM_BACKOFF_Q) == (
        "ScheduleAttemptFailure", "BackoffComplete", "PopFromBackoffQ")
    assert [each.value for each in EventResource] == [
        "Pod", "AssignedPod", "UnscheduledPod", "TargetPod", "Node", "PersistentVolume", "PersistentVolumeClaim",
        "storage.k8s.io/CSINode", "storage.k8s.io/CSIDriver", "storage.k8s.io/CSIStorageCapacity",
        "storage.k8s.io/VolumeAttachment",
        "storage.k8s.io/StorageClass", "resource.k8s.io/ResourceClaim", "resource.k8s.io/ResourceSlice",
        "resource.k8s.io/DeviceClass",
        "scheduling.k8s.io/Workload", "scheduling.k8s.io/PodGroup", "scheduling.k8s.io/CompositePodGroup", "*"]
    assert [ActionType[name].value for name in ("ADD", "DELETE", "UPDATE_POD_GENERATED_RESOURCE_CLAIM", "ALL", "UPDATE")] == [
        1, 2, 16384, 32767, 32764]


PLAIN = {"metadata": {"name": "n"}, "spec": {}, "status": {}}


@pytest.mark.parametrize(("old", "new", "labels"), [
    ({}, {}, []), ({"spec": {"unschedulable": True}}, {}, ["Taint"]), ({}, {"spec": {"unschedulable": True}}, []),
    ({}, {"status": {"allocatable": {"cpu": "1"}}}, ["Allocatable"]), ({}, {"metadata": {"labels": {"a": "b"}}}, ["Label"]),
    ({}, {"spec": {"taints": [{"key": "k"}]}}, ["Taint"]), ({}, {"metadata": {"annotations": {"a": "b"}}}, ["Annotation"]),
    ({}, {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, ["Condition"]),
    ({}, {"spec": {"podPreemptionPolicy": "x"}}, ["PreemptionPolicy"]),
    ({}, {"status": {"declaredFeatures": ["X"]}}, ["DeclaredFeature"]),
    ({"status": {"conditions": [{"type": "R", "status": "True", "a": 1}]}},
     {"status": {"conditions": [{"type": "R", "status": "True"}]}}, []),
    ({"spec": {"unschedulable": True}}, {
        "spec": {"taints": [1], "podPreemptionPolicy": "x"}, "metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
        "status": {"allocatable": 1, "conditions": [{"type": "R", "status": "T"}], "declaredFeatures": ["X"]}},
     ["Taint", "Allocatable", "Label", "Taint", "Condition", "Annotation", "PreemptionPolicy", "DeclaredFeature"]),
])
def test_what_changes_of_a_node_is_told_in_order(old: Any, new: Any, labels: list[str]) -> None:
    """Given two states of a node / then the events are those of what scheduling may depend on."""
    found = events.node_scheduling_properties_change(other(PLAIN, **old), other(PLAIN, **new))
    assert [each.label for each in found] == [f"NodeUpdateNode{label}" for label in labels]


@pytest.mark.parametrize(("old", "new", "labels"), [
    ({}, {}, [""]), ({}, {"metadata": {"labels": {"a": "b"}}}, ["PodLabel"]), ({}, {"spec": {"priority": 5}}, [""]),
    ({"requests": {"cpu": "2"}}, {"requests": {"cpu": "1"}}, ["PodScaleDown"]),
    ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}}, ["PodScaleUp"]), ({}, {"requests": {"cpu": "2"}}, ["PodScaleUp"]),
    ({"requests": {"cpu": "2"}}, {}, ["PodScaleDown"]),
    ({"requests": {"cpu": "2", "memory": "1"}}, {"requests": {"cpu": "1", "memory": "2"}}, ["PodScaleDown", "PodScaleUp"]),
    ({"spec": {"schedulingGates": [{"name": "g"}]}}, {}, ["PodSchedulingGatesEliminated"]),
    ({}, {"spec": {"schedulingGates": [{"name": "g"}]}}, [""]),
    ({}, {"spec": {"tolerations": [{"key": "k"}]}}, ["PodToleration"]),
    ({"spec": {"tolerations": [{"key": "k"}]}}, {"spec": {"tolerations": [{"key": "l"}]}}, [""]),
    ({}, {"status": {"resourceClaimStatuses": [1]}}, ["PodGeneratedResourceClaim"]),
    ({}, {"status": {"extendedResourceClaimStatus": 1}}, ["PodGeneratedResourceClaim"]),
    ({}, {"spec": {"overhead": {"cpu": "1"}}}, ["PodScaleUp"]),
    ({}, {"spec": {"resources": {"requests": {"cpu": "1"}}}}, ["PodScaleUp"]),
    ({}, {"spec": {"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "1"}}}]}}, ["PodScaleUp"]),
])
def test_what_changes_of_a_pod_is_told_in_order(old: dict[str, Any], new: dict[str, Any], labels: list[str]) -> None:
    """Given two states of a pod / then the events are upstream's, of a pod with a node, without
    one, or the one that waits.
    """
    def state(given: Mapping[str, Any]) -> Any:
        parts = {name: part for name, part in given.items() if name != "requests"}
        return other(pod(requests=given.get("requests")), **parts)

    before, after = state(old), state(new)
    suffixes = [f"Update{label}" for label in labels]
    found = events.pod_scheduling_properties_change(before, after)
    assert [each.label for each in found] == [f"UnscheduledPod{suffix}" for suffix in suffixes]
    found = events.pod_scheduling_properties_change(before, after, is_target=True)
    assert [each.label for each in found] == [f"TargetPod{suffix}" for suffix in suffixes]
    bound = other(after, spec={"nodeName": "a"})
    for is_target in (True, False):
        found = events.pod_scheduling_properties_change(before, bound, is_target=is_target)
        assert [each.label for each in found] == [f"AssignedPod{suffix}" for suffix in suffixes]


# statuses


def test_statuses_say_what_they_are() -> None:
    """Given each kind of answer / then code, text, reasons and who said it are as given."""
    assert [(code.value, code.text) for code in Code] == [
        (0, "Success"), (1, "Error"), (2, "Unschedulable"), (3, "UnschedulableAndUnresolvable"), (4, "Wait"), (5, "Skip"),
        (6, "Pending")]
    assert [Status(code).is_rejection for code in Code] == [False, False, True, True, False, False, True]
    assert (unschedulable("a"), unresolvable("a", "b"), error("c"), SKIP, WAIT) == (
        Status(Code.UNSCHEDULABLE, ("a",)), Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("a", "b")), Status(Code.ERROR, ("c",)),
        Status(Code.SKIP), Status(Code.WAIT))
    assert unschedulable("a").of_plugin("X") == Status(Code.UNSCHEDULABLE, ("a",), "X")
    assert unschedulable("a").of_plugin("X").of_plugin("Y").plugin == "X"
    assert [each.message for each in (Status(Code.ERROR, ("a", "b"), error="e"), unschedulable("a", "b"),
    Status(Code.ERROR, error="e"))] == [
        "e, a, b", "a, b", "e"]


def test_a_refusal_that_others_add_to() -> None:
    """Given a refusal / when more plugins have rejected the pod / then it names them once, and is
    the same where that is no news.
    """
    first = FitError({"a": unschedulable("x")}, 2, plugins=("A",), pending_plugins=("P",), post_filter_message="m")
    assert first.also(["A"]) is first
    more = first.also(["B", "A"])
    assert (more.plugins, more.pending_plugins, str(more)) == (("A", "B"), ("P",), "0/2 nodes are available: 1 x. m")


# pods and nodes

AFFINITY = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [1]}}
SOFT = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [1]}}


def test_a_pod_is_counted_once() -> None:
    """Given a pod with everything that counts / then its numbers, ports, claims and flags are
    these, and resources are in the order in which they are compared.
    """
    made = pod("p", requests={"example.com/a": "1", "memory": "2", "cpu": "1"}, priority=7, affinity=AFFINITY, volumes=[
        {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "e", "emptyDir": {}}])
    made["spec"]["containers"][0]["ports"] = [
        {"containerPort": 1}, {"containerPort": 2, "hostPort": 3}, {"hostPort": 4, "hostIP": "1.1.1.1", "protocol": "UDP"}]
    info = pod_info(made)
    assert info == PodInfo(
        made, "n/p", 7, {"cpu": 1000, "memory": 2, "example.com/a": 1}, {"cpu": 1000, "memory": 2},
        (("0.0.0.0", "TCP", 3), ("1.1.1.1", "UDP", 4)), True, True, (("n", "c"),))
    assert list(info.requests) == ["cpu", "memory", "example.com/a"]
    plain = pod_info(pod())
    assert (plain.priority, plain.requests, plain.non_zero_requests, plain.has_affinity, plain.claims) == (
        0, {}, {"cpu": 100, "memory": 200 << 20}, False, ())
    assert [(each.has_affinity, each.has_required_anti_affinity) for each in (
        pod_info(pod(affinity=SOFT)), pod_info(pod(affinity={"podAntiAffinity": SOFT["podAffinity"]})),
        pod_info(pod(affinity={"nodeAffinity": {}})))] == [(True, False), (True, False), (False, False)]
    assert encoded_fields(plain, "a", "b") == b""
    assert encoded_fields(info, "priority", "b") == b"[7,null]"


@pytest.mark.parametrize(("change", "like"), [
    ({}, True), ({"spec": {"nodeName": "a"}}, True), ({"status": {"phase": "Running"}}, True),
    ({"metadata": {"annotations": {}}}, True),
    ({"metadata": {"labels": {"a": "b"}}}, False), ({"metadata": {"deletionTimestamp": "x"}}, False),
    ({"spec": {"priority": 1}}, False),
    ({"spec": {"overhead": {}}}, False), ({"spec": {"affinity": {}}}, False), ({"spec": {"volumes": []}}, False),
    ({"spec": {"resources": {}}}, False), ({"spec": {"initContainers": []}}, False), ({"spec": {"containers": []}}, False),
])
def test_a_change_that_does_not_count(change: Any, like: bool) -> None:
    """Given another state of a pod / then it counts as before unless what is counted is another."""
    made = pod(requests={"cpu": "1"})
    info = pod_info(made)
    changed = other(made, **change)
    assert info.counts_like(changed) is like
    assert info.at(changed) == PodInfo(changed, *(getattr(info, name) for name in (
        "uid", "priority", "requests", "non_zero_requests", "ports", "has_affinity", "has_required_anti_affinity", "claims")))


def test_what_a_node_knows_is_that_of_its_pods() -> None:
    """Given pods that come and go / then all that a node counts is as if only those that are left
    had come.
    """
    def numbered(number: int, **spec: Any) -> Any:
        made = pod(f"p{number}", requests={"cpu": str(number)}, priority=number % 2, volumes=[
            {"name": "v", "persistentVolumeClaim": {"claimName": f"c{number % 2}"}}], **spec)
        made["spec"]["containers"][0]["ports"] = [{"hostPort": number % 2 + 1}]
        return made

    def facts(info: NodeInfo) -> tuple[Any, ...]:
        numbers = {name: amount for name, amount in info.requested.items() if amount}
        return (sorted(info.pods), numbers, info.non_zero_requested, info.priorities, sorted(info.pods_with_affinity),
                sorted(info.pods_with_required_anti_affinity), info.used_ports, info.claim_counts, info.usage)

    kept = [numbered(1), numbered(2, affinity=AFFINITY), numbered(3, affinity=SOFT)]
    gone = [numbered(4, affinity=AFFINITY), numbered(5)]
    full = node("a", *kept, *gone)
    generation = full.generation
    copied = full.copy()
    for each in gone:
        full.remove(each["metadata"]["uid"])
    full.remove("nobody")
    assert facts(full) == facts(node("a", *kept))
    assert facts(full)[1:] == (
        {"cpu": 6000}, {"cpu": 6000, "memory": 3 * (200 << 20)}, {1: 2, 0: 1}, ["n/p2", "n/p3"], ["n/p2"],
        {("0.0.0.0", "TCP", 2): 2, ("0.0.0.0", "TCP", 1): 1}, {("n", "c1"): 2, ("n", "c0"): 1}, usage_of(full))
    assert full.generation == generation + 2
    assert facts(copied) == facts(node("a", *kept, *gone))
    assert copied.generation == generation
    full.remove_node()
    assert (full.node, full.allocatable, full.taints, full.images, len(full.pods)) == (None, {}, (), {}, 3)


def test_images_of_a_node_follow_its_status() -> None:
    """Given a node with images / when its status changes / then the images are the new ones; the
    first of two with the same name counts.
    """
    listed = [{"names": ["a", "b"], "sizeBytes": 5}, {"names": ["a"], "sizeBytes": 9}, {"names": None}, {"names": ["c"]}]
    info = node("n", status={"images": listed})
    assert info.images == {"c": 0, "a": 5, "b": 5}
    info.set_node({"metadata": {"name": "n"}, "spec": {}, "status": {}})
    assert info.images == {}


WHOLE = 1 << 48


@pytest.mark.parametrize(("requests", "usage", "zone"), [
    ([], (0, 0, 0, 0, 0, 0, 0), 0), ([{"cpu": "1", "memory": "2Gi"}], (WHOLE // 2, -WHOLE // 2, 0, 0, 1000, 2 << 30, 1), 1),
    ([{"cpu": "1", "memory": "0"}], (WHOLE // 4, -WHOLE // 4, WHOLE // 4, -WHOLE // 4, 1000, 0, 1), 3),
    ([{"cpu": "8", "memory": "0"}], (WHOLE, -WHOLE, WHOLE, -WHOLE, 8000, 0, 1), 3),
    ([{"cpu": "0", "memory": "2Gi"}], (WHOLE // 4, -WHOLE // 4, -WHOLE // 4, WHOLE // 4, 0, 2 << 30, 1), 5),
    ([{"cpu": "32m", "memory": "0"}],
     (WHOLE * 32 // 4000, -(WHOLE * 32 // 4000), WHOLE * 32 // 4000, -(WHOLE * 32 // 4000), 32, 0, 1), 2),
    ([{"cpu": "0", "memory": "64Mi"}], (WHOLE >> 7, -WHOLE >> 7, -WHOLE >> 7, WHOLE >> 7, 0, 64 << 20, 1), 4),
])
def test_usage_in_shares(requests: list[dict[str, str]], usage: tuple[int, ...], zone: int) -> None:
    """Given a node of 4 cpus and 8Gi with pods / then what they take is this, in shares and
    numbers, and of this kind.
    """
    info = node("a", *[pod(f"p{number}", requests=each) for number, each in enumerate(requests)])
    assert info.usage[:7] == usage
    assert info.usage[7:] == tuple(info.requested.get(name, 0) for name in info.allocatable)
    assert zone_of(info.usage) == zone
