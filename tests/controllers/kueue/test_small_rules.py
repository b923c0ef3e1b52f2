"""Rules of a few lines: who is told, what a finalizer leaves behind, how many groups there are."""

from typing import Any

import pytest

from fakekube_controllers.kueue.jobs.leaderworkerset import controller
from fakekube_controllers.kueue.jobs.pod.members import without_pod_finalizer
from fakekube_controllers.kueue.queues.listeners import Listeners
from fakekube_controllers.kueue.scheduler.flavorassigner import assignment
from fakekube_controllers.kueue.workload.info import Info
from tests.controllers.kueue.test_info import OPTIONS, podset, workload

FINALIZER = "kueue.x-k8s.io/managed"
PARENT = "kueue.x-k8s.io/pod-suspending-parent"
PARENT_SET = "leaderworkerset.x-k8s.io/leaderworkerset"


def test_everybody_hears_of_what_they_asked_for() -> None:
    """Given two who listen, two who watch Workloads and two who watch Topologies, when each is to
    be told, then these two are, in their order, with what was and what is, and nobody else.
    """
    told: list[Any] = []
    listeners = Listeners()
    for number in (1, 2):
        listeners.on_broadcast(lambda number=number: told.append(("heads", number)))
        listeners.add_workload_update_watcher(lambda old, new, number=number: told.append((number, old, new)))
        listeners.add_topology_update_watcher(lambda old, new, number=number: told.append(("topology", number, old, new)))
    listeners.broadcast()
    assert told == [("heads", 1), ("heads", 2)]
    told.clear()
    listeners.notify_workload_update_watchers(None, {"a": 1})
    assert told == [(1, None, {"a": 1}), (2, None, {"a": 1})]
    told.clear()
    listeners.notify_topology_update_watchers({"a": 1}, None)
    assert told == [("topology", 1, {"a": 1}, None), ("topology", 2, {"a": 1}, None)]


def test_a_slice_takes_what_the_one_before_has_not() -> None:
    """Given a slice with two podsets, when the counts of its podsets are asked for, then they are
    those, and none of a podset that it has not.
    """
    replaced = Info(workload(podset("driver", 1), podset("workers", 3)), OPTIONS)
    assert [assignment._count_of(replaced, index) for index in (0, 1, 2)] == [1, 3, 0]


@pytest.mark.parametrize(("finalizers", "left", "was_there"), [
    ([FINALIZER], [], True), (["a/b", FINALIZER, "c/d"], ["a/b", "c/d"], True), (["a/b"], ["a/b"], False)])
def test_the_finalizer_of_kueue_is_taken_off(finalizers: list[str], left: list[str], was_there: bool) -> None:
    """Given a pod with finalizers, when that of Kueue is taken off, then the others are left, and
    it is said whether it was there.
    """
    pod: dict[str, Any] = {"metadata": {"name": "p", "finalizers": finalizers}}
    assert without_pod_finalizer(pod) is was_there
    assert pod == {"metadata": {"name": "p", "finalizers": left}}
    bare: dict[str, Any] = {"metadata": {"name": "p"}}
    assert without_pod_finalizer(bare) is False
    assert bare == {"metadata": {"name": "p"}}


@pytest.mark.parametrize(("spec", "status", "wanted"), [
    ({"replicas": 3}, {"replicas": 5}, 3),
    ({}, {}, 1),
    ({"replicas": 3, "surge": 2}, {"replicas": 5, "updatedReplicas": 2}, 5),
    ({"replicas": 3, "surge": 2}, {"replicas": 5}, 5),
    ({"replicas": 3, "surge": 2}, {"replicas": 2, "updatedReplicas": 0}, 3),
    ({"replicas": 3, "surge": 2}, {"replicas": 5, "updatedReplicas": 3}, 3),
    ({"replicas": 3, "surge": 0}, {"replicas": 5, "updatedReplicas": 2}, 3),
    ({"replicas": 3, "surge": "1%"}, {"replicas": 5, "updatedReplicas": 2}, 5),
    ({"replicas": 3, "surge": "0%"}, {"replicas": 5, "updatedReplicas": 2}, 3),
    ({"replicas": 3, "surge": "two"}, {"replicas": 5, "updatedReplicas": 2}, 3),
])
def test_an_update_that_surges_has_more_groups(spec: dict[str, Any], status: dict[str, Any], wanted: int) -> None:
    """Given a LeaderWorkerSet, when its Workloads are counted, then they are as many as its
    replicas; while an update adds groups, as many as there are.
    """
    rolling = {"rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": spec.pop("surge")}}} if "surge" in spec else {}
    assert controller._wanted({"metadata": {"name": "l"}, "spec": {**spec, **rolling}, "status": status}) == wanted


@pytest.mark.parametrize(("owners", "found"), [
    ([], None),
    ([("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")], "ns/own"),
    ([("apps/v1", "StatefulSet"), ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")], "ns/own"),
    ([("apps/v1", "LeaderWorkerSet")], None), ([("leaderworkerset.x-k8s.io/v1", "StatefulSet")], None)])
def test_a_workload_wakes_the_set_that_owns_it(owners: list[tuple[str, str]], found: str | None) -> None:
    """Given a Workload with owners, when it changes, then the LeaderWorkerSet among them is looked
    at, by group and by kind.
    """
    references = [{"apiVersion": version, "kind": kind, "name": "own", "uid": "u"} for version, kind in owners]
    key = controller._owner_of_workload({"metadata": {"name": "w", "namespace": "ns", "ownerReferences": references}})
    assert (str(key) if key is not None else None) == found


@pytest.mark.parametrize(("annotation", "revision", "found"), [
    (PARENT_SET, "r-1", "ns/l"), ("statefulset", "r-1", None), (None, "r-1", None), (PARENT_SET, None, None)])
def test_a_stateful_set_whose_pods_wait_wakes_its_set(annotation: str | None, revision: str | None, found: str | None) -> None:
    """Given a StatefulSet with a label of its LeaderWorkerSet, when it changes, then that is looked
    at, if its pods wait for Kueue and it has a revision.
    """
    template = {"metadata": {"annotations": {PARENT: annotation} if annotation else {}}}
    key = controller._owner_of_set({
        "metadata": {"name": "s", "namespace": "ns", "labels": {"leaderworkerset.sigs.k8s.io/name": "l"}},
        "spec": {"template": template}, "status": {"currentRevision": revision} if revision else {}})
    assert (str(key) if key is not None else None) == found
