"""ControllerRevisions: a state of a StatefulSet or DaemonSet that cannot change any more.

Upstream: pkg/registry/apps/controllerrevision/strategy.go and pkg/apis/apps/validation.
"""

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable, nonnegative_fields
from fakekube.registry.strategy import Strategy, WriteContext


class ControllerRevisionStrategy(Strategy):
    """Data that is an object, and a number."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        found = nonnegative_fields(obj, "", "revision")
        data = obj.get("data")
        if data is None:
            found.append(field_errors.required("data", "data is mandatory"))
        elif not isinstance(data, dict):
            found.append(field_errors.required("data", "data must be a valid JSON object"))
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        found = nonnegative_fields(obj, "", "revision")
        return found + immutable("data", obj.get("data"), old.get("data"))


STRATEGY = ControllerRevisionStrategy()
