"""The slice of an elastic job that a larger one is to replace.

Upstream: ReplacedWorkloadSlice and FindReplacedSliceTarget of pkg/workloadslicing.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.scheduler.preemption.common.types import Target

if TYPE_CHECKING:
    from fakekube.apimachinery.meta import ObjectKey
    from fakekube.apimachinery.types import ReadOnlyTree
    from fakekube_controllers.kueue.cache.snapshot import Snapshot
    from fakekube_controllers.kueue.workload.info import Info


def replacement_for_key(workload: "ReadOnlyTree") -> "ObjectKey | None":
    """The slice that a Workload is to replace; None for one that says none."""
    text = meta.annotations_of(workload).get(names.WORKLOAD_SLICE_REPLACEMENT_FOR_ANNOTATION)
    if text is None:
        return None
    namespace, _, name = text.rpartition("/")
    return namespace, name


def replaced_workload_slice(info: "Info", snapshot: "Snapshot") -> "Info | None":
    """The slice with quota that a Workload is to replace: one of its ClusterQueue and namespace."""
    key = replacement_for_key(info.obj)
    cq = snapshot.cluster_queue(info.cluster_queue)
    if key is None or cq is None or key[0] != meta.namespace_of(info.obj):
        return None
    return cq.workloads.get(key)


def find_replaced_slice_target(workload: "ReadOnlyTree", targets: list[Target]) -> tuple[list[Target], Target | None]:
    """The victims, and apart from them the slice that a Workload replaces."""
    key = replacement_for_key(workload)
    replaced = next((target for target in targets if target.workload_info.key == key), None) if key is not None else None
    if replaced is None:
        return targets, None
    return [target for target in targets if target is not replaced], replaced
