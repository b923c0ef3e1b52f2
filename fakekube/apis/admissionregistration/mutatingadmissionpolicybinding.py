"""MutatingAdmissionPolicyBinding: where a mutating policy holds."""

from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.admissionregistration.policy import BindingStrategy, operation_errors
from fakekube.registry.strategy import WriteContext


class MutatingAdmissionPolicyBindingStrategy(BindingStrategy):
    """What is particular to bindings of mutating policies."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """What both kinds have, and the operations."""
        found = super().validate(obj, ctx)
        return found + operation_errors("spec.matchResources", obj["spec"].get("matchResources"))


STRATEGY = MutatingAdmissionPolicyBindingStrategy()
