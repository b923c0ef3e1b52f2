"""CSIStorageCapacity: how much of a class there is for some nodes.

Upstream: pkg/apis/storage/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE, label_selector
from fakekube.apis.checks import quantity_not_negative, ruled
from fakekube.registry.strategy import Strategy, WriteContext


class CSIStorageCapacityStrategy(Strategy):
    """What is particular to CSIStorageCapacities."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Nodes, class and amount."""
        found = label_selector(obj.get("nodeTopology"), "nodeTopology")
        found += ruled("storageClassName", obj.get("storageClassName", ""), names.dns1123_subdomain)
        if "capacity" in obj:
            found += quantity_not_negative("capacity", obj["capacity"])
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """What was asked of the driver stays."""
        fields = ("nodeTopology", "storageClassName")
        return [invalid(name, obj.get(name), IMMUTABLE) for name in fields if not same(obj.get(name), old.get(name))]


STRATEGY = CSIStorageCapacityStrategy()
