"""Whether a node has failed for a Workload that has pods assigned to it.

It has when it is not ready, or has a taint that the pods do not tolerate for good, and no pod of
the Workload goes on there. Upstream: getWorkloadStatus and what it calls in
pkg/controller/tas/node_controller.go.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fakekube.apimachinery import conditions, meta
from fakekube.apimachinery.placement import tolerates
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue import podset as podsets
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.podset import FindFlavor
from fakekube_controllers.kueue.topology import assignments
from fakekube_controllers.kueue.topology.nodes import SCHEDULING_EFFECTS
from fakekube_controllers.kueue.workload import states


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a Workload must leave a node, and its pods that will never be there."""

    is_unhealthy: bool = False
    pods_to_terminate: Sequence[ReadOnlyTree] = ()


def health_of(
    workload: ReadOnlyTree, node: ReadOnlyTree, own_pods: Iterable[ReadOnlyTree], selecting: Sequence[ReadOnlyTree],
    flavor_of: FindFlavor, features: Features,
) -> Health:
    """How a Workload is on a node. ``own_pods`` are all of its pods, ``selecting`` those that its
    topology has put on the node. Raises podset.FlavorNotFound, podset.PermanentError.
    """
    name = meta.name_of(node)
    stuck = [pod for pod in selecting if _is_stuck(pod)]
    if not assignments.has_node(states.admission(workload), name):
        return Health(pods_to_terminate=stuck)  # they came late
    goes_on = any(
        pod["spec"].get("nodeName") == name and not meta.is_deleting(pod) and not pods.is_terminated(pod) for pod in own_pods)
    waits = features.TASReplaceNodeOnPodTermination
    if not conditions.is_true((node.get("status") or meta.EMPTY).get("conditions"), "Ready"):
        return Health(not goes_on, stuck) if waits else Health(is_unhealthy=True)
    taints = [taint for taint in (node.get("spec") or meta.EMPTY).get("taints") or () if taint["effect"] in SCHEDULING_EFFECTS]
    if not features.TASReplaceNodeOnNodeTaints or not taints:
        return Health()
    tolerations = [*_tolerations_on(workload, name, flavor_of, features)]
    if any(not _tolerated(taint, each) for taint in taints for each in tolerations):
        return Health(not goes_on, stuck) if waits else Health(is_unhealthy=True)
    for_good = [[each for each in listed if each.get("tolerationSeconds") is None] for listed in tolerations]
    if any(not _tolerated(taint, each) for taint in taints for each in for_good):
        return Health(not goes_on, stuck)
    return Health()


def _is_stuck(pod: ReadOnlyTree) -> bool:
    """Whether a pod was let go and nobody has put it on a node."""
    phase = (pod.get("status") or meta.EMPTY).get("phase")
    return not pod["spec"].get("nodeName") and phase == "Pending" and not pods.has_gate(pod, names.TOPOLOGY_GATE)


def _tolerated(taint: Tree, tolerations: Sequence[Tree]) -> bool:
    return any(tolerates(each, taint) for each in tolerations)


def _tolerations_on(
    workload: ReadOnlyTree, node: str, flavor_of: FindFlavor, features: Features,
) -> Iterator[Sequence[Tree]]:
    """What each podset that has pods on a node tolerates, with what flavors and checks add."""
    admission = states.admission(workload) or meta.EMPTY
    by_name = {each["name"]: each for each in workload["spec"]["podSets"]}
    for assigned in admission["podSetAssignments"]:
        podset = by_name.get(assigned["name"])
        if podset is None or node not in assignments.nodes_of_podset(assigned):
            continue
        info = podsets.from_assignment(assigned, podset, flavor_of, features)
        for check in states.status_of(workload).get("admissionChecks") or ():
            update = next((each for each in check.get("podSetUpdates") or () if each["name"] == assigned["name"]), None)
            if update is not None:
                info.merge(podsets.from_update(update))
        merged = podsets.from_pod_set(podset)
        merged.merge(info)
        yield merged.tolerations
