"""ValidatingAdmissionPolicyBinding: where a policy holds, and what follows when something breaks
it.
"""

from fakekube.apimachinery.field_errors import FieldError, declared, duplicate, index, invalid, repetitions, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of
from fakekube.apis.admissionregistration.policy import BindingStrategy

ACTIONS = ("Audit", "Deny", "Warn")
PATH = "spec.validationActions"


class ValidatingAdmissionPolicyBindingStrategy(BindingStrategy):
    """What is particular to bindings of validating policies."""

    unnamed = declared(required("spec.policyName"))

    def more_errors(self, spec: Tree) -> list[FieldError]:
        """The actions, one at least, and each once."""
        actions = spec.get("validationActions") or []
        found: list[FieldError] = []
        repeated = repetitions(actions)
        for number, action in enumerate(actions):
            found += one_of(index(PATH, number), action, ACTIONS)
            if number in repeated:
                found.append(duplicate(index(PATH, number), action))
        if "Deny" in actions and "Warn" in actions:
            text = (
                "must not contain both Deny and Warn (repeating the same validation failure information in the API "
                "response and headers serves no purpose)")
            found.append(invalid(PATH, actions, text))
        if not actions:
            found.append(declared(required(PATH), required(PATH, "at least one validation action is required")))
        return found


STRATEGY = ValidatingAdmissionPolicyBindingStrategy()
