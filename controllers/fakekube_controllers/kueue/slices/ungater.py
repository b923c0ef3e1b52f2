"""Lets as many pods of an elastic job run as its admitted slice has.

A job that grows makes its pods before the slice that they belong to is admitted; a scheduling gate
holds them. Upstream: pkg/controller/elasticjobs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import DEPLOYMENTS, PODS
from fakekube.runtime import builder
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import ExpectedError, Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names, patches, pods, podset
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import podsets_info
from fakekube_controllers.kueue.jobframework.framework import workloads_of
from fakekube_controllers.kueue.metrics import KueueMetrics
from fakekube_controllers.kueue.podset import PodSetInfo
from fakekube_controllers.kueue.slices import chains
from fakekube_controllers.kueue.workload import reasons, states

BY_SLICE = "workload-slice-name"
CATCH_UP = timedelta(milliseconds=5)
PROVISIONING_ANNOTATIONS = (
    "autoscaling.x-k8s.io/consume-provisioning-request", "autoscaling.x-k8s.io/provisioning-class-name")


class ConflictingUpdates(ExpectedError):
    """Two admission checks ask for other values of one key."""


class Update(NamedTuple):
    """What admission checks ask of the pods of a podset, for provisioned nodes."""

    annotations: dict[str, str]
    node_selector: dict[str, str]


def controllers(configuration: Configuration, metrics: KueueMetrics | None = None) -> Iterator[Declaration]:
    """The controller, where jobs may change their size; ``metrics`` where somebody counts."""
    features = configuration.features
    if features.ElasticJobsViaWorkloadSlices:
        starting = builder.controller("elastic_job_ungater").starts_with(
            (names.WORKLOADS, lambda workload: states.is_elastic_workload(workload, features)))
        yield starting.complete(partial(ElasticJobUngater, features, metrics))


class ElasticJobUngater:
    """Reconciles the admitted slice of a chain: keys are Workloads."""

    def __init__(self, features: Features, metrics: KueueMetrics | None, ctx: Context) -> None:
        self.features, self.metrics, self.ctx, self.client = features, metrics, ctx, ctx.client
        self.workloads, self.pods = ctx.lister(names.WORKLOADS), ctx.lister(PODS)
        self.pods.add_index(BY_SLICE, _slice_of_pod)
        self._knows_chains = features.WorkloadSliceHistory or features.ElasticDeployments
        if self._knows_chains:
            self.workloads.add_index(BY_SLICE, _slice_of_pod)
        self.flavors = ctx.lister(names.RESOURCE_FLAVORS) if features.ElasticDeployments else None
        self.consistency = Consistency()

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Hear of slices and of pods; what pods do within a second makes one reconcile."""
        def workload_changed(workload: Tree) -> None:
            if self._should_ungate(workload):
                active = self._active_slice(meta.controller_of(workload), meta.namespace_of(workload))
                if active is not None:
                    queue.add(meta.key_of(active))

        def pod_changed(pod: Tree) -> None:
            for key in _slice_of_pod(pod):
                namespace, _, name = key.partition("/")
                origin = self.workloads.get(namespace, name)
                if origin is None and self._knows_chains:
                    origin = next(iter(self.workloads.by_index(BY_SLICE, key)), None)
                owner = None if origin is None else meta.controller_of(origin)
                active = self._active_slice(owner or meta.controller_of(pod), namespace)
                if active is not None:
                    queue.add_after(meta.key_of(active), names.UPDATES_BATCH_PERIOD_SECONDS)

        self.ctx.add_handler(names.WORKLOADS, workload_changed, lambda _, new: workload_changed(new))
        self.ctx.add_handler(PODS, pod_changed, lambda _, new: pod_changed(new), pod_changed)

    def _should_ungate(self, workload: ReadOnlyTree) -> bool:
        return (
            states.is_elastic_workload(workload, self.features) and not states.is_finished(workload)
            and states.is_admitted(workload))

    def _active_slice(self, owner: ReadOnlyTree | None, namespace: str) -> ReadOnlyTree | None:
        """The slice of a job whose size counts: admitted, with all its checks ready."""
        if owner is None:
            return None
        group, version = split_api_version(owner["apiVersion"])
        gvk = GroupVersionKind(group, version, owner["kind"])
        active = chains.latest_active(workloads_of(self.workloads, gvk, ObjectKey(namespace, owner["name"])))
        return active if active is not None and states.is_admitted(active) else None

    async def reconcile(self, request: Request) -> Result | None:
        """Take the gate off so many pods. Raises APIError, ConflictingUpdates."""
        active: ReadOnlyTree | None = self.workloads.get(*request)
        if active is None:
            return None
        if not self._should_ungate(active) or states.is_evicted(active):
            active = self._active_slice(meta.controller_of(active), request.namespace)
            if active is None:
                return None
        chain = f"{request.namespace}/{chains.slice_name(active)}"
        if not self.consistency.satisfied(chain):
            return Result(requeue_after=CATCH_UP)
        granted, infos = chains.granted_counts(active), self._infos(active)
        for pod, update in pods_to_ungate(self.pods.by_index(BY_SLICE, chain), granted, partial(update_for, active)):
            info = infos.get(meta.labels_of(pod).get(names.PODSET_LABEL, ""))
            written = await patches.patch(self.client, PODS, pod, partial(self._prepare, update, info))
            if written is not None:
                self.consistency.wrote(chain, self.ctx.informer(PODS), written)
                self._count_removal(active)
        return None

    def _infos(self, active: ReadOnlyTree) -> dict[str, PodSetInfo]:
        """What the pods of a Deployment get: their template must stay as it is, other jobs have it
        in theirs. Raises PermanentError, FlavorNotFound.
        """
        owner, flavors = meta.controller_of(active), self.flavors
        if flavors is None or owner is None or owner["kind"] != DEPLOYMENTS.kind:
            return {}
        infos = podsets_info.from_status(active, lambda name: flavors.get("", name), self.features)
        for info in infos:
            info.scheduling_gates.clear()  # a pod gets no gate once it is there
        return {info.name: info for info in infos}

    def _prepare(self, update: Update, info: PodSetInfo | None, pod: Tree) -> bool:
        if info is not None:
            podset.merge(pod, info, self.features)
        return _ungate(update, pod)

    def _count_removal(self, workload: ReadOnlyTree) -> None:
        """Say how long after the admission a gate was removed."""
        admitted = states.condition(workload, reasons.ADMITTED)
        if self.metrics is not None and admitted is not None:
            seconds = self.ctx.clock.time() - times.parse_time(admitted["lastTransitionTime"])
            queue = (states.admission(workload) or meta.EMPTY).get("clusterQueue", "")
            self.metrics.observe("pod_scheduling_gate_removal_seconds", seconds, names.ELASTIC_JOB_GATE, queue, "false")


def _slice_of_pod(pod: Tree) -> Iterable[str]:
    """The first slice of the chain of a pod, or of a slice, as ``namespace/name``; the Workload
    that it names if it names no chain.
    """
    annotations = meta.annotations_of(pod)
    name = annotations.get(names.WORKLOAD_SLICE_NAME_ANNOTATION) or annotations.get(names.WORKLOAD_ANNOTATION)
    return (f"{meta.namespace_of(pod)}/{name}",) if name else ()


def update_for(workload: ReadOnlyTree, podset: str) -> Update:
    """What the admission checks of a Workload ask of the pods of a podset. ConflictingUpdates."""
    update = Update({}, {})
    for check in states.status_of(workload).get("admissionChecks") or ():
        for wanted in check.get("podSetUpdates") or ():
            if wanted["name"] != podset:
                continue
            annotations = wanted.get("annotations") or meta.EMPTY
            _add(update.annotations, {key: annotations[key] for key in PROVISIONING_ANNOTATIONS if key in annotations})
            _add(update.node_selector, wanted.get("nodeSelector") or meta.EMPTY)
    return update


def _add(values: dict[str, str], more: Mapping[str, str]) -> None:
    for key, value in more.items():
        if values.setdefault(key, value) != value:
            raise ConflictingUpdates(f"conflicting {key!r} updates for one podset")


def pods_to_ungate(
    found: Iterable[Tree], granted: Mapping[str, int], update_of: Callable[[str], Update],
) -> Iterator[tuple[Tree, Update]]:
    """The pods of a chain that may run besides those that do, by podset the lowest names first.

    Pods that have ended do not count; those whose node selector or annotations say otherwise
    already than their podset is to have wait.
    """
    gated: dict[str, list[Tree]] = {}
    running: dict[str, int] = {}
    updates: dict[str, Update] = {}
    for pod in found:
        if pods.is_terminated(pod):
            continue
        podset = meta.labels_of(pod).get(names.PODSET_LABEL, "")
        if not pods.has_gate(pod, names.ELASTIC_JOB_GATE):
            running[podset] = running.get(podset, 0) + 1
            continue
        if podset not in updates:
            updates[podset] = update_of(podset)
        if _is_compatible(pod, updates[podset]):
            gated.setdefault(podset, []).append(pod)
    for podset, candidates in gated.items():
        room = max(granted.get(podset, 0) - running.get(podset, 0), 0)
        for pod in sorted(candidates, key=meta.name_of)[:room]:
            yield pod, updates[podset]


def _is_compatible(pod: ReadOnlyTree, update: Update) -> bool:
    annotations, selector = meta.annotations_of(pod), pod["spec"].get("nodeSelector") or {}
    return all(
        present.get(key, value) == value
        for present, wanted in ((annotations, update.annotations), (selector, update.node_selector))
        for key, value in wanted.items())


def _ungate(update: Update, pod: Tree) -> bool:
    annotations, selector = meta.annotations_of(pod), pod["spec"].get("nodeSelector") or {}
    if not update.annotations.items() <= annotations.items():
        pod["metadata"]["annotations"] = {**annotations, **update.annotations}
    if not update.node_selector.items() <= selector.items():
        pod["spec"]["nodeSelector"] = {**selector, **update.node_selector}
    return pods.ungate(pod, names.ELASTIC_JOB_GATE)
