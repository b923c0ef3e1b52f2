"""IPAddress: whose address it is; its name is the address.

Upstream: pkg/apis/networking/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import strict_ip
from fakekube.apis.checks import required_name, ruled
from fakekube.registry.strategy import Strategy, WriteContext
from fakekube.registry.validation import IMMUTABLE


class IPAddressStrategy(Strategy):
    """What is particular to IPAddresses."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The name is an address, the parent a reference."""
        name = obj["metadata"].get("name", "")
        found = [invalid("metadata.name", name, error.detail) for error in strict_ip("", name)]
        parent = (obj.get("spec") or {}).get("parentRef")
        if parent is None:
            return [*found, required("spec.parentRef")]
        path = "spec.parentRef"
        if parent.get("group"):
            found += ruled(child(path, "group"), parent["group"], names.dns1123_subdomain)
        for field in ("resource", "name"):
            found += required_name(child(path, field), parent.get(field, ""), names.path_segment)
        if parent.get("namespace"):
            found += ruled(child(path, "namespace"), parent["namespace"], names.path_segment)
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The parent stays."""
        same = (obj.get("spec") or {}).get("parentRef") == (old.get("spec") or {}).get("parentRef")
        return [] if same else [invalid("spec.parentRef", None, IMMUTABLE)]


STRATEGY = IPAddressStrategy()
