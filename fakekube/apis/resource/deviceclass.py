"""DeviceClass: devices that are alike.

Upstream: pkg/apis/resource/validation. Left out: compiling the selectors.
"""

from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import declared_form_of_name
from fakekube.apis.resource.devices import config_errors, selector_errors
from fakekube.registry.strategy import Strategy, WriteContext


class DeviceClassStrategy(Strategy):
    """What is particular to DeviceClasses."""

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """The form of the name is a declarative rule's."""
        return declared_form_of_name(of_metadata) + self.validate(obj, ctx)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Selectors and configuration."""
        spec = obj.get("spec") or {}
        found = selector_errors("spec.selectors", spec.get("selectors") or [])
        return found + config_errors("spec.config", spec.get("config") or [])


STRATEGY = DeviceClassStrategy()
