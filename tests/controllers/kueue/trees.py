"""Objects of Kueue as trees, for tests that hand them to functions and not to a cluster."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube_controllers.kueue.cache.cache import Cache
from fakekube_controllers.kueue.cache.clusterqueue import Settings
from fakekube_controllers.kueue.workload.info import InfoOptions

Tree = dict[str, Any]
Quota = str | int | Sequence[str | int | None]
"""Nominal; or nominal, borrowing limit, lending limit, of which None is none."""


def resource_group(flavors: Mapping[str, Mapping[str, Quota]]) -> Tree:
    """A resource group: by flavor the quotas by resource."""
    return {
        "coveredResources": list(next(iter(flavors.values()), {})),
        "flavors": [{"name": name, "resources": [_quota(*each) for each in quotas.items()]} for name, quotas in flavors.items()]}


def _quota(name: str, quota: Quota) -> Tree:
    parts = [quota] if isinstance(quota, str | int) else quota
    fields = zip(("nominalQuota", "borrowingLimit", "lendingLimit"), parts, strict=False)
    return {"name": name, **{field: str(value) for field, value in fields if value is not None}}


def flavor(name: str, labels: Mapping[str, str] | None = None, taints: Sequence[Tree] = (), **spec: Any) -> Tree:
    """A ResourceFlavor."""
    return {"metadata": {"name": name}, "spec": {"nodeLabels": dict(labels or {}), "nodeTaints": list(taints), **spec}}


def cluster_queue(name: str, *groups: Mapping[str, Mapping[str, Quota]], cohort: str = "", **spec: Any) -> Tree:
    """A ClusterQueue that selects every namespace."""
    return {"metadata": {"name": name}, "spec": {
        "cohortName": cohort, "namespaceSelector": {}, "resourceGroups": [resource_group(group) for group in groups], **spec}}


def cohort(name: str, *groups: Mapping[str, Mapping[str, Quota]], parent: str = "", **spec: Any) -> Tree:
    """A Cohort."""
    return {"metadata": {"name": name}, "spec": {
        "parentName": parent, "resourceGroups": [resource_group(group) for group in groups], **spec}}


def local_queue(name: str, cluster_queue: str, namespace: str = "ns") -> Tree:
    """A LocalQueue."""
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterQueue": cluster_queue}}


def podset(name: str = "main", count: int = 1, spec: Mapping[str, Any] | None = None, **requests: Any) -> Tree:
    """A podset of pods with one container; requests by keyword, ``min_count`` besides."""
    min_count = requests.pop("min_count", None)
    container = {"name": "c", "resources": {"requests": {key: str(value) for key, value in requests.items()}}}
    return {
        "name": name, "count": count, "template": {"spec": {"containers": [container], **(spec or {})}},
        **({} if min_count is None else {"minCount": min_count})}


def condition(kind: str, *, status: str = "True", at: str = "2026-01-01T00:00:00Z") -> Tree:
    """A condition of a Workload."""
    return {"type": kind, "status": status, "reason": kind, "message": "", "lastTransitionTime": at}


def workload(name: str, *podsets: Tree, queue: str = "q", priority: int = 0, **status: Any) -> Tree:
    """A Workload in the namespace ns; ``annotations`` besides the fields of its status."""
    return {
        "metadata": {
            "name": name, "namespace": "ns", "uid": f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1,
            "annotations": status.pop("annotations", {})},
        "spec": {"podSets": list(podsets) or [podset(cpu=1)], "queueName": queue, "priority": priority, "active": True},
        "status": status}


def admitted(obj: Tree, cluster_queue: str, *assigned: Mapping[str, tuple[str, str | int]], reserved_only: bool = False) -> Tree:
    """The same Workload with quota: a map a podset, by resource the flavor and the amount."""
    assignments = [
        {"name": each["name"], "count": each["count"], "flavors": {key: name for key, (name, _) in amounts.items()},
         "resourceUsage": {key: str(amount) for key, (_, amount) in amounts.items()}}
        for each, amounts in zip(obj["spec"]["podSets"], assigned, strict=True)]
    conditions = [condition("QuotaReserved"), *([] if reserved_only else [condition("Admitted")])]
    return {**obj, "status": {
        **obj["status"], "conditions": conditions,
        "admission": {"clusterQueue": cluster_queue, "podSetAssignments": assignments}}}


def cache_of(*objects: Tree, settings: Settings | None = None) -> Cache:
    """A cache with flavors (those without quotas), ClusterQueues and cohorts, in that order."""
    cache = Cache(settings or Settings(InfoOptions()))
    for obj in objects:
        if "namespaceSelector" in obj["spec"]:
            cache.add_cluster_queue(obj)
        elif "parentName" in obj["spec"]:
            cache.add_or_update_cohort(obj)
        else:
            cache.add_or_update_resource_flavor(obj)
    return cache
