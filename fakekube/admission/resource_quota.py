"""ResourceQuota: a namespace holds no more than its quotas let it, and what is created is charged
at once.

A quota binds once somebody has copied its spec to its status: the resource quota controller, which
also gives back what is deleted. Upstream: apiserver/pkg/admission/plugin/resourcequota. Left out:
resources that are limited by default.
"""

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery import quotas
from fakekube.apimachinery.amounts import Amounts, add, pick, read, shown, spent, texts
from fakekube.apimachinery.pod_resources import RESIZE_GATE
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

CHANGING = {"pods": ("", "resize"), "services": ("",), "persistentvolumeclaims": ("",)}


class ResourceQuota(Plugin):
    """Refuses what exceeds a quota; charges what does not."""

    name = "ResourceQuota"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Whatever is created in a namespace, and changes of what costs more than one apiece."""
        if not kind.namespaced or kind.group_resource in quotas.UNCOUNTED:
            return False
        if operation == "CREATE":
            return not subresource
        return operation == "UPDATE" and is_resource(kind, "", *CHANGING) and subresource in CHANGING[kind.plural]

    def validate(self, attrs: Attributes) -> None:
        """Check all quotas, then charge them."""
        obj, present = attrs.obj, attrs.ctx.cluster.select("", "resourcequotas", attrs.namespace)
        if obj is None or not present or not _may_cost(attrs):
            return
        bound = [quota for quota in present if _binds(attrs, quota, obj)]
        if not bound:
            return
        cost = quotas.usage(attrs.kind.group_resource, obj, in_flight=attrs.ctx.cluster.gate(RESIZE_GATE))
        charges = [(quota, charge) for quota in bound if (charge := _charge(attrs, quota, cost)) is not None]
        if attrs.ctx.dry_run:
            return
        for quota, used in charges:
            status = {**(quota.get("status") or {}), "used": texts(used)}
            attrs.ctx.cluster.write_status(
                "", "resourcequotas", attrs.namespace, quota["metadata"]["name"], status, now=attrs.ctx.now)


def _may_cost(attrs: Attributes) -> bool:
    """A changed pod costs anew only when it is resized or its deadline comes or goes."""
    if attrs.kind.plural != "pods" or attrs.operation != "UPDATE" or attrs.subresource:
        return True
    limits = [(tree or {}).get("spec", {}).get("activeDeadlineSeconds") is None for tree in (attrs.obj, attrs.old)]
    return limits[0] != limits[1]


def _hard(quota: Tree) -> Amounts:
    return read((quota.get("status") or {}).get("hard"))


def _used(quota: Tree) -> Amounts:
    return read((quota.get("status") or {}).get("used"))


def _binds(attrs: Attributes, quota: Tree, obj: Tree) -> bool:
    """Whether a quota counts the object. Raises Forbidden for what cannot be counted."""
    names = quotas.counted(attrs.kind.group_resource, obj, quota, _hard(quota))
    if not names:
        return False
    name = quota["metadata"]["name"]
    if lacking := quotas.missing(attrs.kind.group_resource, obj, names):
        raise forbidden(attrs, f"failed quota: {name}: must specify {lacking}")
    used = _used(quota)
    if any(resource not in used for resource in names):
        raise forbidden(attrs, f"status unknown for quota: {name}, resources: {','.join(sorted(names))}")
    return True


def _charge(attrs: Attributes, quota: Tree, cost: Amounts) -> Amounts | None:
    """What the quota has used with this object; None when it costs nothing more. Raises Forbidden.
    """
    old, resource, hard, used = attrs.old, attrs.kind.group_resource, _hard(quota), _used(quota)
    if attrs.operation == "UPDATE" and old is not None and quotas.counted(resource, old, quota, hard):
        cost = spent(cost, quotas.usage(resource, old, in_flight=attrs.ctx.cluster.gate(RESIZE_GATE)))
    asked = pick({name: amount for name, amount in cost.items() if amount.nano}, hard)
    if not asked:
        return None
    total = add(used, asked)
    over = [name for name in asked if total[name].nano > hard[name].nano]
    if over:
        name = quota["metadata"]["name"]
        raise forbidden(attrs, (
            f"exceeded quota: {name}, requested: {shown(pick(asked, over))}, used: {shown(pick(used, over))}, "
            f"limited: {shown(pick(hard, over))}"))
    return total
