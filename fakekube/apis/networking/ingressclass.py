"""IngressClass: which controller looks after an Ingress.

Upstream: pkg/apis/networking/v1/defaults.go, pkg/apis/networking/validation.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, declared, forbidden, not_supported, required, too_long
from fakekube.apimachinery.field_names import domain_prefixed_path
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import immutable
from fakekube.apis.checks import ruled
from fakekube.apis.networking.ingress import reference
from fakekube.registry.strategy import Strategy, WriteContext

MAX_CONTROLLER_LENGTH = 250
SCOPES = ("Cluster", "Namespace")


class IngressClassStrategy(Strategy):
    """What is particular to IngressClasses."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Parameters are cluster-scoped unless they say otherwise."""
        parameters = (obj.get("spec") or {}).get("parameters")
        if parameters is not None and parameters.get("scope") is None:
            parameters["scope"] = "Cluster"

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The controller's name, and where its parameters are."""
        spec = obj.get("spec") or {}
        controller = spec.get("controller", "")
        found = [too_long("spec.controller", MAX_CONTROLLER_LENGTH)] if len(controller) > MAX_CONTROLLER_LENGTH else []
        found += domain_prefixed_path("spec.controller", controller)
        parameters = spec.get("parameters")
        return found if parameters is None else found + _parameters(parameters)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the controller stays."""
        new, before = (obj.get("spec") or {}).get("controller", ""), (old.get("spec") or {}).get("controller", "")
        return immutable("spec.controller", new, before) + self.validate(obj, ctx)


def _parameters(parameters: Tree) -> list[FieldError]:
    path = "spec.parameters"
    missing = [required(f"{path}.{name}") for name in ("kind", "name")]
    found = [declared(error) if error in missing else error for error in reference(path, parameters)]
    scope, namespace = parameters.get("scope", ""), parameters.get("namespace")
    if scope not in SCOPES:
        found.append(not_supported(f"{path}.scope", scope, SCOPES))
    elif scope == "Cluster" and namespace is not None:
        found.append(forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    elif scope == "Namespace" and namespace is None:
        found.append(required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif namespace is not None:
        found += ruled(f"{path}.namespace", namespace, names.dns1123_label)
    return found


STRATEGY = IngressClassStrategy()
