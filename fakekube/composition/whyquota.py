"""What quotas have against the pods that an object is still to make, and how much more they would
have to allow.

The pods are charged as admission would charge them (``fakekube.admission.resource_quota``). Left
out: what LimitRanges and RuntimeClasses would add to them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from fakekube.apimachinery import meta, quotas
from fakekube.apimachinery.amounts import Amounts, add, amount, pick, read, shown, texts
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.quotas import PODS
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.why import Change, Reason
from fakekube.storage.memory import Storage

QUOTAS = GroupResource("", "resourcequotas")


def _of_job(job: ReadOnlyTree) -> int:
    spec, status = job["spec"], job.get("status") or {}
    most = int(spec.get("parallelism", 1))
    if spec.get("completions") is not None:
        most = min(most, int(spec["completions"]) - int(status.get("succeeded") or 0))
    return most - int(status.get("active") or 0)


def _of_replicas(obj: ReadOnlyTree) -> int:
    return int(obj["spec"].get("replicas", 1)) - int((obj.get("status") or {}).get("replicas") or 0)


STILL_TO_MAKE: Mapping[GroupResource, Callable[[ReadOnlyTree], int]] = MappingProxyType({
    GroupResource("batch", "jobs"): _of_job, GroupResource("apps", "replicasets"): _of_replicas,
    GroupResource("apps", "statefulsets"): _of_replicas, GroupResource("", "replicationcontrollers"): _of_replicas})
"""How many pods like its template an object is still to make."""


class Refused(NamedTuple):
    """So many pods that quotas do not allow; without changes they do not say what quotas ask for.
    """

    pods: int
    reasons: tuple[Reason, ...]
    changes: tuple[Change, ...]


def refused(storage: Storage, resource: GroupResource, obj: ReadOnlyTree) -> Refused | None:
    """What quotas of its namespace have against an object's pods; None where they allow them."""
    still_to_make = STILL_TO_MAKE.get(resource)
    if still_to_make is None or meta.is_deleting(obj) or obj["spec"].get("suspend") or not storage.has(QUOTAS):
        return None
    count, template = still_to_make(obj), obj["spec"].get("template")
    if count <= 0 or not template:
        return None
    pod: Tree = {"metadata": {}, "spec": template["spec"]}
    found = [
        each for record in storage.bucket(QUOTAS).records(meta.namespace_of(obj))
        if (each := _against(dict(record.tree()), pod, count)) is not None]
    if not found:
        return None
    changes = () if any(change is None for _, change in found) else tuple(change for _, change in found if change is not None)
    return Refused(count, tuple(reason for reason, _ in found), changes)


def _against(quota: Tree, pod: Tree, count: int) -> tuple[Reason, Change | None] | None:
    """What one quota has against so many pods, and the change that would let them be."""
    status, name = quota.get("status") or {}, meta.name_of(quota)
    hard, used = read(status.get("hard")), read(status.get("used"))
    names = quotas.counted(PODS, pod, quota, hard)
    if lacking := quotas.missing(PODS, pod, names):
        return Reason(f"ResourceQuota {name}", f"pods must specify {lacking}"), None
    cost = pick(quotas.usage(PODS, pod, in_flight=False), hard)
    asked: Amounts = {resource: amount(each.nano * count, each.format) for resource, each in cost.items() if each.nano}
    total = add(used, asked)
    over = [resource for resource in asked if resource in names and total[resource].nano > hard[resource].nano]
    if not over:
        return None
    wanted = pick(total, over)
    reason = Reason(
        f"ResourceQuota {name}", f"{count} more pods ask for {shown(pick(asked, over))}; used: {shown(pick(used, over))}, "
        f"limited: {shown(pick(hard, over))}")
    target = f"resourcequota/{meta.namespace_of(quota)}/{name}"
    return reason, Change("RaiseQuota", target, f"let {target} allow {shown(wanted)}", {"hard": dict(texts(wanted))})

