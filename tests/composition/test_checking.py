"""Claims that are checked while a test runs: where they raise, what they cost, what is refused."""

import asyncio
import json
import logging
import re
import urllib.request
from contextlib import contextmanager

import pytest

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, JOBS, PODS, Resource
from fakekube.composition.fleet import Fleet
from fakekube.runtime import controller
from fakekube.testing import (
    Always,
    BackgroundCluster,
    Eventually,
    HistoryError,
    LeadsTo,
    Never,
    Until,
    always,
    checking,
    never,
    run_until,
    runningclaims,
    until,
)
from fakekube.testing.runningclaims import ClaimError
from fakekube.util import answering
from tests.composition.test_temporal import CONTROLLERS, complete, failed, job, running


@contextmanager
def broken(text: str):
    """A claim is broken in the block, and this is said of it."""
    with pytest.raises(HistoryError, match=text) as caught:
        yield caught


BEGAN = 1767225600.0  # 2026-01-01T00:00:00Z


def config_map(name: str, **data: str):
    return {"metadata": {"name": name, "namespace": "default"}, "data": data}


@pytest.mark.parametrize(("claim", "text", "seconds"), [
    (Never(failed), r"failed .* was true at \+31s \(version \d+\)", 31),
    (Always(lambda state: not failed(state)), r"was not true at \+31s", 31),
    (Never(lambda pod: pod["status"].get("phase") == "Failed", each=PODS), r"was true of pods default/j-\w+ at \+31s", 31),
    (Always(lambda pod: pod["status"].get("phase") != "Failed", each=PODS), r"was not true of pods default/j-\w+ at", 31),
    (Eventually(complete, within="40s"), r"complete .* was never true within 0:00:40", 40),
    (Until(lambda state: not failed(state), complete), r"was not true until complete .*, which had not come at \+31s", 31),
    (Until(lambda _: True, complete, within=5), r"complete .*, until which .* was to be true, never came within 0:00:05", 5),
    (LeadsTo(failed, complete, within="10s"), r"failed .* came true at \+31s .*complete .* did not follow within", 41),
])
async def test_the_running_call_raises_at_the_first_state_that_breaks_a_claim(claim, text: str, seconds: int) -> None:
    """Given a Job that fails once, when ten minutes are to pass, then a claim that it breaks is
    raised by that call, and time stands where it came about; and again at the end of the block.
    """
    async with Cluster(nodes=1, clock="manual", controllers=CONTROLLERS) as cluster:
        with broken(text), checking(cluster, claim):
            await cluster.client.create(JOBS, job("j"))
            with broken(text) as caught:
                await cluster.advance("10m")
            assert cluster.clock.time() == pytest.approx(BEGAN + seconds)
        assert caught.value.broken.claim is claim
        await cluster.advance("10m")


async def test_claims_that_hold_change_nothing() -> None:
    """Given a Job's run, when claims look on that are true of it, then it writes what it writes
    without them, at the same times.
    """
    told = []
    for claims in (), (
            Never(lambda state: len(state.list(PODS)) > 2), Eventually(complete, within="2m"), LeadsTo(failed, complete, "5m"),
            Until(lambda state: not complete(state), complete, "1h"), Always(lambda state: state.revision > 0)):
        async with Cluster(nodes=1, clock="manual", controllers=CONTROLLERS) as cluster:
            with checking(cluster, *claims):
                await cluster.client.create(JOBS, job("j"))
                await cluster.run_until(lambda cluster=cluster: cluster.clock.time() > BEGAN + 300, within="10m")
            told.append([(one.event.record.data, one.time) for one in runningclaims.History.of(cluster).changes])
    assert told[0] == told[1]


@pytest.mark.parametrize(("claim", "text"), [
    (Eventually(complete, within="1h"), r"complete .* is not true yet, \+20s; it has until \+1h00m0s"),
    (Eventually(complete), "complete .* was never true"),
    (Until(lambda _: True, complete), "complete .*, until which .* was to be true, never came"),
    (LeadsTo(running, complete), "running .* came true at .*complete .* did not follow"),
])
async def test_the_end_of_the_block_says_what_has_not_come(claim, text: str) -> None:
    """Given a Job in its run, when the block ends, then what was to come and has not is said."""
    async with Cluster(nodes=1, clock="manual", controllers=CONTROLLERS) as cluster:
        with broken(text), checking(cluster, claim):
            await cluster.client.create(JOBS, job("j"))
            await cluster.advance("20s")


async def test_until_has_its_usual_meaning() -> None:
    """Given a Job, then it is not complete until its pod has failed, whatever is true afterwards;
    and what is true at once needs nothing before it.
    """
    async with Cluster(nodes=1, clock="auto", controllers=CONTROLLERS) as cluster:
        await cluster.client.create(JOBS, job("j"))
        with checking(cluster, Until(lambda state: not complete(state), failed), Until(failed, lambda _: True)):
            await run_until(cluster, complete)
    assert until(cluster, lambda state: not complete(state), failed, within="31s") > until(cluster, failed, lambda _: True)
    with broken("never came within 0:00:30"):
        until(cluster, lambda state: not complete(state), failed, within="30s")
    with broken(r"running .* was not true until failed .*, which had not come at \+0s"):
        until(cluster, running, failed)


def is_m(found) -> bool:
    return found["metadata"]["name"] == "m"


async def test_what_is_broken_between_two_calls_is_raised_by_the_next() -> None:
    """Given a claim that the test's own write breaks, when nothing moves time, then the end of the
    block raises; the cluster goes on, and knows of no failure.
    """
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        with broken("configmaps default/m"), checking(cluster, Never(is_m, each=CONFIG_MAPS)):
            await cluster.client.create(CONFIG_MAPS, config_map("m"))
        await cluster.settle()
        with broken("configmaps default/m"), checking(cluster, Never(is_m, each=CONFIG_MAPS)):
            raise AssertionError("never reached, since it is so from the beginning")


async def test_the_failure_of_a_test_is_its_own() -> None:
    """Given a test that fails after a claim was broken, then its own error is seen, with a note."""
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        async def fails() -> None:
            with checking(cluster, Never(is_m, each=CONFIG_MAPS)):
                await cluster.client.create(CONFIG_MAPS, config_map("m"))
                raise KeyError("mine")

        with pytest.raises(KeyError) as caught:
            await fails()
        await cluster.settle()
    assert re.search("^and a claim was broken: is_m .* was true of configmaps default/m", caught.value.__notes__[0])


class CountsForEver:
    """Hears of its own writes, and writes again."""

    def __init__(self, ctx) -> None:
        self.client, self.maps = ctx.client, ctx.lister(CONFIG_MAPS)

    async def reconcile(self, request) -> None:
        found = self.maps.get("default", "m")
        if found is not None:
            count = int((found.get("data") or {}).get("count", "0"))
            await self.client.update(CONFIG_MAPS, {**found, "data": {"count": str(count + 1)}})


counts_for_ever = controller("counts-for-ever").for_(CONFIG_MAPS).complete(CountsForEver)


def above_100(found) -> bool:
    return int((found.get("data") or {}).get("count", "0")) > 100


@pytest.mark.parametrize("schedule", ["", "1:3"])
@pytest.mark.parametrize("clock", ["manual", "auto"])
async def test_who_never_rests_is_stopped_by_a_claim(clock: str, schedule: str) -> None:
    """Given a controller that writes for ever at one instant, when a claim says so often and no
    oftener, then whoever waits for it to rest gets the error, and waits no longer.
    """
    async with Cluster(nodes=0, clock=clock, controllers="", extra=[counts_for_ever], schedule=schedule) as cluster:
        with broken("above_100"), checking(cluster, Never(above_100, each=CONFIG_MAPS)):
            await cluster.client.create(CONFIG_MAPS, config_map("m"))
            await cluster.advance("1h")


# what predicates see, and what that costs


async def test_a_predicate_is_asked_when_something_changed_that_it_looked_at() -> None:
    """Given predicates that look at one object, at a namespace, at each, at the change, when a
    hundred objects change, then each is asked about what it looks at, and no oftener; while the
    test runs, and after the fact.
    """
    asked: dict[str, int] = {}

    def counted(name, look):
        def predicate(about):
            asked[name] = asked.get(name, 0) + 1
            look(about)
            return True
        return predicate

    looks = {
        "one": lambda state: state.get(CONFIG_MAPS, "m-7"),
        "one in another namespace": lambda state: state.field(CONFIG_MAPS, "m-7", "data.x", "other"),
        "a namespace": lambda state: state.list(CONFIG_MAPS, "default"),
        "another namespace": lambda state: state.list(CONFIG_MAPS, "other"),
        "all": lambda state: state.list(CONFIG_MAPS), "the change": lambda state: state.change,
        "another resource": lambda state: state.list(JOBS), "nothing": lambda _: None}
    expected = {
        "one": 3, "one in another namespace": 1, "a namespace": 201, "another namespace": 1, "all": 201, "the change": 201,
        "another resource": 1, "nothing": 1, "each": 201}
    claims = [Always(counted(name, look)) for name, look in looks.items()]
    each = Always(counted("each", lambda found: found["metadata"]), each=CONFIG_MAPS)
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        begun = cluster.apiserver.storage.revision
        with checking(cluster, *claims, each):
            for number in range(100):
                await cluster.client.create(CONFIG_MAPS, config_map(f"m-{number}"))
            for number in range(100):
                await cluster.client.update(CONFIG_MAPS, config_map(f"m-{number}", x="y"))
        assert asked == expected
        asked.clear()
        for name, look in looks.items():
            always(cluster, counted(name, look), since=begun)
        always(cluster, counted("each", lambda found: found), each=CONFIG_MAPS, since=begun)
    assert asked == expected


async def test_a_predicate_sees_what_is_there_at_each_commit() -> None:
    """Given two objects that are written one after the other, when one goes, then a predicate sees
    every state between, and the change with its cause.
    """
    seen = []

    def look(state) -> bool:
        change = state.change
        names = sorted(found["metadata"]["name"] for found in state.list(CONFIG_MAPS, "default"))
        seen.append((names, change and (change.type, change.cause.method), state.now.isoformat()[11:19]))
        return True

    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        with checking(cluster, Always(look)):
            await cluster.client.create(CONFIG_MAPS, config_map("a"))
            await cluster.advance("1m")
            await cluster.client.create(CONFIG_MAPS, config_map("b"))
            await cluster.client.delete(CONFIG_MAPS, "a", "default")
    assert seen == [
        ([], None, "00:00:00"), (["a"], ("ADDED", "POST"), "00:00:00"), (["a", "b"], ("ADDED", "POST"), "00:01:00"),
        (["b"], ("DELETED", "DELETE"), "00:01:00")]


async def test_what_a_cluster_comes_with_is_there_before_anybody_has_asked() -> None:
    """Given a cluster whose namespaces nobody has looked at, when a predicate does, then they are
    there, while it runs and afterwards.
    """
    from fakekube.client.resources import NAMESPACES

    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        with checking(cluster, Always(lambda state: state.get(NAMESPACES, "kube-system") is not None)):
            await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})
        always(cluster, lambda state: state.get(NAMESPACES, "kube-system") is not None)


WIDGETS = Resource("example.com", "v1", "widgets", "Widget")
DEFINITION = {
    "metadata": {"name": "widgets.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"}, "versions": [{
        "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


async def test_a_kind_that_comes_later_is_looked_at() -> None:
    """Given a claim about a custom resource, when its definition comes afterwards, then its objects
    are seen.
    """
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        with broken(r"widgets\.example\.com default/w"), checking(cluster, Never(bool, each=WIDGETS)):
            await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
            await cluster.settle()
            await cluster.client.create(
                WIDGETS, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}})


async def test_a_claim_about_a_kind_that_there_is_not_says_nothing() -> None:
    """Given a claim about a resource that no cluster stores, when it would pass since there is
    nothing to see, then that is said, while it runs and afterwards.
    """
    text = r"Never\(.*\) says nothing: the cluster stores no widgets.example.com"
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        with broken(text), checking(cluster, Never(lambda state: state.list(WIDGETS))):
            await cluster.settle()
        with broken(text):
            never(cluster, lambda state: state.list(WIDGETS))
        never(cluster, lambda state: state.list(JOBS))


async def test_a_cluster_that_is_reset_begins_anew() -> None:
    """Given claims, when the cluster is reset or restored, then they are about its new states; what
    was reached stays so, and what was waited for is waited for anew.
    """
    def there(name: str):
        return lambda state: state.get(CONFIG_MAPS, name)

    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        before = cluster.snapshot()
        claims = [Eventually(there("a")), LeadsTo(there("a"), there("b")), Never(there("bad"))]
        with broken("bad"), checking(cluster, *claims):
            await cluster.client.create(CONFIG_MAPS, config_map("a"))
            await cluster.reset()
            await cluster.restore(before)
            await cluster.client.create(CONFIG_MAPS, config_map("bad"))
            with broken("bad"):
                await cluster.settle()
        with checking(cluster, Eventually(there("bad"))):
            await cluster.restore(before)


# in threads, and in fleets


def test_a_test_that_blocks_is_told_in_its_own_thread() -> None:
    """Given a cluster in the background, when a claim breaks, then the call of the test that moves
    time raises, and the end of the block.
    """
    with BackgroundCluster(nodes=1, clock="manual", controllers=CONTROLLERS) as server:
        with broken("failed"), checking(server, Never(failed), Eventually(running, within="5s")):
            server.call(lambda cluster: cluster.client.create(JOBS, job("j")))
            with broken("failed"):
                server.advance("10m")
            assert server.clock.time() == pytest.approx(BEGAN + 31)
        with checking(server, Eventually(complete)):
            server.advance("10m")


def test_a_client_that_waits_while_a_claim_breaks_gets_its_answer() -> None:
    """Given a cluster whose time moves by itself, when a claim breaks while the test waits in a
    client of its own, then what that waits for comes, and the end of the block raises.
    """
    with BackgroundCluster(nodes=1, clock="auto", controllers=CONTROLLERS) as server:
        phases = []
        with broken("running"), checking(server, Never(running)):
            server.call(lambda cluster: cluster.client.create(JOBS, job("j")))
            with urllib.request.urlopen(f"{server.url}/apis/batch/v1/jobs?watch=true", timeout=60) as watch:
                for line in watch:
                    phases = [one["type"] for one in json.loads(line)["object"]["status"].get("conditions", ())]
                    if "Complete" in phases:
                        break
        assert "Complete" in phases


def test_a_predicate_that_asks_the_cluster_that_waits_for_it_is_not_waited_for(monkeypatch) -> None:
    """Given a cluster in the background, when a predicate asks it with a client that blocks, then
    the claim is broken by that, with a sentence, and nobody hangs.
    """
    monkeypatch.setattr(runningclaims, "PATIENCE_SECONDS", 0.2)
    with BackgroundCluster(nodes=0, clock="manual", controllers="") as server:
        def asks(state) -> bool:
            return bool(state.list(CONFIG_MAPS) and urllib.request.urlopen(f"{server.url}/readyz").read())

        text = r"asks .* gave no answer within 0\.2 s: it looks at the state that it is given"
        with broken(text), checking(server, Never(asks)):
            server.call(lambda cluster: cluster.client.create(CONFIG_MAPS, config_map("m")))
            server.settle()
        server.settle()


async def test_a_claim_about_a_fleet_looks_at_all_of_it() -> None:
    """Given a fleet, when an object is in two members, then a claim that it is in one alone breaks,
    and says in which member that came about.
    """
    def twice(fleet) -> bool:
        return sum(state.get(CONFIG_MAPS, "m") is not None for state in fleet.values()) > 1

    async with Fleet("manager", "worker1", "worker2", nodes=0, clock="manual", controllers="") as fleet:
        claims = [
            Eventually(lambda fleet: fleet["worker1"].get(CONFIG_MAPS, "m")),
            Never(lambda found: "bad" in found["data"], each=CONFIG_MAPS)]
        with checking(fleet, *claims, Never(twice)):
            await fleet["worker1"].client.create(CONFIG_MAPS, config_map("m", a="b"))
            await fleet["worker1"].client.delete(CONFIG_MAPS, "m", "default")
            await fleet["worker2"].client.create(CONFIG_MAPS, config_map("m", a="b"))
            await fleet.advance("1m")
        with broken(r"twice .* was true at \+1m0s \(version \d+ of manager\)"), checking(fleet, Never(twice)):
            await fleet["manager"].client.create(CONFIG_MAPS, config_map("m", a="b"))
        with broken(r"of configmaps default/n at .* of worker1"), checking(fleet, *claims):
            await fleet["worker1"].client.create(CONFIG_MAPS, config_map("n", bad="b"))


# predicates that give no answer


class HasNoTruth:
    """As an array is."""

    def __bool__(self) -> bool:
        raise ValueError("the truth of several is ambiguous")


async def awaits(_) -> bool:
    return await asyncio.sleep(0, True)


@pytest.mark.parametrize(("predicate", "text"), [
    (lambda _: {}["phase"], r"raised KeyError: 'phase', when it was asked at \+0s"),
    (lambda _: pytest.fail("mine"), "raised Failed: mine"),
    (awaits, "awaits .* gave back a coroutine: it looks at the state that it is given, and awaits nothing"),
    (lambda state: (one for one in state.list(PODS)), r"gave back a generator, which is always true: say any\(...\)"),
    (lambda state: state.list, "gave back a method, which is always true"),
    (lambda _: HasNoTruth(), "raised ValueError: the truth of several is ambiguous"),
])
async def test_a_predicate_that_gives_no_answer_breaks_its_claim(predicate, text: str) -> None:
    """Given predicates that raise, wait or give back something that is always true, when they are
    asked, then the claim is broken by that, with a sentence, while it runs and afterwards; the
    cluster goes on.
    """
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        for claim in Always(predicate), Never(predicate), Until(lambda _: True, predicate):
            with broken(text), checking(cluster, claim):
                await cluster.settle()
        with broken(text) as caught:
            always(cluster, predicate)
        assert "raised" not in text or caught.value.__cause__ is not None
        await cluster.settle()


async def test_the_object_that_a_predicate_fails_at_is_named() -> None:
    """Given a predicate about each object, when it raises at one, then that one is named."""
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        text = r"raised KeyError: 'x', when it was asked of configmaps default/m at \+0s"
        with broken(text), checking(cluster, Never(lambda found: is_m(found) and found["data"]["x"], each=CONFIG_MAPS)):
            await cluster.client.create(CONFIG_MAPS, config_map("l", x=""))
            await cluster.client.create(CONFIG_MAPS, config_map("m", y=""))


async def test_a_predicate_that_writes_is_refused() -> None:
    """Given a predicate that uses a client in the middle of a commit, when it writes, then nothing
    is written, and the sentence says what predicates are for.
    """
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        def writes(state) -> bool:
            if state.list(CONFIG_MAPS, "default") or at_once:
                coroutine = cluster.client.create(CONFIG_MAPS, config_map("mine"))
                try:
                    coroutine.send(None)
                except StopIteration:
                    return True
            return False

        at_once = False
        text = r"writes .* raised .*it looks at the state that it is given, and asks no cluster"
        with broken(text), checking(cluster, Never(writes)):
            await cluster.client.create(CONFIG_MAPS, config_map("m"))
            await cluster.settle()
        names = [found["metadata"]["name"] for found in (await cluster.client.list(CONFIG_MAPS, "default")).items]
        assert "mine" not in names
        at_once = True
        with broken("writes .* wrote to the cluster: it looks"), checking(cluster, Never(writes)):
            pass


async def test_a_slow_predicate_is_named(monkeypatch, caplog) -> None:
    """Given a predicate that takes long in all, when it has, then a line of the log names it."""
    moments = iter(range(0, 10_000, 3))
    monkeypatch.setattr(answering.time, "perf_counter", lambda: next(moments))
    with caplog.at_level(logging.WARNING):
        async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
            with checking(cluster, Always(lambda state: state.list(CONFIG_MAPS) is not None)):
                for number in range(4):
                    await cluster.client.create(CONFIG_MAPS, config_map(f"m-{number}"))
    named = [record.getMessage() for record in caplog.records if "was asked" in record.getMessage()]
    assert len(named) == 1
    assert "was asked 2 times, which took 6.0 s: look at single objects" in named[0]


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: Never("failed"), TypeError, "Never: 'failed' is no predicate: say a function of the state"),
    (lambda: Until(failed, None), TypeError, "Until: None is no predicate"),
    (lambda: Always(failed, each="pods"), TypeError, "Always: each='pods' is no resource: say PODS"),
    (lambda: LeadsTo(failed, complete, within="soon"), ValueError, "soon"),
    (lambda: Eventually(failed, within=-1), ValueError, "-1"),
])
def test_what_cannot_be_claimed_is_refused(make, error, text: str) -> None:
    """Given what is no predicate, no resource and no duration, when something is claimed with it,
    then that is refused at once.
    """
    with pytest.raises(error, match=text):
        make()


async def test_what_is_no_claim_is_refused() -> None:
    """Given a predicate in the place of a claim, then the error says how one is made."""
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        with pytest.raises(ClaimError, match=r"failed .* is no claim: say Always\(p\), Never\(p\)"), checking(cluster, failed):
            pass
