"""IPAddress: whose address it is; its name is the address.

Upstream: pkg/apis/networking/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, declared, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import declared_immutable
from fakekube.apis.addresses import strict_ip
from fakekube.apis.checks import required_name, ruled
from fakekube.registry.strategy import Strategy, WriteContext


class IPAddressStrategy(Strategy):
    """What is particular to IPAddresses."""

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """The name is an address, which is told before all else of metadata."""
        name, before = obj["metadata"].get("name", ""), ("metadata.name", "metadata.generateName")
        first = [error for error in of_metadata if error.field in before]
        found = _name(name) if name else []
        return [*first, *found, *(error for error in of_metadata if error not in first), *_parent(obj)]

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The name is an address, the parent a reference."""
        return _name(obj["metadata"].get("name", "")) + _parent(obj)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the parent stays."""
        new, before = ((tree.get("spec") or {}).get("parentRef") for tree in (obj, old))
        return self.validate(obj, ctx) + declared_immutable("spec.parentRef", new, before)


def _name(name: str) -> list[FieldError]:
    return [invalid("metadata.name", name, error.detail) for error in strict_ip("", name)]


def _parent(obj: Tree) -> list[FieldError]:
    parent = (obj.get("spec") or {}).get("parentRef")
    if parent is None:
        return [declared(required("spec.parentRef"))]
    path, found = "spec.parentRef", list[FieldError]()
    if parent.get("group"):
        found += ruled(child(path, "group"), parent["group"], names.dns1123_subdomain)
    for field in ("resource", "name"):
        name = parent.get(field, "")
        found += required_name(child(path, field), name, names.path_segment) if name else [
            declared(required(child(path, field)))]
    if parent.get("namespace"):
        found += ruled(child(path, "namespace"), parent["namespace"], names.path_segment)
    return found


STRATEGY = IPAddressStrategy()
