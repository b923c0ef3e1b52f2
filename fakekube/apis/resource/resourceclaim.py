"""ResourceClaim: a wish for devices.

Upstream: pkg/apis/resource/{v1/defaults.go,validation}, pkg/registry/resource/resourceclaim. Left
out: the rules of allocation in the status, and who may write it.
"""

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE
from fakekube.apis.base import StatusStrategy, stored_as_null
from fakekube.apis.resource.devices import admin_errors, default_devices, device_errors
from fakekube.registry.strategy import WriteContext


class ResourceClaimStrategy(StatusStrategy):
    """What is particular to ResourceClaims."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """One device a request."""
        default_devices((obj.get("spec") or {}).get("devices") or {})

    def canonicalize(self, obj: Tree) -> None:
        """An empty list is stored as none."""
        stored_as_null(obj, "spec", "devices", "requests")

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The stored status; an empty list is no change of an absent one."""
        super().prepare_for_update(obj, old, ctx)
        self.canonicalize(obj)

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


STRATEGY = ResourceClaimStrategy()
