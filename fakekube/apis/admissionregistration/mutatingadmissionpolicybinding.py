"""MutatingAdmissionPolicyBinding: where a mutating policy holds."""

from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.admissionregistration.policy import BindingStrategy, operation_errors


class MutatingAdmissionPolicyBindingStrategy(BindingStrategy):
    """What is particular to bindings of mutating policies."""

    def more_errors(self, spec: Tree) -> list[FieldError]:
        """The operations."""
        return operation_errors("spec.matchResources", spec.get("matchResources"))


STRATEGY = MutatingAdmissionPolicyBindingStrategy()
