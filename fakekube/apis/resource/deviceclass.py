"""DeviceClass: devices that are alike.

Upstream: pkg/apis/resource/validation.
"""

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import declared_form_of_name
from fakekube.apis.resource.devices import config_errors, selector_errors
from fakekube.registry.strategy import Cluster, Strategy, WriteContext


class DeviceClassStrategy(Strategy):
    """What is particular to DeviceClasses."""

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """The form of the name is a declarative rule's."""
        return declared_form_of_name(of_metadata) + _errors(obj, ctx.cluster)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """Selectors that are as before were good before."""
        selectors, before = ((each.get("spec") or {}).get("selectors") for each in (obj, old))
        return _errors(obj, None if same(selectors, before) else ctx.cluster)


def _errors(obj: Tree, cluster: Cluster | None) -> list[FieldError]:
    """Selectors and configuration."""
    spec = obj.get("spec") or {}
    found = selector_errors("spec.selectors", spec.get("selectors") or [], cluster)
    return found + config_errors("spec.config", spec.get("config") or [])


STRATEGY = DeviceClassStrategy()
