"""What a Job says of itself, for the controllers that look at Jobs.

Upstream: pkg/controller/job/util.
"""

from fakekube.apimachinery.types import ReadOnlyTree, Tree


def finished_condition(job: ReadOnlyTree) -> Tree | None:
    """The condition Complete or Failed that is True; None while the Job has not finished."""
    condition: Tree
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            return condition
    return None


def is_finished(job: ReadOnlyTree) -> bool:
    """Whether the Job is Complete or Failed."""
    return finished_condition(job) is not None
