"""How often a JobSet and its Jobs were started anew, as the status of the JobSet counts it.

Upstream: pkg/controllers/failure_policy.go (getJobRestarts and its neighbours).
"""

from collections.abc import Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.jobset import names

OF_JOBS, COUNTED = "jobRestarts", "jobRestartsCountTowardsMax"


def of_jobset(jobset: ReadOnlyTree) -> int:
    """How often all Jobs were made anew."""
    return int((jobset.get("status") or meta.EMPTY).get("restarts", 0))


def of_jobs(jobset: ReadOnlyTree, replicated_job: str, field: str = OF_JOBS) -> list[int]:
    """How often each Job of a replicated job was made anew alone; with the field COUNTED, how many
    of these count towards the most that there may be.
    """
    for status in (jobset.get("status") or meta.EMPTY).get("replicatedJobsStatus") or ():
        if status["name"] == replicated_job and status.get(field):
            return list(status[field])
    found = (each for each in names.replicated_jobs(jobset) if each["name"] == replicated_job)
    return [0] * max(names.replicas(next(found, meta.EMPTY)), 0)


def count(status: Tree, replicated_job: str, field: str, numbers: Sequence[int]) -> None:
    """Write such numbers into a JobSet's status, in place."""
    for each in status.get("replicatedJobsStatus") or ():
        if each["name"] == replicated_job:
            each[field] = list(numbers)
            return


def counted(jobset: ReadOnlyTree, *, with_jobs: bool) -> int:
    """The restarts that count towards the most that there may be, those of single Jobs included."""
    status = jobset.get("status") or meta.EMPTY
    total = int(status.get("restartsCountTowardsMax", 0))
    if with_jobs:
        total += sum(sum(each.get(COUNTED) or ()) for each in status.get("replicatedJobsStatus") or ())
    return total
