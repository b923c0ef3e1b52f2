"""Requests around custom resources, expressions and identity, and what was found by them."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from fakekube.cel import errors, types
from fakekube.cel.library import kubernetes
from tests.fuzz.blowing import spend
from tests.fuzz.conftest import APPLY, DRY_RUN, JSON, MERGE_PATCH, YAML, Target
from tests.fuzz.customs import COLLECTION, DEFINITIONS, SCHEMAS, CustomBlower, custom, definition, prepare, rule

LOOSE = f"{COLLECTION}/loose"
HUGE = 2**64 - 1


@pytest.fixture(scope="module", params=["AlwaysAllow", "RBAC"])
def customs(request: pytest.FixtureRequest) -> Iterator[Target]:
    """A server with definitions, objects of them, a policy and a role."""
    found = Target(authorization_mode=request.param)
    prepare(found)
    yield found
    found.loop.close()


@pytest.mark.parametrize("nested", ["(" * 150 + "+", "(+" + "(" * 150, "[" * 200 + "1", "{1:" * 200, "-(" * 140 + ")"])
def test_a_broken_rule_that_nests_deep_is_refused(customs: Target, nested: str) -> None:
    """Given a definition whose rule nests deep and is broken / when it is created / then the rule
    is what is wrong.
    """
    tree = definition("made", SCHEMAS["nested"] | {"x-kubernetes-validations": [rule(nested)]})
    assert customs.post(DEFINITIONS, tree, DRY_RUN).status == 422


@pytest.mark.parametrize(("items", "expected"), [([], 201), (None, 201), ([{"type": "string"}], 422), ({}, 422)])
def test_items_that_are_no_schema_are_looked_at(customs: Target, items: Any, expected: int) -> None:
    """Given a definition with a rule around items that are no schema / when it is created / then an
    empty list is as good as none, and others are refused.
    """
    schema = {"type": "object", "items": items, "x-kubernetes-validations": [rule("true")]}
    tree = definition("made", {"type": "object", "properties": {"a": schema}})
    assert customs.post(DEFINITIONS, tree, DRY_RUN).status == expected


@pytest.mark.parametrize(("sent", "stored"), [(str(HUGE), 1.8446744073709552e19), ("9223372036854775808", 9223372036854775808),
    ("-9223372036854775809", -9223372036854775808), ("123456789012345678901", 1.2345678901234568e20)])  # fmt: skip
def test_a_number_beyond_64_bits_is_kept_as_go_keeps_it(customs: Target, sent: str, stored: Any) -> None:
    """Given a custom object that may hold anything / when it holds a number that int64 does not /
    then it is a float, written in every way.
    """
    tree = custom("loose", "kept")
    tree["spec"]["any"] = {"n": 0}
    body = orjson.dumps(tree).replace(b'{"n":0}', b'{"n":' + sent.encode() + b"}")
    for method, path, media, query in (
        ("POST", LOOSE, JSON, {}), ("POST", LOOSE, YAML, {}), ("PATCH", f"{LOOSE}/kept", MERGE_PATCH, {}),
        ("PATCH", f"{LOOSE}/kept", APPLY, {"fieldManager": "m", "force": "true"}),
    ):  # fmt: skip
        written = body.replace(b'"name":"kept"', b'"name":"x"') if method == "POST" else body
        answer = customs.send(method, path, written, media, query={**query, **DRY_RUN})
        assert answer.status in (200, 201), answer.body
        kept = orjson.loads(answer.body)["spec"]["any"]["n"]
        assert float(kept) == float(stored), media


@pytest.mark.parametrize("text", [
    "n.all(a, n.all(b, 'a'.find('\\\\pL{20}' + string(a) + 'b' + string(b)) == ''))",
    "n.all(a, n.all(b, !'a'.matches('(a{900}){1}' + string(a) + 'b' + string(b))))",
    "n.all(a, n.all(b, !dyn('a').matches('(a{900}){1}' + string(a) + 'b' + string(b))))",
    "n.all(a, n.all(b, 'a'.findAll('x' + string(a) + 'b' + string(b)).size() == 0))",
    "n.all(a, '%s'.format([n]) != '')",
    "n.all(a, dyn('%s').format([n]) != '')",
    "('a' + s).findAll('a(.*z)?').size() > 0",
])  # fmt: skip
def test_regular_expressions_that_differ_each_time_are_work(text: str) -> None:
    """Given an expression that makes thousands of regular expressions, or one that looks at all
    that follows for each part, or formats long lists / when it runs / then it ends early.
    """
    environment = kubernetes.environment(37).extended({"n": types.list_of(types.INT), "s": types.STRING})
    with pytest.raises(errors.CostExceeded):
        environment.compile(text).evaluate({"n": list(range(2_000)), "s": "a" * 200_000}, cost_limit=1_000_000)


def test_a_regular_expression_is_made_ready_once() -> None:
    """Given one expression for many texts, known only when it runs / when it is searched for / then
    that is no more work than its cost says.
    """
    environment = kubernetes.environment(37).extended({"n": types.list_of(types.INT), "p": types.STRING})
    assert environment.compile("n.all(a, 'xab'.matches(p))").evaluate({"n": list(range(20_000)), "p": "a(b|c)"}) is True


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("headers", [{}, {"impersonate-user": "limited"}], ids=["administrator", "limited user"])
def test_every_request_stays_within_its_budget(customs: Target, headers: dict[str, str]) -> None:
    """Given definitions, objects, expressions, policies, roles and reviews, each changed anywhere /
    when they are sent / then none breaks a promise, and none costs more CPU time than its bytes
    allow.
    """
    blower = CustomBlower(1, headers)
    bad = [spent for _ in range(5_000) if (spent := spend(customs, blower.next())).why or spent.over_budget]
    assert not bad, [(spent.sent.method, spent.sent.path, spent.sent.size, spent.cpu_seconds, spent.why) for spent in bad]
