"""What a kubelet may write into a Pod's status.

Upstream: ValidatePodStatusUpdate in pkg/apis/core/validation/validation.go, SetDefaults_PodStatus,
and preserveOldObservedGeneration. Left out: the statuses of resource claims beyond their names,
users of containers.
"""

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.addresses import legacy_ip
from fakekube.apis.core.pod_update import validate_annotation_changes

SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
STATUS_LISTS = (
    ("containerStatuses", "containers"), ("initContainerStatuses", "initContainers"),
    ("ephemeralContainerStatuses", ""),
)
BOUND = "may not be set on pods that are already bound to a node"
NOT_AGAIN = "may not be transitioned to non-terminated state"
ONE_OF_EACH = "may specify no more than one IP for each IP family"
NO_CONTAINER = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
NO_REQUEST = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
    "spec.containers.resources.requests")
NEGATIVE_GENERATION = "must be a non-negative integer"


def default_ips(status: Tree) -> None:
    """PodIP is the first of podIPs, whichever of the two was given."""
    address, addresses = status.get("podIP"), status.get("podIPs")
    if addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")
    elif address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]


def keep_observed_generations(status: Tree, old_status: Tree) -> None:
    """A writer that knows nothing of generations does not undo what another one wrote."""
    if "observedGeneration" in old_status:
        status.setdefault("observedGeneration", old_status["observedGeneration"])
    for condition in status.get("conditions") or ():
        if not condition.get("observedGeneration"):
            break
    else:
        return
    known: dict[str, list[int]] = {}
    for condition in old_status.get("conditions") or ():
        known.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration", 0))
    if not any(generation for generations in known.values() for generation in generations):
        return
    conditions = []
    for condition in status.get("conditions") or ():
        generations = known.get(condition.get("type", ""))
        generation = generations.pop(0) if generations else 0
        if generation and not condition.get("observedGeneration"):
            conditions.append({**condition, "observedGeneration": generation})
        else:
            conditions.append(condition)
    if conditions:
        status["conditions"] = conditions


def validate_status_update(pod: Tree, old: Tree) -> list[FieldError]:
    """A changed status. The spec is the old one's."""
    status, old_status, spec = pod["status"], old["status"], old["spec"]
    found: list[FieldError] = []
    annotations, old_annotations = pod["metadata"].get("annotations", {}), old["metadata"].get("annotations", {})
    if annotations != old_annotations:
        found += validate_annotation_changes(annotations, old_annotations, spec)
    if status.get("conditions"):
        found += _conditions(status["conditions"], "status.conditions")
    found += _nominated_node(status.get("nominatedNodeName", ""), old_status.get("nominatedNodeName", ""), spec)
    generation = status.get("observedGeneration", 0)
    if generation < 0:
        found.append(field_errors.invalid("status.observedGeneration", generation, NEGATIVE_GENERATION))
    found += immutable("status.qosClass", status.get("qosClass", ""), old_status.get("qosClass", ""))
    restarted = [
        error for field, containers in STATUS_LISTS if (before := old_status.get(field)) and status.get(field) is not before
        for error in _transitions(status.get(field) or [], before, spec.get(containers) or [], spec, f"status.{field}")]
    if restarted and not any(_restarts_everything(container) for container in _containers(spec)):
        found += restarted
    if statuses := status.get("resourceClaimStatuses"):
        found += _claims(statuses, spec, "status.resourceClaimStatuses")
    if (extended := status.get("extendedResourceClaimStatus")) is not None:
        found += _extended_claim(extended, spec, "status.extendedResourceClaimStatus")
    return found + _addresses(status, old_status, "podIP") + _addresses(status, old_status, "hostIP")


def _containers(spec: Tree) -> list[Tree]:
    return [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


def _extended_claim(status: Tree, spec: Tree, path: str) -> list[FieldError]:
    """The claim that was made for a pod's extended resources, and which request of it is for which.
    """
    containers = {each.get("name", ""): each for each in [*(spec.get("initContainers") or ()), *spec["containers"]]}
    mappings, fields = status.get("requestMappings") or [], ("containerName", "resourceName", "requestName")
    keys = [tuple(mapping.get(name, "") for name in fields) for mapping in mappings]
    again = field_errors.repetitions(keys)
    found = [] if mappings else [field_errors.required(f"{path}.requestMappings", "at least one request mapping is required")]
    for position, (container, resource, request) in enumerate(keys):
        here = f"{path}.requestMappings[{position}]"
        if container not in containers:
            found.append(field_errors.invalid(f"{here}.containerName", container, NO_CONTAINER))
        elif resource not in (containers[container].get("resources") or {}).get("requests", ()):
            found.append(field_errors.invalid(f"{here}.resourceName", resource, NO_REQUEST))
        found += complaints(f"{path}.requestName", request, names.dns1123_label(request))
        if position in again:
            found += [field_errors.duplicate(f"{here}.{name}", value) for name, value in zip(fields, keys[position], strict=True)]
    claim, where = status.get("resourceClaimName", ""), f"{path}.resourceClaimName"
    return found + (complaints(where, claim, names.dns1123_subdomain(claim)) if claim else [field_errors.required(where)])


def _restarts_everything(container: Tree) -> bool:
    rules = container.get("restartPolicyRules") or ()
    return any(rule.get("action") == "RestartAllContainers" for rule in rules)


def _conditions(conditions: list[Tree], path: str) -> list[FieldError]:
    found: list[FieldError] = []
    for position, condition in enumerate(conditions):
        generation, kind = condition.get("observedGeneration", 0), condition.get("type", "")
        if generation < 0:
            here = f"{path}[{position}].observedGeneration"
            found.append(field_errors.invalid(here, generation, NEGATIVE_GENERATION))
        if kind not in SYSTEM_CONDITIONS and not names.is_qualified_name(kind):
            found += complaints(f"{path}[{position}].Type", kind, names.qualified_name(kind))
    return found


def _nominated_node(new: str, old: str, spec: Tree) -> list[FieldError]:
    if not new or new == old:
        return []
    path = "status.nominatedNodeName"
    found = complaints(path, new, names.dns1123_subdomain(new))
    return [*found, field_errors.forbidden(path, BOUND)] if spec.get("nodeName") else found


def _transitions(
    new: list[Tree], old: list[Tree], containers: list[Tree], spec: Tree, path: str
) -> list[FieldError]:
    """A container that ended for good stays ended."""
    found: list[FieldError] = []
    for position, before in enumerate(old):
        ended = (before.get("state") or {}).get("terminated")
        if ended is None:
            continue
        now = next((status for status in new if status.get("name") == before.get("name")), None)
        if now is None or "terminated" in (now.get("state") or ()):
            continue
        container = next((each for each in containers if each.get("name") == before.get("name")), None)
        if container is None or not _may_restart(container, spec, ended.get("exitCode", 0)):
            found.append(field_errors.forbidden(f"{path}[{position}].state", NOT_AGAIN))
    return found


def _may_restart(container: Tree, spec: Tree, exit_code: int) -> bool:
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        if (exit_code in (codes.get("values") or ())) == (codes.get("operator") == "In"):
            return True
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _claims(statuses: list[Tree], spec: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    known = [claim.get("name") for claim in spec.get("resourceClaims", ())]
    seen: set[str] = set()
    for position, status in enumerate(statuses):
        here, name = f"{path}[{position}]", status.get("name", "")
        if name not in known:
            what = "must match the name of an entry in `spec.resourceClaims`"
            found.append(field_errors.invalid(f"{here}.name", name, what))
        if name in seen:
            found.append(field_errors.duplicate(f"{here}.name", name))
        seen.add(name)
        if claim := status.get("resourceClaimName"):
            found += complaints(f"{here}.resourceClaimName", claim, names.dns1123_subdomain(claim))
    return found


def _addresses(status: Tree, old_status: Tree, field: str) -> list[FieldError]:
    """PodIPs or hostIPs: at most one of each family, the first one equal to the single field."""
    plural = f"{field}s"
    entries = status.get(plural)
    if not entries or entries == old_status.get(plural):
        return []
    address = entries[0].get("ip", "")
    if len(entries) == 1 and address == status.get(field) and not legacy_ip("", address, strict=True):
        return []
    path = f"status.{plural}"
    known = [entry.get("ip", "") for entry in old_status.get(plural) or ()]
    addresses = [entry.get("ip", "") for entry in entries]
    found: list[FieldError] = []
    for position, address in enumerate(addresses):
        found += legacy_ip(f"{path}[{position}]", address, known, strict=True)
    families = [":" in address for address in addresses]
    if len(addresses) > 2 or len(dict.fromkeys(families)) != len(families):
        found.append(field_errors.invalid(path, [{"IP": address} for address in addresses], ONE_OF_EACH))
    first = status.get(field, "")
    if first != addresses[0]:
        found.append(field_errors.invalid(f"{path}[0].ip", addresses[0], f"must be equal to `{field}`"))
    return found
