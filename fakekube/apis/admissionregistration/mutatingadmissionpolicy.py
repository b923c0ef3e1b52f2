"""MutatingAdmissionPolicy: expressions that change what is written.

Upstream: pkg/apis/admissionregistration/validation.
"""

from fakekube.apimachinery.field_errors import FieldError, child, index, invalid, not_supported, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of
from fakekube.apis.admissionregistration.expressions import Expressions, before_of
from fakekube.apis.admissionregistration.policy import PolicyStrategy, operation_errors
from fakekube.apis.admissionregistration.rules import REINVOCATION_POLICIES
from fakekube.registry.strategy import WriteContext

PATCH_TYPES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}


class MutatingAdmissionPolicyStrategy(PolicyStrategy):
    """What is particular to mutating policies."""

    def new_status(self, obj: Tree, ctx: WriteContext) -> None:
        """It has none."""
        return

    def constraint_errors(self, constraints: Tree | None) -> list[FieldError]:
        """The operations."""
        return operation_errors("spec.matchConstraints", constraints)

    def errors(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
        """What both kinds have, then the mutations."""
        spec = obj["spec"]
        expressions = Expressions(ctx.minor, params="paramKind" in spec, composes=True, before=before_of(old))
        found = self.head_errors(spec, expressions)
        found += self.variable_errors(spec, expressions)
        mutations = spec.get("mutations") or []
        if not mutations:
            found.append(required("spec.mutations", "mutations must contain at least one item"))
        for number, mutation in enumerate(mutations):
            found += _mutation(index("spec.mutations", number), mutation, expressions)
        policy = spec.get("reinvocationPolicy", "")
        if not policy:
            return [*found, required("spec.reinvocationPolicy")]
        return found + one_of("spec.reinvocationPolicy", policy, REINVOCATION_POLICIES)


def _mutation(path: str, mutation: Tree, expressions: Expressions) -> list[FieldError]:
    kind = mutation.get("patchType", "")
    if not kind:
        return [required(child(path, "patchType"))]
    if kind not in PATCH_TYPES:
        return [not_supported(child(path, "patchType"), kind, PATCH_TYPES)]
    wanted = PATCH_TYPES[kind]
    other = next(name for name in PATCH_TYPES.values() if name != wanted)
    found: list[FieldError] = []
    if wanted not in mutation:
        found.append(required(child(path, wanted), f"must be specified when patchType is {kind}"))
    elif not (mutation[wanted].get("expression") or "").strip():
        found.append(required(child(path, wanted, "expression")))
    else:
        from fakekube.cel.admission import PATCH_RESULTS

        text = mutation[wanted]["expression"].strip()
        found += expressions.check(child(path, wanted, "expression"), text, (PATCH_RESULTS[kind],), patches=True)
    if other in mutation:
        text = f"must not be specified when patchType is {kind}"
        found.append(invalid(child(path, other), f"{{{other}}}", text))
    return found


STRATEGY = MutatingAdmissionPolicyStrategy()
