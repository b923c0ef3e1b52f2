"""StatefulSets, Deployments and LeaderWorkerSets: what their pods get, and what is refused."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.deployment import elastic
from fakekube_controllers.kueue.jobs.deployment.elastic import ElasticDeployment
from fakekube_controllers.kueue.jobs.statefulset import controller, webhook
from fakekube_controllers.kueue.jobs.statefulset.controller import StatefulSetReconciler
from fakekube_controllers.kueue.jobs.statefulset.podcontroller import StatefulSetPodReconciler

K = "kueue.x-k8s.io/"
QUEUE, MANAGED, GROUP, CLASS = f"{K}queue-name", f"{K}managed", f"{K}pod-group-name", f"{K}priority-class"
PREBUILT, PARENT = f"{K}prebuilt-workload-name", f"{K}pod-suspending-parent"
OFF = Features(WorkloadIdentifierAnnotations=False)
OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "u", "controller": True}
SAID = {
    f"{K}pod-group-fast-admission": "true", f"{K}pod-group-serving": "true", f"{K}role-hash": "main",
    f"{K}pod-group-pod-index-label": "apps.kubernetes.io/pod-index"}


def stateful(labels: Tree, **spec: Any) -> Tree:
    """A StatefulSet."""
    return {"metadata": {"name": "s", "namespace": "n", "uid": "u", "labels": labels}, "spec": spec}


def framework(everything: bool = False, workload: Tree | None = None, sts: Tree | None = None) -> Any:
    """What a reconciler of pods is given."""
    lister = SimpleNamespace(get=lambda *_: sts)
    return SimpleNamespace(
        features=OFF, configuration=Configuration(manage_jobs_without_queue_name=everything, features=OFF),
        workloads=SimpleNamespace(get=lambda *_: workload), ctx=SimpleNamespace(lister=lambda _: lister))


@pytest.mark.parametrize(("sts", "everything", "before", "labels", "annotations"), [
    (None, True, {"a": "b"}, None, None),
    (stateful({}), False, {}, None, None),
    (stateful({QUEUE: "q"}), False, {GROUP: "w", QUEUE: "q"}, None, None),
    (stateful({}), True, {GROUP: "w", QUEUE: "q"}, None, None),
    (stateful({QUEUE: "q"}), False, {GROUP: "w", QUEUE: "old"}, {GROUP: "w", QUEUE: "q"}, {}),
    (stateful({QUEUE: "q"}), False, {GROUP: "w"}, {GROUP: "w", QUEUE: "q"}, {}),
    (stateful({QUEUE: "q", CLASS: "c"}, replicas=3), False, {"a": "b"},
     {"a": "b", MANAGED: "true", QUEUE: "q", CLASS: "c", PREBUILT: "w", GROUP: "w"},
     {**SAID, f"{K}pod-group-total-count": "3"}),
    (stateful({}), True, {}, {MANAGED: "true", PREBUILT: "w", GROUP: "w"}, {**SAID, f"{K}pod-group-total-count": "1"}),
    (stateful({QUEUE: "q"}, replicas=0), False, {}, {MANAGED: "true", QUEUE: "q", PREBUILT: "w", GROUP: "w"},
     {**SAID, f"{K}pod-group-total-count": "0"}),
])
def test_what_the_pods_of_a_set_get(
    sts: Tree | None, everything: bool, before: Tree, labels: Tree | None, annotations: Tree | None,
) -> None:
    """Given a pod of a StatefulSet, when that is managed, then the pod says that it is of its
    group, and follows its queue; else it stays as it is.
    """
    pod: Tree = {"metadata": {"name": "s-0", "namespace": "n", "labels": dict(before)}, "spec": {}}
    reconciler = StatefulSetPodReconciler(framework(everything, {"metadata": {"name": "w"}}))
    assert reconciler._put_into_group(sts, pod) is (labels is not None)
    if labels is None:
        assert pod["metadata"] == {"name": "s-0", "namespace": "n", "labels": before}
    else:
        assert pod["metadata"]["labels"] == labels
        assert pod["metadata"].get("annotations", {}) == annotations


@pytest.mark.parametrize(("owners", "is_owned"), [
    ([], False), ([{**OWNER, "kind": "ReplicaSet"}], False), ([{**OWNER, "apiVersion": "apps/v1beta1"}], False),
    ([{**OWNER, "controller": False}], False), ([OWNER], True)])
def test_whose_a_pod_is(owners: list[Tree], is_owned: bool) -> None:
    """Given a pod, when a StatefulSet controls it, then it is of that; else of none."""
    sts = stateful({})
    found = StatefulSetPodReconciler(framework(sts=sts))._owner_of({"metadata": {"ownerReferences": owners, "namespace": "n"}})
    assert found is (sts if is_owned else None)


@pytest.mark.parametrize("suspended", [True, False])
async def test_a_set_that_is_not_managed(suspended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a StatefulSet, when it is not to wait, then nothing of it is looked at."""
    looked: list[object] = []

    async def is_suspended(*_: object) -> bool:
        return suspended

    async def look(*each: object) -> None:
        looked.append(each[0])

    monkeypatch.setattr(controller.defaults, "workload_should_be_suspended", is_suspended)  # type: ignore[attr-defined]
    monkeypatch.setattr(controller, "group_of", lambda *_: [])
    reconciler: Any = StatefulSetReconciler.__new__(StatefulSetReconciler)
    reconciler._framework = SimpleNamespace(
        jobs=SimpleNamespace(get=lambda *_: stateful({})), workloads=SimpleNamespace(get=lambda *_: None), client=None)
    reconciler._options = reconciler._pods = None
    reconciler._features, reconciler._sync_queue, reconciler._reconcile_workload = OFF, look, look
    assert await reconciler.reconcile(Request("n", "s")) is None
    assert len(looked) == (2 if suspended else 0)


@pytest.mark.parametrize(("before", "now", "status", "workload", "wanted"), [
    (2, 3, {}, None, ["spec.replicas: Invalid value: 3: field is immutable"]),
    (2, 2, {}, None, []), (2, 0, {"replicas": 2}, None, []), (0, 0, {"replicas": 1}, None, []),
    (0, 2, {"replicas": 1}, None, ["spec.replicas: Forbidden: scaling down is still in progress"]),
    (0, 2, {"replicas": 0}, None, []), (0, 2, None, None, []),
    (0, 2, {}, {"status": {}}, ["spec.replicas: Forbidden: workload from previous scale-down is still being deleted"]),
    (0, 2, {}, {"status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "OnHold"}]}}, []),
])
async def test_sets_go_to_none_and_come_back(
    before: int, now: int, status: Tree | None, workload: Tree | None, wanted: list[str],
) -> None:
    """Given a managed StatefulSet, when it is scaled, then to none, and from none once all of the
    last time is gone, or on hold.
    """
    async def get(*_: object, **__: object) -> Tree | None:
        return workload

    client: Any = SimpleNamespace(get=get)
    sts = {**stateful({}, replicas=now), "status": status}
    assert [*map(str, await webhook._scale_errors(client, stateful({}, replicas=before), sts, OFF))] == wanted


def deployment(queue: str = "q", is_elastic: bool = True, **pod: Any) -> Tree:
    """A Deployment, with slices or without."""
    annotations = {f"{K}elastic-job": "true"} if is_elastic else {}
    return {"metadata": {"name": "d", "namespace": "n", "labels": {QUEUE: queue}, "annotations": annotations},
            "spec": {"template": {"metadata": {}, "spec": {"containers": [], **pod}}}}


ELASTIC = f"metadata.annotations[{K}elastic-job]"
LABEL = f"metadata.labels[{QUEUE}]"


@pytest.mark.parametrize(("old", "new", "wanted"), [
    (deployment(), deployment(), []),
    (deployment(), deployment("r"), [f'{LABEL}: Invalid value: "r": field is immutable']),
    (deployment(is_elastic=False), deployment("r", is_elastic=False), []),
    (deployment(is_elastic=False), deployment("r"), [f"{ELASTIC}: Invalid value: true: field is immutable"]),
    (deployment(), deployment("r", is_elastic=False), [
        f"{ELASTIC}: Invalid value: false: field is immutable", f'{LABEL}: Invalid value: "r": field is immutable']),
])
def test_what_stays_of_an_elastic_deployment(old: Tree, new: Tree, wanted: list[str]) -> None:
    """Given a Deployment with slices, when it is changed, then it keeps them and its queue; one
    without may have any queue, and gets no slices.
    """
    features = Features(ElasticJobsViaWorkloadSlices=True, ElasticDeployments=True)
    assert [*map(str, elastic.errors_of_update(old, new, features))] == wanted


def test_an_elastic_deployment_is_never_restored() -> None:
    """Given a Deployment with slices, when it is stopped, then its template is what it was."""
    found = ElasticDeployment(Features(), deployment())
    assert found.restore_podsets_info([]) is False
    assert (found.is_suspended(), found.obj) == (False, deployment())
