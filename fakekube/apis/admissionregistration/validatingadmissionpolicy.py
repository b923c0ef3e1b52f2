"""ValidatingAdmissionPolicy: expressions that must hold for a write to pass.

Upstream: pkg/apis/admissionregistration/validation. Left out: the form of the warnings that a check
of types puts into the status.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, child, duplicate, index, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import conditions, one_of
from fakekube.apis.admissionregistration.expressions import Expressions, before_of
from fakekube.apis.admissionregistration.policy import PolicyStrategy
from fakekube.apis.checks import ruled
from fakekube.registry.strategy import WriteContext

REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
NOTHING = "validations or auditAnnotations must contain at least one item"
NOT_EMPTY = "must be non-empty if specified"
MAX_ANNOTATIONS, MAX_VALUE_BYTES = 20, 5 * 1024


class ValidatingAdmissionPolicyStrategy(PolicyStrategy):
    """What is particular to validating policies."""

    def errors(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
        """What both kinds have, then validations and annotations."""
        spec = obj["spec"]
        expressions = Expressions(
            ctx.minor, params="paramKind" in spec, composes=bool(spec.get("variables")), before=before_of(old))
        found = self.head_errors(spec, expressions) + self.variable_errors(spec, expressions)
        validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
        if not validations and not annotations:
            return [*found, required("spec.validations", NOTHING), required("spec.auditAnnotations", NOTHING)]
        for number, validation in enumerate(validations):
            found += _validation(index("spec.validations", number), validation, expressions)
        return found + _annotations("spec.auditAnnotations", annotations, obj["metadata"].get("name", ""), expressions)

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The conditions."""
        return conditions((obj.get("status") or {}).get("conditions") or [], "status.conditions")


def _validation(path: str, validation: Tree, expressions: Expressions) -> list[FieldError]:
    from fakekube.cel import types

    found: list[FieldError] = []
    if not validation.get("expression", "").strip():
        found.append(required(child(path, "expression"), "expression is not specified"))
    else:
        found += expressions.check(child(path, "expression"), validation["expression"], (types.BOOL,))
    for name in ("messageExpression", "message"):
        text = validation.get(name, "")
        if text and not text.strip():
            found.append(invalid(child(path, name), text, NOT_EMPTY))
        elif text and name == "messageExpression":
            found += expressions.check(child(path, name), text, (types.STRING,), authorized=False)
        elif name == "message" and "\n" in text.strip():
            found.append(invalid(child(path, name), text, "must not contain line breaks"))
    if "reason" in validation:
        found += one_of(child(path, "reason"), validation["reason"], REASONS)
    return found


def _annotations(path: str, annotations: list[Tree], name: str, expressions: Expressions) -> list[FieldError]:
    from fakekube.cel import types

    found: list[FieldError] = []
    if len(annotations) > MAX_ANNOTATIONS:
        text = f"must not have more than {MAX_ANNOTATIONS} auditAnnotations"
        found.append(invalid(path, annotations, text))
    seen: set[str] = set()
    for number, annotation in enumerate(annotations):
        where, key = index(path, number), annotation.get("key", "")
        found += ruled(child(where, "key"), f"{name}/{key}", names.qualified_name)
        value = annotation.get("valueExpression", "").strip()
        if not value:
            found.append(required(child(where, "valueExpression"), "valueExpression is not specified"))
        elif len(value.encode()) > MAX_VALUE_BYTES:
            text = f"must not exceed {MAX_VALUE_BYTES} bytes in length"
            found.append(required(child(where, "valueExpression"), text))
        else:
            path_of = child(where, "valueExpression")
            found += expressions.check(
                path_of, annotation["valueExpression"], (types.STRING, types.NULL), compiled=value)
        if key in seen:
            found.append(duplicate(child(where, "key"), key))
        seen.add(key)
    return found


STRATEGY = ValidatingAdmissionPolicyStrategy()
