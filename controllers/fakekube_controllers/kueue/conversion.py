"""What an object of v1beta1 is in v1beta2, and the other way.

An object that was written in the older version does not read back as it was: the older version
knows the newer form of checks and of fungibility too, and that is what it is given. Upstream:
apis/kueue/v1beta1/*_conversion.go. Other kinds look the same in both versions.
"""

from collections.abc import Callable, Mapping
from functools import partial

from fakekube.apimachinery.types import Tree
from fakekube.runtime.addon import Conversion
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import GROUP, VERSION

CLASSES = {
    "kueue.x-k8s.io/workloadpriorityclass": {"group": GROUP, "kind": "WorkloadPriorityClass"},
    "scheduling.k8s.io/priorityclass": {"group": "scheduling.k8s.io", "kind": "PriorityClass"},
}
"""What ``priorityClassSource`` is in a ``priorityClassRef``."""


def conversions(features: Features) -> Mapping[str, Conversion]:
    """The functions by the definitions that have a conversion webhook."""
    workloads = partial(_workload_newer, features=features)
    return {
        f"clusterqueues.{GROUP}": partial(_converted, _cluster_queue_newer, _cluster_queue_older),
        f"cohorts.{GROUP}": partial(_converted, _same, _same),
        f"localqueues.{GROUP}": partial(_converted, _local_queue_newer, _local_queue_older),
        f"multikueueclusters.{GROUP}": partial(_converted, _multikueue_cluster_newer, _multikueue_cluster_older),
        f"workloads.{GROUP}": partial(_converted, workloads, _workload_older),
    }


def _converted(newer: Callable[[Tree], None], older: Callable[[Tree], None], obj: Tree, api_version: str) -> Tree:
    if obj["apiVersion"] != api_version:
        (newer if api_version == f"{GROUP}/{VERSION}" else older)(obj)
        obj["apiVersion"] = api_version
    return obj


def _same(obj: Tree) -> None:
    """Nothing changes but the version."""


def _rename(tree: Tree, old: str, new: str) -> None:
    if old in tree:
        tree[new] = tree.pop(old)


def _cluster_queue_newer(queue: Tree) -> None:
    spec = queue.get("spec") or {}
    _rename(spec, "cohort", "cohortName")
    if checks := spec.pop("admissionChecks", None):
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": name} for name in checks]}
    fungibility = spec.get("flavorFungibility") or {}
    for field, old in (("whenCanBorrow", "Borrow"), ("whenCanPreempt", "Preempt")):
        if fungibility.get(field) == old:
            fungibility[field] = "MayStopSearch"
    (queue.get("status") or {}).pop("pendingWorkloadsStatus", None)


def _cluster_queue_older(queue: Tree) -> None:
    spec = queue.get("spec") or {}
    _rename(spec, "cohortName", "cohort")
    spec.pop("concurrentAdmissionPolicy", None)


def _local_queue_newer(queue: Tree) -> None:
    status = queue.get("status") or {}
    status.pop("flavors", None)
    _rename(status, "flavorUsage", "flavorsUsage")


def _local_queue_older(queue: Tree) -> None:
    _rename(queue.get("status") or {}, "flavorsUsage", "flavorUsage")


def _multikueue_cluster_newer(cluster: Tree) -> None:
    spec, source = cluster.get("spec") or {}, {}
    config, profile = spec.pop("kubeConfig", None) or {}, spec.pop("clusterProfileRef", None)
    if config.get("location"):
        source["kubeConfig"] = config
    if profile is not None:
        source["clusterProfileRef"] = profile
    spec["clusterSource"] = source


def _multikueue_cluster_older(cluster: Tree) -> None:
    spec = cluster.get("spec") or {}
    source = spec.pop("clusterSource", None) or {}
    spec["kubeConfig"] = source.get("kubeConfig") or {"location": "", "locationType": ""}
    if source.get("clusterProfileRef") is not None:
        spec["clusterProfileRef"] = source["clusterProfileRef"]


def _workload_newer(workload: Tree, *, features: Features) -> None:
    spec, status = workload.get("spec") or {}, workload.get("status") or {}
    name, kind = spec.pop("priorityClassName", ""), CLASSES.get(spec.pop("priorityClassSource", ""))
    if kind is not None:
        spec["priorityClassRef"] = {**kind, "name": name}
    _rename(status, "accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds")
    for assignment in _topology_assignments(status):
        from fakekube_controllers.kueue.topology import assignments, encoding

        assignment["topologyAssignment"] = encoding.v1beta2_from(
            assignments.of_v1beta1(assignment["topologyAssignment"]), features)


def _workload_older(workload: Tree) -> None:
    spec, status = workload.get("spec") or {}, workload.get("status") or {}
    spec.pop("preemptionGates", None)
    status.pop("preemptionGates", None)
    given = spec.pop("priorityClassRef", None) or {}
    for source, kind in CLASSES.items():
        if kind == {"group": given.get("group"), "kind": given.get("kind")}:
            spec["priorityClassSource"], spec["priorityClassName"] = source, given.get("name", "")
    for podset in spec.get("podSets") or ():
        (podset.get("topologyRequest") or {}).pop("podsetSliceRequiredTopologyConstraints", None)
    _rename(status, "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds")
    for assignment in _topology_assignments(status):
        from fakekube_controllers.kueue.topology import assignments

        internal = assignments.internal_from(assignment["topologyAssignment"])
        assert internal is not None, "there is an assignment"
        assignment["topologyAssignment"] = assignments.v1beta1_from(internal)


def _topology_assignments(status: Tree) -> list[Tree]:
    """The assignments of podsets that have places."""
    found = (status.get("admission") or {}).get("podSetAssignments") or ()
    return [each for each in found if each.get("topologyAssignment") is not None]
