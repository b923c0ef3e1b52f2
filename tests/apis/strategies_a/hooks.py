"""Drives the hooks of a kind in the store's order, without a store: decode, default, prepare,
validate, warn.
"""

import copy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fakekube.apimachinery.gvk import GroupVersionKind, split_api_version
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.validation import as_told
from fakekube.apis.catalog import Catalog, catalog
from fakekube.apis.gates import Gates
from fakekube.registry import metadata
from fakekube.registry.kind import Kind, strategy_of
from fakekube.registry.strategy import Strategy, WriteContext
from fakekube.schema import definitions
from fakekube.schema.decode import Codec
from fakekube.util.rng import Rng

NOW = "2026-01-01T00:00:00Z"
RELEASE = "1.37"
CONTAINER = {"name": "main", "image": "busybox:1"}
ALL_SERVED = {"api/all": True}


@cache
def _catalog() -> Catalog:
    return catalog(RELEASE, Gates(RELEASE), ALL_SERVED)


@cache
def _codec(gvk: GroupVersionKind) -> Codec:
    schema = definitions.load(RELEASE).schema(gvk)
    assert schema is not None
    return Codec(schema)


def kind_of(body: dict[str, Any]) -> Kind:
    gvk = GroupVersionKind(*split_api_version(body["apiVersion"]), body["kind"])
    return next(kind for kind in _catalog().kinds if kind.gvk == gvk)


class EmptyCluster:
    """Has nothing but feature gates: upstream's defaults, and those that a test switches on."""

    release = RELEASE

    def __init__(self, *on: str) -> None:
        self.gates = Gates(RELEASE)
        self.on = on

    def gate(self, name: str) -> bool:
        return name in self.on or self.gates.get(name, True)

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> None:
        return None

    def select(self, group: str, resource: str, namespace: str) -> list[Any]:
        return []


@dataclass
class Outcome:
    """What became of a write: the object, what is wrong with it, and what the client is told."""

    obj: dict[str, Any]
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def spec(self) -> dict[str, Any]:
        return self.obj["spec"]


def context(*gates: str) -> WriteContext:
    return WriteContext(EmptyCluster(*gates), Rng(1), NOW, UserInfo("tester"))


def _decoded(body: dict[str, Any]) -> dict[str, Any]:
    gvk = GroupVersionKind(*split_api_version(body["apiVersion"]), body["kind"])
    return _codec(gvk).decode(copy.deepcopy(body)).tree


def create(body: dict[str, Any], *gates: str) -> Outcome:
    """As a POST would do, admission excepted."""
    kind, ctx, obj = kind_of(body), context(*gates), _decoded(body)
    strategy = strategy_of(kind)
    meta = obj.setdefault("metadata", {})
    if kind.namespaced:
        meta["namespace"] = "default"
    if meta.get("generateName") and not meta.get("name"):
        meta["name"] = metadata.generate_name(meta["generateName"], ctx.rng)
    meta["uid"], meta["creationTimestamp"], meta["generation"] = ctx.rng.uid(), NOW, 1
    metadata.dedupe_owner_references(meta, ctx)
    strategy.default(obj, ctx)
    strategy.prepare_for_create(obj, ctx)
    errors = metadata.validate_object_meta(obj, kind) + strategy.validate(obj, ctx)
    if errors:
        return Outcome(obj, [str(error) for error in as_told(errors, ctx.minor)], ctx.warnings)
    warnings = strategy.warnings(obj, None, ctx)
    strategy.canonicalize(obj)
    return Outcome(obj, [], ctx.warnings + warnings)


def update(old: dict[str, Any], changed: dict[str, Any], *gates: str, strategy: Strategy | None = None) -> Outcome:
    """As a PUT would do; ``strategy`` is that of a sub-resource."""
    kind, ctx, obj = kind_of(old), context(*gates), _decoded(changed)
    hooks = strategy or strategy_of(kind)
    kept = copy.deepcopy(old)
    metadata.restore(obj["metadata"], old["metadata"])
    strategy_of(kind).default(obj, ctx)
    hooks.prepare_for_update(obj, old, ctx)
    errors = metadata.validate_object_meta_update(obj, old, kind, ctx) + hooks.validate_update(obj, old, ctx)
    warnings = [] if errors else hooks.warnings(obj, old, ctx)
    assert old == kept, "a hook changed the stored object"
    return Outcome(obj, [str(error) for error in as_told(errors, ctx.minor)], warnings)


def update_status(old: dict[str, Any], status: dict[str, Any], **meta: Any) -> Outcome:
    """As a PUT to /status would do."""
    kind, ctx = kind_of(old), context()
    obj = _decoded({**old, "metadata": {**old["metadata"], **meta}, "status": status})
    strategy, kept = strategy_of(kind), copy.deepcopy(old)
    strategy.default(obj, ctx)
    strategy.prepare_for_status_update(obj, old, ctx)
    errors = metadata.validate_object_meta_update(obj, old, kind, ctx) + strategy.validate_status_update(obj, old, ctx)
    assert old == kept, "a hook changed the stored object"
    return Outcome(obj, [str(error) for error in as_told(errors, ctx.minor)])


def pod(**spec: Any) -> dict[str, Any]:
    containers = spec.pop("containers", [CONTAINER])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
        "containers": containers, "serviceAccountName": "default", **spec}}


def job(**spec: Any) -> dict[str, Any]:
    template = spec.pop("template", {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}})
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template, **spec}}


def with_spec(obj: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A copy with some fields of the spec changed; None takes one away."""
    changed = {**obj["spec"], **spec}
    return copy.deepcopy({**obj, "spec": {name: value for name, value in changed.items() if value is not None}})
