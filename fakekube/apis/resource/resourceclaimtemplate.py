"""ResourceClaimTemplate: what claims are made from.

Upstream: pkg/apis/resource/{v1/defaults.go,validation}.
"""

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE
from fakekube.apis.base import no_change, stored_as_null
from fakekube.apis.checks import template_metadata
from fakekube.apis.internals import internal
from fakekube.apis.resource.devices import admin_errors, default_devices, device_errors
from fakekube.apis.resource.features import CLAIM_SPEC, drop_disabled
from fakekube.registry.strategy import Cluster, Strategy, WriteContext


class ResourceClaimTemplateStrategy(Strategy):
    """What is particular to ResourceClaimTemplates."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """As a claim's."""
        default_devices(_devices(obj))

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """No fields of features that are off."""
        drop_disabled(CLAIM_SPEC, _spec(obj), {}, ctx.cluster.gate)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """They stay where the template had them; an empty list is no change of an absent one."""
        drop_disabled(CLAIM_SPEC, _spec(obj), _spec(old), ctx.cluster.gate)
        no_change(obj, "spec", "spec", "devices", "requests")

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """Who asks for the access of an administrator must be in a namespace that grants it; that
        is looked at first.
        """
        denied = admin_errors(_devices(obj), obj["metadata"].get("namespace", ""), ctx.cluster)
        return denied + of_metadata + _errors(obj, ctx.cluster)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one, expressions too; the spec stays."""
        found = _errors(obj, ctx.cluster)
        if same(obj.get("spec"), old.get("spec")):
            return found
        return [*found, invalid("spec", internal("ResourceClaimTemplateSpec", obj.get("spec")), IMMUTABLE)]

    def canonicalize(self, obj: Tree) -> None:
        """An empty list is stored as none."""
        stored_as_null(obj, "spec", "spec", "devices", "requests")


def _errors(obj: Tree, cluster: Cluster) -> list[FieldError]:
    """The labels and devices of the claims to come."""
    metadata = (obj.get("spec") or {}).get("metadata") or {}
    return template_metadata("spec.metadata", metadata) + device_errors("spec.spec.devices", _devices(obj), cluster)


def _devices(obj: Tree) -> Tree:
    return _spec(obj).get("devices") or {}


def _spec(obj: Tree) -> Tree:
    return (obj.get("spec") or {}).get("spec") or {}


STRATEGY = ResourceClaimTemplateStrategy()
