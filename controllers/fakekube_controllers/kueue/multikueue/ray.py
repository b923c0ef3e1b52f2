"""RayClusters and RayJobs on another cluster.

An elastic RayCluster is resized on its worker. A RayJob needs nothing but the adapter of all kinds
with ``spec.managedBy``: its cluster is one that only the worker has, so that its copy stays as
large as it was sent. Upstream: pkg/controller/jobs/ray/ray_multikueue_adapter.go, and those of
raycluster and rayjob that use it.
"""

from collections.abc import Mapping

from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.reconcile import Request
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobs.kinds import RAY_CLUSTERS
from fakekube_controllers.kueue.jobs.ray import groups
from fakekube_controllers.kueue.multikueue.adapters import Sides
from fakekube_controllers.kueue.multikueue.elastic import ElasticAdapter

SIZES = ("replicas", "numOfHosts")


class RayClusterAdapter(ElasticAdapter):
    """ray.io/v1 RayCluster, elastic ones included."""

    def __init__(self, features: Features) -> None:
        super().__init__(RAY_CLUSTERS, features)

    async def sync_job(self, sides: Sides, key: Request, workload_name: str) -> bool:
        """Make the copy, or copy its status, and give it the size of an elastic one."""
        job = sides.lister.get(key.namespace, key.name)
        remote = await self.sync(sides, job, workload_name) if job is not None else None
        if job is not None and remote is not None:
            await self.sync_size(sides, workload_name, job, remote)
        return False

    def counts(self, job: ReadOnlyTree) -> Mapping[str, int]:
        """Pods by group of workers."""
        return {group["groupName"]: groups.effective_worker_count(group) for group in groups.groups_of(job["spec"])}

    def resize(self, changed: Tree, job: ReadOnlyTree) -> None:
        """Each group that both have gets the size that it has here."""
        here = {group["groupName"]: group for group in groups.groups_of(job["spec"])}
        for group in groups.groups_of(changed["spec"]):
            wanted = here.get(group["groupName"])
            if wanted is not None:
                sizes = {field: wanted[field] for field in SIZES if wanted.get(field) is not None}
                for field in SIZES:
                    group.pop(field, None)
                group.update(sizes)
