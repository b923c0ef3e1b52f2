"""A worker that is reached over HTTP, as any other cluster is."""

import json

import pytest

from fakekube import Cluster
from fakekube.client.resources import PODS, SECRETS, Resource
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.jobs.kinds import LEADER_WORKER_SETS, RAY_CLUSTERS
from tests.controllers.kueue.multikueue import kinds
from tests.controllers.kueue.multikueue.workers import NS, put_queue_in


async def running(cluster: Cluster) -> int:
    """How many pods run."""
    return sum(bool(pod["spec"].get("nodeName")) for pod in (await cluster.client.list(PODS, NS)).items)


async def create(cluster: Cluster, resource: Resource, name: str, **body: object) -> None:
    """Create an object of none or of Kueue's namespace."""
    namespace = "kueue-system" if resource == SECRETS else ""
    await cluster.client.create(resource, {"metadata": {"name": name}, **body}, namespace)


@pytest.mark.spec("KUEUE-152", "KUEUE-156", "KUEUE-163", "KUEUE-177")
async def test_ray_and_groups_run_on_a_worker_behind_a_url() -> None:
    """Given a worker that is another cluster behind a URL, with a clock of its own, when an elastic
    RayCluster and a LeaderWorkerSet are queued on the manager, grow, and are deleted, then they run
    there, in their new sizes, and go.
    """
    options = {"controllers": "*,kueue,lws,ray", "nodes": 2, "clock": 10}
    async with Cluster(**options) as manager, Cluster(**options) as worker:
        served = await worker.serve()
        await put_queue_in(worker, "2")
        await create(manager, SECRETS, "w", stringData={"kubeconfig": json.dumps(served.tree())})
        source = {"kubeConfig": {"location": "w", "locationType": "Secret"}}
        await create(manager, names.MULTIKUEUE_CLUSTERS, "w", spec={"clusterSource": source})
        await create(manager, names.MULTIKUEUE_CONFIGS, "c", spec={"clusters": ["w"]})
        parameters = {"apiGroup": names.GROUP, "kind": "MultiKueueConfig", "name": "c"}
        await create(manager, names.ADMISSION_CHECKS, "mk", spec={
            "controllerName": names.MULTIKUEUE_CONTROLLER_NAME, "parameters": parameters})
        await put_queue_in(manager, "9", ("mk",))

        async def runs(count: int) -> None:
            async def is_so() -> bool:
                return await running(worker) == count

            await manager.run_until(is_so)

        cluster, groups = kinds.ray_cluster(1, kinds.ELASTIC), kinds.leader_worker_set(1)
        for resource, body in ((RAY_CLUSTERS, cluster), (LEADER_WORKER_SETS, groups)):
            body["metadata"]["namespace"] = NS
            await manager.client.create(resource, body)
        await runs(2 + 2)
        patch = [{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 3}]
        await manager.client.patch(RAY_CLUSTERS, "j", NS, patch, type="json")
        await manager.client.patch(LEADER_WORKER_SETS, "j", NS, {"spec": {"replicas": 2}})
        await runs(4 + 4)
        assert await running(manager) == 0
        for resource in (RAY_CLUSTERS, LEADER_WORKER_SETS):
            await manager.client.delete(resource, "j", NS, propagation_policy="Background")
        await runs(0)

        async def is_gone() -> bool:
            return not (await manager.client.list(names.WORKLOADS, NS)).items

        await manager.run_until(is_gone)
