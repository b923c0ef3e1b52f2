"""Expressions of match conditions and policies, evaluated for one write.

Upstream: apiserver/pkg/admission/plugin/cel/{activation,composition,condition}.go and
plugin/webhook/matchconditions.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fakekube.admission.requests import described
from fakekube.admission.services import Services
from fakekube.admission.versions import shown
from fakekube.apimachinery.field_errors import aggregate, go_quote
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Access
from fakekube.cel import admission, types
from fakekube.cel.admission import Refused
from fakekube.cel.environment import Environment
from fakekube.cel.errors import CostExceeded, EvaluationError
from fakekube.cel.library import authorizer
from fakekube.cel.library.authorizer import Attributes as Asked
from fakekube.cel.library.authorizer import Decision
from fakekube.cel.standard.times import parse_timestamp
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind
from fakekube.util.turns import Turn

OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class Failed(Exception):
    """An expression has no value for this write; the text is upstream's."""


class OutOfBudget(Exception):
    """The expressions of a policy cost too much together."""

    def __init__(self) -> None:
        super().__init__(OUT_OF_BUDGET)


class Budget:
    """What expressions may cost yet; ``composed`` is what variables have cost meanwhile."""

    def __init__(self, left: int) -> None:
        self.left, self.composed = left, 0

    def spend(self, cost: int) -> None:
        """Take from it. Raises OutOfBudget."""
        cost += self.composed
        self.composed = 0
        if cost > self.left:
            raise OutOfBudget
        self.left -= cost


class Expression:
    """A compiled text, or the reason why it is none."""

    def __init__(self, within: Environment, text: str, results: Sequence[types.Type] = (types.ANY,)) -> None:
        self.text, self.problem = text, ""
        try:
            self.program = admission.compiled(within, text, results)
        except Refused as error:
            self.problem = str(error)

    def value(self, activation: "Activation") -> Any:
        """Its value for a write. Raises Failed, OutOfBudget; TakesLong in the first turn."""
        if self.problem:
            raise Failed(f"compilation error: {self.problem}")
        budget = activation.budget
        try:
            value, cost = self.program.run(activation, admission.CALL_COST_LIMIT, activation.turn)
        except CostExceeded as error:
            budget.spend(admission.CALL_COST_LIMIT)
            raise Failed(f"expression '{self.text}' resulted in error: {error}") from None
        except EvaluationError as error:
            budget.spend(0)
            raise Failed(f"expression '{self.text}' resulted in error: {error}") from None
        budget.spend(cost)
        return value


class Activation(Mapping[str, Any]):
    """The variables that expressions see for one write, each made when it is first asked for.

    ``final`` says that the write has passed mutating admission. ``params`` is the parameter of a
    policy, ``namespace`` what is shown as ``namespaceObject``, ``composed`` a policy's variables.
    """

    def __init__(
        self, services: Services, attrs: Attributes, kind: Kind, *, final: bool, budget: Budget, params: Tree | None = None,
        namespace: Tree | None = None, composed: Mapping[str, Expression] | None = None, authorized: bool = True,
    ) -> None:
        self._services, self._attrs, self._kind, self._final = services, attrs, kind, final
        self._composed, self._authorized, self._params, self._namespace = composed, authorized, params, namespace
        self.budget = budget
        self._made: dict[str, Any] = {}

    @property
    def turn(self) -> Turn:
        """The turn of the write's expressions."""
        return self._attrs.ctx.turn

    def replaced(self, obj: Tree) -> None:
        """Show another object from now on, and evaluate variables anew."""
        self._made.pop("variables", None)
        self._made["object"] = obj

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Any:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def _make(self, name: str) -> Any:
        attrs = self._attrs
        if name == "object":
            return shown(self._services, attrs, attrs.obj, self._kind, final=self._final)
        if name == "oldObject":
            return shown(self._services, attrs, attrs.old, self._kind, final=self._final)
        if name == "request":
            return described(attrs, self._kind)
        if name == "params":
            return self._params
        if name == "namespaceObject":
            return namespace_object(self._namespace)
        if name == "variables":
            return Composed(self._composed or {}, self)
        if name in ("authorizer", "authorizer.requestResource") and self._authorized:
            return self._authorizer(name)
        raise KeyError(name)

    def _authorizer(self, name: str) -> Any:
        attrs, port = self._attrs, _Port(self._services, self._attrs.ctx.user)
        if name == "authorizer":
            return authorizer.Authorizer(port)
        return authorizer.resource_check(
            port, group=attrs.kind.group, resource=attrs.kind.plural, subresource=attrs.subresource, namespace=attrs.namespace,
            name=attrs.name)


class Composed(dict[str, Any]):
    """A policy's variables as an object whose fields are evaluated when they are first read."""

    def __init__(self, expressions: Mapping[str, Expression], activation: Activation) -> None:
        super().__init__()
        self._expressions, self._activation = expressions, activation

    def __contains__(self, name: object) -> bool:
        return name in self._expressions

    def __missing__(self, name: str) -> Any:
        expression = self._expressions[name]
        if expression.problem:
            raise EvaluationError(f"composited variable {go_quote(name)} fails to compile: {expression.problem}")
        try:
            value, cost = self._activation.turn.within(
                lambda turn: expression.program.run(self._activation, admission.CALL_COST_LIMIT, turn))
        except (CostExceeded, EvaluationError) as error:
            raise EvaluationError(f"composited variable {go_quote(name)} fails to evaluate: {error}") from None
        self._activation.budget.composed += cost
        self[name] = value
        return value


class _Port:
    """The Authorizer of the server as expressions ask it, for one user."""

    def __init__(self, services: Services, user: Any) -> None:
        self._services, self._user = services, user

    def decide(self, asked: Asked) -> Decision:
        """What the server's authorizer decides."""
        access = Access(
            asked.verb, group=asked.group, resource=asked.resource, subresource=asked.subresource, namespace=asked.namespace,
            name=asked.name, path=asked.path, field_selector=asked.field_selector, label_selector=asked.label_selector)
        if asked.resource:
            access = access._replace(version="*")
        decision = self._services.authorizer.decide(self._user, access)
        return Decision(decision.allowed, decision.reason)

    def service_account(self, namespace: str, name: str) -> "_Port":
        """The same for a service account."""
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
        return _Port(self._services, type(self._user)(f"system:serviceaccount:{namespace}:{name}", groups))


_SHOWN_METADATA = (
    "name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds", "labels", "annotations", "finalizers")


def namespace_object(tree: Tree | None) -> Tree | None:
    """A Namespace as expressions see it: without owners and managed fields."""
    if tree is None:
        return None
    meta = {name: value for name, value in tree["metadata"].items() if name in _SHOWN_METADATA}
    for name in ("creationTimestamp", "deletionTimestamp"):
        if name in meta:
            meta[name] = parse_timestamp(meta[name])
    return {"metadata": meta, "spec": tree.get("spec") or {}, "status": tree.get("status") or {}}


class Conditions:
    """Match conditions: all must hold.

    ``conditions`` are those of a configuration; ``within`` compiles them.
    """

    def __init__(self, within: Environment, conditions: Iterable[Tree], *, ignores_failures: bool) -> None:
        self._expressions = [Expression(within, each.get("expression", ""), (types.BOOL,)) for each in conditions]
        self._ignores_failures = ignores_failures

    def hold(self, activation: Activation) -> bool:
        """Whether they hold. Raises Failed when one has no value, none is false, and failures are
        not ignored.
        """
        problems: list[str] = []
        try:
            for expression in self._expressions:
                try:
                    if expression.value(activation) is False:
                        return False
                except Failed as error:
                    problems.append(str(error))
        except OutOfBudget as error:
            problems = [str(error)]
        if problems and not self._ignores_failures:
            raise Failed(aggregate(problems))
        return not problems
