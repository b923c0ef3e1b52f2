"""StorageVersionMigration: rewrite all objects of a resource in the newest storage version.

Upstream: pkg/apis/storagemigration/validation, pkg/registry/storagemigration.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import conditions, immutable
from fakekube.apis.base import StatusStrategy
from fakekube.apis.checks import ruled
from fakekube.registry.strategy import WriteContext

RESOURCE, GROUP = "spec.resource.resource", "spec.resource.group"
CONDITIONS, VERSION = "status.conditions", "status.resourceVersion"
WELL_FORMED = "[1-9][0-9]*"
# In the order in which upstream's structure has them.
CONDITION_FIELDS = ("type", "status", "observedGeneration", "lastTransitionTime", "reason", "message")


class StorageVersionMigrationStrategy(StatusStrategy):
    """What is particular to StorageVersionMigrations."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Which resource is to be migrated."""
        resource = _resource(obj)
        name, group = resource["resource"], resource["group"]
        found = ruled(RESOURCE, name, names.dns1035_label) if name else [required(RESOURCE, "resource is required to be set")]
        return found + (ruled(GROUP, group, names.dns1123_subdomain) if group else [])

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the spec stays, and prints as upstream's internal type."""
        shown = ({"Resource": _resource(tree)} for tree in (obj, old))
        return self.validate(obj, ctx) + immutable("spec", *shown)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """A migration ends once, one way, and keeps the resource version that it started at."""
        return _status(obj.get("status") or {}, old.get("status") or {})


def _resource(obj: Tree) -> dict[str, str]:
    given = (obj.get("spec") or {}).get("resource") or {}
    return {"group": given.get("group", ""), "resource": given.get("resource", "")}


def _is_true(status: Tree, kind: str) -> bool:
    values = (each.get("status") for each in status.get("conditions") or () if each.get("type") == kind)
    return next(values, None) == "True"


def _status(status: Tree, old: Tree) -> list[FieldError]:
    version, before, given = status.get("resourceVersion", ""), old.get("resourceVersion", ""), status.get("conditions")
    found = []
    if version and not names.matches(WELL_FORMED, version):
        found.append(invalid(VERSION, version, f"resource version is not well formed: {version}"))
    found += conditions(given or (), CONDITIONS)
    found += immutable(VERSION, version, before) if before else []
    shown = None if given is None else [{name: each[name] for name in CONDITION_FIELDS if name in each} for each in given]
    if _is_true(status, "Succeeded") and _is_true(status, "Failed"):
        found.append(invalid(CONDITIONS, shown, "Both success and failed conditions cannot be true at the same time"))
    for kind, word in (("Succeeded", "Success"), ("Failed", "Failed")):
        if _is_true(old, kind) and not _is_true(status, kind):
            found.append(invalid(CONDITIONS, shown, f"{word} condition cannot be set to false once it is true"))
    return found


STRATEGY = StorageVersionMigrationStrategy()
