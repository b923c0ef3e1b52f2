"""What a strategy plans: a pure function of the calm run and the seed."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apiserver.filters import LogEntry
from fakekube.exploration.campaign import by_strategies
from fakekube.exploration.draws import Draws
from fakekube.exploration.strategies import (
    STRATEGIES,
    Calm,
    StrategyError,
    Target,
    deviations_of,
    plan_of,
    strategies_of,
)
from fakekube.faults.rules import rule_of
from fakekube.util.choices import Choices, schedule_of

OPERATOR = Target("web", ("web-operator",), component="web")


def entry(verb, resource, code=200, agent="web-operator"):
    return LogEntry(0.0, verb, f"/api/v1/{resource}", "", resource, "", "default", "a", "somebody", agent, code, 0.0,
                    conditional=verb == "update")


def calm(*own, others=(), target=OPERATOR):
    return Calm(target, (*own, *others), tuple(own))


ENTRIES = st.builds(
    entry, st.sampled_from(["get", "list", "watch", "create", "update", "patch", "delete"]),
    st.sampled_from(["pods", "configmaps", "events"]), st.sampled_from([200, 409, 404]))


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(own=st.lists(ENTRIES, max_size=20), seed=st.integers(0, 10_000), component=st.sampled_from(["", "web"]))
def test_a_plan_follows_from_the_calm_run_and_the_seed(strategy, own, seed, component):
    """Given any calm run, when a plan is drawn twice, then both are equal, have few faults of the
    operator alone, which need not be met, and come back from the text of a schedule.
    """
    run = calm(*own, target=OPERATOR._replace(component=component))
    plan = plan_of(strategy, run, seed)
    assert plan == plan_of(strategy, run, seed)
    assert len(plan) <= 3
    assert len({rule.name for rule in plan}) == len(plan)
    assert all(rule.optional for rule in plan)
    assert all(rule.user_agents == ("web-operator",) for rule in plan if not rule.crash)
    assert component or not any(rule.crash for rule in plan)
    texts = Choices.of(schedule_of(seed, deviations_of(plan))).planned_faults
    assert [rule_of(orjson.loads(text)) for text in texts] == plan


@pytest.mark.parametrize("strategy", ["intermediate-states", "ambiguous-writes", "conflicts"])
@given(own=st.lists(ENTRIES, max_size=20), seed=st.integers(0, 10_000))
def test_faults_of_writes_name_one_that_was_taken(strategy, own, seed):
    """Given any calm run, then a plan names writes that the server took, and no Event."""
    matching = [
        one for one in own if one.conditional or (strategy != "conflicts" and one.verb in ("create", "patch", "delete"))]
    for rule in plan_of(strategy, calm(*own), seed):
        (number,) = rule.nth
        found = matching[number - 1]
        assert found.code == 200
        assert found.resource != "events"


def test_a_seed_comes_to_every_write():
    """Given an operator with five writes, when seeds draw crashes, then each is met by some."""
    run = calm(*(entry("create", "pods") for _ in range(5)))
    met = {number for seed in range(60) for rule in plan_of("intermediate-states", run, seed) for number in rule.nth}
    assert met == {1, 2, 3, 4, 5}


WATCHED = ("pods", "secrets", "configmaps")


@pytest.mark.parametrize("strategy", ["unobserved-states", "slow-deliveries", "duplicate-deliveries"])
def test_two_hundred_seeds_come_to_each_of_fifty_events(strategy):
    """Given an operator that watches three resources with fifty events each, when two hundred seeds
    draw faults of watches, then each event of each is the first that is met by some.
    """
    watches = [entry("watch", resource) for resource in WATCHED]
    others = [entry("update", resource, agent="user") for _ in range(50) for resource in WATCHED]
    run = calm(*watches, others=others)
    met = {(rule.resources, rule.events) for seed in range(1, 201) for rule in plan_of(strategy, run, seed)}
    assert met >= {((resource,), number) for number in range(1, 51) for resource in WATCHED}


@pytest.mark.parametrize("component", ["", "web"])
def test_as_many_seeds_come_to_each_state(component):
    """Given an operator that saw fifty states, when fifty seeds draw what it sees again, then each
    is seen by some.
    """
    run = calm(entry("watch", "pods"), others=[entry("update", "pods", agent="user") for _ in range(50)],
               target=OPERATOR._replace(component=component))
    behind = [rule.behind for seed in range(50) for rule in plan_of("stale-states", run, seed) if rule.stale]
    assert {*behind} >= {*range(1, 50)}


def test_seeds_come_to_each_write_of_each_operator():
    """Given two operators with ten updates each, when twenty-four seeds take turns, then each
    update of each meets a conflict.
    """
    runs = [calm(*(entry("update", "pods", agent=name) for _ in range(10)), target=Target(name, (name,), component=name))
            for name in ("a", "b")]
    plans = by_strategies(["conflicts"], range(1, 25))(runs)
    assert {(rule.user_agents, rule.nth) for _, plan in plans for rule in plan} == {
        ((name,), (number,)) for name in ("a", "b") for number in range(1, 11)}


@given(count=st.integers(1, 300), first=st.integers(0, 10**9), name=st.text(max_size=5))
def test_as_many_seeds_as_there_are_come_to_each(count, first, name):
    """Given any number of possibilities and any first seed, then so many seeds draw each once, each
    alone until it was drawn before.
    """
    drawn = [Draws(first + number, name).in_turn(count) for number in range(count)]
    assert {one.place for several in drawn for one in several} == {*range(count)}
    assert all(len(several) <= 3 for several in drawn)
    assert all(len(Draws(seed, name).in_turn(count)) == 1 for seed in range(count))


def test_who_does_nothing_has_nothing_go_wrong():
    """Given an operator that asked nothing, then no strategy has a plan for it."""
    assert not any(plan_of(name, calm(), seed) for name in STRATEGIES for seed in range(20))


def test_names_of_strategies():
    """Given texts, then they name strategies, once each; or it is said which there are."""
    assert strategies_of("stale-states, conflicts,stale-states") == ("stale-states", "conflicts")
    assert strategies_of(["conflicts"]) == ("conflicts",)
    assert strategies_of("all") == tuple(STRATEGIES)
    with pytest.raises(StrategyError, match="'stale' is no strategy: known are intermediate-states, stale-states, "):
        strategies_of("stale")
