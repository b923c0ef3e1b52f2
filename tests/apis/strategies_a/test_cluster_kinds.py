"""Namespaces, Nodes, disruption budgets, autoscalers, priority classes and scheduling groups."""

import copy
from typing import Any

import pytest

from fakekube.apis.core import namespace as namespaces
from fakekube.apis.scheduling import groups, templates
from tests.apis.strategies_a.hooks import create, update, update_status, with_spec


def body(api_version: str, kind: str, name: str = "x", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def test_a_namespace_is_active_and_finalized() -> None:
    """Given a name, when created, then the namespace has a phase, a finalizer and its own name as a
    label.
    """
    obj = create(body("v1", "Namespace")).obj
    assert obj["status"] == {"phase": "Active"}
    assert obj["spec"] == {"finalizers": ["kubernetes"]}
    assert obj["metadata"]["labels"] == {"kubernetes.io/metadata.name": "x"}


def test_only_its_subresource_finalizes_a_namespace() -> None:
    """Given a namespace, when updated, then its finalizers stay; through /finalize they go."""
    old = create(body("v1", "Namespace")).obj
    assert update(old, with_spec(old, finalizers=[])).spec == {"finalizers": ["kubernetes"]}
    assert not update(old, with_spec(old, finalizers=None), strategy=namespaces.SUBRESOURCES["finalize"]).spec.get("finalizers")


def test_a_node_takes_no_second_network() -> None:
    """Given a node with a pod network, when it is given another, then that is refused; taints must
    be told apart.
    """
    old = create(body("v1", "Node", spec={"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]})).obj
    assert update(old, with_spec(old, podCIDR="10.0.1.0/24", podCIDRs=["10.0.1.0/24"])).errors
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    found = update(old, with_spec(old, taints=[taint, {**taint, "value": "w"}])).errors
    assert len(found) == 1
    assert found[0].startswith("metadata.taints[1]: Duplicate value: ")


def test_a_node_defaults_what_can_be_allocated() -> None:
    """Given a capacity, when a node's status is written, then the same can be allocated."""
    old = create(body("v1", "Node")).obj
    status = update_status(old, {"capacity": {"cpu": "4"}}).obj["status"]
    assert status["allocatable"] == {"cpu": "4"}


@pytest.mark.parametrize(("spec", "expected"), [
    ({"minAvailable": 1, "maxUnavailable": 1}, "minAvailable and maxUnavailable cannot be both set"),
    ({"minAvailable": -1}, "must be greater than or equal to 0"),
    ({"minAvailable": "1"}, "a valid percent string must be a numeric string followed by an ending '%'"),
    ({"minAvailable": "101%"}, "must not be greater than 100%"),
])
def test_a_bad_budget_is_refused(spec: dict[str, Any], expected: str) -> None:
    """Given a budget that makes no sense, when created, then it is refused."""
    found = create(body("policy/v1", "PodDisruptionBudget", spec={"selector": {}, **spec})).errors
    assert len(found) == 1
    assert expected in found[0]


def autoscaler(**spec: Any) -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    return body("autoscaling/v2", "HorizontalPodAutoscaler", spec={"scaleTargetRef": target, "maxReplicas": 3, **spec})


def test_an_autoscaler_looks_at_processors() -> None:
    """Given no metrics, when created, then 80 % of the requested cpu is aimed at, with one replica
    at least.
    """
    outcome = create(autoscaler())
    assert outcome.errors == []
    assert outcome.spec["minReplicas"] == 1
    assert outcome.spec["metrics"] == [{"type": "Resource", "resource": {
        "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]


@pytest.mark.parametrize(("spec", "expected"), [
    ({"minReplicas": -1}, "spec.minReplicas: Invalid value: -1: must be greater than or equal to 0"),
    ({"minReplicas": 5}, "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"),
])
def test_a_bad_autoscaler_is_refused(spec: dict[str, Any], expected: str) -> None:
    """Given numbers that cannot be, when created, then they are refused."""
    assert create(autoscaler(**spec)).errors == [expected]


def priority_class(name: str = "x", **fields: Any) -> dict[str, Any]:
    return body("scheduling.k8s.io/v1", "PriorityClass", name, **fields)


@pytest.mark.parametrize(("obj", "expected"), [
    (priority_class(value=1_000_000_001), "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"),
    (priority_class("system-mine", value=1),
     ("metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "
      "system-mine is not a known system priority class")),
])
def test_priorities_have_a_limit(obj: dict[str, Any], expected: str) -> None:
    """Given a class of the system's, when a user creates it, then it is refused."""
    assert create(obj).errors == [expected]


def test_a_priority_stays() -> None:
    """Given a class, when its value changes, then that is refused."""
    old = create(priority_class(value=1)).obj
    assert old["preemptionPolicy"] == "PreemptLowerPriority"
    assert update(old, {**old, "value": 2}).errors == ["value: Forbidden: may not be changed in an update."]


def leaf(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "schedulingPolicy": {"basic": {}}, **fields}


def branch(name: str, *leaves: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"name": name, "schedulingPolicy": {"basic": {}}, "podGroupTemplates": list(leaves), **fields}


def test_a_branch_without_leaves_is_refused() -> None:
    """Given a tree of templates, when one repeats a name, has no children or is too deep, then the
    tree is refused.
    """
    tree = {"compositePodGroupTemplates": [branch("a", leaf("l")), branch("b", leaf("l"))]}
    assert [str(each) for each in templates.validate_tree(tree, "spec")] == [
        'spec.compositePodGroupTemplates[1].podGroupTemplates[0].name: Duplicate value: "l"']
    empty = {"compositePodGroupTemplates": [branch("a")]}
    (found,) = templates.validate_tree(empty, "spec")
    assert str(found).endswith("must have at least one child PodGroupTemplate or CompositePodGroupTemplate")
    deep = branch("d", leaf("l"))
    for name in "cba":
        deep = branch(name, compositePodGroupTemplates=[deep])
    (found,) = templates.validate_tree({"compositePodGroupTemplates": [deep]}, "spec")
    assert str(found).endswith("maximum template hierarchy depth is 4")
    mixed = {"podGroupTemplates": [leaf("a", priority=0), leaf("b")]}
    (found,) = templates.validate_tree(mixed, "spec")
    assert str(found) == "spec: Invalid value: null: detected multiple priority configurations"


def test_a_policy_is_chosen_once() -> None:
    """Given a basic group, when it becomes a gang, then both members of the union complain; a
    gang's size may change.
    """
    basic, gang = {"schedulingPolicy": {"basic": {}}}, {"schedulingPolicy": {"gang": {"minCount": 2}}}
    assert [str(each) for each in groups.validate_group(gang, basic, "spec")] == [
        "spec.schedulingPolicy.basic: Invalid value: null: field is immutable",
        "spec.schedulingPolicy.gang: Invalid value: null: field cannot be set once created"]
    larger = copy.deepcopy(gang)
    larger["schedulingPolicy"]["gang"]["minCount"] = 3
    assert groups.validate_group(larger, gang, "spec") == []
    assert [str(each) for each in groups.validate_group({}, None, "spec")] == [
        'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']


@pytest.mark.parametrize(("text", "expected"), [
    ("{", ('metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.kubernetes.io/preferAvoidPods": '
          "unexpected end of JSON input")),
    ('{"preferAvoidPods": [{}]}',
     "metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value"),
])
def test_pods_to_avoid_are_told_in_json(text: str, expected: str) -> None:
    """Given an annotation that names no controller, when a node is created, then it is refused."""
    node = body("v1", "Node")
    node["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/preferAvoidPods": text}
    assert create(node).errors == [expected]
