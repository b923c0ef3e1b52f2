"""Warnings of expressions that fit no type of what a policy matches."""

from collections.abc import Callable

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.composition.controlplane import expression_warnings
from tests.authentication.conftest import Server


@pytest.fixture(scope="module")
def check() -> Callable[[Tree], list[Tree]]:
    return expression_warnings(Server().plane.apiserver)


def rule(*resources: str, groups: tuple[str, ...] = ("apps",), versions: tuple[str, ...] = ("v1",)) -> Tree:
    return {"apiGroups": list(groups), "apiVersions": list(versions), "operations": ["*"], "resources": list(resources)}


def policy(*validations: Tree, rules: tuple[Tree, ...] = (rule("deployments"),), **spec: object) -> Tree:
    return {"spec": {"matchConstraints": {"resourceRules": list(rules)}, "validations": list(validations), **spec}}


def told(warnings: list[Tree]) -> list[tuple[str, list[str]]]:
    """Where a warning is, and of which kinds."""
    return [
        (each["fieldRef"], [line.partition(", Kind=")[2].partition(":")[0] for line in each["warning"].split(
            "\n") if "Kind=" in line])
        for each in warnings]


def test_a_whole_warning(check: Callable[[Tree], list[Tree]]) -> None:
    """Given fields that there are not, in an expression and in a message, and what fits, when types
    are checked, then each that does not fit is told by its place, with the kind.
    """
    found = check(policy(
        {"expression": "object.spec.replicas > 1"}, {"expression": "object.foo == 1", "messageExpression": "'x'"},
        {"expression": "true", "messageExpression": "oldObject.bar"}))
    assert found == [
        {"fieldRef": "spec.validations[1].expression", "warning": (
            "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'foo'\n | object.foo == 1\n | ......^\n")},
        {"fieldRef": "spec.validations[2].messageExpression", "warning": (
            "apps/v1, Kind=Deployment: ERROR: <input>:1:10: undefined field 'bar'\n | oldObject.bar\n | .........^\n")}]


BAD = {"expression": "object.nothing == 1"}
PLURALS = (
    "daemonsets", "deployments", "replicasets", "statefulsets", "controllerrevisions", "jobs", "cronjobs")


@pytest.mark.parametrize(("rules", "kinds"), [
    ((rule("deployments"),), ["Deployment"]), ((rule("Deployments", "deployment"),), ["Deployment"]),
    ((rule("deployments/scale"),), []),
    ((rule("*"),), []), ((rule("deployments", "*/*"),), ["Deployment"]), ((rule("deployments", groups=("*",)),), []),
    ((rule("deployments", versions=("*",)),), []), ((rule("deployments", versions=("v2",)),), []),
    ((rule("statefulsets", "daemonsets"), rule("jobs", groups=("batch",))), ["DaemonSet", "StatefulSet", "Job"]),
    ((rule("deployments", groups=("*", "apps")),), []), ((rule("deployments", versions=("*", "v1")),), []),
    ((rule("pods", "deployments", groups=("", "apps")),), ["Pod", "Deployment"]),
    ((rule("jobs", groups=("",)),), ["Job"]), ((rule("nothing"),), []), ((), []),
])
def test_which_kinds_are_looked_at(check: Callable[[Tree], list[Tree]], rules: tuple[Tree, ...], kinds: list[str]) -> None:
    """Given rules, when an expression fits no kind, then the kinds that they name without wildcards
    are told, by group, version and kind.
    """
    assert told(check(policy(BAD, rules=rules))) == ([("spec.validations[0].expression", kinds)] if kinds else [])
    assert check({"spec": {"validations": [BAD]}}) == []


def test_ten_kinds_at_most(check: Callable[[Tree], list[Tree]]) -> None:
    """Given a rule that names more than ten kinds, when types are checked, then ten are looked at,
    and no rule after it.
    """
    core = (
        "configmaps", "endpoints", "events", "limitranges", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes",
        "pods",
        "secrets", "services")
    found = told(check(policy(BAD, rules=(rule(*core, groups=("",)), rule("deployments")))))
    assert len(found[0][1]) == 10
    assert "Deployment" not in found[0][1]
    found = told(check(policy(BAD, rules=(rule("pods", "nodes", groups=("",)), rule("deployments")))))
    assert found[0][1] == ["Node", "Pod", "Deployment"]


@pytest.mark.parametrize(("spec", "expression", "fits"), [
    ({}, "params.data.x == 'y'", False),
    ({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}, "params.data.x == 'y'", True),
    ({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}, "params.nothing == 1", False),
    ({"paramKind": {"apiVersion": "apps/v1", "kind": "Deployment"}}, "params.spec.replicas == 1", True),
    ({"paramKind": {"apiVersion": "apps/v1", "kind": "Deployment"}}, "params.spec.replicas == 'x'", False),
    ({"paramKind": {"apiVersion": "no.example/v1", "kind": "No"}}, "params.anything == 1", True),
    ({"variables": [{"name": "n", "expression": "object.spec.replicas"}]}, "variables.n > 1", True),
    ({"variables": [{"name": "n", "expression": "object.spec.replicas"}]}, "variables.n == 'x'", False),
    ({"variables": [{"name": "n", "expression": "object.nothing"}]}, "variables.n == 'x'", True),
    ({"variables": [{"name": "n", "expression": "1"}, {"name": "m", "expression": "string(variables.n)"}]}, "variables.m == 1",
        False),
    ({"variables": [{"name": "n", "expression": "1"}]}, "variables.other == 1", False),
    ({}, "request.operation == 'CREATE' && namespaceObject.metadata.name == 'x'", True),
    ({}, "authorizer.group('').resource('pods').check('get').allowed()", True), ({}, "1 / 0 == 1 || true", True),
])
def test_what_expressions_may_use(check: Callable[[Tree], list[Tree]], spec: Tree, expression: str, fits: bool) -> None:
    """Given parameters, variables and the request, when an expression uses them, then it fits or is
    told.
    """
    assert told(check(policy({"expression": expression}, **spec))) == (
        [] if fits else [("spec.validations[0].expression", ["Deployment"])])
