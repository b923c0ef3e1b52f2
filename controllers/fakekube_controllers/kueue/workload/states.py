"""What the conditions of a Workload and a few fields of its spec say.

Upstream: functions of these names in pkg/workload/workload.go, evict/evict.go, finish/finish.go.
"""

from typing import Literal

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology import assignments
from fakekube_controllers.kueue.workload import reasons

Status = Literal["pending", "quotaReserved", "admitted", "finished"]
PENDING: Status = "pending"
QUOTA_RESERVED: Status = "quotaReserved"
ADMITTED: Status = "admitted"
FINISHED: Status = "finished"


NO_DEVICES = "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled"
NO_CLAIMS = "KueueDRAIntegration feature does not support use of resource claims"


def reference_text(reference: ObjectKey) -> str:
    """``namespace/name``, as messages name a Workload."""
    return f"{reference[0]}/{reference[1]}"


def spec_of(obj: ReadOnlyTree) -> ReadOnlyTree:
    """``spec``; empty for an object without."""
    return obj.get("spec") or meta.EMPTY


def status_of(obj: ReadOnlyTree) -> ReadOnlyTree:
    """``status``; empty for an object without."""
    return obj.get("status") or meta.EMPTY


def with_own_status(workload: ReadOnlyTree) -> Tree:
    """A Workload whose status may be changed; all else it shares with the other."""
    return {**workload, "metadata": dict(workload["metadata"]), "status": orjson.loads(orjson.dumps(status_of(workload)))}


def condition(workload: ReadOnlyTree, type_: str) -> Tree | None:
    """The condition of a type, or None."""
    return meta.find_condition(workload, type_)


def is_true(workload: ReadOnlyTree, type_: str) -> bool:
    """Whether the condition of a type is there and true."""
    return meta.is_condition_true(workload, type_)


def status(workload: ReadOnlyTree) -> Status:
    """How far it is: ``pending``, ``quotaReserved``, ``admitted``, ``finished``."""
    if is_finished(workload):
        return FINISHED
    if is_admitted(workload):
        return ADMITTED
    return QUOTA_RESERVED if has_quota_reservation(workload) else PENDING


def admission(workload: ReadOnlyTree) -> ReadOnlyTree | None:
    """``status.admission``, or None."""
    return status_of(workload).get("admission")


def is_finished(workload: ReadOnlyTree) -> bool:
    """Whether it has ended."""
    return meta.is_condition_true(workload, reasons.FINISHED)


def is_admitted(workload: ReadOnlyTree) -> bool:
    """Whether its job may run."""
    return meta.is_condition_true(workload, reasons.ADMITTED)


def has_quota_reservation(workload: ReadOnlyTree) -> bool:
    """Whether quota is reserved for it."""
    return meta.is_condition_true(workload, reasons.QUOTA_RESERVED)


def has_active_quota_reservation(workload: ReadOnlyTree) -> bool:
    """Whether it counts for the usage of its ClusterQueue."""
    return has_quota_reservation(workload) and not is_finished(workload) and is_active(workload)


def is_active(workload: ReadOnlyTree) -> bool:
    """Whether nobody deactivated it."""
    return spec_of(workload).get("active") is not False


def is_evicted(workload: ReadOnlyTree) -> bool:
    """Whether it is to stop."""
    return meta.is_condition_true(workload, reasons.EVICTED)


def is_evicted_due_to_deactivation_by_kueue(workload: ReadOnlyTree) -> bool:
    """Whether it stops because Kueue deactivated it."""
    found = condition(workload, reasons.EVICTED)
    return found is not None and found["status"] == "True" and found["reason"].startswith(
        reasons.reason_with_cause(reasons.DEACTIVATED, ""))


def is_on_hold(workload: ReadOnlyTree) -> bool:
    """Whether its job gave its quota back, and does not want it now."""
    found = condition(workload, reasons.QUOTA_RESERVED)
    return found is not None and found["status"] == "False" and found.get("reason") == reasons.ON_HOLD


def admission_gates(workload: ReadOnlyTree, features: Features) -> str:
    """What must be gone before it is admitted, as the annotation has it."""
    if not features.AdmissionGatedBy:
        return ""
    return meta.annotations_of(workload).get(names.ADMISSION_GATED_BY_ANNOTATION, "")


def is_admissible(workload: ReadOnlyTree, features: Features) -> bool:
    """Whether it may be queued."""
    return (
        not admission_gates(workload, features) and not is_finished(workload) and is_active(workload)
        and not has_quota_reservation(workload) and not is_on_hold(workload)
        and not is_true(workload, reasons.WAITING_FOR_REPLACEMENT_PODS)
        and why_devices_are_rejected(workload, features) is None)


def why_devices_are_rejected(workload: ReadOnlyTree, features: Features) -> str | None:
    """What is said of a Workload with claims for devices, if anything."""
    claims = [
        claim for podset in spec_of(workload).get("podSets") or ()
        for claim in ((podset.get("template") or meta.EMPTY).get("spec") or meta.EMPTY).get("resourceClaims") or ()]
    if not claims:
        return None
    if not features.KueueDRAIntegration:
        return NO_DEVICES if features.KueueDRARejectWorkloadsWhenDRADisabled else None
    return NO_CLAIMS if any(claim.get("resourceClaimName") for claim in claims) else None


def priority_class_name(workload: ReadOnlyTree) -> str:
    """The name of its priority class of either kind, or nothing."""
    return str((spec_of(workload).get("priorityClassRef") or meta.EMPTY).get("name", ""))


def is_workload_priority_class(workload: ReadOnlyTree) -> bool:
    """Whether its priority is that of a WorkloadPriorityClass."""
    ref = spec_of(workload).get("priorityClassRef") or meta.EMPTY
    return ref.get("kind") == "WorkloadPriorityClass" and ref.get("group") == names.GROUP


def is_pod_priority_class(workload: ReadOnlyTree) -> bool:
    """Whether its priority is that of a PriorityClass."""
    ref = spec_of(workload).get("priorityClassRef") or meta.EMPTY
    return ref.get("kind") == "PriorityClass" and ref.get("group") == "scheduling.k8s.io"


def has_no_priority(workload: ReadOnlyTree) -> bool:
    """Whether it names no priority class."""
    return not spec_of(workload).get("priorityClassRef")


def can_be_partially_admitted(workload: ReadOnlyTree) -> bool:
    """Whether fewer of its pods would do."""
    return any(
        podset.get("minCount") is not None and podset.get("count", 1) > podset["minCount"]
        for podset in spec_of(workload).get("podSets") or ())


def cluster_name(workload: ReadOnlyTree) -> str:
    """The worker cluster that runs it, or nothing."""
    return status_of(workload).get("clusterName") or ""


def is_elastic_workload(workload: ReadOnlyTree, features: Features) -> bool:
    """Whether its job may change its size while it runs."""
    return (
        features.ElasticJobsViaWorkloadSlices
        and meta.annotations_of(workload).get(names.ELASTIC_JOB_ANNOTATION) == "true")


def owned_by_single_pod(workload: ReadOnlyTree) -> bool:
    """Whether it is that of one pod, and ends with it."""
    owners = meta.owners_of(workload)
    if len(owners) != 1 or meta.annotations_of(workload).get(names.IS_GROUP_WORKLOAD_ANNOTATION) == "true":
        return False
    return owners[0].get("kind") == "Pod" and owners[0].get("apiVersion") == "v1"


def unhealthy_node_names(workload: ReadOnlyTree) -> list[str]:
    """Nodes of its topology assignment that have failed."""
    return [node["name"] for node in status_of(workload).get("unhealthyNodes") or ()]


def has_topology_assignments_pending(workload: ReadOnlyTree) -> bool:
    """Whether nodes for its pods are to be found in a second pass."""
    return any(
        not podset.get("topologyAssignment") and podset.get("delayedTopologyRequest") == "Pending"
        for podset in (admission(workload) or meta.EMPTY).get("podSetAssignments") or ())


def has_topology_assignment_with_unhealthy_node(workload: ReadOnlyTree) -> bool:
    """Whether pods of an admitted Workload are assigned to a node that has failed."""
    unhealthy = unhealthy_node_names(workload)
    if not unhealthy or not is_admitted(workload):
        return False
    return any(
        name in unhealthy for podset in (admission(workload) or meta.EMPTY).get("podSetAssignments") or ()
        for name in assignments.lowest_level_values(podset.get("topologyAssignment")))


def needs_second_pass(workload: ReadOnlyTree) -> bool:
    """Whether the scheduler is to look at it again although it has quota."""
    if is_finished(workload) or is_evicted(workload) or not has_quota_reservation(workload) or is_on_hold(workload):
        return False
    checks = status_of(workload).get("admissionChecks") or ()
    waits_for_nodes = (
        bool(checks) and all(check.get("state") == reasons.CHECK_READY for check in checks)
        and has_topology_assignments_pending(workload) and not is_admitted(workload))
    return waits_for_nodes or has_topology_assignment_with_unhealthy_node(workload)


def has_closed_preemption_gate(workload: ReadOnlyTree) -> bool:
    """Whether it may not preempt yet. A gate without a state is closed."""
    gates = spec_of(workload).get("preemptionGates")
    if not gates:
        return False
    positions = {gate["name"]: gate.get("position") for gate in status_of(workload).get("preemptionGates") or ()}
    return any(positions.get(gate["name"], "Closed") == "Closed" for gate in gates)


def unadmitted_workload_reason_with_fallback(reason: str, fallback: str, features: Features) -> str:
    """The precise reason, if those are wanted, or the one of old."""
    return reason if features.UnadmittedWorkloadsObservability else fallback
