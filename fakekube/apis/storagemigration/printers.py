"""How StorageVersionMigrations print; their name column has no format, unlike everybody else's."""

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import NAME, Cell, column, dig, table
from fakekube.registry.kind import Column

OUTCOMES = ("Running", "Failed", "Succeeded")


def _resource(obj: Tree) -> str:
    resource = dig(obj, "spec", "resource") or {}
    return str(GroupResource(resource.get("group", ""), resource.get("resource", "")))


def _status(obj: Tree) -> str:
    found = [each.get("type") for each in dig(obj, "status", "conditions") or () if each.get("status") == "True"]
    return next((str(word) for word in reversed(found) if word in OUTCOMES), "Unknown")


STORAGE_VERSION_MIGRATION = table(
    Cell(Column("Name", description=NAME.column.description), NAME.value),
    column("Resource", _resource),
    column("Status", _status),
)
