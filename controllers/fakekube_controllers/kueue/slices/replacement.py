"""What the scheduler asks about slices: which one a Workload replaces, and what becomes of that.

Upstream: ReplacedWorkloadSlice and FindReplacedSliceTarget in pkg/workloadslicing,
replaceWorkloadSlice in pkg/scheduler/scheduler.go.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.client import Client
from fakekube.client.recorder import Recorder
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.metrics import KueueMetrics
from fakekube_controllers.kueue.slices.chains import replacement_for_key
from fakekube_controllers.kueue.workload import finish, reasons, states
from fakekube_controllers.kueue.workload.info import Info


class HasWorkloadInfo(Protocol):
    """A target of preemption."""

    @property
    def workload_info(self) -> Info:
        """The Workload."""


Target = TypeVar("Target", bound=HasWorkloadInfo)


def replaced_workload_slice(info: Info, workloads: Mapping[ObjectKey, Info], features: Features) -> Info | None:
    """The Workload that a slice replaces, which is in the same namespace and has quota in the same
    ClusterQueue, whose ``workloads`` these are; None where there is no such one.
    """
    if not features.ElasticJobsViaWorkloadSlices:
        return None
    key = _replaced_key(info.obj)
    return None if key is None or key.namespace != meta.namespace_of(info.obj) else workloads.get(key)


def find_replaced_slice_target(
    preemptor: ReadOnlyTree, targets: Iterable[Target], features: Features,
) -> tuple[list[Target], Target | None]:
    """The targets of a slice without the one that it replaces, and that one."""
    key = _replaced_key(preemptor) if features.ElasticJobsViaWorkloadSlices else None
    others, replaced = list[Target](), None
    for target in targets:
        if replaced is None and key is not None and meta.key_of(target.workload_info.obj) == key:
            replaced = target
        else:
            others.append(target)
    return others, replaced


def _replaced_key(workload: ReadOnlyTree) -> ObjectKey | None:
    text = replacement_for_key(workload)
    if text is None:
        return None
    namespace, _, name = text.partition("/")
    return ObjectKey(namespace, name)


async def replace_workload_slice(
    client: Client, recorder: Recorder, metrics: KueueMetrics, cluster_queue: str, new: ReadOnlyTree, old: ReadOnlyTree, *,
    now: float, features: Features,
) -> None:
    """Finish a slice whose replacement was admitted, say so and count it. ``now``: Unix seconds.

    APIError.
    """
    if states.is_finished(old):
        return
    job_uid = meta.labels_of(new).get(names.JOB_UID_LABEL, "")
    verb = "Removed" if features.KEPTexts else "Replaced"
    message = (
        f"{verb} to accommodate a workload (UID: {meta.uid_of(new)}, JobUID: {job_uid}) due to workload slice aggregation")
    await finish.finish(client, old, reasons.SLICE_REPLACED, message, now=now, features=features)
    recorder.report(old, "Normal", reasons.SLICE_REPLACED, "Replaced", message)
    metrics.count("replaced_workload_slices_total", cluster_queue)
