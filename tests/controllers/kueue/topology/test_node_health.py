"""Whether a node has failed for a Workload."""

from typing import Any

import pytest

from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from fakekube_controllers.kueue.topology.nodehealth import health_of

FOR_GOOD, FOR_A_WHILE = {"key": "k", "operator": "Exists"}, {"key": "k", "operator": "Exists", "tolerationSeconds": 9}


def workload(*tolerations: dict[str, Any], node: str = "a") -> dict[str, Any]:
    assignment = {"levels": [HOSTNAME], "slices": [
        {"domainCount": 1, "valuesPerLevel": [{"universal": node}], "podCounts": {"universal": 1}}]}
    return {
        "metadata": {"name": "w", "namespace": "x"},
        "spec": {"podSets": [{"name": "main", "count": 1, "template": {"spec": {"tolerations": [*tolerations]}}}]},
        "status": {"admission": {"podSetAssignments": [
            {"name": "main", "count": 1, "flavors": {"cpu": "f"}, "topologyAssignment": assignment}]}}}


def node(*taints: str, ready: str = "True") -> dict[str, Any]:
    return {
        "metadata": {"name": "a"}, "spec": {"taints": [{"key": "k", "effect": effect} for effect in taints]},
        "status": {"conditions": [{"type": "Ready", "status": ready}]}}


def pod(phase: str = "Running", node_name: str = "a", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", "namespace": "x", **metadata}, "spec": {"nodeName": node_name}, "status": {"phase": phase}}


@pytest.mark.spec("KUEUE-173")
@pytest.mark.parametrize(("asked", "at", "own", "gates", "wanted"), [
    (workload(), node(), (), {}, False),
    (workload(), node(ready="Unknown"), (), {}, True),
    (workload(), node(ready="False"), (pod(),), {}, False),
    (workload(), node(ready="False"), (pod("Failed"),), {}, True),
    (workload(), node(ready="False"), (pod(deletionTimestamp="2026-01-01T00:00:00Z"),), {}, True),
    (workload(), node(ready="False"), (pod(node_name="b"),), {}, True),
    (workload(), node(ready="False"), (pod(),), {"TASReplaceNodeOnPodTermination": False}, True),
    (workload(), node("NoSchedule"), (), {}, True),
    (workload(), node("NoSchedule"), (pod(),), {}, False),
    (workload(), node("NoExecute"), (pod(),), {"TASReplaceNodeOnPodTermination": False}, True),
    (workload(), node("PreferNoSchedule"), (), {}, False),
    (workload(), node("NoSchedule"), (), {"TASReplaceNodeOnNodeTaints": False}, False),
    (workload(FOR_GOOD), node("NoSchedule"), (), {}, False),
    (workload(FOR_A_WHILE), node("NoExecute"), (), {}, True),
    (workload(FOR_A_WHILE), node("NoExecute"), (pod(),), {}, False),
    (workload(node="b"), node(ready="False"), (), {}, False),
])
def test_node_that_fails_for_a_workload(
    asked: dict[str, Any], at: dict[str, Any], own: tuple[dict[str, Any], ...], gates: dict[str, bool], wanted: bool,
) -> None:
    """Given a Workload on a node, when the node is not ready or tainted, then it has failed for the
    Workload once none of its pods goes on there, unless they tolerate it for good.
    """
    assert health_of(asked, at, own, (), lambda _: {"spec": {}}, Features(**gates)).is_unhealthy == wanted


def test_flavor_tolerates_for_its_pods() -> None:
    """Given a tainted node, when the flavor of the pods tolerates the taint, then it is well."""
    flavor = {"spec": {"tolerations": [FOR_GOOD]}}
    assert not health_of(workload(), node("NoSchedule"), (), (), lambda _: flavor, Features()).is_unhealthy


def test_pods_that_are_never_scheduled() -> None:
    """Given pods that were let go to a node, when it is tainted or no longer theirs, then
    those that are on no node are ended, and those that are gated wait.
    """
    waiting = pod("Pending", "")
    gated = {**waiting, "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}}
    for asked, at in ((workload(node="b"), node()), (workload(), node("NoSchedule"))):
        found = health_of(asked, at, (), (waiting, gated, pod()), lambda _: {"spec": {}}, Features())
        assert [*found.pods_to_terminate] == [waiting]
    assert not health_of(workload(), node(), (), (waiting,), lambda _: None, Features()).pods_to_terminate
