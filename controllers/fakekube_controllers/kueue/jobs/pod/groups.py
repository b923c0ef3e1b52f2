"""The rules of a group of pods: who of it counts, who is too many, and what its pod sets are.

Everything here is a function of trees. Upstream: pkg/controller/jobs/pod/pod_controller.go.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from fakekube.apimachinery import meta, strconv, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.reconcile import ExpectedError
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.features import Features

Pods = list[Tree]
PodSets = list[Tree]
MakePodSet = Callable[[ReadOnlyTree], Tree]
"""Makes the pod set of a single pod: ``main``, of one."""

PODS_FAILED, PODS_READY = "PodsFailed", "PodsReady"
NEEDED, NOT_NEEDED = "Some Failed pods need replacement", "No pods need replacement"
WAITING_FOR_REPLACEMENT_PODS = "WaitingForReplacementPods"
MAX_ROLES_OF_KEP = 8
"""As many as KEP-976 allows; upstream as many as a Workload has pod sets."""


class CannotCompose(ExpectedError):
    """The pods of a group make no Workload; ``is_retried`` tells whether trying again could
    help.
    """

    def __init__(self, text: str, *, is_retried: bool = False) -> None:
        super().__init__(text)
        self.is_retried = is_retried


class TooFewPods(CannotCompose):
    """A group lacks pods, of which an Event tells."""


class Sorted(NamedTuple):
    """The pods of a group, held against the pod sets of its Workload.

    ``kept`` are those that the group consists of, ``excess`` those that are too many, ``replaced``
    those that are over and have been replaced, ``absent`` how many more are wanted.
    """

    kept: Pods
    excess: Pods
    replaced: Pods
    absent: int


def total_count(pod: ReadOnlyTree, features: Features) -> int:
    """How many pods the group of a pod is to have, as this pod says. Raises ValueError."""
    if not pods.pod_group_name(pod, features):
        kind = "annotation/label" if features.WorkloadIdentifierAnnotations else "label"
        raise ValueError(f"pod doesn't have a '{names.POD_GROUP_NAME_LABEL}' {kind}")
    text = meta.annotations_of(pod).get(names.POD_GROUP_TOTAL_COUNT_ANNOTATION)
    if text is None:
        raise ValueError(f"failed to extract '{names.POD_GROUP_TOTAL_COUNT_ANNOTATION}' annotation")
    count = _atoi(text)
    if count < 1:
        told = f"{names.POD_GROUP_TOTAL_COUNT_ANNOTATION}={text}"
        raise ValueError(f"incorrect annotation value '{told}': group total count should be greater than zero")
    return count


def _atoi(text: str) -> int:
    try:
        return strconv.parse_int(text)
    except strconv.NumberError as error:
        raise ValueError(str(error).replace("ParseInt", "Atoi")) from error


def max_roles(features: Features) -> int:
    """How many roles a group may have."""
    return MAX_ROLES_OF_KEP if features.KEPTexts else names.MAX_PODSETS


def is_unretriable(pod: ReadOnlyTree) -> bool:
    """Whether a pod says that no pod of its group is to be replaced."""
    return meta.annotations_of(pod).get(names.RETRIABLE_IN_GROUP_ANNOTATION) == "false"


def is_fast(pod: ReadOnlyTree) -> bool:
    """Whether a group is admitted when its first pod is there."""
    return meta.annotations_of(pod).get(names.POD_GROUP_FAST_ADMISSION_ANNOTATION) == "true"


def is_serving(pod: ReadOnlyTree) -> bool:
    """Whether a group runs until its pods are deleted."""
    return meta.annotations_of(pod).get(names.POD_GROUP_SERVING_ANNOTATION) == "true"


def is_runnable_or_succeeded(pod: ReadOnlyTree) -> bool:
    """Whether a pod may still run, runs, or has run well: one that is deleted before it has a node
    never will.
    """
    if meta.is_deleting(pod) and not pod["spec"].get("nodeName"):
        return False
    return (pod.get("status") or meta.EMPTY).get("phase") != "Failed"


def partition(group: Iterable[Tree]) -> tuple[Pods, Pods]:
    """The active and the inactive pods of a group."""
    active, inactive = Pods(), Pods()
    for pod in group:
        (active if is_runnable_or_succeeded(pod) else inactive).append(pod)
    return active, inactive


def sorted_active(active: Iterable[Tree]) -> Pods:
    """Active pods, those to keep first: with a finalizer, without a gate, older."""
    return sorted(active, key=lambda pod: (not _has_finalizer(pod), pods.is_gated(pod), _created(pod)))


def sorted_inactive(inactive: Iterable[Tree], now: float) -> Pods:
    """Inactive pods, those to keep first: with a finalizer, active until later, older."""
    return sorted(inactive, key=lambda pod: (not _has_finalizer(pod), -_last_active(pod, now), _created(pod)))


def _has_finalizer(pod: ReadOnlyTree) -> bool:
    return names.POD_FINALIZER in meta.finalizers_of(pod)


def _created(pod: ReadOnlyTree) -> float:
    return times.parse_time(pod["metadata"]["creationTimestamp"])


def _last_active(pod: ReadOnlyTree, now: float) -> float:
    """When a pod was seen active last: when it failed, or was deleted."""
    failed, deleted = now, pod["metadata"].get("deletionTimestamp")
    condition = meta.find_condition(pod, "ContainersReady")
    if condition is not None and (condition["status"], condition.get("reason")) == ("False", "PodFailed"):
        failed = times.parse_time(condition["lastTransitionTime"])
    return min(failed, times.parse_time(deleted) if deleted else now)


def check(group: Sequence[Tree], active: Sequence[Tree], features: Features) -> int:
    """The total count of a group whose members agree. Raises CannotCompose for others.

    Upstream: validatePodGroupMetadata.
    """
    first = group[0]
    try:
        wanted = total_count(first, features)
        pods.number_of_label(first, names.POD_GROUP_POD_INDEX_LABEL, wanted)
    except ValueError as error:
        raise CannotCompose(str(error), is_retried=True) from error
    if not is_fast(first) and len(active) < wanted:
        raise TooFewPods(f"'{pods.pod_group_name(first, features)}' group has fewer runnable pods than expected")
    queue = meta.labels_of(first).get(names.QUEUE_LABEL, "")
    for pod in group:
        if (pod.get("status") or meta.EMPTY).get("phase") == "Failed":
            continue
        both, theirs = f"pods '{meta.name_of(first)}' and '{meta.name_of(pod)}'", meta.labels_of(pod).get(names.QUEUE_LABEL, "")
        if theirs != queue:
            raise CannotCompose(f"{both} has different queue names: {queue}!={theirs}")
        key = names.POD_GROUP_TOTAL_COUNT_ANNOTATION
        try:
            count = _atoi(meta.annotations_of(pod).get(key, ""))
        except ValueError as error:
            text = f"failed to extract '{key}' annotation from the pod '{meta.name_of(pod)}': {error}"
            raise CannotCompose(text, is_retried=True) from error
        if count != wanted:
            raise CannotCompose(f"{both} has different '{key}' values: {wanted}!={count}")
    return wanted


def pod_sets(group: Iterable[Tree], make: MakePodSet) -> PodSets:
    """A pod set for each role of the active pods, by the names of the roles."""
    found: dict[str, Tree] = {}
    for pod in group:
        if is_runnable_or_succeeded(pod):
            role = pods.role_hash(pod)
            if role in found:
                found[role]["count"] += 1
            else:
                found[role] = {**make(pod), "name": role}
    return [found[role] for role in sorted(found)]


def pod_sets_of_first(group: Iterable[Tree], count: int, make: MakePodSet) -> PodSets:
    """One pod set for a whole group, of the first active pod. Raises CannotCompose."""
    for pod in group:
        if is_runnable_or_succeeded(pod):
            return [{**make(pod), "name": pods.role_hash(pod), "count": count}]
    raise CannotCompose("failed to find a runnable pod in the group", is_retried=True)


def sort_out(group: Sequence[Tree], wanted: Iterable[ReadOnlyTree], now: float) -> Sorted:
    """Hold the pods of a group against the pod sets of its Workload, role by role.

    Pods whose role no pod set has are in none of the lists.
    """
    active, inactive = partition(group)
    found, fast = Sorted([], [], [], 0), is_fast(group[0])
    for each in wanted:
        count, role = each["count"], each["name"]
        running = [pod for pod in active if pods.role_hash(pod) == role]
        over = [pod for pod in inactive if pods.role_hash(pod) == role]
        if len(running) > count:
            running = sorted_active(running)
        found.kept.extend(running[:count])
        found.excess.extend(running[count:])
        missing = int(count > 0 and not running) if fast else max(0, count - len(running))
        replaced = max(0, min(len(over), len(over) + len(running) - count))
        if replaced:
            over = sorted_inactive(over, now)
        found.kept.extend(over[:len(over) - replaced])
        found.replaced.extend(over[len(over) - replaced:])
        found = found._replace(absent=found.absent + missing)
    return found


def is_equivalent(workload: ReadOnlyTree, wanted: Sequence[ReadOnlyTree], *, is_finished: bool) -> bool:
    """Whether a Workload has the roles of a group, each for as many pods at least.

    Both have their pod sets in the order of their names.
    """
    present = workload["spec"]["podSets"]
    if not is_finished and len(present) < len(wanted):
        return False
    rest = iter(present)
    for each in wanted:
        found = next((there for there in rest if there["name"] == each["name"]), None)
        if found is None or (not is_finished and found["count"] < each["count"]):
            return False
    return True


def finished(group: Sequence[Tree], features: Features) -> str:
    """What is told of a group that is over; empty for one that is not."""
    try:
        wanted = total_count(group[0], features)
    except ValueError:
        return ""
    succeeded = sum((pod.get("status") or meta.EMPTY).get("phase") == "Succeeded" for pod in group)
    is_over = all(map(pods.is_terminated, group)) and any(map(is_unretriable, group))
    return f"Pods succeeded: {succeeded}/{wanted}." if succeeded == wanted or is_over else ""


def is_active(group: Iterable[Tree], now: float, features: Features) -> bool:
    """Whether a pod runs that has not outlived its grace period."""
    for pod in group:
        if (pod.get("status") or meta.EMPTY).get("phase") != "Running":
            continue
        if not meta.is_deleting(pod):
            return True
        if features.FastQuotaReleaseInPodIntegration:
            continue
        metadata = pod["metadata"]
        grace = metadata.get("deletionGracePeriodSeconds")
        if grace is None or now < times.parse_time(metadata["deletionTimestamp"]) + grace:
            return True
    return False


def reclaimable(group: Iterable[Tree]) -> list[dict[str, Any]]:
    """How many pods of each role have succeeded, in the order in which the roles are found."""
    counts: dict[str, int] = {}
    for pod in group:
        if (pod.get("status") or meta.EMPTY).get("phase") == "Succeeded":
            role = pods.role_hash(pod)
            counts[role] = counts.get(role, 0) + 1
    return [{"name": role, "count": count} for role, count in counts.items()]


def replacement_condition(workload: ReadOnlyTree, absent: int) -> Tree | None:
    """The condition of a Workload that says whether pods are waited for; None where it stays."""
    present, evicted = (meta.find_condition(workload, type_) for type_ in (WAITING_FOR_REPLACEMENT_PODS, "Evicted"))
    if present is None and not absent:
        return None
    found = dict(present) if present is not None else {"type": WAITING_FOR_REPLACEMENT_PODS}
    if absent:
        if evicted is not None and evicted["status"] == "True":
            found |= {"reason": evicted["reason"], "message": evicted.get("message", "")}
        elif found.get("status") != "True":
            found |= {"reason": PODS_FAILED, "message": NEEDED}
        found["status"] = "True"
    elif found["status"] != "False":
        found |= {"status": "False", "reason": PODS_READY, "message": NOT_NEEDED}
    return None if found == present else found
