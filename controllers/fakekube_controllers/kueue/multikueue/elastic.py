"""Elastic jobs on another cluster: the copy gets the size of the local job, and its present slice.

A slice that is larger goes to the worker as a Workload of its own. The copy of the job grows when
that one is admitted there, and shrinks together with its Workload. Upstream: needElasticSync and
syncElastic in pkg/controller/jobs/job/job_multikueue_adapter.go and
pkg/controller/jobs/ray/ray_multikueue_adapter.go, which say the same twice.
"""

from abc import abstractmethod
from collections.abc import Mapping

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import patches
from fakekube_controllers.kueue.jobframework import objects, workload_names
from fakekube_controllers.kueue.multikueue.adapters import ManagedByAdapter, Sides


class ElasticAdapter(ManagedByAdapter):
    """A kind whose own fields say how many pods it has."""

    @abstractmethod
    def counts(self, job: ReadOnlyTree) -> Mapping[str, int]:
        """How many pods it is to have, by what can be of different sizes."""

    @abstractmethod
    def resize(self, changed: Tree, job: ReadOnlyTree) -> None:
        """Give a copy, which is the caller's own, the sizes of the local job."""

    async def sync_size(self, sides: Sides, workload_name: str, job: ReadOnlyTree, remote: ReadOnlyTree) -> None:
        """Bring size and slice of the copy of an elastic job up to date. Raises APIError,
        TransportError.
        """
        if not self._needs_sync(sides, workload_name, job, remote):
            return

        def update(changed: Tree) -> bool:
            self.resize(changed, job)
            objects.set_prebuilt_workload_name(changed, workload_name, sides.features)
            return True

        await patches.patch(sides.remote, self.resource, remote, update)

    def _needs_sync(self, sides: Sides, workload_name: str, job: ReadOnlyTree, remote: ReadOnlyTree) -> bool:
        """Whether the copy has another size, or another slice.

        A Workload that is not that of the present size says nothing about a larger one.
        """
        features = sides.features
        if not (features.ElasticJobsViaWorkloadSlices and objects.is_elastic(job, features)):
            return False
        before, after = self.counts(remote), self.counts(job)
        if sum(before.values()) < sum(after.values()) and workload_name != self._name_of_present_size(job, sides):
            return False
        return before != after or objects.prebuilt_workload_name(remote, features) != workload_name

    def _name_of_present_size(self, job: ReadOnlyTree, sides: Sides) -> str:
        """The name of the slice that a job has for its present generation."""
        return workload_names.workload_name_for_owner(
            meta.name_of(job), meta.uid_of(job), self.resource.gvk, sides.features, str(meta.generation_of(job)))
