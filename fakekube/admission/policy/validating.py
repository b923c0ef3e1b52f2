"""ValidatingAdmissionPolicy: expressions that must hold for a write to pass.

All policies that match are evaluated, under all of their bindings and parameters; the first denial
is the answer. Upstream: plugin/policy/validating.
"""

from collections.abc import Awaitable, Iterator
from functools import partial
from typing import NamedTuple

import orjson

from fakekube.admission import versions
from fakekube.admission.expressions import Activation, Budget, Expression, Failed, OutOfBudget
from fakekube.admission.matching import is_namespace
from fakekube.admission.policy.parameters import ConfigurationError, check_kind, parameters
from fakekube.admission.policy.policies import Binding, Policies, Policy
from fakekube.admission.services import Services
from fakekube.apimachinery.errors import APIError, details_of
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json, Tree
from fakekube.cel import admission, types
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
FAILURES, MAX_FAILURES = "validation.policy.admission.k8s.io/validation_failure", 50
MAX_MESSAGE_BYTES, MAX_ANNOTATION_BYTES = 5 * 1024, 10 * 1024


class Validation(NamedTuple):
    """One expression that must hold, and what is said when it does not."""

    expression: Expression
    message_expression: Expression | None
    message: str
    reason: str


class Decision(NamedTuple):
    """One denial: the number of the validation, its message and its reason."""

    number: int
    message: str
    reason: str = ""


class ValidatingPolicy(Policy):
    """A compiled ValidatingAdmissionPolicy."""

    def __init__(self, services: Services, tree: Tree) -> None:
        super().__init__(services, tree, composes=False)
        within = self.composition.within(stored=True)
        messages = self.composition.within(stored=True, authorized=False)
        self.validations = [
            Validation(
                Expression(within, each.get("expression", ""), (types.BOOL,)),
                Expression(messages, each["messageExpression"], (types.STRING,)) if each.get("messageExpression") else None,
                each.get("message", ""), each.get("reason") or "Invalid")
            for each in tree["spec"].get("validations") or ()]
        self.annotations = {
            each.get("key", ""): Expression(within, each.get("valueExpression", "").strip(), (types.STRING, types.NULL))
            for each in tree["spec"].get("auditAnnotations") or ()}


class ValidatingPolicies:
    """Evaluates the ValidatingAdmissionPolicies that match a write."""

    def __init__(self, services: Services) -> None:
        """Read configurations from the server."""
        self._services = services
        self._policies = Policies(services, "validatingadmissionpolicies", ValidatingPolicy)

    def validate(self, attrs: Attributes) -> Awaitable[None] | None:
        """Evaluate every policy. Raises APIError of the first denial."""
        policies = self._policies.now()
        return _Round(self._services, attrs).run(policies) if policies else None


class _Round:
    """One write under all policies."""

    def __init__(self, services: Services, attrs: Attributes) -> None:
        self._services, self._attrs = services, attrs
        self._denials: list[tuple[str, str, Decision]] = []
        self._failures: list[Tree] = []

    async def run(self, policies: tuple[tuple[ValidatingPolicy, tuple[Binding, ...]], ...]) -> None:
        for policy, bindings in policies:
            try:
                kind = policy.matcher.matches(self._attrs)
                if kind is not None:
                    check_kind(self._services, policy)
            except (ConfigurationError, APIError) as error:
                self._misconfigured(policy, None, f"failed to configure policy: {error}")
                continue
            if kind is None:
                continue
            annotations: dict[str, list[str]] = {}
            for binding in bindings:
                await self._bound(policy, binding, kind, annotations)
            for key, texts in annotations.items():
                self._attrs.ctx.annotate(f"{policy.name}/{key}", ", ".join(texts))
        if self._failures:
            self._attrs.ctx.annotate(FAILURES, orjson.dumps(self._failures[:MAX_FAILURES]).decode())
        if self._denials:
            raise _denied(self._attrs, *self._denials[0])

    def _misconfigured(self, policy: ValidatingPolicy, binding: Binding | None, message: str) -> None:
        if not policy.ignores_failures:
            self._denials.append((policy.name, binding.name if binding is not None else "", Decision(0, message)))

    async def _bound(
        self, policy: ValidatingPolicy, binding: Binding, kind: Kind, annotations: dict[str, list[str]],
    ) -> None:
        try:
            if binding.matcher is not None and binding.matcher.matches(self._attrs) is None:
                return
            found = parameters(self._services, policy, binding, self._attrs)
        except (ConfigurationError, APIError) as error:
            self._misconfigured(policy, binding, f"failed to configure binding: {error}")
            return
        try:
            await versions.prepare(self._services, self._attrs, kind)
        except APIError as error:
            self._misconfigured(policy, binding, f"failed to convert object version: {error}")
            return
        for each in found:
            decisions, problems = await self._attrs.ctx.finish(partial(self._evaluate, policy, kind, each, annotations))
            for decision in decisions:
                self._act(policy, binding, decision)
            self._denials += [(policy.name, binding.name, Decision(0, text)) for text in problems]

    def _act(self, policy: ValidatingPolicy, binding: Binding, decision: Decision) -> None:
        for action in binding.actions:
            if action == "Deny":
                self._denials.append((policy.name, binding.name, decision))
            elif action == "Audit":
                self._failures.append({
                    "message": decision.message, "policy": policy.name, "binding": binding.name,
                    "expressionIndex": decision.number, "validationActions": list(binding.actions)})
            else:
                self._attrs.ctx.warn(
                    f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}': "
                    f"{decision.message}")

    def _evaluate(
        self, policy: ValidatingPolicy, kind: Kind, params: Tree | None, annotations: dict[str, list[str]],
    ) -> tuple[list[Decision], list[str]]:
        """The denials of one policy for one parameter, and the audit annotations that failed."""
        def failed(text: str) -> list[Decision]:
            return [] if policy.ignores_failures else [Decision(0, text)]

        try:
            if policy.conditions is not None:
                conditions = self._activation(policy, kind, params, admission.CONDITIONS_COST_BUDGET)
                if not policy.conditions.hold(conditions):
                    return [], []
            activation = self._activation(policy, kind, params, admission.COST_BUDGET)
            decisions = list(self._decisions(policy, activation))
            plain = self._activation(policy, kind, params, admission.COST_BUDGET)
            return decisions, self._annotate(policy, plain, annotations)
        except (Failed, OutOfBudget) as error:
            return failed(str(error)), []

    def _activation(self, policy: ValidatingPolicy, kind: Kind, params: Tree | None, budget: int) -> Activation:
        return Activation(
            self._services, self._attrs, kind, final=True, budget=Budget(budget), params=params,
            namespace=namespace_of(self._attrs), composed=policy.variables)

    @staticmethod
    def _decisions(policy: ValidatingPolicy, activation: Activation) -> Iterator[Decision]:
        outcomes: list[bool | Failed] = []
        for each in policy.validations:
            try:
                outcomes.append(each.expression.value(activation) is True)
            except Failed as error:
                outcomes.append(error)
        for number, (validation, outcome) in enumerate(zip(policy.validations, outcomes, strict=True)):
            if isinstance(outcome, Failed):
                if not policy.ignores_failures:
                    yield Decision(number, str(outcome))
            elif not outcome:
                yield Decision(number, _message(validation, activation), validation.reason)

    @staticmethod
    def _annotate(policy: ValidatingPolicy, activation: Activation, annotations: dict[str, list[str]]) -> list[str]:
        """Collect audit annotations; what is wrong with those that cannot be."""
        problems = []
        for key, expression in policy.annotations.items():
            try:
                value = expression.value(activation)
            except Failed as error:
                if not policy.ignores_failures:
                    problems.append(str(error))
                continue
            text = value.strip()[:MAX_ANNOTATION_BYTES] if isinstance(value, str) else ""
            if text and text not in annotations.setdefault(key, []):
                annotations[key].append(text)
        return problems


def namespace_of(attrs: Attributes) -> Tree | None:
    """The namespace of what is written; None where it is in none."""
    if not attrs.namespace or is_namespace(attrs.kind):
        return None
    return attrs.ctx.cluster.lookup("", "namespaces", "", attrs.namespace)


def _message(validation: Validation, activation: Activation) -> str:
    text = ""
    if validation.message_expression is not None:
        try:
            value: Json = validation.message_expression.value(activation)
        except Failed:
            value = None
        text = value.strip() if isinstance(value, str) else ""
        if "\n" in text or len(text.encode()) > MAX_MESSAGE_BYTES:
            text = ""
    return text or validation.message.strip() or f"failed expression: {validation.expression.text.strip()}"


def _denied(attrs: Attributes, policy: str, binding: str, decision: Decision) -> APIError:
    where = f" with binding '{binding}'" if binding else ""
    text = f"ValidatingAdmissionPolicy '{policy}'{where} denied request: {decision.message}"
    reason, resource = decision.reason or "Invalid", attrs.kind.group_resource
    name = name_of(attrs)
    details = details_of(resource.group, resource.resource, name) | {"causes": [{"message": text}]}
    return APIError(CODES.get(reason, 422), reason, f"{resource} {go_quote(name)} is forbidden: {text}", details)


def name_of(attrs: Attributes) -> str:
    """The name that a refusal tells: a generated one is not known yet."""
    meta = (attrs.obj or {}).get("metadata") or {}
    return attrs.name or meta.get("name") or meta.get("generateName") or "Unknown"
