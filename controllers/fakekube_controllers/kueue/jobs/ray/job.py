"""A RayJob as Kueue sees it. Upstream: pkg/controller/jobs/rayjob/rayjob_controller.go."""

import copy
import json
from collections.abc import Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube_controllers.kueue import names, podset
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.job import Finished, GenericJob
from fakekube_controllers.kueue.jobs.kinds import RAY_CLUSTERS, RAY_JOBS
from fakekube_controllers.kueue.jobs.ray import groups
from fakekube_controllers.kueue.podset import PodSetInfo

SUBMITTER, SUBMITTER_CONTAINER = "submitter", "ray-job-submitter"
K8S_JOB_MODE, SIDECAR_MODE = "K8sJobMode", "SidecarMode"
SUBMITTER_RESOURCES = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "200Mi"}}


class RayJob(GenericJob):
    """One RayJob."""

    resource = RAY_JOBS
    own_manager = groups.KUBERAY

    @property
    def cluster_spec(self) -> Tree:
        """The spec of its cluster; empty where it uses one that is there."""
        return self.spec.get("rayClusterSpec") or {}

    @property
    def has_submitter(self) -> bool:
        """Whether a Job submits it, whose pod is one of its own."""
        return bool(self.spec.get("submissionMode") == K8S_JOB_MODE)

    def is_suspended(self) -> bool:
        """Whether it waits."""
        return bool(self.spec.get("suspend"))

    def suspend(self) -> None:
        """Let it wait."""
        self.spec["suspend"] = True

    def skip(self) -> bool:
        """One that uses a cluster which is there needs nothing more."""
        return bool(self.spec.get("clusterSelector"))

    def is_on_hold(self) -> bool:
        """Whether it is one that the operator does not take."""
        return bool(self.status.get("jobDeploymentStatus") == "ValidationFailed")

    def is_active(self) -> bool:
        """Whether it may have pods."""
        return self.status.get("jobDeploymentStatus", "") not in ("", "Suspended")

    def pods_ready(self) -> bool:
        """Whether its cluster is ready."""
        return bool((self.status.get("rayClusterStatus") or {}).get("state") == "ready")

    async def pod_sets(self, client: Client | None) -> list[Tree]:
        """Those of its cluster, and the submitter's. Raises TopologyRequestError, ValueError."""
        sets = groups.pod_sets(self.cluster_spec, self.features)
        if self.has_submitter:
            sets.append(groups.pod_set(SUBMITTER, 1, self._submitter_template(), self.features))
        elif self.spec.get("submissionMode") == SIDECAR_MODE:
            sets[0]["template"] = _with_submitter(sets[0]["template"])
        if client is not None:
            await self._follow_autoscaler(client, sets)
        return sets

    async def _follow_autoscaler(self, client: Client, sets: list[Tree]) -> None:
        """An elastic job whose cluster scales itself is as large as its cluster. Raises ValueError.
        """
        name = self.status.get("rayClusterName")
        if not (objects.is_elastic(self.obj, self.features) and self.cluster_spec.get("enableInTreeAutoscaling") and name):
            return
        cluster = await client.get(RAY_CLUSTERS, name, meta.namespace_of(self.obj), missing_ok=True)
        by_name = {each["name"]: each for each in sets}
        for group in groups.groups_of(cluster["spec"]) if cluster is not None else ():
            if group["groupName"].lower() not in by_name:
                raise ValueError(
                    f"PodSet name mismatch: RayCluster {name} has worker group {group['groupName']} which is not found in "
                    f"Ray object {meta.name_of(self.obj)} spec")
            if group.get("replicas") is not None:
                by_name[group["groupName"].lower()]["count"] = groups.effective_worker_count(group)

    def _submitter_template(self) -> Tree:
        template: Tree | None = self.spec.get("submitterPodTemplate")
        if template is not None:
            return template
        image = self.cluster_spec["headGroupSpec"]["template"]["spec"]["containers"][0].get("image", "")
        container = {"name": SUBMITTER_CONTAINER, "image": image, "resources": copy.deepcopy(SUBMITTER_RESOURCES)}
        return {"spec": {"containers": [container], "restartPolicy": "Never"}}

    def _expected(self) -> int:
        return len(groups.groups_of(self.cluster_spec)) + 1 + self.has_submitter

    def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
        """Let it run, with what its pods get. PermanentError where it cannot."""
        podset.expect_podsets(infos, self._expected())
        self.spec["suspend"] = False
        of_cluster = infos[:-1] if self.has_submitter else infos
        groups.run(self.cluster_spec, of_cluster, self.features)
        if self.has_submitter:
            template = self._submitter_template()
            podset.merge(template, infos[-1], self.features)
            self.spec["submitterPodTemplate"] = template

    def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
        """Give its pods back what they had; whether that changed anything."""
        if len(infos) != self._expected():
            return False
        of_cluster = infos[:-1] if self.has_submitter else infos
        changed = groups.restore(self.cluster_spec, of_cluster)
        if self.has_submitter:
            changed = podset.restore_pod_spec(self._submitter_template(), infos[-1]) or changed
        return changed

    def finished(self) -> Finished | None:
        """How it ended; None while it has not."""
        status = self.status
        if status.get("jobDeploymentStatus") not in ("Failed", "Complete"):
            return None
        return Finished(status.get("message", ""), success=status.get("jobStatus") == "SUCCEEDED")

    def workload_name_extra(self) -> str:
        """Its generation, and that of its cluster."""
        generation = meta.annotations_of(self.obj).get(names.RAYCLUSTER_GENERATION_ANNOTATION, "")
        extra = super().workload_name_extra()
        return f"{extra}_{generation}" if generation else extra

    async def custom_annotations(self, client: Client, pod_sets: Sequence[ReadOnlyTree]) -> dict[str, str]:
        """What an elastic one says of its cluster: its generation, and the sizes of its groups."""
        name = self.status.get("rayClusterName")
        cluster = await client.get(RAY_CLUSTERS, name, meta.namespace_of(self.obj), missing_ok=True) if name else None
        sizes = [{"name": each["name"], "count": each["count"]} for each in pod_sets]
        return {
            names.RAYCLUSTER_PODSET_REPLICA_SIZES_ANNOTATION: json.dumps(sizes, separators=(",", ":")),
            names.RAYCLUSTER_GENERATION_ANNOTATION: str(meta.generation_of(cluster)) if cluster is not None else ""}


def _with_submitter(template: Tree) -> Tree:
    """The head as it will be: with the container that submits the job."""
    changed = copy.deepcopy(template)
    changed["spec"]["containers"].append({"name": SUBMITTER_CONTAINER, "resources": copy.deepcopy(SUBMITTER_RESOURCES)})
    return changed
