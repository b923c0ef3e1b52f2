"""ValidatingAdmissionPolicyBinding: where a policy holds, and what follows when something breaks it."""

from fakekube.apimachinery.field_errors import FieldError, duplicate, index, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apis.admissionregistration.policy import BindingStrategy
from fakekube.registry.strategy import WriteContext
from fakekube.registry.validation import one_of

ACTIONS = ("Audit", "Deny", "Warn")
PATH = "spec.validationActions"


class ValidatingAdmissionPolicyBindingStrategy(BindingStrategy):
    """What is particular to bindings of validating policies."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """What both kinds have; some action at least."""
        missing = [] if obj["spec"].get("validationActions") else [required(PATH)]
        return super().validate(obj, ctx) + missing

    def more_errors(self, spec: Tree) -> list[FieldError]:
        """The actions, each once."""
        found, actions = [], spec.get("validationActions") or []
        for number, action in enumerate(actions):
            found += one_of(index(PATH, number), action, ACTIONS)
            if action in actions[:number]:
                found.append(duplicate(index(PATH, number), action))
        if "Deny" in actions and "Warn" in actions:
            text = (
                "must not contain both Deny and Warn (repeating the same validation failure information in the API "
                "response and headers serves no purpose)")
            found.append(invalid(PATH, actions, text))
        return found


STRATEGY = ValidatingAdmissionPolicyBindingStrategy()
