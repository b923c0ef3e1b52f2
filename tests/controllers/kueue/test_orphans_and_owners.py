"""Workloads whose owners are gone, and RayJobs that are looked at when their cluster changes."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs import ray
from fakekube_controllers.kueue.jobs.kinds import RAY_CLUSTERS
from fakekube_controllers.kueue.workload import finish as finishing

FEATURES: Any = SimpleNamespace(FinishOrphanedWorkloads=False)


def workload(*finalizers: str, deleting: bool = False) -> Any:
    meta = {"name": "w", "namespace": "n", "finalizers": [*finalizers]}
    return {"metadata": meta | ({"deletionTimestamp": "t"} if deleting else {})}


class Client:
    """Remembers what it is asked, and refuses with a code if it has one."""

    def __init__(self, code: int | None = None) -> None:
        self.code, self.asked = code, list[Any]()

    async def update(self, resource: Any, tree: Any, *, shared: bool = False) -> Any:
        if self.code is not None:
            raise APIError(self.code, "Reason", "message")
        self.asked.append(("update", resource.plural, tree["metadata"].get("finalizers", []), shared))
        return {**tree, "updated": True}

    async def delete(self, resource: Any, name: str, namespace: str) -> None:
        self.asked.append(("delete", resource.plural, namespace, name))


@pytest.mark.parametrize("code", [400, 403, 404, 409, 500])
async def test_an_orphan_that_cannot_be_written(code: int) -> None:
    """Given a Workload whose owners are gone / when the write is refused / then one that is gone is
    none, and every other refusal is told.
    """
    client: Any = Client(code)
    orphan = workload(names.RESOURCE_IN_USE_FINALIZER)
    asked = finishing.finalize_orphaned_workload(client, orphan, can_finish=True, now=0.0, features=FEATURES)
    if code == 404:
        assert await asked is orphan
        return
    with pytest.raises(APIError) as refused:
        await asked
    assert refused.value.code == code


async def test_an_orphan_loses_the_finalizer_of_kueue() -> None:
    """Given a Workload whose owners are gone / when it has the finalizer / then it loses that one;
    without it nothing is written.
    """
    client: Any = Client()
    found = await finishing.finalize_orphaned_workload(
        client, workload("mine", names.RESOURCE_IN_USE_FINALIZER), can_finish=True, now=0.0, features=FEATURES)
    assert found == {**workload("mine"), "updated": True}
    bare = workload("mine")
    assert await finishing.finalize_orphaned_workload(client, bare, can_finish=True, now=0.0, features=FEATURES) is bare
    assert client.asked == [("update", "workloads", ["mine"], True)]


@pytest.mark.parametrize(("deleting", "asked"), [(False, True), (True, False)])
async def test_a_workload_is_deleted_once(deleting: bool, asked: bool) -> None:
    """Given a Workload with the finalizer / when it is deleted / then it loses the finalizer, and
    its deletion is asked for unless it was already.
    """
    client: Any = Client()
    assert await finishing.delete(client, workload(names.RESOURCE_IN_USE_FINALIZER, deleting=deleting)) is asked
    assert client.asked == [
        ("update", "workloads", [], True), *([("delete", "workloads", "n", "w")] if asked else [])]


def test_a_job_hears_of_its_cluster() -> None:
    """Given RayClusters, one of a RayJob, one of something else and one of nobody / when they come,
    change and go / then the RayJob is looked at each time, and nothing else.
    """
    handlers: list[Any] = []
    context = SimpleNamespace(add_handler=lambda resource, *calls: handlers.append((resource, *calls)))
    looked: list[ObjectKey] = []
    framework: Any = SimpleNamespace(ctx=context)
    queue: Any = SimpleNamespace(add=looked.append)
    assert ray.RAY_JOB.watch is not None
    ray.RAY_JOB.watch(framework, queue)
    [(resource, added, updated, deleted)] = handlers
    assert resource is RAY_CLUSTERS

    def cluster(*owners: dict[str, Any]) -> Any:
        return {"metadata": {"name": "c", "namespace": "n", "ownerReferences": [*owners]}}

    job = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "j", "uid": "u", "controller": True}
    for each in (cluster(job), cluster({**job, "kind": "RayService"}), cluster({**job, "controller": False}), cluster()):
        added(each)
        updated(cluster(), each)
        deleted(each)
    assert looked == [ObjectKey("n", "j")] * 3
