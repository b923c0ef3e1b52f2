"""What the podsets of a job get when it is admitted.

Upstream: getPodSetsInfoFromStatus and GetPodSetsInfoFromWorkload in
pkg/controller/jobframework/reconciler.go.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery import names as words
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names, podset
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.podset import FindFlavor, InvalidPodSetUpdate, PodSetInfo
from fakekube_controllers.kueue.slices import chains
from fakekube_controllers.kueue.workload import states

WORKER_WORKLOAD_POD = "true"


def from_status(workload: ReadOnlyTree, flavor_of: FindFlavor, features: Features) -> list[PodSetInfo]:
    """By its admission and its admission checks. FlavorNotFound, InvalidPodSetUpdate."""
    admission = states.admission(workload) or meta.EMPTY
    pod_sets = states.spec_of(workload).get("podSets") or ()
    infos = []
    for pod_set, assignment in zip(pod_sets, admission.get("podSetAssignments") or (), strict=False):
        info = podset.from_assignment(assignment, pod_set, flavor_of, features)
        _add_identity(info, workload, features)
        if features.AssignQueueLabelsForPods:
            _add_queues(info, workload, admission)
        _add_updates(info, workload)
        infos.append(info)
    return infos


def _add_identity(info: PodSetInfo, workload: ReadOnlyTree, features: Features) -> None:
    if features.TopologyAwareScheduling:
        info.annotations[names.WORKLOAD_ANNOTATION] = meta.name_of(workload)
    if states.is_elastic_workload(workload, features):
        info.annotations[names.WORKLOAD_SLICE_NAME_ANNOTATION] = chains.slice_name(workload)
    info.labels[names.PODSET_LABEL] = info.name
    if names.MULTIKUEUE_ORIGIN_LABEL in meta.labels_of(workload):
        info.labels[names.MULTIKUEUE_WORKER_WORKLOAD_POD_LABEL] = WORKER_WORKLOAD_POD


def _add_queues(info: PodSetInfo, workload: ReadOnlyTree, admission: ReadOnlyTree) -> None:
    info.labels[names.LOCAL_QUEUE_LABEL] = states.spec_of(workload).get("queueName", "")
    cluster_queue = admission.get("clusterQueue", "")
    if not words.dns1123_label(cluster_queue):
        info.labels[names.CLUSTER_QUEUE_LABEL] = cluster_queue


def _add_updates(info: PodSetInfo, workload: ReadOnlyTree) -> None:
    for check in states.status_of(workload).get("admissionChecks") or ():
        update = next((each for each in check.get("podSetUpdates") or () if each["name"] == info.name), None)
        if update is None:
            continue
        try:
            info.merge(podset.from_update(update))
        except InvalidPodSetUpdate as error:
            raise InvalidPodSetUpdate(error.what, error.conflict, check=check["name"]) from error


def from_workload(workload: ReadOnlyTree | None) -> list[PodSetInfo] | None:
    """What the podsets had before; None where there is no Workload."""
    if workload is None:
        return None
    return [podset.from_pod_set(each) for each in states.spec_of(workload).get("podSets") or ()]

