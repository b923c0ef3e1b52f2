"""VolumeAttributesClass: properties of a volume that can be changed while it is there.

Upstream: pkg/apis/storage/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, forbidden
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import required_name
from fakekube.apis.storage.storageclass import parameter_errors
from fakekube.registry.strategy import Strategy, WriteContext


class VolumeAttributesClassStrategy(Strategy):
    """What is particular to VolumeAttributesClasses."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """A driver and its parameters."""
        found = required_name("driverName", obj.get("driverName", "").lower(), names.qualified_name)
        return found + parameter_errors("parameters", obj.get("parameters") or {}, allow_empty=False)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Neither changes."""
        changed = [
            forbidden(name, f"updates to {name} are forbidden.")
            for name in ("driverName", "parameters") if (obj.get(name) or None) != (old.get(name) or None)
        ]
        return changed + self.validate(obj, ctx)


STRATEGY = VolumeAttributesClassStrategy()
