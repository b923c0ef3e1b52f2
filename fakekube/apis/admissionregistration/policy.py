"""Admission policies and their bindings: what both the validating and the mutating kind have.

Upstream: pkg/apis/admissionregistration/validation.
"""

import re
from abc import ABC, abstractmethod

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import (
    FieldError,
    child,
    forbidden,
    index,
    invalid,
    not_supported,
    required,
)
from fakekube.apimachinery.gvk import split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import label_selector, one_of
from fakekube.apis.admissionregistration.expressions import Expressions
from fakekube.apis.admissionregistration.rules import (
    FAILURE_POLICIES,
    condition_errors,
    default_match,
    match_errors,
)
from fakekube.apis.base import StatusStrategy
from fakekube.apis.checks import ruled
from fakekube.registry.strategy import Strategy, WriteContext

IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")


class PolicyStrategy(StatusStrategy, ABC):
    """What both kinds of policy default to."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Refuse when in doubt, and match as webhooks do."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("failurePolicy", "Fail")
        if "matchConstraints" in spec:
            default_match(spec["matchConstraints"])

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """A new policy."""
        return self.errors(obj, None, ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """The same for a changed one; expressions that were there may stay."""
        return self.errors(obj, old, ctx)

    @abstractmethod
    def errors(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[FieldError]:
        """What is particular to a kind of policy."""

    def constraint_errors(self, constraints: Tree | None) -> list[FieldError]:
        """What else is wrong with what the policy matches."""
        return []

    def head_errors(self, spec: Tree, expressions: Expressions) -> list[FieldError]:
        """Policy, parameters, constraints, conditions and variables: what both kinds have in front.
        """
        found = one_of("spec.failurePolicy", spec["failurePolicy"], FAILURE_POLICIES)
        if "paramKind" in spec:
            found += _param_kind("spec.paramKind", spec["paramKind"])
        constraints = spec.get("matchConstraints")
        if constraints is None:
            found.append(required("spec.matchConstraints"))
        else:
            found += match_errors("spec.matchConstraints", constraints)
            if not constraints.get("resourceRules"):
                found.append(required("spec.matchConstraints.resourceRules"))
        found += self.constraint_errors(constraints)
        found += condition_errors("spec.matchConditions", spec.get("matchConditions") or [], expressions)
        return found

    def variable_errors(self, spec: Tree, expressions: Expressions) -> list[FieldError]:
        """Names of variables are identifiers; each says something."""
        found: list[FieldError] = []
        for number, variable in enumerate(spec.get("variables") or ()):
            path, name = index("spec.variables", number), variable.get("name", "")
            if not name.strip():
                found.append(required(child(path, "name"), "name is not specified"))
            elif not IDENTIFIER.fullmatch(name):
                found.append(invalid(child(path, "name"), name, "must be a valid CEL identifier"))
            if not variable.get("expression", "").strip():
                found.append(required(child(path, "expression"), "expression is not specified"))
            else:
                found += expressions.variable(child(path, "expression"), name, variable["expression"])
        return found


class BindingStrategy(Strategy, ABC):
    """What both kinds of binding have."""

    unnamed = required("spec.policyName")

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """What a binding matches besides is matched as webhooks do."""
        resources = obj.setdefault("spec", {}).get("matchResources")
        if resources is not None:
            default_match(resources)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """The policy, its parameters and what is matched."""
        spec = obj["spec"]
        name = spec.get("policyName", "")
        found = ruled("spec.policyName", name, names.dns1123_subdomain) if name else [self.unnamed]
        if "paramRef" in spec:
            found += _param_ref("spec.paramRef", spec["paramRef"])
        if "matchResources" in spec:
            found += match_errors("spec.matchResources", spec["matchResources"])
        return found + self.more_errors(spec)

    @abstractmethod
    def more_errors(self, spec: Tree) -> list[FieldError]:
        """What is particular to a kind of binding."""


def _param_kind(path: str, kind: Tree) -> list[FieldError]:
    text, name = kind.get("apiVersion", ""), kind.get("kind", "")
    found: list[FieldError] = []
    if not text:
        found.append(required(child(path, "apiVersion")))
    else:
        try:
            group, version = split_api_version(text)
        except ValueError as error:
            found.append(invalid(child(path, "apiVersion"), text, str(error)))
        else:
            if group and (texts := names.dns1123_subdomain(group)):
                found.append(invalid(child(path, "apiVersion"), group, ",".join(texts)))
            if not version:
                found.append(invalid(child(path, "apiVersion"), text, "version must be specified"))
            elif texts := names.dns1035_label(version):
                found.append(invalid(child(path, "apiVersion"), version, ",".join(texts)))
    if not name:
        found.append(required(child(path, "kind")))
    elif texts := names.dns1035_label(name.lower()):
        why = "may have mixed case, but should otherwise match: " + ",".join(texts)
        found.append(invalid(child(path, "kind"), name, why))
    return found


def _param_ref(path: str, reference: Tree) -> list[FieldError]:
    name, selector = reference.get("name", ""), reference.get("selector")
    action, both = reference.get("parameterNotFoundAction"), "name and selector are mutually exclusive"
    found: list[FieldError] = []
    if name:
        found += ruled(child(path, "name"), name, names.path_segment)
        if selector is not None:
            found.append(forbidden(child(path, "name"), both))
    if selector is not None:
        found += label_selector(selector, child(path, "selector"))
        if name:
            found.append(forbidden(child(path, "selector"), both))
    if not name and selector is None:
        found.append(required(path, "one of name or selector must be specified"))
    if not action:
        found.append(required(child(path, "parameterNotFoundAction")))
    elif action not in ("Deny", "Allow"):
        found.append(not_supported(child(path, "parameterNotFoundAction"), action, ("Deny", "Allow")))
    return found


def operation_errors(path: str, match: Tree | None) -> list[FieldError]:
    """A mutating policy cannot change what is deleted."""
    found: list[FieldError] = []
    for rule in (match or {}).get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            found += one_of(f"{path}.resourceRules.operations", operation, MUTATING_OPERATIONS)
    return found
