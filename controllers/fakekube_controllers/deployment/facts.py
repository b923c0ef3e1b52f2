"""Reading Deployments and their ReplicaSets: counts, limits, revisions, and which set is the new
one. Nothing here writes.

Upstream: pkg/controller/deployment/util/deployment_util.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.intstr import scaled
from fakekube.apimachinery.types import Json, ReadOnlyTree, Tree

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
ROLLBACK_TO = "deprecated.deployment.rollback.to"
MAX_INT32 = 2**31 - 1

_MAPS = ("labels", "annotations", "nodeSelector", "limits", "requests", "matchLabels")


# counts


def wanted(obj: ReadOnlyTree) -> int:
    """``spec.replicas``."""
    count: int = obj["spec"].get("replicas", 1)
    return count


def counted(obj: ReadOnlyTree, name: str) -> int:
    """A number of the status."""
    number: int = (obj.get("status") or meta.EMPTY).get(name, 0)
    return number


def total(sets: Iterable[ReadOnlyTree]) -> int:
    """How many pods the sets are to have."""
    return sum(wanted(one) for one in sets)


def total_counted(sets: Iterable[ReadOnlyTree], name: str) -> int:
    """The sum of a number of their statuses."""
    return sum(counted(one, name) for one in sets)


def with_pods(sets: Iterable[Tree]) -> list[Tree]:
    """The sets that are to have pods."""
    return [one for one in sets if wanted(one) > 0]


# limits


def is_rolling(deployment: ReadOnlyTree) -> bool:
    """Whether pods are replaced little by little."""
    return bool(deployment["spec"]["strategy"].get("type") == "RollingUpdate")


def _fenceposts(deployment: ReadOnlyTree) -> tuple[int, int]:
    rolling = deployment["spec"]["strategy"].get("rollingUpdate") or meta.EMPTY
    surge = scaled(rolling.get("maxSurge", 0), wanted(deployment), round_up=True)
    unavailable = scaled(rolling.get("maxUnavailable", 0), wanted(deployment), round_up=False)
    return surge, unavailable if surge or unavailable else 1


def max_surge(deployment: ReadOnlyTree) -> int:
    """How many pods there may be above the wanted number."""
    return _fenceposts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: ReadOnlyTree) -> int:
    """How many pods may be missing while a template is rolled out."""
    if not is_rolling(deployment) or wanted(deployment) == 0:
        return 0
    return min(_fenceposts(deployment)[1], wanted(deployment))


def has_deadline(deployment: ReadOnlyTree) -> bool:
    """Whether lack of progress is told."""
    return bool(deployment["spec"].get("progressDeadlineSeconds", MAX_INT32) != MAX_INT32)


def size_of_new(deployment: ReadOnlyTree, sets: Sequence[ReadOnlyTree], new: ReadOnlyTree) -> int:
    """How many pods the new set may have by now; ``sets`` are all, the new one included."""
    if not is_rolling(deployment):
        return wanted(deployment)
    surge = scaled(deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"], wanted(deployment), round_up=True)
    room = wanted(deployment) + surge - total(sets)
    if room <= 0:
        return wanted(new)
    return wanted(new) + min(room, wanted(deployment) - wanted(new))


def is_saturated(deployment: ReadOnlyTree, new: ReadOnlyTree | None) -> bool:
    """Whether the new set has all the pods, and they are available."""
    if new is None or integer(meta.annotations_of(new).get(DESIRED_REPLICAS)) != wanted(deployment):
        return False
    return wanted(new) == wanted(deployment) == counted(new, "availableReplicas")


def is_complete(deployment: ReadOnlyTree, status: Mapping[str, Any]) -> bool:
    """Whether a status says that all pods are new and available, and none is old."""
    count = wanted(deployment)
    numbers = (status.get(name, 0) for name in ("updatedReplicas", "replicas", "availableReplicas"))
    return all(number == count for number in numbers) and status.get("observedGeneration", 0) >= meta.generation_of(deployment)


# revisions


def integer(text: str | None) -> int | None:
    """The number of an annotation; None for anything else."""
    digits = (text or "").removeprefix("-")
    return int(text or "") if digits.isascii() and digits.isdecimal() else None


def revision_of(obj: ReadOnlyTree) -> int | None:
    """The revision in the annotations: 0 without one, None for one that is no number."""
    return integer(meta.annotations_of(obj).get(REVISION, "0"))


def max_revision(sets: Iterable[ReadOnlyTree]) -> int:
    """The highest revision; 0 for none."""
    return max([0, *(revision_of(one) or 0 for one in sets)])


def last_revision(sets: Iterable[ReadOnlyTree]) -> int:
    """The highest revision but one; 0 for none."""
    return sorted([0, 0, *(revision_of(one) or 0 for one in sets)])[-2]


def by_age(one: ReadOnlyTree) -> tuple[str, str]:
    """Sorts the oldest to the front."""
    return one["metadata"]["creationTimestamp"], meta.name_of(one)


def by_revision(one: ReadOnlyTree) -> tuple[int, str, str]:
    """Sorts the oldest revision to the front."""
    return (revision_of(one) or 0, *by_age(one))


def find_new(deployment: ReadOnlyTree, sets: Iterable[Tree]) -> Tree | None:
    """The set with the Deployment's template; the oldest, should there be several."""
    template = deployment["spec"]["template"]
    return next((one for one in sorted(sets, key=by_age) if same_template(template, one["spec"]["template"])), None)


def only_active(new: Tree | None, old: Sequence[Tree]) -> Tree | None:
    """The one set that has pods, or the newest when none has; None when several have, or there is
    no set.
    """
    newest_first = sorted(old, key=by_age, reverse=True)
    active = with_pods([*newest_first, *([new] if new else [])])
    if len(active) > 1:
        return None
    if active:
        return active[0]
    return new or (newest_first[0] if newest_first else None)


# templates


def same_template(one: ReadOnlyTree, other: ReadOnlyTree) -> bool:
    """Whether two pod templates are alike but for the label that holds the hash."""
    if _metadata(one) != _metadata(other):
        return False
    return bool(one["spec"] == other["spec"] or _pruned(one["spec"]) == _pruned(other["spec"]))


def _metadata(template: ReadOnlyTree) -> Json:
    metadata = dict(template.get("metadata") or meta.EMPTY)
    metadata["labels"] = {key: value for key, value in meta.labels_of(template).items() if key != HASH_LABEL}
    return _pruned(metadata)


def _pruned(value: Json) -> Json:
    """Without lists and maps that have nothing in them: upstream's semantic equality."""
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _pruned(item) for key, item in value.items() if item not in (None, []) and (item != {} or key not in _MAPS)}


# conditions


def remove_condition(status: Tree, kind: str) -> None:
    """Take the condition of a type out of a status that the caller owns."""
    kept = list(status.get("conditions") or ())
    conditions.remove(kept, kind)
    if kept:
        status["conditions"] = kept
    else:
        status.pop("conditions", None)


def set_condition(status: Tree, condition: Tree) -> None:
    """Set a condition, last of all, unless its status and reason are so already.

    Upstream: SetDeploymentCondition.
    """
    current = conditions.find(status.get("conditions"), condition["type"])
    if current is not None and (current["status"], current.get("reason")) == (condition["status"], condition["reason"]):
        return
    since = conditions.transition_time(current, condition["status"], condition["lastTransitionTime"])
    remove_condition(status, condition["type"])
    status["conditions"] = [*(status.get("conditions") or ()), {**condition, "lastTransitionTime": since}]
