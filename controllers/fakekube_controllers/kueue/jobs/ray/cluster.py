"""A RayCluster as Kueue sees it. Upstream:
pkg/controller/jobs/raycluster/raycluster_controller.go.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube_controllers.kueue import podset
from fakekube_controllers.kueue.jobframework.job import Finished, GenericJob
from fakekube_controllers.kueue.jobs.kinds import RAY_CLUSTERS
from fakekube_controllers.kueue.jobs.ray import groups
from fakekube_controllers.kueue.podset import PodSetInfo

READY = "ready"


class RayCluster(GenericJob):
    """One RayCluster. It never finishes."""

    resource = RAY_CLUSTERS
    own_manager = groups.KUBERAY

    def is_suspended(self) -> bool:
        """Whether it waits."""
        return bool(self.spec.get("suspend"))

    def suspend(self) -> None:
        """Let it wait."""
        self.spec["suspend"] = True

    def is_active(self) -> bool:
        """Whether all its pods run."""
        return bool(self.status.get("state") == READY)

    def pods_ready(self) -> bool:
        """Whether all its pods are ready."""
        return self.is_active()

    async def pod_sets(self, client: Client | None) -> list[Tree]:
        """The head's, and one for each group of workers. Raises TopologyRequestError."""
        return groups.pod_sets(self.spec, self.features)

    def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
        """Let it run, with what its pods get. PermanentError where it cannot."""
        podset.expect_podsets(infos, len(groups.groups_of(self.spec)) + 1)
        self.spec["suspend"] = False
        groups.run(self.spec, infos, self.features)

    def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
        """Give its pods back what they had; whether that changed anything."""
        if len(infos) != len(groups.groups_of(self.spec)) + 1:
            return False
        return groups.restore(self.spec, infos)

    def finished(self) -> Finished | None:
        """Never."""
        return None
