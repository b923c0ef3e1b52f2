"""DeviceClass: devices that are alike.

Upstream: pkg/apis/resource/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, declared, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import declared_form_of_name, ruled
from fakekube.apis.resource.devices import config_errors, selector_errors
from fakekube.registry.strategy import Cluster, Strategy, WriteContext

DOMAIN_PREFIXED = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"
IN_QUOTAS = "requests."
"""What a quota's name of a resource begins with; the rest of it is looked at as such a name."""


class DeviceClassStrategy(Strategy):
    """What is particular to DeviceClasses."""

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """The form of the name is a declarative rule's."""
        return declared_form_of_name(of_metadata, ctx.minor) + _errors(obj, ctx.cluster)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Selectors that are as before were good before."""
        selectors, before = ((each.get("spec") or {}).get("selectors") for each in (obj, old))
        return _errors(obj, None if same(selectors, before) else ctx.cluster)


def _errors(obj: Tree, cluster: Cluster | None) -> list[FieldError]:
    """Selectors and configuration."""
    spec = obj.get("spec") or {}
    found = selector_errors("spec.selectors", spec.get("selectors") or [], cluster)
    found += config_errors("spec.config", spec.get("config") or [])
    name = spec.get("extendedResourceName")
    return found if name is None else found + _extended_resource("spec.extendedResourceName", name)


def _extended_resource(path: str, name: str) -> list[FieldError]:
    """What keeps a name from being that of an extended resource."""
    found: list[FieldError] = []
    if "/" not in name:
        found.append(invalid(path, name, DOMAIN_PREFIXED))
    if "kubernetes.io/" in name:
        found.append(invalid(path, name, 'must not have "kubernetes.io/" domain'))
    if name.startswith(IN_QUOTAS):
        found.append(invalid(path, name, f'must not have "{IN_QUOTAS}" prefix'))
    return [declared(error) for error in found + ruled(path, name, lambda text: names.qualified_name(IN_QUOTAS + text))]


STRATEGY = DeviceClassStrategy()
