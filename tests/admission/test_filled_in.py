"""Classes, priorities, labels, finalizers and tolerations that plugins fill in."""

from typing import Any

import pytest

from fakekube.admission.defaults import (
    DefaultIngressClass,
    DefaultStorageClass,
    DefaultTolerationSeconds,
    PodTopologyLabels,
    StorageObjectInUseProtection,
    TaintNodesByCondition,
)
from fakekube.admission.priority import Priority
from fakekube.admission.runtime_class import RuntimeClass
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from tests.admission.world import World, kind

PODS, CLAIMS = kind("", "v1", "pods"), kind("", "v1", "persistentvolumeclaims")
INGRESSES = kind("networking.k8s.io", "v1", "ingresses")
GROUPS = kind("scheduling.k8s.io", "v1beta1", "podgroups")
CLASSES = kind("scheduling.k8s.io", "v1", "priorityclasses")
NOT_READY = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


def pod(**spec: Any) -> Tree:
    return {"metadata": {"name": "p", "namespace": "t"}, "spec": spec}


def refusal(plugin: Any, attrs: Any, step: str = "admit") -> str:
    try:
        getattr(plugin, step)(attrs)
    except APIError as error:
        return error.message.partition(" is forbidden: ")[2]
    return ""


@pytest.mark.parametrize(("given", "added"), [
    ([], [NOT_READY, UNREACHABLE]), ([{"operator": "Exists"}], []), ([{"operator": "Exists", "effect": "NoExecute"}], []),
    ([{"operator": "Exists", "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
    ([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute", "value": "x"}], [UNREACHABLE]),
    ([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
    ([{"key": "node.kubernetes.io/unreachable"}], [NOT_READY]), ([{"key": "other"}], [NOT_READY, UNREACHABLE]),
])
def test_tolerations_of_nodes_in_trouble(given: list[Tree], added: list[Tree]) -> None:
    """Given tolerations / then what they do not cover is added behind them, whole."""
    obj = pod(tolerations=given) if given else pod()
    DefaultTolerationSeconds().admit(World().attributes(PODS, obj))
    assert obj["spec"].get("tolerations", []) == given + added


def test_a_new_node_keeps_its_own_taints() -> None:
    """Given taints of the same key and of the same effect / then not-ready comes behind them."""
    others = [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}, {"key": "a", "effect": "NoSchedule"}]
    node: Tree = {"metadata": {"name": "n"}, "spec": {"taints": others}}
    TaintNodesByCondition().admit(World().attributes(kind("", "v1", "nodes"), node))
    assert node["spec"]["taints"] == [*others, {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


LABELS = {"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z"}


@pytest.mark.parametrize(("gates", "subresource", "obj", "labels"), [
    (("PodTopologyLabelsAdmission",), "", pod(nodeName="n"), LABELS), ((), "", pod(nodeName="n"), None),
    (("PodTopologyLabelsAdmission",), "", pod(nodeName="gone"), None), (("PodTopologyLabelsAdmission",), "", pod(), None),
    (("PodTopologyLabelsAdmission",), "", pod(nodeName="bare"), None),
    (("PodTopologyLabelsAdmission",), "binding", {"target": {"kind": "Node", "name": "n"}}, LABELS),
    (("PodTopologyLabelsAdmission",), "binding", {"target": {"kind": "Other", "name": "n"}}, None),
    (("PodTopologyLabelsAdmission",), "binding", {"metadata": {"labels": {"a": "b", "topology.kubernetes.io/zone": "x"}},
                                                  "target": {"kind": "Node", "name": "n"}}, {"a": "b", **LABELS}),
])
def test_topology_labels(gates: tuple[str, ...], subresource: str, obj: Tree, labels: Tree | None) -> None:
    """Given a node with region, zone and others / when a pod or a binding names it / then region
    and zone are copied under the gate.
    """
    world = World(*gates)
    world.put("", "nodes", {"metadata": {"name": "n", "labels": {**LABELS, "kubernetes.io/hostname": "n"}}})
    world.put("", "nodes", {"metadata": {"name": "bare"}})
    PodTopologyLabels().admit(world.attributes(PODS, obj, subresource=subresource, operation="CREATE"))
    assert obj.get("metadata", {}).get("labels") == labels


def classes(group: str, plural: str, annotation: str, *named: tuple[str, str, str]) -> World:
    world = World()
    for name, created, value in named:
        world.put(group, plural, {"metadata": {"name": name, "creationTimestamp": created, "annotations": {annotation: value}}})
    return world


STORAGE, INGRESS = ("storageclass.kubernetes.io/is-default-class", "ingressclass.kubernetes.io/is-default-class")
OLD, NEW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(("named", "chosen"), [
    ([], None), ([("a", OLD, "false")], None), ([("a", OLD, "True")], None), ([("a", OLD, "true"), ("b", NEW, "false")], "a"),
    ([("a", NEW, "true"), ("b", OLD, "true")], "a"), ([("b", NEW, "true"), ("a", OLD, "true")], "b"),
    ([("b", OLD, "true"), ("a", OLD, "true")], "a"),
])
def test_the_default_class(named: list[tuple[str, str, str]], chosen: str | None) -> None:
    """Given classes / then the newest that is marked is the default; of equally new ones the first
    by name.
    """
    for plugin, of, group, plural, annotations, field in (
        (DefaultStorageClass(), CLAIMS, "storage.k8s.io", "storageclasses",
         (STORAGE, "storageclass.beta.kubernetes.io/is-default-class"), "storageClassName"),
        (DefaultIngressClass(), INGRESSES, "networking.k8s.io", "ingressclasses", (INGRESS,), "ingressClassName"),
    ):
        for annotation in annotations:
            obj: Tree = {"metadata": {"name": "x"}, "spec": {}}
            plugin.admit(classes(group, plural, annotation, *named).attributes(of, obj))
            assert obj["spec"].get(field) == chosen


def test_a_class_that_is_named_stays() -> None:
    """Given a default class / when a claim or an Ingress names one, in its annotation or empty /
    then it stays as it is.
    """
    world = classes("storage.k8s.io", "storageclasses", STORAGE, ("a", OLD, "true"))
    annotated: Tree = {"metadata": {"name": "c", "annotations": {"volume.beta.kubernetes.io/storage-class": ""}}, "spec": {}}
    DefaultStorageClass().admit(world.attributes(CLAIMS, annotated))
    assert annotated["spec"] == {}
    world = classes("networking.k8s.io", "ingressclasses", INGRESS, ("a", OLD, "true"))
    own: Tree = {"metadata": {"name": "i"}, "spec": {"ingressClassName": "b"}}
    DefaultIngressClass().admit(world.attributes(INGRESSES, own))
    assert own["spec"] == {"ingressClassName": "b"}


@pytest.mark.parametrize(("group", "plural", "finalizer"), [
    ("", "persistentvolumes", "kubernetes.io/pv-protection"), ("", "persistentvolumeclaims", "kubernetes.io/pvc-protection"),
    ("storage.k8s.io", "volumeattributesclasses", "kubernetes.io/vac-protection")])
def test_protection_comes_behind_other_finalizers(group: str, plural: str, finalizer: str) -> None:
    """Given an object with a finalizer / then that of its protection is added once."""
    obj: Tree = {"metadata": {"name": "x", "finalizers": ["a"]}}
    for _ in range(2):
        StorageObjectInUseProtection().admit(World().attributes(kind(group, "v1", plural), obj))
    assert obj["metadata"]["finalizers"] == ["a", finalizer]


def priorities(*gates: str) -> World:
    world = World(*gates)
    for name, value, more in (
        ("low", 5, {"globalDefault": True, "preemptionPolicy": "Never"}), ("high", 50, {"globalDefault": True}),
        ("top", 100, {"preemptionPolicy": "PreemptLowerPriority"}),
    ):
        world.put("scheduling.k8s.io", "priorityclasses", {"metadata": {"name": name}, "value": value, **more})
    return world


@pytest.mark.parametrize(("given", "filled"), [
    ({}, {"priority": 5, "priorityClassName": "low", "preemptionPolicy": "Never"}),
    ({"priority": 5, "preemptionPolicy": "Never"}, {"priority": 5, "priorityClassName": "low", "preemptionPolicy": "Never"}),
    ({"priorityClassName": "high"}, {"priority": 50, "priorityClassName": "high"}),
    ({"priorityClassName": "high", "preemptionPolicy": "Never"},
     {"priority": 50, "priorityClassName": "high", "preemptionPolicy": "Never"}),
    ({"priorityClassName": "top"}, {"priority": 100, "priorityClassName": "top", "preemptionPolicy": "PreemptLowerPriority"}),
])
def test_priorities_of_pods(given: Tree, filled: Tree) -> None:
    """Given two default classes / then the lower one counts for pods that name none; a class
    without a policy leaves the pod's.
    """
    obj = pod(**given)
    Priority().admit(priorities().attributes(PODS, obj))
    assert obj["spec"] == filled


COMPUTED = "priority admission controller computed"


@pytest.mark.parametrize(("of", "gates", "given", "told"), [
    (PODS, (), {"priority": 6},
        (f"the integer value of priority (6) must not be provided in pod spec; {COMPUTED} 5 from the given "
     "PriorityClass name")),
    (PODS, (), {"priorityClassName": "top", "preemptionPolicy": "Never"},
     (f"the string value of PreemptionPolicy (Never) must not be provided in pod spec; {COMPUTED} PreemptLowerPriority from the "
     "given PriorityClass name")),
    (GROUPS, ("GenericWorkload",), {"priority": 6},
     "priority set in the pod group (6) must match the priority computed (5) based on the priority class set in the spec"),
    (GROUPS, ("GenericWorkload", "PodGroupPreemptionPolicy"), {"preemptionPolicy": "Always"},
     (f"the string value of PreemptionPolicy (Always) must not be provided in pod group spec; {COMPUTED} Never from the given "
     "PriorityClass name")),
    (GROUPS, ("GenericWorkload",), {"preemptionPolicy": "Always"}, ""), (GROUPS, (), {"priority": 6}, ""),
])
def test_priorities_that_contradict_the_class(of: Any, gates: tuple[str, ...], given: Tree, told: str) -> None:
    """Given a number or a policy that is not the class's / then 403 says so; groups are looked at
    under their gates.
    """
    assert refusal(Priority(), priorities(*gates).attributes(of, {"metadata": {"name": "g"}, "spec": given})) == told


def test_priorities_of_groups() -> None:
    """Given groups under both gates, one and none / then policy, priority or nothing is there."""
    for gates, filled in (
        (("GenericWorkload", "PodGroupPreemptionPolicy"),
         {"priority": 5, "priorityClassName": "low", "preemptionPolicy": "Never"}),
        (("GenericWorkload",), {"priority": 5, "priorityClassName": "low"}), ((), {}),
    ):
        group: Tree = {"metadata": {"name": "g"}, "spec": {}}
        Priority().admit(priorities(*gates).attributes(GROUPS, group))
        assert group["spec"] == filled


@pytest.mark.parametrize(("name", "default", "old", "refused"), [
    ("low", True, True, False), ("low", True, False, True), ("other", True, True, True), ("other", False, False, False)])
def test_one_default_class(name: str, default: bool, old: bool, refused: bool) -> None:
    """Given a default class / then it may be updated itself, and no other becomes one."""
    obj = {"metadata": {"name": name}, "value": 1, "globalDefault": default}
    told = refusal(Priority(), priorities().attributes(CLASSES, obj, obj if old else None), "validate")
    assert told == ("PriorityClass low is already marked as default. Only one default can exist" if refused else "")


def test_an_update_keeps_what_it_leaves_out_alone() -> None:
    """Given a priority and a policy / when an update says one of them / then the other is put back;
    where the old had none, none comes.
    """
    for new, old, kept in (
        ({"priority": 1}, {"priority": 2, "preemptionPolicy": "Never"}, {"priority": 1, "preemptionPolicy": "Never"}),
        ({"preemptionPolicy": "A"}, {"priority": 2}, {"priority": 2, "preemptionPolicy": "A"}), ({}, {}, {}),
    ):
        obj = pod(**new)
        Priority().admit(priorities().attributes(PODS, obj, pod(**old)))
        assert obj["spec"] == kept


def test_a_class_without_scheduling_changes_no_nodes() -> None:
    """Given a runtime class with nothing, with empty scheduling, and with tolerations alone / then
    a pod gets what is there.
    """
    toleration = {"key": "a", "operator": "Exists"}
    for runtime, filled in (
        ({}, {}), ({"scheduling": {}}, {}), ({"scheduling": {"nodeSelector": {}}}, {}),
        ({"scheduling": {"tolerations": [toleration]}}, {"tolerations": [toleration]}),
        ({"overhead": {"podFixed": {"cpu": "1"}}}, {"overhead": {"cpu": "1"}}),
    ):
        world = World()
        world.put("node.k8s.io", "runtimeclasses", {"metadata": {"name": "r"}, **runtime})
        obj = pod(runtimeClassName="r")
        RuntimeClass().admit(world.attributes(PODS, obj))
        assert obj["spec"] == {"runtimeClassName": "r", **filled}
        changed = pod(runtimeClassName="r", overhead={"cpu": "2"})
        told = refusal(RuntimeClass(), world.attributes(PODS, changed), "validate")
        assert told == (
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead" if "overhead" in runtime else
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
