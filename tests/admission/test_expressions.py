"""Conditions, budgets and what expressions see of a write."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.admission.expressions import (
    OUT_OF_BUDGET,
    Activation,
    Budget,
    Composed,
    Conditions,
    Expression,
    Failed,
    OutOfBudget,
    namespace_object,
)
from fakekube.admission.policy.validating import ValidatingPolicy
from fakekube.cel import admission, types
from fakekube.cel.errors import EvaluationError
from tests.admission.world import World, kind
from tests.authentication.conftest import Server

MAPS = kind("", "v1", "configmaps")
WITHIN = admission.environment(37, admission.Seen(), stored=True)


def activation(budget: int = 10_000_000, **options: Any) -> Activation:
    """What expressions see of a new config map with a key ``a``."""
    attrs = World().attributes(MAPS, {"metadata": {"name": "m", "namespace": "t", "uid": "u"}, "data": {"a": "1"}})
    services: Any = Server().plane.apiserver.services
    return Activation(services, attrs, MAPS, final=True, budget=Budget(budget), **options)


def conditions(*texts: str, ignores: bool = False) -> Conditions:
    return Conditions(WITHIN, [{"name": "n", "expression": text} for text in texts], ignores_failures=ignores)


NONE = "expression 'object.data.none == '1'' resulted in error: no such key: none"


@pytest.mark.parametrize(("texts", "ignores", "holds"), [
    ((), False, True), (("true",), False, True), (("true", "object.data.a == '1'"), False, True),
    (("true", "false"), False, False),
    (("object.data.none == '1'",), False, NONE), (("object.data.none == '1'",), True, False),
    (("object.data.none == '1'", "false"), False, False), (("false", "object.data.none == '1'"), False, False),
    (("object.data.none == '1'", "true"), False, NONE),
    (("object.data.none == '1'", "object.data.gone == '1'"), False,
     f"[{NONE}, {NONE.replace('none', 'gone')}]"),
    (("1",), False, "compilation error: must evaluate to bool but got int"),
])
def test_whether_conditions_hold(texts: tuple[str, ...], ignores: bool, holds: bool | str) -> None:
    """Given conditions that hold, do not and have no value / then one that is false decides, else
    what went wrong does, unless that is to be ignored.
    """
    found = conditions(*texts, ignores=ignores)
    if isinstance(holds, bool):
        assert found.hold(activation()) is holds
        return
    with pytest.raises(Failed) as caught:
        found.hold(activation())
    assert str(caught.value) == holds


def test_budgets() -> None:
    """Given a budget / then exactly what is left may be spent, with what variables have cost; a
    condition that costs more fails or is ignored.
    """
    budget = Budget(5)
    budget.spend(2)
    budget.composed = 1
    budget.spend(2)
    assert (budget.left, budget.composed) == (0, 0)
    budget.spend(0)
    with pytest.raises(OutOfBudget, match="running out of cost budget"):
        budget.spend(1)
    assert OUT_OF_BUDGET == "validation failed due to running out of cost budget, no further validation rules will be run"
    with pytest.raises(Failed) as caught:
        conditions("object.data.a == '1'").hold(activation(1))
    assert str(caught.value) == OUT_OF_BUDGET
    assert not conditions("object.data.a == '1'", ignores=True).hold(activation(1))


def test_a_namespace_as_expressions_see_it() -> None:
    """Given a namespace with everything / then owners and managed fields are left out, and times
    are times.
    """
    assert namespace_object(None) is None
    meta: dict[str, Any] = {
        "name": "n", "generateName": "g", "namespace": "x", "uid": "u", "resourceVersion": "1", "generation": 1, "labels": {},
        "annotations": {"a": "b"}, "finalizers": ["f"], "deletionGracePeriodSeconds": 0}
    hidden = {"ownerReferences": [1], "managedFields": [1], "selfLink": "s"}
    times = {"creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-01T00:00:05Z"}
    found = namespace_object({"metadata": {**meta, **hidden, **times}, "spec": {"finalizers": ["k"]},
        "status": {"phase": "Active"}})
    assert found is not None
    shown = found["metadata"]
    begin, end = shown.pop("creationTimestamp"), shown.pop("deletionTimestamp")
    assert (shown, found["spec"], found["status"]) == (meta, {"finalizers": ["k"]}, {"phase": "Active"})
    assert type(begin) is type(end) is not str
    assert begin != end
    assert namespace_object({"metadata": {"name": "n"}}) == {"metadata": {"name": "n"}, "spec": {}, "status": {}}


def test_what_an_activation_has() -> None:
    """Given a write / then its variables are made once and by name, others are not there, and the
    authorizer only where it may be asked.
    """
    made = activation(params={"p": 1}, namespace={"metadata": {"name": "t"}})
    assert made["object"]["data"] == {"a": "1"}
    assert made["oldObject"] is None
    assert made["params"] == {"p": 1}
    assert made["namespaceObject"] == {"metadata": {"name": "t"}, "spec": {}, "status": {}}
    assert made["request"]["operation"] == "CREATE"
    assert made["request"] is made["request"]
    assert sorted(made) == ["namespaceObject", "object", "oldObject", "params", "request"]
    assert len(made) == 5
    with pytest.raises(KeyError):
        made["nothing"]
    with pytest.raises(KeyError):
        activation(authorized=False)["authorizer"]
    made.replaced({"data": {"a": "2"}})
    assert made["object"] == {"data": {"a": "2"}}


def test_variables_are_evaluated_once_and_paid_for() -> None:
    """Given variables / then each is evaluated when it is read, once, and is paid for; one that
    is wrong says how.
    """
    expressions = {
        "good": Expression(WITHIN, "object.data.a + 'x'"), "bad": Expression(WITHIN, "object.data.none"),
        "broken": Expression(WITHIN, "nothing")}
    made = activation(composed=expressions)
    variables = made["variables"]
    assert isinstance(variables, Composed)
    assert "good" in variables
    assert "other" not in variables
    assert variables["good"] == "1x"
    cost = made.budget.composed
    assert cost > 0
    assert (variables["good"], made.budget.composed) == ("1x", cost)
    with pytest.raises(EvaluationError, match=r'^composited variable "bad" fails to evaluate: no such key: none$'):
        variables["bad"]
    with pytest.raises(EvaluationError, match=r'^composited variable "broken" fails to compile: '):
        variables["broken"]
    made.replaced({"data": {"a": "2"}})
    assert made["variables"]["good"] == "2x"


def test_expressions_of_a_type() -> None:
    """Given texts of other types and none that compile / then their value is refused as such."""
    assert Expression(WITHIN, "1 + 1", (types.INT,)).value(activation()) == 2
    with pytest.raises(Failed, match=r"^compilation error: must evaluate to string but got int$"):
        Expression(WITHIN, "1 + 1", (types.STRING,)).value(activation())


def test_what_is_stored_may_use_all_that_the_release_knows() -> None:
    """Given a policy whose expressions call what is new in 1.37, as one has that a later release
    stored / when it is read / then its conditions, variables and validations all have their values.
    """
    new = "[1].includes(1)"
    services: Any = SimpleNamespace(minor=37)
    read = ValidatingPolicy(services, {"metadata": {"name": "p"}, "spec": {
        "matchConditions": [{"name": "c", "expression": new}], "variables": [{"name": "v", "expression": new}],
        "validations": [{"expression": new, "messageExpression": f"string({new})"}],
        "auditAnnotations": [{"key": "k", "valueExpression": f"string({new})"}]}})
    assert read.conditions is not None
    assert read.conditions.hold(activation())
    [validation] = read.validations
    assert validation.message_expression is not None
    expressions = [read.variables["v"], validation.expression, validation.message_expression, read.annotations["k"]]
    assert [expression.problem for expression in expressions] == [""] * 4
