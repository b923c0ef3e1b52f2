"""A JobSet as Kueue sees it. Upstream: pkg/controller/jobs/jobset/jobset_controller.go and
jobset_webhook.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import field_errors, meta
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import podset
from fakekube_controllers.kueue.jobframework.job import Finished, GenericJob
from fakekube_controllers.kueue.jobs.kinds import JOBSETS
from fakekube_controllers.kueue.podset import PodSetInfo
from fakekube_controllers.kueue.topology import requests, validation

if TYPE_CHECKING:
    from fakekube.client.client import Client

CONTROLLER = "jobset.sigs.k8s.io/jobset-controller"
JOB_INDEX = "jobset.sigs.k8s.io/job-index"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
REPLICATED_JOBS = "spec.replicatedJobs"


class JobSet(GenericJob):
    """One JobSet."""

    resource = JOBSETS
    own_manager = CONTROLLER

    def is_suspended(self) -> bool:
        """Whether it waits."""
        return bool(self.spec.get("suspend"))

    def suspend(self) -> None:
        """Let it wait."""
        self.spec["suspend"] = True

    def is_active(self) -> bool:
        """Whether any Job of it is active."""
        return any(each.get("active", 0) > 0 for each in self.status.get("replicatedJobsStatus") or ())

    async def pod_sets(self, _client: "Client | None") -> list[Tree]:
        """A pod set for each replicated job. Raises TopologyRequestError."""
        return [self._pod_set(each) for each in self.replicated_jobs()]

    def replicated_jobs(self) -> list[Tree]:
        """``spec.replicatedJobs``."""
        jobs: list[Tree] = self.spec.get("replicatedJobs") or []
        return jobs

    def _pod_set(self, job: ReadOnlyTree) -> Tree:
        template: Tree = job["template"]["spec"]["template"]
        made: Tree = {"name": job["name"].lower(), "count": _replicas(job) * pods_per_replica(job), "template": template}
        if self.features.TopologyAwareScheduling:
            made["topologyRequest"] = requests.topology_request(
                template.get("metadata") or meta.EMPTY, self.features, pod_index_label=COMPLETION_INDEX,
                sub_group_index_label=JOB_INDEX, sub_group_count=_replicas(job))
        return made

    def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
        """Let it run, with what its jobs' pods get. PermanentError where it cannot."""
        jobs = self.replicated_jobs()
        self.spec["suspend"] = False
        podset.expect_podsets(infos, len(jobs))
        for job, info in zip(jobs, infos, strict=True):
            podset.merge(job["template"]["spec"]["template"], info, self.features)

    def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
        """Give its jobs' pods back what they had; whether that changed anything."""
        jobs = self.replicated_jobs()
        if len(infos) != len(jobs):
            return False
        changed = [
            podset.restore_pod_spec(job["template"]["spec"]["template"], info)
            for job, info in zip(jobs, infos, strict=True)]
        return any(changed)

    def finished(self) -> Finished | None:
        """How it ended; None while it has not."""
        for type_ in ("Completed", "Failed"):
            found = meta.find_condition(self.obj, type_)
            if found is not None and found["status"] == "True":
                return Finished(found.get("message", ""), success=type_ == "Completed")
        return None

    def pods_ready(self) -> bool:
        """Whether all its Jobs are ready, or have succeeded."""
        wanted = sum(map(_replicas, self.replicated_jobs()))
        present = self.status.get("replicatedJobsStatus") or ()
        return bool(wanted == sum(each.get("ready", 0) + each.get("succeeded", 0) for each in present))

    def reclaimable_pods(self) -> list[Tree] | None:
        """The pods of its Jobs that have succeeded."""
        succeeded = {each["name"]: each.get("succeeded", 0) for each in self.status.get("replicatedJobsStatus") or ()}
        return [
            {"name": job["name"].lower(), "count": succeeded[job["name"]] * pods_per_replica(job)}
            for job in self.replicated_jobs() if 0 < succeeded.get(job["name"], 0) <= _replicas(job)]

    def validate_on_create(self) -> list[FieldError]:
        """The complaints about topologies. Raises TopologyRequestError."""
        if not self.features.TopologyAwareScheduling:
            return []
        found, paths = list[FieldError](), dict[str, str]()
        pod_sets = [self._pod_set(each) for each in self.replicated_jobs()]
        for place, each in enumerate(pod_sets):
            path = field_errors.child(field_errors.index(REPLICATED_JOBS, place), "template", "spec", "template", "metadata")
            metadata = each["template"].get("metadata") or meta.EMPTY
            paths[each["name"]] = field_errors.child(path, "annotations")
            found += validation.of_template(path, metadata, self.features)
            found += validation.slice_size(path, metadata, each)
        return found + validation.groups(pod_sets, paths)

    def validate_on_update(self, _old: GenericJob) -> list[FieldError]:
        """The complaints about a change, which are those about what is new, and that besides."""
        return self.validate_on_create()


def _replicas(job: ReadOnlyTree) -> int:
    replicas: int | None = job.get("replicas")
    return 1 if replicas is None else replicas


def pods_per_replica(job: ReadOnlyTree) -> int:
    """How many pods run at once in each Job of a replicated job."""
    spec = job["template"]["spec"]
    parallelism = spec.get("parallelism")
    parallelism = 1 if parallelism is None else parallelism
    completions: int | None = spec.get("completions")
    return parallelism if completions is None else min(parallelism, completions)
