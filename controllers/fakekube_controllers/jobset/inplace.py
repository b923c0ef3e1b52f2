"""Restart in place: agents in the pods run their containers again, and the JobSet says which round
they are in.

Upstream: pkg/controllers/in_place_restart.go. The agents themselves are programs in containers, and
none of this.
"""

from collections.abc import Iterable, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.jobset import failures, names
from fakekube_controllers.jobset.status import StatusUpdate

CURRENT, PREVIOUS = "currentInPlaceRestartAttempt", "previousInPlaceRestartAttempt"


class BadAttempt(ValueError):
    """A pod, or the JobSet itself, does not say what it must for a restart in place."""


def is_wanted(jobset: ReadOnlyTree) -> bool:
    """Whether a JobSet restarts its pods in place."""
    return (jobset["spec"].get("failurePolicy") or meta.EMPTY).get("restartStrategy") == "InPlaceRestart"


def sync(update: StatusUpdate, pods: Sequence[ReadOnlyTree]) -> None:
    """Say which round the pods are in: lift the barrier when all are in one, else let those behind
    restart. Raises BadAttempt.
    """
    most: int = update.jobset["spec"]["failurePolicy"].get("maxRestarts", 0)
    if max(_container_restarts(pods), default=0) > most:
        failures.fail(update, *failures.REACHED_MAX)
        return
    attempts = _attempts(pods)
    uncounted = update.status["restarts"] - update.status.get("restartsCountTowardsMax", 0)
    if max(attempts, default=0) - uncounted > most:
        failures.fail(update, *failures.REACHED_MAX)
    elif len(attempts) == _number_of_pods(update.jobset) and len({*attempts}) == 1:
        _set(update, CURRENT, attempts[0])
    elif attempts and max(attempts) > 0 and max(attempts) - 1 >= update.status.get(PREVIOUS, 0):
        _set(update, PREVIOUS, max(attempts) - 1)


def _set(update: StatusUpdate, field: str, attempt: int) -> None:
    if update.status.get(field) != attempt:
        update.status[field] = attempt
        update.is_due = True


def _container_restarts(pods: Sequence[ReadOnlyTree]) -> Iterable[int]:
    for pod in pods:
        status = pod.get("status") or meta.EMPTY
        for kind in ("initContainerStatuses", "containerStatuses"):
            yield from (each.get("restartCount", 0) for each in status.get(kind) or ())


def _attempts(pods: Sequence[ReadOnlyTree]) -> list[int]:
    """The rounds of the pods that tell; a failed pod may stay beside the one in its place."""
    found = []
    for pod in pods:
        text = meta.annotations_of(pod).get(names.IN_PLACE_RESTART_ATTEMPT)
        if text is None or (pod.get("status") or meta.EMPTY).get("phase") == "Failed":
            continue
        if not text.isascii() or not text.isdigit():
            raise BadAttempt(f"invalid value for annotation {names.IN_PLACE_RESTART_ATTEMPT}, must be non-negative integer")
        found.append(int(text))
    return found


def _number_of_pods(jobset: ReadOnlyTree) -> int:
    total = 0
    for each in names.replicated_jobs(jobset):
        spec = each["template"].get("spec") or meta.EMPTY
        parallelism = spec.get("parallelism")
        if parallelism is None or spec.get("completions") != parallelism:
            raise BadAttempt(
                f"{each['name']}: in-place restart requires jobTemplate.spec.completions == jobTemplate.spec.parallelism != nil")
        total += names.replicas(each) * parallelism
    return total
