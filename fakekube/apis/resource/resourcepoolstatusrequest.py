"""ResourcePoolStatusRequest: a question about a pool of devices, which a controller answers in the
status, once.

Upstream: pkg/registry/resource/resourcepoolstatusrequest, and the declarative rules of
pkg/apis/resource/v1alpha3. Left out: the controller.
"""

from fakekube.apimachinery import names, validation
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    declared,
    forbidden,
    index,
    invalid,
    required,
    too_long,
    too_many,
)
from fakekube.apimachinery.types import Tree
from fakekube.apis.base import StatusStrategy, drop_disabled
from fakekube.apis.checks import caseless_subdomain, ruled
from fakekube.apis.resource.claim_status import declared_pool_errors
from fakekube.apis.resource.devices import attribute_errors
from fakekube.registry.strategy import WriteContext

DEFAULT_LIMIT, MAX_LIMIT, MAX_POOLS, MAX_CONDITIONS, MAX_SUMMARIES, MAX_ERROR_BYTES = 100, 1000, 1000, 10, 32, 256
PARTITIONS, PARTITION_TYPE = "DRAPartitionableDevicesType", "defaultPartitionTypeAttribute"
COUNTS = ("totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices")


class ResourcePoolStatusRequestStrategy(StatusStrategy):
    """Before the answer there is no status at all."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """So many pools are told of at most."""
        spec = obj.setdefault("spec", {})
        if spec.get("limit") is None:
            spec["limit"] = DEFAULT_LIMIT

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        """None."""
        return None

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """No fields of features that are off."""
        super().prepare_for_create(obj, ctx)
        drop_disabled(obj["spec"], None, {PARTITION_TYPE: PARTITIONS}, ctx)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """They stay where the request had them."""
        super().prepare_for_update(obj, old, ctx)
        drop_disabled(obj["spec"], old.get("spec") or {}, {PARTITION_TYPE: PARTITIONS}, ctx)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Which pools of whom, and how many."""
        spec = obj["spec"]
        found = _driver("spec.driver", spec.get("driver", ""))
        if spec.get("poolName") is not None:
            found += declared_pool_errors("spec.poolName", spec["poolName"])
        found += _at_least("spec.limit", spec["limit"], 1)
        if spec["limit"] > MAX_LIMIT:
            found.append(invalid("spec.limit", spec["limit"], f"must be less than or equal to {MAX_LIMIT}"))
        attribute = spec.get(PARTITION_TYPE)
        if attribute is not None and not ctx.cluster.gate(PARTITIONS):
            found.append(forbidden(child("spec", PARTITION_TYPE), ""))
        elif attribute is not None:
            found += attribute_errors(child("spec", PARTITION_TYPE), attribute)
        return [declared(error) for error in found]

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The spec stays."""
        return validation.declared_immutable("spec", obj.get("spec"), old.get("spec"))

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """An answer stays; a new one is complete."""
        status, before = obj.get("status"), old.get("status")
        if before is not None:
            return validation.immutable("status", status, before)
        return [] if status is None else _answer("status", status)


def _driver(path: str, name: str) -> list[FieldError]:
    return ruled(path, name, caseless_subdomain) if name else [required(path)]


def _at_least(path: str, value: int | None, least: int) -> list[FieldError]:
    if value is None or value >= least:
        return []
    return [invalid(path, value, f"must be greater than or equal to {least}")]


def _count(path: str, value: int | None) -> list[FieldError]:
    """A number that must be there."""
    return [required(path)] if value is None else _at_least(path, value, 0)


def _answer(path: str, status: Tree) -> list[FieldError]:
    conditions, where = status.get("conditions") or [], child(path, "conditions")
    found = validation.conditions(conditions, where)
    by_rule = _count(child(path, "poolCount"), status.get("poolCount"))
    pools = status.get("pools") or []
    if len(pools) > MAX_POOLS:
        by_rule.append(too_many(child(path, "pools"), len(pools), MAX_POOLS))
    else:
        by_rule += [error for number, pool in enumerate(pools) for error in _pool(index(child(path, "pools"), number), pool)]
    if len(conditions) > MAX_CONDITIONS:
        by_rule.append(too_many(where, len(conditions), MAX_CONDITIONS))
    return found + [declared(error) for error in by_rule]


def _pool(path: str, pool: Tree) -> list[FieldError]:
    found = _driver(child(path, "driver"), pool.get("driver", ""))
    found += declared_pool_errors(child(path, "poolName"), pool.get("poolName", ""))
    generation = pool.get("generation", 0)
    found += _at_least(child(path, "generation"), generation, 0) if generation else [required(child(path, "generation"))]
    found += _at_least(child(path, "resourceSliceCount"), pool.get("resourceSliceCount"), 1)
    found += [error for name in COUNTS for error in _at_least(child(path, name), pool.get(name), 0)]
    if pool.get("nodeName") is not None:
        node = pool["nodeName"]
        found += [invalid(child(path, "nodeName"), node, names.in_bytes(text)) for text in names.dns1123_subdomain(node)]
    if len((pool.get("validationError") or "").encode()) > MAX_ERROR_BYTES:
        found.append(too_long(child(path, "validationError"), MAX_ERROR_BYTES))
    summaries = pool.get("partitionSummary") or []
    if len(summaries) > MAX_SUMMARIES:
        found.append(too_many(child(path, "partitionSummary"), len(summaries), MAX_SUMMARIES))
    return found


STRATEGY = ResourcePoolStatusRequestStrategy()
