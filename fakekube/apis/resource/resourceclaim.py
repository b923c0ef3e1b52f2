"""ResourceClaim: a wish for devices.

Upstream: pkg/apis/resource/{v1/defaults.go,validation}, pkg/registry/resource/resourceclaim. Left
out: who may write the status.
"""

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE
from fakekube.apis.base import StatusStrategy, no_change, stored_as_null
from fakekube.apis.resource.claim_status import drop_deallocated, results_of, status_errors
from fakekube.apis.resource.devices import admin_errors, admin_status_errors, default_devices, device_errors
from fakekube.apis.resource.features import CLAIM_SPEC, CLAIM_STATUS, drop_disabled
from fakekube.registry.strategy import WriteContext


class ResourceClaimStrategy(StatusStrategy):
    """What is particular to ResourceClaims."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """One device a request."""
        default_devices((obj.get("spec") or {}).get("devices") or {})

    def canonicalize(self, obj: Tree) -> None:
        """An empty list is stored as none."""
        stored_as_null(obj, "spec", "devices", "requests")

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """No status, no fields of features that are off."""
        super().prepare_for_create(obj, ctx)
        drop_disabled(CLAIM_SPEC, obj.get("spec") or {}, {}, ctx.cluster.gate)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The stored status; an empty list is no change of an absent one."""
        super().prepare_for_update(obj, old, ctx)
        drop_disabled(CLAIM_SPEC, obj.get("spec") or {}, old.get("spec") or {}, ctx.cluster.gate)
        no_change(obj, "spec", "devices", "requests")

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """No fields of features that are off, and nothing about devices that are given back."""
        super().prepare_for_status_update(obj, old, ctx)
        status = obj.get("status")
        if status:
            drop_disabled(CLAIM_STATUS, {"status": status}, old, ctx.cluster.gate)
            drop_deallocated(status, old.get("status") or {})

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """Who asks for the access of an administrator must be in a namespace that grants it; that
        is looked at first.
        """
        denied = admin_errors((obj.get("spec") or {}).get("devices") or {}, obj["metadata"].get("namespace", ""), ctx.cluster)
        return denied + of_metadata + self.validate(obj, ctx)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The devices."""
        return device_errors("spec.devices", (obj.get("spec") or {}).get("devices") or {}, ctx.cluster)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The spec stays."""
        return [] if same(obj.get("spec"), old.get("spec")) else [invalid("spec", None, IMMUTABLE)]

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Access of an administrator must be granted by the namespace; that is looked at first."""
        denied = admin_status_errors(results_of(obj.get("status") or {}), results_of(old.get("status") or {}), obj, ctx.cluster)
        return denied + status_errors(obj, old)


STRATEGY = ResourceClaimStrategy()
