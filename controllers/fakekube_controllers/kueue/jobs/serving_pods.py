"""Pods of StatefulSets, of a user's or of a LeaderWorkerSet: which of them Kueue holds no longer.

Upstream: pkg/util/statefulset.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.jobs.pod.members import without_pod_finalizer

REVISION = "controller-revision-hash"


def ungate_and_finalize(sts: ReadOnlyTree | None, pod: Tree, *, force: bool = False) -> bool:
    """Let a pod go that its set is about to replace, in place, one gate at a time; whether that
    changed anything.
    """
    updated = (force or _should_ungate(sts, pod)) and (
        pods.ungate(pod, names.ADMISSION_GATE) or pods.ungate(pod, names.TOPOLOGY_GATE))
    if force or should_finalize(sts, pod):
        updated = without_pod_finalizer(pod) or updated
    return updated


def should_finalize(sts: ReadOnlyTree | None, pod: ReadOnlyTree) -> bool:
    """Whether a pod is over, is going, or is of a revision that its set replaces."""
    return _should_ungate(sts, pod) or pods.is_terminated(pod) or meta.is_deleting(pod)


def _should_ungate(sts: ReadOnlyTree | None, pod: ReadOnlyTree) -> bool:
    if sts is None:
        return True
    status = sts.get("status") or meta.EMPTY
    current = status.get("currentRevision", "")
    return bool(current != status.get("updateRevision", "") and current == meta.labels_of(pod).get(REVISION, ""))
