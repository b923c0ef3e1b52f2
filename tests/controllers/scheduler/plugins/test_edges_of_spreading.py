"""Spreading by selectors that make no sense, or take everything."""

from typing import Any

from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.plugins.pod_topology_spread import PodTopologySpread
from tests.controllers.scheduler.plugins.cases import (
    ZONE,
    Handle,
    hints,
    node,
    plugin_of,
    pod,
    scores,
    statuses,
    zoned,
)

NEAR = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
WRONG = '"Near" is not a valid label selector operator'
APP = {"matchLabels": {"app": "a"}}


def constraint(action: str = "DoNotSchedule", key: str = ZONE, selector: Any = None, skew: int = 1) -> Any:
    chosen = APP if selector is None else selector
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": action, "labelSelector": chosen}


def spread(*constraints: Any) -> Any:
    return pod(labels={"app": "a"}, topologySpreadConstraints=list(constraints))


def test_constraints_that_cannot_be_read() -> None:
    """Given a pod whose spreading has a selector that makes no sense / then that is an error of its
    filter or score; whatever happens, it is tried again.
    """
    handle = Handle()
    plugin = plugin_of(PodTopologySpread, handle)
    hard, soft = spread(constraint(selector=NEAR)), spread(constraint("ScheduleAnyway", selector=NEAR))
    assert statuses(plugin, hard, [node("n1")], handle) == (
        Code.ERROR, f"get constraints from pod: obtaining pod's hard topology spread constraints: {WRONG}")
    assert scores(plugin, soft, [node("n1")], handle) == (
        Code.ERROR, f"calculating preScoreState: obtaining pod's soft topology spread constraints: {WRONG}")
    for resource, action, old, new in (
            (EventResource.ASSIGNED_POD, ActionType.ADD, None, pod("o", nodeName="n1")),
            (EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL, hard, hard),
            (EventResource.NODE, ActionType.ADD, None, node("n2").node)):
        assert hints(plugin, resource, action, hard, old, new) == "QUEUE"
    other = pod("o", {"app": "x"}, nodeName="n1")
    assert hints(plugin, EventResource.ASSIGNED_POD, ActionType.ADD, spread(constraint()), None, other) == "SKIP"
    assert hints(plugin, EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL, spread(constraint()), hard, hard) == "SKIP"
    assert hints(plugin, EventResource.NODE, ActionType.ADD, spread(constraint()), None, node("n2").node) == "SKIP"


def test_an_empty_selector_counts_nothing() -> None:
    """Given constraints whose selector takes every pod / then no pod is counted, as upstream."""
    handle = Handle()
    nodes = [zoned("a1", "a", pod("x"), pod("y")), zoned("b1", "b")]
    found = statuses(plugin_of(PodTopologySpread, handle), spread(constraint(selector={})), nodes, handle)
    assert found == {"a1": None, "b1": None}


def test_a_controller_whose_selector_makes_no_sense() -> None:
    """Given a pod of a ReplicaSet whose selector makes no sense, and a service that takes it / then
    the default constraints count by the service alone.
    """
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}
    service = {"metadata": {"name": "s", "namespace": "n"}, "spec": {"selector": {"app": "a"}}}
    for selector, full in ((NEAR, True), ({"matchLabels": {"own": "x"}}, False)):
        handle = Handle(services=[service], replicasets=[{"metadata": {"name": "r", "namespace": "n"}, "spec": {
            "selector": selector}}])
        plugin = plugin_of(PodTopologySpread, handle, defaultingType="List", defaultConstraints=[
            {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}])
        of = pod(labels={"app": "a"})
        of["metadata"]["ownerReferences"] = [owner]
        nodes = [zoned("a1", "a", pod("x", {"app": "a"}), pod("y", {"app": "a"})), zoned("b1", "b")]
        found = statuses(plugin, of, nodes, handle)
        assert (found["a1"] is not None, found["b1"]) == (full, None)
