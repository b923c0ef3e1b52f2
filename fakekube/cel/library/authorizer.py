"""What somebody may do: ``authorizer.group('').resource('pods').check('create').allowed()``.

Who decides is handed in: the value of the variable ``authorizer`` is made of a port. Upstream:
apiserver/pkg/cel/library/authz.go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from fakekube.apimachinery import names
from fakekube.cel import costs, types, values
from fakekube.cel.errors import EvaluationError, no_such_overload
from fakekube.cel.functions import Function, Node, Sizes, function, member
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing

AUTHORIZER_TYPE = types.object_type("kubernetes.authorization.Authorizer", {})
PATH_CHECK_TYPE = types.object_type("kubernetes.authorization.PathCheck", {})
GROUP_CHECK_TYPE = types.object_type("kubernetes.authorization.GroupCheck", {})
RESOURCE_CHECK_TYPE = types.object_type("kubernetes.authorization.ResourceCheck", {})
DECISION_TYPE = types.object_type("kubernetes.authorization.Decision", {})

CHECK_COST = 350_000
"""So much that an expression can afford two checks."""

_REQUIREMENT_COST = float(costs.CREATE_LIST + costs.CREATE_STRUCT)
_REQUIREMENTS_PER_LETTER = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What the port says, and the value of ``check(...)``: allowed or not, why, what went wrong."""

    cel_type: ClassVar[types.Type] = DECISION_TYPE
    allowed: bool
    reason: str = ""
    error: str = ""

    def __eq__(self, other: object) -> bool:
        return _incomparable()

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is asked: a verb on a path, or on a resource if ``path`` is empty.

    The selectors are texts as the expression has them, empty without one.
    """

    verb: str
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""


class Port(Protocol):
    """Who decides what one user may do."""

    def decide(self, attributes: Attributes) -> Decision:
        """The decision on what is asked."""

    def service_account(self, namespace: str, name: str) -> "Port":
        """The same for a service account."""


@dataclass(frozen=True, slots=True, eq=False)
class Authorizer:
    """The value of the variable ``authorizer``."""

    cel_type: ClassVar[types.Type] = AUTHORIZER_TYPE
    port: Port

    def __eq__(self, other: object) -> bool:
        return _incomparable()

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A question that lacks its verb; ``cel_type`` tells paths, groups and resources apart."""

    cel_type: types.Type
    port: Port
    attributes: Attributes

    def __eq__(self, other: object) -> bool:
        return _incomparable()

    __hash__ = None  # type: ignore[assignment]


def _incomparable() -> bool:
    raise no_such_overload()


def resource_check(port: Port, *, group: str, resource: str, subresource: str, namespace: str, name: str) -> Check:
    """The value of the variable ``authorizer.requestResource``: one of the request itself.
    """
    asked = Attributes("", group=group, resource=resource, subresource=subresource, namespace=namespace, name=name)
    return Check(RESOURCE_CHECK_TYPE, port, asked)


def library() -> Library:
    """The functions, since 1.27."""
    text = types.STRING
    check: dict[str, Any] = {"cost": _check_cost, "estimate": _estimate_check}
    return Library("authorizer", (
        _step("path", "authorizer_path", [AUTHORIZER_TYPE, text], PATH_CHECK_TYPE, path),
        _step("group", "authorizer_group", [AUTHORIZER_TYPE, text], GROUP_CHECK_TYPE, group),
        _step("serviceAccount", "authorizer_serviceaccount", [AUTHORIZER_TYPE, text, text], AUTHORIZER_TYPE, service_account),
        _step("resource", "groupcheck_resource", [GROUP_CHECK_TYPE, text], RESOURCE_CHECK_TYPE, resource),
        *(_narrowing(name, f"resourcecheck_{name}", name) for name in ("subresource", "namespace", "name")),
        function(
            "check",
            member("pathcheck_check", [PATH_CHECK_TYPE, text], DECISION_TYPE, decide, **check),
            member("resourcecheck_check", [RESOURCE_CHECK_TYPE, text], DECISION_TYPE, decide, **check),
        ),
        _step("errored", "decision_errored", [DECISION_TYPE], types.BOOL, lambda decision: bool(decision.error)),
        _step("error", "decision_error", [DECISION_TYPE], text, lambda decision: decision.error),
        _step("allowed", "decision_allowed", [DECISION_TYPE], types.BOOL, lambda decision: decision.allowed),
        _step("reason", "decision_reason", [DECISION_TYPE], text, lambda decision: decision.reason),
    ))


def selectors_library() -> Library:
    """The functions that narrow a check by selectors, since 1.31."""
    arguments = [RESOURCE_CHECK_TYPE, types.STRING]
    cost: dict[str, Any] = {"cost": _selector_cost, "estimate": _estimate_selector}
    return Library("authorizer selectors", (
        function("fieldSelector", member(
            "authorizer_fieldselector", arguments, RESOURCE_CHECK_TYPE, _narrow("field_selector"), **cost)),
        function("labelSelector", member(
            "authorizer_labelselector", arguments, RESOURCE_CHECK_TYPE, _narrow("label_selector"), **cost)),
    ))


def _step(
    name: str, overload_id: str, arguments: Sequence[types.Type], result: types.Type, implementation: Callable[..., Any],
) -> Function:
    return function(name, member(
        overload_id, arguments, result, implementation, cost=costing.nominal_cost, estimate=costing.nominal))


def _narrowing(name: str, overload_id: str, attribute: str) -> Function:
    return _step(name, overload_id, [RESOURCE_CHECK_TYPE, types.STRING], RESOURCE_CHECK_TYPE, _narrow(attribute))


def _narrow(attribute: str) -> Callable[[Check, str], Check]:
    return lambda check, value: replace(check, attributes=replace(check.attributes, **{attribute: value}))


def path(authorizer: Authorizer, asked: str) -> Check:
    """A check of a path that is no resource."""
    if not asked.strip():
        raise EvaluationError("path must not be empty")
    return Check(PATH_CHECK_TYPE, authorizer.port, Attributes("", path=asked))


def group(authorizer: Authorizer, name: str) -> Check:
    """A check of resources of an API group."""
    return Check(GROUP_CHECK_TYPE, authorizer.port, Attributes("", group=name))


def resource(check: Check, name: str) -> Check:
    """A check of a resource of the group."""
    if not name.strip():
        raise EvaluationError("resource must not be empty")
    return replace(check, cel_type=RESOURCE_CHECK_TYPE, attributes=replace(check.attributes, resource=name))


def service_account(authorizer: Authorizer, namespace: str, name: str) -> Authorizer:
    """Checks of what a service account may do."""
    if names.dns1123_subdomain(name):
        raise EvaluationError("Invalid service account name")
    if names.dns1123_label(namespace):
        raise EvaluationError("Invalid service account namespace")
    return Authorizer(authorizer.port.service_account(namespace, name))


def decide(check: Check, verb: str) -> Decision:
    """What the port says of the verb."""
    return check.port.decide(replace(check.attributes, verb=verb))


def _check_cost(_arguments: Sequence[Any], _result: Any) -> int:
    return CHECK_COST


def _estimate_check(_sizes: Sizes, _receiver: Node | None, _arguments: Sequence[Node]) -> costs.CallEstimate:
    return costs.CallEstimate(costs.fixed(CHECK_COST))


def _selector_cost(arguments: Sequence[Any], _result: Any) -> int:
    return _of_selector(costs.fixed_size(values.size(arguments[1]))).max


def _estimate_selector(sizes: Sizes, _receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate:
    return costs.CallEstimate(_of_selector(sizes.size(arguments[0])))


def _of_selector(size: costs.SizeEstimate) -> costs.CostEstimate:
    requirements = size.cost(_REQUIREMENTS_PER_LETTER).scaled(_REQUIREMENT_COST)
    return costs.fixed(costs.CREATE_LIST).plus(size.cost(costing.FACTOR)).plus(requirements)
