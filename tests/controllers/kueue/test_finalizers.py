"""Finalizers that somebody takes off by hand, as ``kubectl patch`` with ``finalizers: null`` does.

Upstream puts none of them back. A Workload without its finalizer goes on as before, and is gone at
once when it is deleted: a Job that waits or runs gets another. A pod of a group without it is gone
at once, too, and the group waits for another in its place.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery import meta
from fakekube.client.resources import JOBS, PODS, Resource
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.workload import states
from tests.controllers.kueue.restarts import state
from tests.controllers.world import CONTROLLERS

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Tree

NS = "default"
QUEUE = {names.QUEUE_LABEL: "q"}
CHECKED = {"admissionChecksStrategy": {"admissionChecks": [{"name": "check"}]}}
STAGES = ("pending", "reserved", "admitted", "evicted", "finished")


class World:
    """A queue of two CPUs, and what a user does."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.client = cluster, cluster.client

    async def set_up(self) -> None:
        await self.client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": "f"}})
        await self.client.create(names.ADMISSION_CHECKS, {
            "metadata": {"name": "check"}, "spec": {"controllerName": "example.com/check"}})
        active = {
            "type": "Active", "status": "True", "reason": "Active", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        await self.client.patch(names.ADMISSION_CHECKS, "check", "", {"status": {"conditions": [active]}}, subresource="status")
        flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "2"}]}]
        groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
        await self.client.create(names.CLUSTER_QUEUES, {
            "metadata": {"name": "cq"}, "spec": {"namespaceSelector": {}, "resourceGroups": groups}})
        await self.client.create(names.LOCAL_QUEUES, {"metadata": {"name": "q"}, "spec": {"clusterQueue": "cq"}}, NS)
        await self.cluster.advance("3s")

    async def change_queue(self, spec: "Tree") -> None:
        await self.client.patch(names.CLUSTER_QUEUES, "cq", "", {"spec": spec})

    async def job(self, name: str, duration: str = "2m") -> None:
        """A Job of two pods, for which all of the quota is needed."""
        spec = {"parallelism": 2, "completions": 2, "template": pod_template(duration)}
        await self.client.create(JOBS, {"metadata": {"name": name, "labels": QUEUE}, "spec": spec}, NS)

    async def group(self) -> None:
        """Two pods of a group, for which all of the quota is needed."""
        for name in ("a", "b"):
            template = pod_template("2m")
            metadata = {
                "name": name, "labels": {**QUEUE, names.POD_GROUP_NAME_LABEL: "g"},
                "annotations": {**template["metadata"]["annotations"], names.POD_GROUP_TOTAL_COUNT_ANNOTATION: "2"}}
            await self.client.create(PODS, {"metadata": metadata, "spec": template["spec"]}, NS)

    async def workloads(self, owner: str) -> "list[Tree]":
        """Those of a Job or of a group."""
        found = (await self.client.list(names.WORKLOADS, NS)).items
        return [each for each in found if f"-{owner}-" in meta.name_of(each) or meta.name_of(each) == owner]

    async def bring_to(self, stage: str, make: Callable[[], Awaitable[None]]) -> None:
        """Make what the test is about, and bring it to a stage of its life."""
        if stage == "pending":
            await self.job("before", "1h")
        if stage == "reserved":
            await self.change_queue(CHECKED)
        await self.cluster.advance("3s")
        await make()
        await self.cluster.advance("5m" if stage == "finished" else "10s")
        if stage == "evicted":
            await self.change_queue({"stopPolicy": "HoldAndDrain"})
            await self.cluster.advance("10s")

    async def let_go_on(self, stage: str) -> None:
        """End what kept it at a stage."""
        if stage == "pending":
            await self.client.delete(JOBS, "before", NS, propagation_policy="Background")
        await self.change_queue({"stopPolicy": "None", "admissionChecksStrategy": None})
        await self.cluster.advance("10m")

    async def take_off(self, how: str, resource: Resource, name: str) -> None:
        """Take all finalizers off; and delete it before or afterwards, with nothing between."""
        if how == "delete, patch":
            await self.client.delete(resource, name, NS)
        if await self.client.get(resource, name, NS, missing_ok=True) is not None:
            await self.client.patch(resource, name, NS, {"metadata": {"finalizers": None}})
        if how == "patch, delete":
            await self.client.delete(resource, name, NS, missing_ok=True)

    async def check(self) -> None:
        """Usage is the sum of reservations, nothing is held, each gated pod says why it waits."""
        assert state.faults({"": await state.objects_of(self.cluster)}) == []
        for pod in (await self.client.list(PODS, NS)).items:
            if pods.is_gated(pod):
                answer = await self.cluster.why(f"pod/{meta.name_of(pod)}")
                assert answer.reasons or answer.because or answer.changes, list(answer.lines())

    async def check_that_others_are_admitted(self) -> None:
        """Another Job that needs all of the quota runs to its end."""
        await self.job("next")
        await self.cluster.advance("10m")
        await self.check()
        job = await self.client.get(JOBS, "next", NS)
        assert meta.is_condition_true(job, "Complete"), job["status"]


def pod_template(duration: str) -> "Tree":
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {
        "metadata": {"annotations": {"fakekube.dev/run-duration": duration}},
        "spec": {"restartPolicy": "Never", "containers": [container]}}


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    options: dict[str, Any] = {"clock": "manual", "nodes": 1, "controllers": f"{CONTROLLERS},scheduler,kubelet,kueue"}
    async with Cluster(**options) as cluster:
        made = World(cluster)
        await made.set_up()
        yield made


def stage_of(workload: "Tree") -> str:
    """Its stage as its conditions say."""
    if states.is_finished(workload):
        return "finished"
    if states.is_evicted(workload):
        return "evicted"
    if states.is_admitted(workload):
        return "admitted"
    return "reserved" if states.has_quota_reservation(workload) else "pending"


stages = pytest.mark.parametrize("stage", STAGES)
ways = pytest.mark.parametrize("how", ["patch", "patch, delete", "delete, patch"])


@stages
@ways
async def test_of_the_workload_of_a_job(stage: str, how: str) -> None:
    """Given a Job at a stage, when its Workload loses its finalizer, and is deleted perhaps, then
    it is gone only where it was deleted, and the Job and one after it end, with a Workload each.
    """
    async with world() as of:
        await of.bring_to(stage, lambda: of.job("j"))
        [before] = await of.workloads("j")
        assert stage_of(before) == stage
        assert meta.finalizers_of(before) == ([] if stage == "finished" else [names.RESOURCE_IN_USE_FINALIZER])
        await of.take_off(how, names.WORKLOADS, meta.name_of(before))
        await of.cluster.advance("30s")
        await of.check()
        after = await of.workloads("j")
        assert [meta.uid_of(each) for each in after if meta.uid_of(each) == meta.uid_of(before)] == (
            [meta.uid_of(before)] if how == "patch" else [])
        if how == "patch":
            assert [(stage_of(each), meta.finalizers_of(each)) for each in after] == [(stage, [])]
        await of.let_go_on(stage)
        await of.check()
        assert meta.is_condition_true(await of.client.get(JOBS, "j", NS), "Complete")
        await of.check_that_others_are_admitted()


@stages
@ways
async def test_of_the_workload_of_a_group(stage: str, how: str) -> None:
    """Given a group of pods at a stage, when its Workload loses its finalizer, and is deleted
    perhaps, then a Job after it gets the quota once the group has ended or is deleted.
    """
    async with world() as of:
        await of.bring_to(stage, of.group)
        [before] = await of.workloads("g")
        assert stage_of(before) == stage
        await of.take_off(how, names.WORKLOADS, "g")
        await of.cluster.advance("30s")
        await of.check()
        await of.let_go_on(stage)
        await of.check()
        await end_of_group(of, is_whole=how == "patch" and stage != "evicted")


@stages
@ways
@pytest.mark.parametrize("chosen", [("a",), ("a", "b")], ids=["one", "both"])
async def test_of_pods_of_a_group(stage: str, how: str, chosen: tuple[str, ...]) -> None:
    """Given a group of pods at a stage, when one or both lose their finalizers, and are deleted
    perhaps, then a Job after it gets the quota once the group has ended or is deleted.
    """
    async with world() as of:
        await of.bring_to(stage, of.group)
        for name in chosen:
            if await of.client.get(PODS, name, NS, missing_ok=True) is not None:
                await of.take_off(how, PODS, name)
        await of.cluster.advance("30s")
        await of.check()
        await of.let_go_on(stage)
        await of.check()
        await end_of_group(of, is_whole=how == "patch" and stage != "evicted")


async def end_of_group(of: World, *, is_whole: bool) -> None:
    """If it is whole it has ended; if not, its user deletes what is left of it, the Workload as
    well: it holds pods that are to be replaced. Others go on.
    """
    if is_whole:
        assert [each["status"]["phase"] for each in await group_pods(of)] == ["Succeeded", "Succeeded"]
        [workload] = await of.workloads("g")
        assert states.is_finished(workload)
    else:
        for pod in await group_pods(of):
            await of.client.delete(PODS, meta.name_of(pod), NS)
        await of.client.delete(names.WORKLOADS, "g", NS, missing_ok=True)
        await of.cluster.advance("2m")
        assert await group_pods(of) == []
        assert await of.workloads("g") == []
    await of.check_that_others_are_admitted()


async def group_pods(of: World) -> "list[Tree]":
    """What there is of the group."""
    found = (await of.client.list(PODS, NS)).items
    return [each for each in found if meta.labels_of(each).get(names.POD_GROUP_NAME_LABEL) == "g"]
