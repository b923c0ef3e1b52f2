"""What objects cost in quotas: pods, services and claims by their own rules, everything else one
apiece.

Upstream: pkg/quota/v1/evaluator/core, apiserver/pkg/quota/v1/generic. Left out: devices of resource
claims.
"""

from collections.abc import Iterable, Mapping

from fakekube.apimachinery import pod_resources
from fakekube.apimachinery.amounts import Amounts, count, read
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.pods import FINISHED_PHASES
from fakekube.apimachinery.types import Tree

PODS, SERVICES, CLAIMS = (GroupResource("", name) for name in ("pods", "services", "persistentvolumeclaims"))
ALIASES = tuple(
    GroupResource("", name) for name in ("configmaps", "resourcequotas", "replicationcontrollers", "secrets"))
POD_NAMES = (
    "count/pods", "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory",
    "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods",
)
POD_PREFIXES = ("hugepages-", "requests.hugepages-")
MUST_BE_SET = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
STORAGE_CLASS_SUFFIX = ".storageclass.storage.k8s.io/"
CLAIM_NAMES = ("persistentvolumeclaims", "requests.storage")
TERMINATING = {"scopeName": "Terminating", "operator": "Exists"}
UNCOUNTED = (GroupResource("", "events"), GroupResource("events.k8s.io", "events"))


def count_name(resource: GroupResource) -> str:
    """``count/jobs.batch``."""
    return f"count/{resource}"


def matching(resource: GroupResource, names: Iterable[str]) -> list[str]:
    """Those of a quota's resources that objects of that resource count against."""
    if resource in UNCOUNTED:
        return []
    if resource == PODS:
        return [name for name in names if name in POD_NAMES or name.startswith(POD_PREFIXES) or _is_extended(name)]
    own = [count_name(resource)]
    if resource in ALIASES:
        own.append(resource.resource)
    if resource == SERVICES:
        own += ["services", "services.nodeports", "services.loadbalancers"]
    if resource == CLAIMS:
        suffixes = tuple(STORAGE_CLASS_SUFFIX + name for name in CLAIM_NAMES)
        return [name for name in names if name in (*own, *CLAIM_NAMES) or name.endswith(suffixes)]
    return [name for name in names if name in own]


def _is_extended(name: str) -> bool:
    return name.startswith("requests.") and "/" in name and "kubernetes.io/" not in name


def usage(resource: GroupResource, obj: Tree, *, in_flight: bool) -> Amounts:
    """What one object costs.

    ``in_flight``: what a resize of a pod has in flight counts (gate InPlacePodVerticalScaling).
    """
    if resource == PODS:
        return _pod_usage(obj, pod_resources.IN_FLIGHT if in_flight else pod_resources.DEFAULTS)
    result: Amounts = {count_name(resource): count(1)}
    if resource in ALIASES:
        result[resource.resource] = count(1)
    elif resource == SERVICES:
        result.update(_service_usage(obj["spec"]))
    elif resource == CLAIMS:
        result.update(_claim_usage(obj))
    return result


def _pod_usage(pod: Tree, options: pod_resources.Options) -> Amounts:
    result: Amounts = {"count/pods": count(1)}
    if (pod.get("status") or {}).get("phase") in FINISHED_PHASES:
        return result
    requests, limits = pod_resources.requests(pod, options), pod_resources.limits(pod, options)
    return {**result, **compute_usage(pod_resources.quantities(requests), pod_resources.quantities(limits))}


def compute_usage(requests: Amounts, limits: Amounts) -> Amounts:
    """Requests and limits under the names that quotas have for them."""
    result: Amounts = {"pods": count(1)}
    for name in ("cpu", "memory", "ephemeral-storage"):
        if name in requests:
            result[name] = result[f"requests.{name}"] = requests[name]
        if name in limits:
            result[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith("hugepages-"):
            result[name] = amount
        if name.startswith("hugepages-") or ("/" in name and "kubernetes.io/" not in name):
            result[f"requests.{name}"] = amount
    return result


def _service_usage(spec: Tree) -> Amounts:
    ports, kind = spec.get("ports") or [], spec.get("type")
    on_nodes = 0
    if kind == "NodePort" or (kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)):
        on_nodes = len(ports)
    elif kind == "LoadBalancer":
        on_nodes = sum(bool(port.get("nodePort")) for port in ports)
    return {
        "services": count(1), "services.nodeports": count(on_nodes),
        "services.loadbalancers": count(int(kind == "LoadBalancer")),
    }


def _claim_usage(claim: Tree) -> Amounts:
    result: Amounts = {"persistentvolumeclaims": count(1)}
    storage = read((claim["spec"].get("resources") or {}).get("requests")).get("storage")
    if storage is not None:
        result["requests.storage"] = storage
    if name := claim["spec"].get("storageClassName"):
        result.update({f"{name}{STORAGE_CLASS_SUFFIX}{resource}": amount for resource, amount in result.items()})
    return result


def missing(resource: GroupResource, obj: Tree, names: Iterable[str]) -> str:
    """Which containers lack what a quota wants them to say, in words; empty when none does."""
    if resource != PODS or (obj["spec"].get("resources") or {}):
        return ""
    lacking: dict[str, list[str]] = {}
    wanted = sorted(name for name in names if name in MUST_BE_SET)
    for field in ("containers", "initContainers"):
        for container in obj["spec"].get(field) or ():
            resources = container.get("resources") or {}
            present = compute_usage(read(resources.get("requests")), read(resources.get("limits")))
            for name in wanted:
                if name not in present:
                    lacking.setdefault(name, []).append(container.get("name", ""))
    return "; ".join(f"{name} for: {','.join(sorted(lacking[name]))}" for name in sorted(lacking))


def counted(resource: GroupResource, obj: Tree, quota: Tree, names: Iterable[str]) -> list[str]:
    """Those of a quota's resources that an object counts against: none when it is outside of the
    quota's scopes.
    """
    found = matching(resource, names)
    if found and not all(in_scope(resource, obj, requirement) for requirement in _scopes(quota)):
        return []
    return found


def has_moved(resource: GroupResource, old: Tree, new: Tree, *, in_flight: bool) -> bool:
    """Whether a change of an object gives something back: it costs otherwise, or has left a scope
    in which it counted.
    """
    if usage(resource, old, in_flight=in_flight) != usage(resource, new, in_flight=in_flight):
        return True
    if resource == PODS:
        return in_scope(resource, old, TERMINATING) != in_scope(resource, new, TERMINATING)
    return resource == CLAIMS and sorted(_attribute_classes(old)) != sorted(_attribute_classes(new))


def _scopes(quota: Tree) -> list[Tree]:
    spec = quota.get("spec") or {}
    named = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    return named + list((spec.get("scopeSelector") or {}).get("matchExpressions") or ())


def in_scope(resource: GroupResource, obj: Tree, requirement: Mapping[str, object]) -> bool:
    """Whether a quota's scope takes an object in. A resource without scopes is in none."""
    scope = requirement.get("scopeName")
    if resource == CLAIMS:
        return scope == "VolumeAttributesClass" and _chosen(requirement, _attribute_classes(obj))
    if resource != PODS:
        return False
    spec = obj["spec"]
    if scope in ("Terminating", "NotTerminating"):
        return (spec.get("activeDeadlineSeconds") is not None) == (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        return _is_best_effort(obj) == (scope == "BestEffort")
    if scope == "PriorityClass":
        name = spec.get("priorityClassName")
        return _chosen(requirement, [name] if name else [])
    return scope == "CrossNamespacePodAffinity" and _looks_elsewhere(spec)


def _chosen(requirement: Mapping[str, object], names: list[str]) -> bool:
    operator, values = requirement.get("operator"), requirement.get("values") or []
    assert isinstance(values, list)
    if operator == "Exists":
        return bool(names)
    if operator == "DoesNotExist":
        return not names
    if operator == "In":
        return any(name in values for name in names)
    return not names or any(name not in values for name in names)


def _attribute_classes(claim: Tree) -> list[str]:
    status = claim.get("status") or {}
    target = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
    found = (claim["spec"].get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"), target)
    return [name for name in found if name]


def _is_best_effort(pod: Tree) -> bool:
    given = (pod.get("status") or {}).get("qosClass")
    return (given or pod_resources.qos_class(pod["spec"])) == pod_resources.BEST_EFFORT


def _looks_elsewhere(spec: Tree) -> bool:
    for name in ("podAffinity", "podAntiAffinity"):
        affinity = (spec.get("affinity") or {}).get(name) or {}
        terms = list(affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        terms += [
            each.get("podAffinityTerm") or {}
            for each in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()]
        if any(term.get("namespaces") or "namespaceSelector" in term for term in terms):
            return True
    return False
