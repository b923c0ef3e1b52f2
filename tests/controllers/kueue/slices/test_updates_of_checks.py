"""What admission checks ask of the pods of an elastic job, and which of its pods get it."""

import copy
from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.slices import ungater
from fakekube_controllers.kueue.slices.ungater import ConflictingUpdates, Update

REQUEST, CLASS = "autoscaling.x-k8s.io/consume-provisioning-request", "autoscaling.x-k8s.io/provisioning-class-name"
GATE, PODSET = "kueue.x-k8s.io/elastic-job", "kueue.x-k8s.io/podset"


def workload(*checks: list[Tree]) -> Tree:
    """A Workload with the updates of each check."""
    return {"metadata": {"name": "w"}, "status": {"admissionChecks": [{"podSetUpdates": updates} for updates in checks]}}


def pod(name: str = "a", podset: str = "main", *, gated: bool = True, phase: str = "Pending", **fields: Any) -> Tree:
    """A pod of a podset, behind the gate of elastic jobs or not."""
    spec: Tree = {"containers": []}
    if gated:
        spec["schedulingGates"] = [{"name": GATE}]
    if "selector" in fields:
        spec["nodeSelector"] = fields["selector"]
    metadata: Tree = {"name": name, "namespace": "n", "labels": {PODSET: podset}}
    if "annotations" in fields:
        metadata["annotations"] = fields["annotations"]
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


@pytest.mark.parametrize(("checks", "wanted"), [
    ([], Update({}, {})),
    ([[]], Update({}, {})),
    ([[{"name": "other", "annotations": {REQUEST: "r"}, "nodeSelector": {"a": "b"}}]], Update({}, {})),
    ([[{"name": "main"}]], Update({}, {})),
    ([[{"name": "main", "annotations": {REQUEST: "r", CLASS: "c", "another": "x"}}]], Update({REQUEST: "r", CLASS: "c"}, {})),
    ([[{"name": "other", "nodeSelector": {"a": "c"}}, {"name": "main", "nodeSelector": {"a": "b"}}]],
     Update({}, {"a": "b"})),
    ([[{"name": "main", "nodeSelector": {"a": "b"}}], [{"name": "main", "nodeSelector": {"a": "b", "c": "d"}}]],
     Update({}, {"a": "b", "c": "d"})),
])
def test_what_checks_ask_of_a_podset(checks: list[list[Tree]], wanted: Update) -> None:
    """Given admission checks with updates of podsets, when those of one are asked for, then they
    are its node selectors, and of its annotations those about the nodes that were made.
    """
    assert ungater.update_for(workload(*checks), "main") == wanted
    assert ungater.update_for({"metadata": {"name": "w"}}, "main") == Update({}, {})


@pytest.mark.parametrize(("field", "key"), [("annotations", REQUEST), ("nodeSelector", "a")])
def test_checks_that_ask_otherwise_are_an_error(field: str, key: str) -> None:
    """Given two checks that ask otherwise of one key, when their updates are asked for, then that
    is an error which names the key.
    """
    checks = [[{"name": "main", field: {key: value}}] for value in ("1", "2")]
    with pytest.raises(ConflictingUpdates) as refused:
        ungater.update_for(workload(*checks), "main")
    assert str(refused.value) == f"conflicting '{key}' updates for one podset"


@pytest.mark.parametrize(("found", "update", "changed"), [
    (pod(), Update({}, {}), pod(gated=False)),
    (pod(), Update({REQUEST: "r"}, {"a": "b"}), pod(gated=False, annotations={REQUEST: "r"}, selector={"a": "b"})),
    (pod(annotations={"x": "y", REQUEST: "r"}, selector={"a": "b"}), Update({REQUEST: "r"}, {"a": "b", "c": "d"}),
     pod(gated=False, annotations={"x": "y", REQUEST: "r"}, selector={"a": "b", "c": "d"})),
    (pod(annotations={"x": "y"}, selector={"a": "b"}), Update({REQUEST: "r"}, {"a": "b"}),
     pod(gated=False, annotations={"x": "y", REQUEST: "r"}, selector={"a": "b"})),
])
def test_a_pod_gets_what_checks_ask(found: Tree, update: Update, changed: Tree) -> None:
    """Given a pod behind the gate, when it is let go, then it gets what it lacks of what checks
    ask, keeps what it has, and loses the gate.
    """
    written = copy.deepcopy(found)
    assert ungater._ungate(update, written) is True
    assert written == changed
    assert ungater._ungate(update, written) is False
    assert written == changed


def test_pods_go_by_name_as_many_as_were_granted() -> None:
    """Given two podsets with pods that run, wait and have ended, when some are let go, then as many
    of each podset as it has room for, by their names; one that says otherwise already waits on.
    """
    found = [
        pod("d"), pod("c"), pod("b", selector={"a": "other"}), pod("a", gated=False), pod("e", phase="Failed"),
        pod("z", "more"), pod("y", "more"), pod("x", "more", gated=False), pod("w", "none")]
    updates = {"main": Update({}, {"a": "b"}), "more": Update({}, {}), "none": Update({}, {})}
    asked: list[str] = []

    def update_of(podset: str) -> Update:
        asked.append(podset)
        return updates[podset]

    taken = [*ungater.pods_to_ungate(found, {"main": 3, "more": 2}, update_of)]
    assert [(each["metadata"]["name"], update) for each, update in taken] == [
        ("c", updates["main"]), ("d", updates["main"]), ("y", updates["more"])]
    assert asked == ["main", "more", "none"]
