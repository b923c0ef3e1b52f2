"""What a plan may say, and what is said of one that makes no sense."""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.composition.clusterfaults import read
from fakekube.composition.options import OptionError
from fakekube.faults.globs import Globs
from fakekube.faults.plan import FaultNeverMet
from fakekube.faults.rules import AMBIGUOUS, DOES, VERBS, FaultError, json_schema, rule_of, rules_of
from tests.faults.asking import ask, create

NONSENSE = [
    ({}, "a rule does one thing: say one of error, latency, cut, watch, stale, compact, lose_lease, crash, webhook"),
    ({"error": "Conflict", "latency": "1s"}, f"a rule does one thing: say one of {', '.join(DOES)}, not error and latency"),
    ({"error": "Conflict", "verb": "get"}, "verb: there is no such field: did you mean verbs?"),
    ({"error": "Conflict", "verbs": "put"}, f"verbs: 'put' is no verb: known are {', '.join(VERBS)}, read and write"),
    ({"error": "Conflict", "nth": 1, "every": 2}, "nth and every contradict each other: say one of them"),
    ({"error": "Conflict", "after": "10s", "until": "5s"},
     "until (5 s) is not later than after (10 s): no request could meet it"),
    ({"error": "EtcdNoSpace", "moment": "after"},
     f"no control plane answers EtcdNoSpace to what it has committed: {', '.join(AMBIGUOUS)} are possible"),
    ({"cut": "before", "moment": "after"}, "moment is of error, latency and crash, not of cut"),
    ({"watch": "end", "verbs": "list"},
     "a fault of watches meets no request whose verb is another: leave verbs out, or say watch"),
    ({"watch": "late"}, "watch: late needs lasting, how late each event comes"),
    ({"watch": "no-bookmarks", "lasting": "1s"}, "lasting is of watch, but not of watch: no-bookmarks, and of behind"),
    ({"latency": "1s", "events": 2}, "events is of watch"),
    ({"stale": True, "verbs": "create"}, "a stale answer is one to get, list or watch: verbs has none of them"),
    ({"error": "Conflict", "message": "no"}, "message is what an InternalError says"),
    ({"latency": "1s", "retryAfterSeconds": 1}, "retryAfterSeconds is of an error"),
    ({"latency": "soon"}, "latency: 'soon' is no duration: say 1h30m, 90s or 500ms"),
    ({"latency": "1" * 400 + "s"}, "latency: so long a time cannot be counted"),
    ({"error": "Conflict", "probability": 2}, "probability: input should be less than or equal to 1"),
    ({"error": "Conflict", "nth": 0}, "nth.0: input should be greater than or equal to 1"),
    ({"error": "Conflict", "labels": "a in"}, "labels: unable to parse requirement"),
    ({"error": "Nope"}, "error: input should be 'TooManyRequests'"),
]


@pytest.mark.parametrize(("values", "said"), NONSENSE)
def test_a_rule_that_makes_no_sense(values: dict[str, Any], said: str) -> None:
    """Given a rule that nothing could meet or that contradicts itself / when it is read / then one
    sentence says what is wrong with it.
    """
    with pytest.raises(FaultError) as caught:
        rule_of(values)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_names_of_python_and_of_files_are_both_read() -> None:
    """Given the names of fields in both spellings, one text and a list / when they are read / then
    they are the same rule.
    """
    assert rule_of({"userAgents": "kopf*, kubectl", "error": "Timeout", "retryAfterSeconds": 3}) == rule_of(
        {"user_agents": ["kopf*", "kubectl"], "error": "Timeout", "retry_after_seconds": 3})
    assert rule_of({"nth": 2, "compact": True}).nth == (2,)
    assert rule_of({"latency": 1.5}).latency == rule_of({"latency": "1500ms"}).latency == 1.5


def test_plans_in_three_forms() -> None:
    """Given a mapping, a list and one rule / when they are read / then they give the same rules;
    two of one name, and what is no rule, are refused with their place.
    """
    rule = {"name": "a", "compact": True}
    assert rules_of({"kind": "FaultPlan", "faults": [rule]}) == rules_of([rule]) == rules_of(rule) == [rule_of(rule)]
    assert rules_of(None) == rules_of({"faults": []}) == []
    with pytest.raises(FaultError, match=r"^faults: two are called 'a'$"):
        rules_of([rule, rule])
    with pytest.raises(FaultError, match=r"^faults\.1: 'x' is no rule$"):
        rules_of([rule, "x"])
    with pytest.raises(FaultError, match=r"^faults\.0: a rule does one thing"):
        rules_of([{}])
    with pytest.raises(FaultError, match=r"^faults\.0\.nam: there is no such field: did you mean name"):
        rules_of({"faults": [{"nam": "x", "compact": True}]})
    with pytest.raises(FaultError, match="int is no plan"):
        rules_of(3)


def test_a_file_with_a_plan(tmp_path: Any) -> None:
    """Given files with plans / when the option names them / then they are read, and one that is
    none is refused with its name.
    """
    file = tmp_path / "plan.yaml"
    file.write_text("faults:\n- {resources: jobs/status, error: EtcdTimeout, nth: [1, 3]}\n")
    [rule] = read(str(file))
    assert (rule.resources, rule.error, rule.nth) == (("jobs/status",), "EtcdTimeout", (1, 3))
    file.write_text("faults:\n- {error: Sometimes}\n")
    with pytest.raises(OptionError, match=rf"^faults: {file}:2: faults\.0\.error: input should be"):
        read(str(file))
    with pytest.raises(OptionError, match=r"^faults: .*nothing.yaml"):
        read(str(tmp_path / "nothing.yaml"))


def test_the_schema_knows_every_field() -> None:
    """Given the JSON schema of a plan / when its fields are compared with what rules read / then
    they are the same, each with a sentence.
    """
    properties = json_schema()["$defs"]["Rule"]["properties"]
    assert {"userAgents", "loseLease", "retryAfterSeconds", "verbs"} <= set(properties)
    assert all(one.get("description") for one in properties.values())


HUGE = [
    {"crash": "nobody"}, {"names": "*" * 1025, "compact": True}, {"probability": float("nan"), "compact": True},
    {"after": 1e300, "compact": True}, {"latency": 10**400}, {"times": 10**400, "until": "-1s", "compact": True},
    {"name": "\ud800", "compact": True}, {"error": "InternalError", "message": "\ud800"},
    {"nth": [], "every": 0, "compact": True},
]


@pytest.mark.parametrize("values", HUGE)
async def test_values_that_no_cluster_can_take(values: dict[str, Any]) -> None:
    """Given a rule with a value that is none / when it is added / then it is refused in a sentence,
    and requests go on.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        with pytest.raises(FaultError) as caught:
            cluster.faults.add(**values)
        assert str(caught.value)
        assert (len(cluster.faults), (await create(cluster, "a")).status) == (0, 201)


async def test_a_name_that_a_plan_takes_is_not_given_again() -> None:
    """Given a plan in which one is called as nameless ones are / when it is added / then all are at
    work.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        rules = [{"compact": True, "optional": True}, {"name": "fault-2", "compact": True, "optional": True}]
        cluster.faults.add_all(rules_of([*rules, {"cut": "after", "optional": True}]))
        assert sorted(fault.name for fault in cluster.faults) == ["fault-2", "fault-3", "fault-4"]


async def test_only_the_fault_that_answers_is_met() -> None:
    """Given two faults for one request, the first of which answers it / when it comes / then the
    second has not been met, and a test that asked for it fails.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        cluster.faults.add(error="EtcdTimeout", verbs="create", name="first")
        second = cluster.faults.add(latency="1s", verbs="create", name="second")
        assert (await create(cluster, "a")).status == 500
        assert [entry.fault for entry in cluster.apiserver.log][-1] == "first"
        with pytest.raises(FaultNeverMet, match="fault second"):
            second.check()
        second.remove()


@pytest.mark.parametrize("rule", [
    {"error": "Conflict"}, {"error": "EtcdNoSpace"}, {"error": "StorageInitializing"}, {"crash": "job"}, {"compact": True},
    {"lose_lease": True}])
async def test_what_has_no_objects_meets_no_fault_of_objects(rule: dict[str, Any]) -> None:
    """Given a fault that happens to objects / when a path without objects is asked for / then it is
    answered as ever.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        fault = cluster.faults.add(**rule, optional=True)
        assert (await ask(cluster, "GET", "/version")).status == 200
        assert fault.met == 0


async def test_patterns_stand_for_what_the_page_says() -> None:
    """Given patterns with stars, question marks, brackets and letters of any language / when they
    are compared / then only stars and question marks stand for something.
    """
    fit = [("*", ""), ("a*c", "abbc"), ("a?c", "a\u00e9c"), ("x[1]*", "x[1]2"), ("*\U0001f600", "a\U0001f600"), ("a.c", "a.c"),
           ("*", "\udc80"), ("a\n*", "a\nb")]
    others = [("a*c", "abbd"), ("a?c", "ac"), ("x[1]*", "x12"), ("a.*", "abc"), ("a", "A"), ("*b", "b\n")]
    assert all(Globs((pattern,)).fit(text) for pattern, text in fit)
    assert not any(Globs((pattern,)).fit(text) for pattern, text in others)


async def test_a_thousand_rules_hold_nobody_up() -> None:
    """Given a plan of a thousand rules with patterns that take long to try one by one / when
    it is added and requests come / then the request is answered.
    """
    rules = [{"name": f"r{number}", "names": "a*" * 20 + f"b{number}", "cut": "before", "optional": True}
             for number in range(1_000)]
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        cluster.faults.add_all(rules_of({"faults": rules}))
        assert (await create(cluster, "a" * 200)).status == 201
