"""Changes that are proposed, and how long pods wait."""

import math
from typing import Any

import pytest

from fakekube_controllers.scheduler import backoff
from fakekube_controllers.scheduler.backoff import Backoff
from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.queued import QueuedPodInfo
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.heap import Heap
from tests.controllers.scheduler.plugins.cases import node, pod

# changes

CLAIM = {"metadata": {"name": "c", "namespace": "n"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
LIKE: dict[str, Any] = {"action": "AddNode", "target": "node"}


@pytest.mark.parametrize(("change", "action", "target", "text", "details"), [
    (changes.add_resource("node/a", "cpu", 1500), "AddResource", "node/a", "1500m more cpu on node a",
     {"resource": "cpu", "amount": "1500m"}),
    (changes.add_resource("node/a", "pods", 2), "AddResource", "node/a", "room for 2 more pods on node a",
     {"resource": "pods", "amount": "2"}),
    (changes.add_resource("node/a", "memory", 1 << 30), "AddResource", "node/a", "1Gi more memory on node a",
     {"resource": "memory", "amount": "1Gi"}),
    (changes.add_resource("node/a", "hugepages-2Mi", 4 << 20), "AddResource", "node/a", "4Mi more hugepages-2Mi on node a",
     {"resource": "hugepages-2Mi", "amount": "4Mi"}),
    (changes.add_node("node like n1", 1, {"like": "n1"}), "AddNode", "node", "one more node like n1",
     {"count": 1, "what": "node like n1", "like": "n1"}),
    (changes.add_node("node with 2 cpu", 3, {}), "AddNode", "node", "3 more nodes with 2 cpu",
     {"count": 3, "what": "node with 2 cpu"}),
    (changes.with_count(changes.add_node("node", 1, {"x": 1}), 2), "AddNode", "node", "2 more nodes",
     {"count": 2, "what": "node", "x": 1}),
    (changes.together([changes.add_volume_limit("node/a", "d", 1), changes.add_volume_limit("node/a", "d", 2)]), "AddVolumeLimit",
     "node/a",
     "room for 3 more volumes of d on node a", {"driver": "d", "count": 3}),
    (changes.together([changes.add_devices("node/a", "gpu", "d", {"x": 1}, 1)] * 2), "AddDevices", "node/a",
     "2 more devices of class gpu on node a", {"deviceClass": "gpu", "driver": "d", "count": 2, "device": {"x": 1}}),
    (changes.add_devices("node/a", "gpu", "d", None, 1), "AddDevices", "node/a", "one more device of class gpu on node a",
     {"deviceClass": "gpu", "driver": "d", "count": 1, "device": None}),
    (changes.add_volume_limit("node/a", "d", 1), "AddVolumeLimit", "node/a", "room for one more volume of d on node a",
     {"driver": "d", "count": 1}),
    (changes.uncordon(node("a")), "Uncordon", "node/a", "uncordon node a", {}),
    (changes.remove_taint(node("a"), {"key": "k", "value": "v", "effect": "E"}), "RemoveTaint", "node/a",
     "remove taint k=v:E from node a, or tolerate it", {"key": "k", "value": "v", "effect": "E"}),
    (changes.remove_taint(node("a"), {"key": "k", "effect": "E"}), "RemoveTaint", "node/a",
     "remove taint k:E from node a, or tolerate it", {"key": "k", "value": "", "effect": "E"}),
    (changes.set_label("node/a", "k", "v"), "SetLabel", "node/a", "label k=v on node a", {"key": "k", "value": "v"}),
    (changes.remove_label("node/a", "k"), "RemoveLabel", "node/a", "no label k on node a", {"key": "k"}),
    (changes.delete_pod(pod(), "which", node("a")), "DeletePod", "pod/n/p", "delete pod n/p, which", {"uid": "n/p", "node": "a"}),
    (changes.create("DeviceClass", "", "gpu"), "Create", "deviceclass//gpu", "a DeviceClass named gpu", {"kind": "DeviceClass"}),
    (changes.create_pods("g", "n", 1, 2, 3), "CreatePods", "podgroup/n/g", "one more pod of group g: 2 of 3 are there",
     {"count": 1}),
    (changes.create_pods("g", "n", 2, 1, 3), "CreatePods", "podgroup/n/g", "2 more pods of group g: 1 of 3 are there",
     {"count": 2}),
    (changes.create_groups("g", "n", 1, 2, 3), "CreateGroups", "compositepodgroup/n/g",
     "one more group below g: 2 of 3 are there",
     {"count": 1}),
    (changes.create_groups("g", "n", 2, 1, 3), "CreateGroups", "compositepodgroup/n/g", "2 more groups below g: 1 of 3 are there",
     {"count": 2}),
    (changes.lift_gate(pod(), "g"), "LiftGate", "pod/n/p", "lift the scheduling gate g of pod p", {"gate": "g"}),
    (changes.create_pod(node("a"), "m", {"x": "1", "y": "2"}), "CreatePod", "node/a",
     "a pod with labels x=1, y=2 in namespace m on node a", {"namespace": "m", "labels": {"x": "1", "y": "2"}}),
    (changes.create_pod(node("a"), "m", {}), "CreatePod", "node/a", "a pod in namespace m on node a",
     {"namespace": "m", "labels": {}}),
    (changes.create_volume(CLAIM, "fast", {"l": "1"}), "CreateVolume", "persistentvolume",
     "a PersistentVolume of class fast with 1Gi for claim n/c", {
        "claim": "n/c", "capacity": "1Gi", "accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
        "volumeMode": "Filesystem",
        "volumeAttributesClassName": "", "labels": {"l": "1"}}),
    (changes.create_volume({**CLAIM, "spec": {"volumeMode": "Block", "volumeAttributesClassName": "gold"}}, "", {}),
     "CreateVolume",
     "persistentvolume", "a PersistentVolume without a class with 0 for claim n/c", {
        "claim": "n/c", "capacity": "0", "accessModes": [], "storageClassName": "", "volumeMode": "Block",
        "volumeAttributesClassName": "gold", "labels": {}}),
    (changes.add_storage(node("a"), "fast", "1Gi"), "AddStorage", "node/a", "room for a volume of 1Gi of class fast on node a",
     {"storageClassName": "fast", "size": "1Gi"}),
])
def test_a_change_says_what_is_to_be_done(change: Any, action: str, target: str, text: str, details: dict[str, Any]) -> None:
    """Given each change that is proposed / then its action, target, text and details are these."""
    assert (change.action, change.target, change.text, change.details or {}) == (action, target, text, details)
    assert change.target.startswith("node") or action not in ("AddNode", "SetLabel")


@pytest.mark.parametrize(("resource", "amount", "text"), [
    ("cpu", 1500, "1500m"), ("cpu", 2000, "2"), ("memory", 3 << 20, "3Mi"), ("ephemeral-storage", 1 << 10, "1Ki"),
    ("pods", 7, "7"),
    ("example.com/gpu", 4, "4")])
def test_amounts_are_quantities(resource: str, amount: int, text: str) -> None:
    """Given an amount of a resource / then it is written as a quantity, and read back."""
    assert (changes.amount_text(resource, amount), changes.amount_of(resource, text)) == (text, amount)


# waiting


def queued(name: str = "p", **fields: Any) -> QueuedPodInfo:
    made = QueuedPodInfo(pod_info(pod(name)), timestamp=100.5, sequence=1)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


@pytest.mark.parametrize(("fields", "expiration", "aligned"), [
    ({}, -math.inf, -math.inf), ({"unschedulable_count": 1}, 101.5, 101), ({"unschedulable_count": 2}, 102.5, 102),
    ({"unschedulable_count": 4}, 108.5, 108), ({"unschedulable_count": 5}, 110.5, 110), ({"unschedulable_count": 99}, 110.5, 110),
    ({"unschedulable_count": 5, "consecutive_errors_count": 1}, 101.5, 101),
])
def test_a_back_off_is_over_when_it_is(fields: dict[str, Any], expiration: float, aligned: float) -> None:
    """Given how often a pod was tried / then its back-off is over then, whole seconds where it is
    aligned, and it backs off until then.
    """
    rule = Backoff()
    assert rule.expiration(queued(**fields), aligned=False) == expiration
    assert rule.expiration(queued(**fields), aligned=True) == aligned
    assert Backoff(1.0, 0.0).expiration(queued(**fields), aligned=False) == -math.inf
    if fields:
        pod_ = queued(**fields)
        assert [rule.is_backing_off(pod_, now, aligned=False) for now in (expiration - 1, expiration, expiration + 0.001)] == [
            True, True, False]
        assert rule.end(pod_, aligned=False) == math.nextafter(expiration, math.inf)
        pod_ = queued(**fields)
        assert [rule.is_backing_off(pod_, now, aligned=True) for now in (aligned, aligned + 0.9, aligned + 1)] == [True, True,
        False]
        assert rule.end(pod_, aligned=True) == aligned + 1


def test_what_is_tried_again_and_again_is_calmed() -> None:
    """Given a pod that is tried for ever in one second / then it is too often at some point, the
    sooner the more often it was calmed; another second begins anew.
    """
    made = queued()
    tries = 0
    while not backoff.is_tried_too_often(made, 7.5):
        backoff.count_try(made, 7.2)
        tries += 1
    assert tries == 64
    assert not backoff.is_tried_too_often(made, 8.0)
    backoff.calm(made, 9.0)
    assert (made.calmed_count, made.consecutive_errors_count, made.timestamp, made.backoff_expiration) == (1, 1, 9.0, None)
    backoff.count_try(made, 10.0)
    assert (made.tried_in, made.tries_in_second) == (10, 1)
    made.consecutive_errors_count = 4
    backoff.calm(made, 9.0)
    assert (made.calmed_count, made.consecutive_errors_count) == (2, 4)
    made.tries_in_second = 16
    assert backoff.is_tried_too_often(made, 10.0)
    made.tries_in_second -= 1
    assert not backoff.is_tried_too_often(made, 10.0)


def test_a_heap_gives_the_first() -> None:
    """Given entities in a heap / then they come out in order, can be taken from the middle, and are
    sorted anew when they are added again.
    """
    heap = Heap(lambda entity: entity.timestamp)
    assert (heap.first(), heap.pop(), len(heap)) == (None, None, 0)
    made = {name: queued(name, timestamp=time) for name, time in (("a", 3.0), ("b", 1.0), ("c", 2.0))}
    for each in made.values():
        heap.add(each)
    assert ([each.key.name for each in heap], len(heap), made["a"].key in heap) == (["b", "c", "a"], 3, True)
    assert (heap.first(), heap.get(made["c"].key)) == (made["b"], made["c"])
    made["b"].timestamp = 9.0
    heap.add(made["b"])
    assert heap.delete(made["c"].key) is made["c"]
    assert (heap.delete(made["c"].key), heap.get(made["c"].key)) == (None, None)
    assert [heap.pop(), heap.pop(), heap.pop()] == [made["a"], made["b"], None]
