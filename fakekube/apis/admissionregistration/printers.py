"""How webhook configurations, admission policies and their bindings print."""

from fakekube.apimachinery import labels
from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, UNSET, column, count, dig, table


def _param_kind(obj: Tree) -> str:
    kind = dig(obj, "spec", "paramKind")
    return UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


def _param_ref(obj: Tree) -> str:
    """Whether parameters are cluster-scoped cannot be told from here, so that * stands for an
    absent namespace.
    """
    ref = dig(obj, "spec", "paramRef")
    if ref is None:
        return UNSET
    if ref.get("name"):
        return f"{ref.get('namespace') or '*'}/{ref['name']}"
    return UNSET if ref.get("selector") is None else labels.go_text(ref["selector"])


WEBHOOK_CONFIGURATION = table(NAME, column("Webhooks:integer", count("webhooks")), AGE)
VALIDATING_POLICY = table(
    NAME, column("Validations:integer", count("spec.validations")), column("ParamKind", _param_kind), AGE
)
MUTATING_POLICY = table(
    NAME, column("Mutations:integer", count("spec.mutations")), column("ParamKind", _param_kind), AGE
)
POLICY_BINDING = table(NAME, column("PolicyName", "spec.policyName"), column("ParamRef", _param_ref), AGE)
