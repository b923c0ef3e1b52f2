"""When a JobSet has succeeded, in which order its Jobs start, and what they wait for.

Upstream: pkg/controllers/{success_policy,startup_policy,depends_on}.go.
"""

from collections.abc import Mapping, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.jobset import names
from fakekube_controllers.jobset.status import STARTUP_COMPLETED, STARTUP_IN_PROGRESS, StatusUpdate


def has_succeeded(jobset: ReadOnlyTree, successful: Sequence[ReadOnlyTree]) -> bool:
    """Whether as many Jobs have succeeded as the success policy wants."""
    policy = jobset["spec"].get("successPolicy") or meta.EMPTY
    targets: Sequence[str] = policy.get("targetReplicatedJobs") or ()
    done = sum(not targets or meta.labels_of(job).get(names.REPLICATED_JOB_NAME) in targets for job in successful)
    if policy.get("operator") == "Any":
        return done >= 1
    return done >= sum(names.replicas(each) for each in names.replicated_jobs(jobset) if not targets or each["name"] in targets)


def keeps_order(jobset: ReadOnlyTree) -> bool:
    """Whether replicated jobs start one after the other."""
    return bool((jobset["spec"].get("startupPolicy") or meta.EMPTY).get("startupPolicyOrder") == "InOrder")


def has_started(replicated_job: ReadOnlyTree, status: ReadOnlyTree) -> bool:
    """Whether all Jobs of a replicated job are ready or finished."""
    started: int = status["failed"] + status["ready"] + status["succeeded"]
    return names.replicas(replicated_job) == started


def all_ready(jobset: ReadOnlyTree, statuses: Sequence[ReadOnlyTree]) -> bool:
    """Whether every Job of a JobSet is ready or has succeeded."""
    ready: int = sum(status["ready"] + status["succeeded"] for status in statuses)
    return ready == sum(map(names.replicas, names.replicated_jobs(jobset)))


def note_start_in_progress(update: StatusUpdate) -> None:
    """Some replicated job is not started yet."""
    update.set_condition(
        STARTUP_IN_PROGRESS, "True", "InOrderStartupPolicyInProgress", "in order startup policy is in progress")


def note_start_completed(update: StatusUpdate) -> None:
    """All replicated jobs have started in their order."""
    update.set_condition(
        STARTUP_COMPLETED, "True", "InOrderStartupPolicyCompleted", "in order startup policy has completed")


def may_start(replicated_job: ReadOnlyTree, replicas: Mapping[str, int], statuses: Mapping[str, Tree]) -> bool:
    """Whether all that a replicated job depends on has come so far.

    ``replicas`` are those of the replicated jobs up to this one: nobody waits for a later one.
    """
    for dependency in replicated_job.get("dependsOn") or ():
        status = statuses.get(dependency["name"])
        if status is None:
            return False
        wanted = replicas.get(dependency["name"], 0)
        if dependency["status"] == "Complete" and wanted != status["succeeded"]:
            return False
        if dependency["status"] == "Ready" and wanted != status["failed"] + status["ready"] + status["succeeded"]:
            return False
    return True
