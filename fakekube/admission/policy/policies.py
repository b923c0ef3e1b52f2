"""The policies and bindings that are configured, compiled.

They are read again when one was written; otherwise a write costs one look. A policy without a
binding has no effect. Upstream: plugin/policy/generic/{policy_source,accessor}.go.
"""

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from fakekube.admission.configured import CONFIGURATIONS
from fakekube.admission.expressions import Conditions, Expression
from fakekube.admission.matching import Matcher
from fakekube.admission.services import Services
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.types import Tree
from fakekube.cel import types
from fakekube.cel.admission import Composition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Binding:
    """Where a policy holds, with which parameters, and what follows."""

    def __init__(self, services: Services, tree: Tree) -> None:
        spec = tree["spec"]
        self.name: str = tree["metadata"]["name"]
        self.policy: str = spec.get("policyName", "")
        self.parameters: Tree | None = spec.get("paramRef")
        self.actions: Sequence[str] = spec.get("validationActions") or ()
        resources = spec.get("matchResources")
        self.matcher: Matcher | None = None
        if resources is not None:
            excluded = resources.get("excludeResourceRules") or ()
            self.matcher = Matcher(services, resources, resources.get("resourceRules") or (ALL,), excluded)


ALL: Tree = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*", "*/*"]}
"""The rule of a binding that has none: everything that its policy matches."""


class Policy:
    """What both kinds of policy have.

    ``composes`` says whether there are variables even if none is declared.
    """

    def __init__(self, services: Services, tree: Tree, *, composes: bool) -> None:
        spec = tree["spec"]
        self.name: str = tree["metadata"]["name"]
        self.ignores_failures = spec.get("failurePolicy") == "Ignore"
        self.kind_of_parameters: Tree | None = spec.get("paramKind")
        constraints = spec.get("matchConstraints") or {}
        self.matcher = Matcher(
            services, constraints, constraints.get("resourceRules") or (), constraints.get("excludeResourceRules") or ())
        variables = spec.get("variables") or ()
        self.composition = Composition(
            services.minor, params=self.kind_of_parameters is not None, composes=composes or bool(variables))
        conditions = spec.get("matchConditions") or ()
        plain = Composition(services.minor, params=self.kind_of_parameters is not None, composes=False)
        self.conditions = Conditions(
            plain.within(stored=True), conditions, ignores_failures=self.ignores_failures) if conditions else None
        self.variables: Mapping[str, Expression] = {each.get("name", ""): self._variable(each) for each in variables}

    def _variable(self, tree: Tree) -> Expression:
        expression = Expression(self.composition.within(stored=True), tree.get("expression", ""))
        self.composition.add(tree.get("name", ""), types.DYN if expression.problem else expression.program.type)
        return expression


P = TypeVar("P", bound=Policy)
P_co = TypeVar("P_co", bound=Policy, covariant=True)


class MakePolicy(Protocol[P_co]):
    """Makes a policy of its tree."""

    def __call__(self, services: Services, tree: Tree) -> P_co:
        """The policy."""


class Policies(Generic[P]):
    """All policies of a kind with their bindings, in the order of their names."""

    def __init__(self, services: Services, plural: str, make: MakePolicy[P]) -> None:
        self._services, self._make = services, make
        self._policies = GroupResource(CONFIGURATIONS, plural)
        self._bindings = GroupResource(CONFIGURATIONS, f"{plural.removesuffix('ies')}ybindings")
        self._seen: tuple[object, ...] = ()
        self._found: tuple[tuple[P, tuple[Binding, ...]], ...] = ()

    def now(self) -> tuple[tuple[P, tuple[Binding, ...]], ...]:
        """The policies that have bindings, at this moment."""
        buckets = self._services.buckets
        bindings = buckets.existing(self._bindings)
        if bindings is None or not len(bindings):
            return ()
        policies = buckets.bucket(self._policies)
        seen = policies, policies.changes, bindings, bindings.changes
        if seen != self._seen:
            self._seen = seen
            self._found = tuple(self._read(
                [record.tree() for record in policies.records()], [record.tree() for record in bindings.records()]))
        return self._found

    def _read(self, policies: list[Tree], bindings: list[Tree]) -> list[tuple[P, tuple[Binding, ...]]]:
        made = [Binding(self._services, tree) for tree in bindings]
        found = []
        for tree in policies:
            bound = tuple(binding for binding in made if binding.policy == tree["metadata"]["name"])
            if bound:
                found.append((self._make(self._services, tree), bound))
        return found
