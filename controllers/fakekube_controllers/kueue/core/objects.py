"""What Kueue looks up in its caches of the API: Workloads by queue, queues by queue, and so on.

Upstream: pkg/controller/core/indexer, and AdjustResources of pkg/workload, which is applied here to
whatever queues and cache are given.
"""

from collections.abc import Iterable, Mapping, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import LIMIT_RANGES, NAMESPACES, RUNTIME_CLASSES, Resource
from fakekube.runtime.context import Context
from fakekube_controllers.kueue.cache.snapshot import ClusterQueueSnapshot
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from fakekube_controllers.kueue.workload import states
from fakekube_controllers.kueue.workload.admissibility import adjust_resources, validate_admissibility
from fakekube_controllers.kueue.workload.info import Info

WORKLOAD_QUEUE, WORKLOAD_CLUSTER_QUEUE, WORKLOAD_PRIORITY_CLASS = "spec.queueName", "status.clusterQueue", "spec.priorityClass"
QUEUE_CLUSTER_QUEUE = "spec.clusterQueue"


def _workload_queue(workload: Tree) -> Iterable[str]:
    return (f"{meta.namespace_of(workload)}/{states.spec_of(workload).get('queueName', '')}",)


def _workload_cluster_queue(workload: Tree) -> Iterable[str]:
    admission = states.admission(workload)
    return (admission["clusterQueue"],) if admission is not None else ()


def _workload_priority_class(workload: Tree) -> Iterable[str]:
    return (states.priority_class_name(workload),) if states.is_workload_priority_class(workload) else ()


def _queue_cluster_queue(local_queue: Tree) -> Iterable[str]:
    return (states.spec_of(local_queue).get("clusterQueue", ""),)


async def write_status(client: Client, resource: Resource, obj: ReadOnlyTree, status: Tree) -> None:
    """Write the status of an object where it is another one, or an empty one where there is none.

    One that is gone has none. APIError.
    """
    if status != obj.get("status"):
        try:
            await client.update_status(resource, {**obj, "status": status})
        except APIError as error:
            if error.code != 404:
                raise


class Objects:
    """Reads shared caches: what it gives is read-only."""

    def __init__(self, ctx: Context) -> None:
        self.workloads, self.local_queues = ctx.lister(WORKLOADS), ctx.lister(LOCAL_QUEUES)
        self.cluster_queues, self.namespaces = ctx.lister(CLUSTER_QUEUES), ctx.lister(NAMESPACES)
        self._limit_ranges, self._runtime_classes = ctx.lister(LIMIT_RANGES), ctx.lister(RUNTIME_CLASSES)
        self.workloads.add_index(WORKLOAD_QUEUE, _workload_queue)
        self.workloads.add_index(WORKLOAD_CLUSTER_QUEUE, _workload_cluster_queue)
        self.workloads.add_index(WORKLOAD_PRIORITY_CLASS, _workload_priority_class)
        self.local_queues.add_index(QUEUE_CLUSTER_QUEUE, _queue_cluster_queue)

    def adjusted(self, workload: ReadOnlyTree) -> ReadOnlyTree:
        """A Workload with the requests that its pods would have."""
        limit_ranges = self._limit_ranges.list(meta.namespace_of(workload))
        return adjust_resources(_completed(workload), limit_ranges, self._runtime_class)

    def _runtime_class(self, name: str) -> ReadOnlyTree | None:
        return self._runtime_classes.get("", name)

    def workload(self, key: ObjectKey) -> ReadOnlyTree | None:
        """A Workload, adjusted; None if it is not there."""
        found = self.workloads.get(*key)
        return self.adjusted(found) if found is not None else None

    def workloads_of(self, local_queue: ObjectKey) -> Sequence[ReadOnlyTree]:
        """The Workloads of a LocalQueue, adjusted."""
        return [self.adjusted(workload) for workload in self.raw_workloads_of(local_queue)]

    def raw_workloads_of(self, local_queue: ObjectKey) -> Sequence[ReadOnlyTree]:
        """The Workloads of a LocalQueue, as they are."""
        return self.workloads.by_index(WORKLOAD_QUEUE, "/".join(local_queue))

    def workloads_admitted_by(self, cluster_queue: str) -> Sequence[ReadOnlyTree]:
        """The Workloads with quota of a ClusterQueue, adjusted."""
        return [self.adjusted(workload) for workload in self.workloads.by_index(WORKLOAD_CLUSTER_QUEUE, cluster_queue)]

    def workloads_of_priority_class(self, name: str) -> Sequence[ReadOnlyTree]:
        """The Workloads of a WorkloadPriorityClass."""
        return self.workloads.by_index(WORKLOAD_PRIORITY_CLASS, name)

    def local_queue_of(self, workload: ReadOnlyTree) -> ReadOnlyTree | None:
        """The LocalQueue that a Workload names."""
        return self.local_queues.get(meta.namespace_of(workload), states.spec_of(workload).get("queueName", ""))

    def local_queues_of(self, cluster_queue: str) -> Sequence[ReadOnlyTree]:
        """The LocalQueues of a ClusterQueue."""
        return self.local_queues.by_index(QUEUE_CLUSTER_QUEUE, cluster_queue)

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """The labels of a namespace; None if it is not there."""
        found = self.namespaces.get("", namespace)
        return meta.labels_of(found) if found is not None else None

    def validate(self, info: Info, cq: ClusterQueueSnapshot) -> str:
        """Why a ClusterQueue may not admit a Workload; empty when it may."""
        namespace = meta.namespace_of(info.obj)
        return validate_admissibility(
            info, self.namespaces.get("", namespace), cq.namespace_selector, self._limit_ranges.list(namespace))

    def limit_ranges_of(self, namespace: str) -> Sequence[ReadOnlyTree]:
        """The LimitRanges of a namespace."""
        return self._limit_ranges.list(namespace)


def _completed(workload: ReadOnlyTree) -> ReadOnlyTree:
    """A Workload in which every podset says something about its pods, as upstream's structs do."""
    podsets = states.spec_of(workload).get("podSets") or ()
    if podsets and all((podset.get("template") or meta.EMPTY).get("spec") for podset in podsets):
        return workload
    completed = [
        {**podset, "template": {**(podset.get("template") or {}), "spec": (podset.get("template") or {}).get("spec") or {}}}
        for podset in podsets]
    return {**workload, "spec": {**states.spec_of(workload), "podSets": completed}}
