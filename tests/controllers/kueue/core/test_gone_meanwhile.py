"""What is gone, or there already, when Kueue writes it: that is no error; all else is."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue.admissionchecks.deciding import _Reconciler
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.core.finalizers import write_finalizer
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import stopping
from fakekube_controllers.kueue.jobframework.reconciler import JobReconciler
from fakekube_controllers.kueue.jobs.pod import members
from fakekube_controllers.kueue.jobs.pod.controller import Pod
from fakekube_controllers.kueue.jobs.statefulset.controller import StatefulSetReconciler
from fakekube_controllers.kueue.jobs.statefulset.podcontroller import StatefulSetPodReconciler
from fakekube_controllers.kueue.names import RESOURCE_FLAVORS
from fakekube_controllers.kueue.topology.nodecontroller import NodeReconciler
from fakekube_controllers.kueue.workload import finish

KEY, REQUEST = ObjectKey("n", "a"), Request("n", "a")
GONE = errors.not_found(PODS.group_resource, "a")
THERE = errors.already_exists(PODS.group_resource, "a")
OTHERS = [errors.conflict(PODS.group_resource, "a"), errors.forbidden(PODS.group_resource, "a", "no"), errors.internal("x")]
HELD = ["kueue.x-k8s.io/resource-in-use"]


class Broken:
    """A framework, a client and a context: every write fails, nothing is told."""

    def __init__(self, error: APIError) -> None:
        self.error, self.told = error, list[tuple[object, ...]]()
        self.features, self.clock, self.metrics = Features(), SimpleNamespace(time=lambda: 0.0), None
        self.client: Any = self
        self.ctx: Any = SimpleNamespace(
            lister=lambda _: self.jobs, add_handler=None, clock=self.clock, client=self, options={})
        self.jobs: Any = SimpleNamespace(get=lambda *_: None, add_index=lambda *_: None)
        self.workloads, self.configuration = self.jobs, Configuration()

    async def patch(self, *_: object, **__: object) -> Tree:
        raise self.error

    update = create = delete = update_status = patch

    def event(self, *told: object) -> None:
        self.told.append(told)

    wrote = event

    def recorder(self, _: str) -> Any:
        return SimpleNamespace(report=self.event)


def pod(**metadata: object) -> Tree:
    own = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1", **metadata}
    return {"metadata": own, "spec": {}, "status": {"phase": "Succeeded"}}


async def _mark(broken: Any) -> object:
    return await members.mark(broken, KEY, pod(), "r", "m")


async def _let_go(broken: Any) -> object:
    await Pod(broken.features, pod()).let_go(broken, pod())
    return None


async def _finalizer(broken: Any) -> object:
    return await write_finalizer(broken, RESOURCE_FLAVORS, pod(), wanted=True)


async def _delete(broken: Any) -> object:
    return await stopping.delete_workload(broken, pod())


async def _orphan(broken: Any) -> object:
    return await finish.finalize_orphaned_workload(
        broken, pod(finalizers=HELD), can_finish=False, now=0.0, features=broken.features)


async def _finish_job(broken: Any) -> object:
    reconciler = JobReconciler.__new__(JobReconciler)
    reconciler.framework, reconciler.features = broken, broken.features
    await reconciler._finish(KEY, pod(), "Succeeded", "m")
    return None


async def _pod_of_set(broken: Any) -> object:
    broken.jobs = SimpleNamespace(get=lambda *_: pod())
    return await StatefulSetPodReconciler(broken).reconcile(REQUEST)


async def _set(broken: Any) -> object:
    reconciler = StatefulSetReconciler.__new__(StatefulSetReconciler)
    reconciler._framework = broken
    await reconciler._patch_pod(REQUEST, pod(), lambda _: True)
    return None


async def _stuck(broken: Any) -> object:
    await NodeReconciler(broken, broken.ctx)._mark_failed([pod()])
    return None


@pytest.mark.parametrize(("write", "wanted"), [
    (_mark, False), (_let_go, None), (_finalizer, None), (_delete, False), (_orphan, pod(finalizers=HELD)),
    (_finish_job, None), (_pod_of_set, None), (_set, None), (_stuck, None)])
async def test_what_is_gone_is_no_error(write: Callable[[Any], Awaitable[object]], wanted: object) -> None:
    """Given an object that is gone meanwhile, when Kueue writes it, then nothing has been done and
    nothing is told; any other answer of the server is raised.
    """
    gone = Broken(GONE)
    assert await write(gone) == wanted
    assert gone.told == []
    for error in OTHERS:
        broken = Broken(error)
        with pytest.raises(APIError) as raised:
            await write(broken)
        assert raised.value is error
        assert broken.told == []


async def _check(broken: Any) -> None:
    await _Reconciler("check", "example.com/c", lambda _: None, broken.ctx).reconcile(Request("", "check"))


async def _workload_of_set(broken: Any) -> None:
    reconciler = StatefulSetReconciler.__new__(StatefulSetReconciler)
    reconciler._framework, reconciler._features = broken, broken.features
    broken.priority_classes = SimpleNamespace(list=list)
    template: Tree = {"metadata": {}, "spec": {"containers": []}}
    sts = {**pod(), "apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"replicas": 1, "template": template}}
    await reconciler._create_workload(REQUEST, sts)


@pytest.mark.parametrize("create", [_check, _workload_of_set])
async def test_what_is_there_already_is_no_error(create: Callable[[Any], Awaitable[None]]) -> None:
    """Given a check or a Workload that another has made meanwhile, when it is to be made, then
    nothing is told of it; any other answer of the server is raised.
    """
    there = Broken(THERE)
    await create(there)
    assert there.told == []
    for error in (GONE, *OTHERS[1:]):
        broken = Broken(error)
        with pytest.raises(APIError) as raised:
            await create(broken)
        assert raised.value is error
        assert broken.told == []
