"""CSINode: the storage drivers of a node.

Upstream: pkg/apis/storage/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, child, duplicate, index, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE, nonnegative
from fakekube.apis.base import stored_as_null
from fakekube.apis.checks import ruled
from fakekube.apis.core.storage_systems import validate_csi_driver_name
from fakekube.registry.strategy import Strategy, WriteContext

MAX_NODE_ID_LENGTH = 256


class CSINodeStrategy(Strategy):
    """What is particular to CSINodes."""

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """The status is the kubelet's; releases without one print none."""
        if "status" in obj:
            obj["status"] = {}

    def canonicalize(self, obj: Tree) -> None:
        """Empty lists are stored as none."""
        stored_as_null(obj, "spec", "drivers")
        for driver in _drivers(obj):
            stored_as_null(driver, "topologyKeys")

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Every driver, once."""
        found: list[FieldError] = []
        seen: set[str] = set()
        for number, driver in enumerate(_drivers(obj)):
            found += _driver(index("spec.drivers", number), driver, seen)
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; a driver that is there stays as it is, its limits aside."""
        found = self.validate(obj, ctx)
        mutable = ctx.cluster.gate("MutableCSINodeAllocatableCount")
        drivers: dict[str, list[Tree]] = {}
        for driver in _drivers(obj):
            drivers.setdefault(driver.get("name", ""), []).append(driver)
        for before in _drivers(old):
            for after in drivers.get(before.get("name", ""), ()):
                if not same(_compared(before, mutable), _compared(after, mutable)):
                    found.append(invalid("spec.drivers", None, IMMUTABLE))
        return found


def _drivers(obj: Tree) -> list[Tree]:
    return (obj.get("spec") or {}).get("drivers") or []


def _compared(driver: Tree, mutable: bool) -> Tree:
    return {name: value for name, value in driver.items() if not (mutable and name == "allocatable")}


def _driver(path: str, driver: Tree, seen: set[str]) -> list[FieldError]:
    name, node_id = driver.get("name", ""), driver.get("nodeID", "")
    found = validate_csi_driver_name(name, child(path, "name"))
    if not node_id:
        found.append(required(child(path, "nodeID")))
    if len(node_id) > MAX_NODE_ID_LENGTH:
        found.append(invalid(child(path, "nodeID"), node_id, f"must be {MAX_NODE_ID_LENGTH} characters or less"))
    count = (driver.get("allocatable") or {}).get("count")
    if count is not None:
        found += nonnegative(child(path, "allocatable", "count"), count)
    if name in seen:
        found.append(duplicate(child(path, "name"), name))
    seen.add(name)
    keys: set[str] = set()
    for each in driver.get("topologyKeys") or ():
        if not each:
            found.append(required(path))
        if each in keys:
            found.append(duplicate(path, each))
        keys.add(each)
        found += ruled(path, each, names.qualified_name)
    return found


STRATEGY = CSINodeStrategy()
