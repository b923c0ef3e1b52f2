"""MutatingAdmissionPolicy: expressions that change what is written.

Each mutation sees what those before it made of the object. A policy that wants it is evaluated once
more in a second round of the whole mutating pass. Upstream: plugin/policy/mutating.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import orjson

from fakekube.admission import versions
from fakekube.admission.expressions import Activation, Budget, Expression, Failed, OutOfBudget
from fakekube.admission.policy import patches
from fakekube.admission.policy.parameters import ConfigurationError, check_kind, parameters
from fakekube.admission.policy.patches import PatchFailed
from fakekube.admission.policy.policies import Binding, Policies, Policy
from fakekube.admission.policy.validating import name_of, namespace_of
from fakekube.admission.services import Services
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.errors import APIError, details_of
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.cel import admission
from fakekube.cel.admission import PATCH_RESULTS
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

Key = tuple[str, str, str, str]
Mutate = Callable[[Services, Attributes, Kind, Expression, Activation], Tree | None]
MUTATE: dict[str, tuple[str, Mutate]] = {
    "ApplyConfiguration": ("applyConfiguration", patches.apply), "JSONPatch": ("jsonPatch", patches.json_patch)}


class Mutation(NamedTuple):
    """One expression, and what makes a change of its value."""

    expression: Expression
    mutate: Mutate


class MutatingPolicy(Policy):
    """A compiled MutatingAdmissionPolicy."""

    def __init__(self, services: Services, tree: Tree) -> None:
        super().__init__(services, tree, composes=True)
        self.reinvocable = tree["spec"].get("reinvocationPolicy") == "IfNeeded"
        within = self.composition.within(stored=True, patches=True)
        self.mutations = []
        for each in tree["spec"].get("mutations") or ():
            kind = each.get("patchType", "")
            name, mutate = MUTATE[kind]
            text = (each.get(name) or {}).get("expression", "").strip()
            self.mutations.append(Mutation(Expression(within, text, (PATCH_RESULTS[kind],)), mutate))


@dataclass(slots=True)
class _Rounds:
    """Which policies were evaluated and may be again, and which are to be."""

    invoked: dict[Key, None] = field(default_factory=dict)
    again: dict[Key, None] = field(default_factory=dict)
    last: Tree | None = None

    def require_invoked(self) -> None:
        """Those before are to be evaluated again."""
        self.again.update(self.invoked)
        self.invoked.clear()


class MutatingPolicies:
    """Evaluates the MutatingAdmissionPolicies that match a write."""

    name = "MutatingAdmissionPolicy"

    def __init__(self, services: Services) -> None:
        """Read configurations from the server."""
        self._services = services
        self._policies = Policies(services, "mutatingadmissionpolicies", MutatingPolicy)

    def admit(self, attrs: Attributes) -> Awaitable[None] | None:
        """Let every policy change the object. Raises APIError when one fails."""
        policies = self._policies.now()
        return _Round(self._services, attrs).run(policies) if policies else None


class _Round:
    """One write under all policies."""

    def __init__(self, services: Services, attrs: Attributes) -> None:
        self._services, self._attrs = services, attrs
        self._problems: list[tuple[MutatingPolicy, str, str, str]] = []

    async def run(self, policies: tuple[tuple[MutatingPolicy, tuple[Binding, ...]], ...]) -> None:
        """Every policy under its bindings. Raises APIError."""
        invocations: list[tuple[MutatingPolicy, Binding, Kind, Tree | None]] = []
        for policy, bindings in policies:
            invocations += await self._invocations(policy, bindings)
        if invocations:
            await self._mutate(invocations)
        told = [(text, reason) for policy, _, text, reason in self._problems if not policy.ignores_failures]
        if told:
            resource = self._attrs.kind.group_resource
            details = details_of(resource.group, resource.resource, name_of(self._attrs))
            raise APIError(403, told[0][1], told[0][0], details | {"causes": [{"message": text} for text, _ in told]})

    async def _invocations(
        self, policy: MutatingPolicy, bindings: tuple[Binding, ...],
    ) -> list[tuple[MutatingPolicy, Binding, Kind, Tree | None]]:
        try:
            kind = policy.matcher.matches(self._attrs)
            if kind is not None:
                check_kind(self._services, policy)
        except (ConfigurationError, APIError) as error:
            self._failed(policy, None, f"failed to configure policy: {error}", "Forbidden")
            return []
        found: list[tuple[MutatingPolicy, Binding, Kind, Tree | None]] = []
        for binding in bindings if kind is not None else ():
            assert kind is not None
            try:
                if binding.matcher is not None and binding.matcher.matches(self._attrs) is None:
                    continue
                if not await self._has_version(policy, kind):
                    continue
                found += [(policy, binding, kind, each) for each in parameters(self._services, policy, binding, self._attrs)]
            except (ConfigurationError, APIError) as error:
                self._failed(policy, binding, f"failed to configure binding: {error}", "Forbidden")
        return found

    async def _has_version(self, policy: MutatingPolicy, kind: Kind) -> bool:
        """Whether the object is there in the version that a policy wants, converted if need be."""
        try:
            await versions.prepare(self._services, self._attrs, kind)
        except APIError as error:
            self._failed(policy, None, f"failed to configure policy: {error}", "Forbidden")
            return False
        return True

    def _failed(self, policy: MutatingPolicy, binding: Binding | None, text: str, reason: str = "Invalid") -> None:
        who = f"policy {go_quote(policy.name)}" if binding is None else f"policy '{policy.name}' with binding '{binding.name}'"
        self._problems.append((policy, binding.name if binding else "", f"{who} denied request: {text}", reason))

    async def _mutate(self, invocations: list[tuple[MutatingPolicy, Binding, Kind, Tree | None]]) -> None:
        attrs = self._attrs
        reinvocation = attrs.reinvocable()
        rounds: _Rounds = reinvocation.states.setdefault(MutatingPolicies.name, _Rounds())
        if reinvocation.again and not same(rounds.last, attrs.obj):
            rounds.require_invoked()
        dirty = False
        for policy, binding, kind, params in invocations:
            meta = (params or {}).get("metadata") or {}
            key = (policy.name, binding.name, meta.get("namespace", ""), meta.get("name", ""))
            await versions.prepare(self._services, attrs, kind)
            if not await self._wanted(policy, binding, kind, params) or (reinvocation.again and key not in rounds.again):
                continue
            before = attrs.obj
            dirty = await self._invoke(policy, binding, kind, params) or dirty
            if not same(before, attrs.obj):
                rounds.require_invoked()
                reinvocation.wanted = True
            if policy.reinvocable:
                rounds.invoked[key] = None
        if dirty:
            rounds.require_invoked()
            reinvocation.wanted = True
        rounds.last = orjson.loads(orjson.dumps(attrs.obj)) if rounds.again or rounds.invoked else None

    async def _wanted(self, policy: MutatingPolicy, binding: Binding, kind: Kind, params: Tree | None) -> bool:
        conditions = policy.conditions
        if conditions is None:
            return True
        try:
            return await self._attrs.ctx.finish(
                lambda: conditions.hold(self._activation(policy, kind, params, admission.CONDITIONS_COST_BUDGET)))
        except Failed as error:
            self._failed(policy, binding, str(error))
            return False

    async def _invoke(self, policy: MutatingPolicy, binding: Binding, kind: Kind, params: Tree | None) -> bool:
        """All mutations of a policy; whether any was applied."""
        attrs, applied = self._attrs, False
        for mutation in policy.mutations:
            if attrs.obj is None:
                return False
            try:
                if mutation.expression.problem:
                    raise Failed(mutation.expression.problem)
                changed = await attrs.ctx.finish(partial(self._mutated, policy, mutation, kind, params))
                if changed is not None:
                    found = versions.decoded(self._services, attrs, changed, kind)
                    attrs.obj = await versions.take_back(self._services, attrs, found, kind)
                    await versions.prepare(self._services, attrs, kind)
            except (Failed, OutOfBudget, PatchFailed) as error:
                self._failed(policy, binding, str(error))
                continue
            applied = True
        return applied

    def _mutated(self, policy: MutatingPolicy, mutation: Mutation, kind: Kind, params: Tree | None) -> Tree | None:
        activation = self._activation(policy, kind, params, admission.COST_BUDGET)
        return mutation.mutate(self._services, self._attrs, kind, mutation.expression, activation)

    def _activation(self, policy: MutatingPolicy, kind: Kind, params: Tree | None, budget: int) -> Activation:
        return Activation(
            self._services, self._attrs, kind, final=False, budget=Budget(budget), params=params,
            namespace=namespace_of(self._attrs), composed=policy.variables)
