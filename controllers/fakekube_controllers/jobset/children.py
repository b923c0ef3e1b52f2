"""The Jobs that a JobSet owns, sorted by what became of them.

Upstream: getChildJobs and calculateReplicatedJobStatuses in pkg/controllers/jobset_controller.go.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.jobs import finished_condition
from fakekube_controllers.jobset import names, restarts
from fakekube_controllers.jobset.features import Features

COUNTERS = ("ready", "succeeded", "failed", "active", "suspended")


class BadLabel(ValueError):
    """A Job whose labels do not say which one of its JobSet it is."""


class Children(NamedTuple):
    """The Jobs of the present run, and those of earlier runs, which have to go."""

    active: tuple[Tree, ...]
    successful: tuple[Tree, ...]
    failed: tuple[Tree, ...]
    previous: tuple[Tree, ...]

    @property
    def names(self) -> Iterator[str]:
        """The names of all of them."""
        return (meta.name_of(job) for jobs in self for job in jobs)


def sorted_out(jobset: ReadOnlyTree, jobs: Iterable[Tree], features: Features) -> Children:
    """The Jobs that a JobSet controls. Raises BadLabel."""
    found: dict[str, list[Tree]] = {"": [], "Complete": [], "Failed": [], "previous": []}
    for job in jobs:
        if _is_previous(jobset, job, features):
            found["previous"].append(job)
        else:
            condition = finished_condition(job)
            found[condition["type"] if condition is not None else ""].append(job)
    return Children(*map(tuple, (found[""], found["Complete"], found["Failed"], found["previous"])))


def _is_previous(jobset: ReadOnlyTree, job: ReadOnlyTree, features: Features) -> bool:
    if _number(job, names.RESTART_ATTEMPT) < restarts.of_jobset(jobset):
        return True
    if not features.RestartJob:
        return False
    replicated_job = meta.labels_of(job).get(names.REPLICATED_JOB_NAME)
    if replicated_job is None:
        raise BadLabel(f"missing label {names.REPLICATED_JOB_NAME}")
    index = _number(job, names.JOB_INDEX)
    if names.JOB_RESTART_ATTEMPT not in meta.labels_of(job):
        return False  # made before there was such a label
    wanted = restarts.of_jobs(jobset, replicated_job)
    if not 0 <= index < len(wanted):
        raise BadLabel(f"job index {index} is out of bounds for replicated job {replicated_job}")
    return _number(job, names.JOB_RESTART_ATTEMPT) < wanted[index]


def _number(job: ReadOnlyTree, label: str) -> int:
    text = meta.labels_of(job).get(label)
    if text is None:
        raise BadLabel(f"missing label {label}")
    if not text.isascii() or not text.isdigit():
        raise BadLabel(f"invalid value for label {label}, must be integer")
    return int(text)


def statuses(jobset: ReadOnlyTree, jobs: Children, features: Features) -> list[Tree]:
    """``status.replicatedJobsStatus``, in the order in which upstream writes it."""
    found: dict[str, Tree] = {
        each["name"]: {"name": each["name"], **dict.fromkeys(COUNTERS, 0)} for each in names.replicated_jobs(jobset)}
    for job in jobs.active:
        status = _of(found, job)
        status["ready"] += _is_ready(job)
        status["active"] += (job.get("status") or meta.EMPTY).get("active", 0) > 0
        status["suspended"] += names.is_suspended(job)
    for counter, group in (("succeeded", jobs.successful), ("failed", jobs.failed)):
        for job in group:
            _of(found, job)[counter] += 1
    if features.RestartJob:
        for before in (jobset.get("status") or meta.EMPTY).get("replicatedJobsStatus") or ():
            kept = {field: before[field] for field in (restarts.OF_JOBS, restarts.COUNTED) if before.get(field)}
            found.get(before["name"], {}).update(kept)
    return sorted(found.values(), key=lambda status: str(status["name"]), reverse=True)


def _of(found: dict[str, Tree], job: ReadOnlyTree) -> Tree:
    """The counters for a Job; such that nobody reads for one of no replicated job."""
    return found.get(meta.labels_of(job).get(names.REPLICATED_JOB_NAME, ""), dict.fromkeys(COUNTERS, 0))


def _is_ready(job: ReadOnlyTree) -> bool:
    spec, status = job["spec"], job.get("status") or meta.EMPTY
    pods: int = spec.get("parallelism", 1)
    if spec.get("completions") is not None:
        pods = min(pods, spec["completions"])
    return bool(status.get("succeeded", 0) + status.get("ready", 0) >= pods)
