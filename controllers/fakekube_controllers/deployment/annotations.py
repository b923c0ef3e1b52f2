"""What the annotations of a ReplicaSet keep for its Deployment: the revision, its history, and the
sizes at the last scaling.

Upstream: pkg/controller/deployment/util/deployment_util.go (SetNewReplicaSetAnnotations and below).
"""

from collections.abc import Mapping

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.deployment import facts

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
NOT_COPIED = (
    LAST_APPLIED, facts.REVISION, facts.REVISION_HISTORY, facts.DESIRED_REPLICAS, facts.MAX_REPLICAS, facts.ROLLBACK_TO)
MAX_HISTORY_LENGTH = 2000

Annotations = dict[str, str]


def of_new_set(deployment: ReadOnlyTree, current: Mapping[str, str], revision: int) -> Annotations:
    """The annotations that the new set is to have, which has ``current`` ones."""
    before = facts.integer(current.get(facts.REVISION) or "0")
    if before is None:
        return dict(current)
    wanted = {**current, **_own(deployment)}
    if before >= revision:
        return wanted
    wanted[facts.REVISION] = str(revision)
    if facts.REVISION in current:
        history = _with_history(current.get(facts.REVISION_HISTORY, ""), current[facts.REVISION])
        if history is not None:
            wanted[facts.REVISION_HISTORY] = history
    return wanted


def _own(deployment: ReadOnlyTree) -> Annotations:
    return {key: value for key, value in meta.annotations_of(deployment).items() if key not in NOT_COPIED}


def _with_history(history: str, revision: str) -> str | None:
    """The history with one more revision, the oldest dropped where it grows too long; None when
    even that does not help.
    """
    if not history:
        return revision
    revisions = history.split(",")
    length = len(history) + len(revision) + 1
    while length > MAX_HISTORY_LENGTH and revisions:
        length -= len(revisions.pop(0)) + 1
    return ",".join([*revisions, revision]) if length <= MAX_HISTORY_LENGTH else None


def of_sizes(deployment: ReadOnlyTree) -> Annotations:
    """The sizes that a set was scaled for."""
    desired = facts.wanted(deployment)
    return {facts.DESIRED_REPLICAS: str(desired), facts.MAX_REPLICAS: str(desired + facts.max_surge(deployment))}


def after_rollback(deployment: ReadOnlyTree, chosen: ReadOnlyTree) -> Annotations:
    """The Deployment's annotations once it is rolled back to a set, whose own come back with it."""
    kept = {key: value for key, value in meta.annotations_of(deployment).items() if key in NOT_COPIED}
    back = {key: value for key, value in meta.annotations_of(chosen).items() if key not in NOT_COPIED}
    return kept | back
