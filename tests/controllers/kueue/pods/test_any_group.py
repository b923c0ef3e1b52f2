"""Whatever becomes of the pods of a group, and whenever Kueue starts anew: nothing is held for no
reason.
"""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube.apimachinery import meta
from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from fakekube_controllers import kueue
from fakekube_controllers.kueue import names, pods
from tests.controllers.kueue.jobs.conftest import condition_of
from tests.controllers.kueue.pods.conftest import member
from tests.controllers.world import CONTROLLERS, NAMESPACE

COUNT = 3
ROLES = ("100m", "200m")


async def queue(client, quota="2"):
    """A LocalQueue ``q`` with so much quota for cpu."""
    await client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": "f"}})
    flavor = {"name": "f", "resources": [{"name": "cpu", "nominalQuota": quota}]}
    await client.create(names.CLUSTER_QUEUES, {"metadata": {"name": "cq"}, "spec": {
        "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}]}})
    await client.create(names.LOCAL_QUEUES, {
        "metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"clusterQueue": "cq"}})


class Play:
    """A group of three, and what is done to it."""

    def __init__(self, cluster, annotations):
        self.cluster, self.client, self.annotations = cluster, cluster.client, annotations
        self.made = 0

    async def do(self, step, number):
        """One step, and what follows from it."""
        present = await self.pods()
        chosen = present[number % len(present)] if present else None
        if step == "create":
            self.made += 1
            made = member(f"p{self.made}", cpu=ROLES[number % 2], count=COUNT, annotations=self.annotations)
            await self.client.create(PODS, made)
        elif step == "restart":
            await self.cluster.restart_controller("kueue")
        elif step == "forget":
            await self.client.delete(names.WORKLOADS, "g", NAMESPACE, missing_ok=True)
        elif step in ("stop", "go"):
            if await self.workload() is not None:
                await self.client.patch(names.WORKLOADS, "g", NAMESPACE, {"spec": {"active": step == "go"}})
        elif chosen is not None and step == "delete":
            if pods.is_terminated(chosen):
                return  # what it gave back cannot be taken again: upstream's group is stuck then, too
            await self.client.delete(PODS, meta.name_of(chosen), NAMESPACE, grace_period_seconds=0)
        elif chosen is not None and not pods.is_gated(chosen) and not meta.is_deleting(chosen):
            body = {"status": {"phase": step}}
            await self.client.patch(PODS, meta.name_of(chosen), NAMESPACE, body, subresource="status")
        await self.cluster.advance(5)

    async def pods(self):
        return (await self.client.list(PODS, NAMESPACE)).items

    async def workload(self):
        return await self.client.get(names.WORKLOADS, "g", NAMESPACE, missing_ok=True)

    async def check(self):
        """Nothing is held for no reason."""
        found, workloads = await self.pods(), (await self.client.list(names.WORKLOADS, NAMESPACE)).items
        assert len(workloads) <= 1, "a group has one Workload at most"
        held = [each for each in found if names.POD_FINALIZER in meta.finalizers_of(each)]
        workload = workloads[0] if workloads else None
        if workload is None:
            over = [meta.name_of(each) for each in held if meta.is_deleting(each) or each["status"]["phase"] == "Failed"]
            assert not over, "what is over is held only while it is to be replaced"
            return
        if condition_of(workload, "Finished") is not None:
            assert not held, "a group that has ended holds nothing"
            return
        admitted, evicted = (condition_of(workload, each) for each in ("Admitted", "Evicted"))
        if admitted is not None and admitted[0] == "True" and (evicted is None or evicted[0] != "True"):
            roles = {each["name"] for each in workload["spec"]["podSets"]}
            gated = [
                meta.name_of(each) for each in found
                if pods.is_gated(each) and pods.role_hash(each) in roles and not meta.is_deleting(each)]
            assert not gated, "an admitted group lets its pods run"

    async def restart(self):
        """Kueue would do nothing else if it began now."""
        def told(objs):
            return sorted((meta.name_of(each), meta.resource_version_of(each)) for each in objs)

        before = told(await self.pods()), told((await self.client.list(names.WORKLOADS, NAMESPACE)).items)
        await self.cluster.restart_controller("kueue")
        await self.cluster.advance(5)
        assert before == (told(await self.pods()), told((await self.client.list(names.WORKLOADS, NAMESPACE)).items))


STEPS = st.lists(st.tuples(
    st.sampled_from(["create"] * 4 + ["delete", "restart", "forget", "stop", "go", "Running", "Succeeded", "Failed"]),
    st.integers(0, 7)), min_size=3, max_size=14)


@pytest.mark.spec("KUEUE-132", "KUEUE-134", "KUEUE-135", "KUEUE-137", "KUEUE-146")
@settings(max_examples=15, deadline=None)
@given(steps=STEPS, mode=st.sampled_from([{}, {names.POD_GROUP_FAST_ADMISSION_ANNOTATION: "true"}]))
def test_no_pod_is_held_for_no_reason(steps, mode):
    """Given a group, when pods come, run, fail and go, its Workload is stopped, started and
    deleted, and Kueue starts anew, in any order, then it has one Workload at most, no pod waits
    that was admitted, none is held that was let go, and a Kueue that starts then finds nothing to
    do."""
    async def play():
        extra = [kueue.addon()]
        async with Cluster(nodes=0, clock="manual", controllers=CONTROLLERS, extra=extra) as cluster:
            await queue(cluster.client)
            game = Play(cluster, mode)
            await cluster.advance(2)
            for step, number in steps:
                await game.do(step, number)
                await game.check()
            await game.restart()

    asyncio.run(play())
