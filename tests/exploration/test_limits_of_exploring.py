"""What an exploration tells of what it cannot try, of runs that raise, and of failures that are not
a seed's.
"""

import json
import sys
from concurrent.futures import Executor
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS
from fakekube.composition.fleet import Fleet
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.exploration import campaign, crashes, fleettargets, items, story
from fakekube.exploration.claimed import Claimed
from fakekube.exploration.hotloops import HotLoop, NoHotLoop
from fakekube.exploration.runner import Explored, Found, Verdict
from fakekube.exploration.strategies import Calm, Target
from fakekube.exploration.sweeping import Failure, SweptTest
from fakekube.exploration.targets import TargetError, looked_at, requests_of
from fakekube.faults.rules import rule_of
from fakekube.testing.background import BackgroundCluster
from fakekube.util.choices import Choices, Deviation

NOBODY = (
    "there is no operator 'nobody' to try: no component (namespace), and no request has such a user agent or user")


def test_targets_that_nobody_can_start_again() -> None:
    """Given a client outside / when each of its writes is to be a crash point / then it is told
    what may die.
    """
    with pytest.raises(TargetError) as refused:
        list(campaign.crash_points([Calm(Target("kubectl", ("kubectl",)), (), ())]))
    assert str(refused.value) == (
        "kubectl cannot be started again: crash_points takes a component of the cluster, or an operator outside that is "
        "declared (fakekube.testing.operators)")


def test_a_calm_run_that_fails() -> None:
    """Given a test that fails without a fault, but with caches of components' own / when it is
    explored / then no seed is run, and the failure is that of the seed 0 without deviations.
    """
    verdict = Verdict("broken", "history", "detail")

    def never(*_: Any) -> Any:
        raise AssertionError("nothing is to be planned or run")

    asked: list[str] = []

    def calm(target: str) -> tuple[Verdict, list[Calm]]:
        asked.append(target)
        return verdict, []

    found = campaign.explore(never, calm, never, "web")
    assert (found, asked) == (Explored(0, (), Found(0, (), verdict, 0, 0)), ["web"])


async def test_runs_that_raise() -> None:
    """Given a play that raises with one plan, and ends with another / when all are played / then
    each is told with how it ended.
    """
    async def play(cluster: Cluster) -> int:
        maps = await cluster.client.list(CONFIG_MAPS, "default")
        return len(maps.items)

    rules = [
        rule_of({"name": name, "error": "InternalError", "message": name, "verbs": "list", "resources": "configmaps"})
        for name in ("first", "second")]
    quiet = rule_of({"name": "quiet", "error": "InternalError", "verbs": "delete", "optional": True})
    found = await crashes.play_plans(play, 0, [rules, [quiet]], {"nodes": 0, "controllers": "", "clock": "manual"})
    raised, ended = found.points
    assert (raised.where, raised.end, ended.where, ended.end, ended.error) == ("first; second", None, "quiet", 0, None)
    assert "first" in str(raised.error)
    assert str(raised).startswith("first; second: raised APIError(")
    assert str(ended).startswith("quiet: ended with 0; Cluster(schedule='")
    assert found.differing == (raised,)


def test_oracles_that_are_none() -> None:
    """Given an oracle that is none / when a test's claims are read / then the option is named."""
    with pytest.raises(OptionError) as refused:
        Claimed({"oracles": "clairvoyant"})
    assert str(refused.value).startswith("oracles: 'clairvoyant' is no oracle: known are ")


async def test_claims_of_a_test_whose_setup_fails() -> None:
    """Given claims on a cluster / when its block ends before the test is called / then nothing is
    looked at any more, and nobody is told at the end.
    """
    async with Cluster(nodes=0, controllers="namespace", clock="manual") as cluster:
        claimed = Claimed({"oracles": "restless", "target": "nobody"})
        with claimed(cluster):
            assert claimed._looked_at(cluster) == []
            assert len(claimed._blocks) == 1
        assert claimed._blocks == []
        with claimed:
            await cluster.client.list(CONFIG_MAPS)


def test_workers_of_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a scheduler / when parts are to run on its workers / then there are as many as they
    have threads; one without any is told of.
    """
    threads: dict[str, int] = {"a": 2, "b": 3}
    log: list[Any] = []

    class Client:
        def __init__(self, address: str, timeout: str) -> None:
            log.append((address, timeout))

        def __enter__(self) -> "Client":
            return self

        def __exit__(self, *_: object) -> None:
            log.append("closed")

        def wait_for_workers(self, count: int, timeout: float) -> None:
            if not threads:
                raise TimeoutError(f"{count} of 0 after {timeout} s")

        def nthreads(self) -> dict[str, int]:
            return threads

        def get_executor(self, *, pure: bool) -> Any:
            assert not pure
            return Executor()

    monkeypatch.setitem(sys.modules, "distributed", cast("Any", SimpleNamespace(Client=Client)))
    # what is imported now knows the client above: nobody else may find it
    monkeypatch.setitem(sys.modules, "fakekube.exploration.dask", cast("Any", None))
    del sys.modules["fakekube.exploration.dask"]
    from fakekube.exploration.dask import connected

    with connected("tcp://there") as (executor, count):
        assert (isinstance(executor, Executor), count) == (True, 5)
    threads.clear()
    with pytest.raises(ValueError, match=r"^the scheduler at tcp://there has no worker$"), connected("tcp://there"):
        pass
    assert log == [("tcp://there", "10s"), "closed"] * 2
    monkeypatch.delitem(sys.modules, "fakekube.exploration.dask")


async def test_targets_in_fleets() -> None:
    """Given a fleet / when clients outside are targets / then each is one of the member that it
    asks; a component is named by its member; names are looked for where there are such components.
    """
    async with Fleet("a", "b", nodes=0, controllers="namespace", clock="manual") as fleet:
        assert list(fleettargets.targets_of(fleet, "a", Target("kubectl", ("kubectl",)))) == [
            ("a", Target("a/kubectl", ("kubectl",), clusters=("a",)))]
        (found,) = fleettargets.targets_of(fleet, "b", Target("namespace", ("agent",), component="namespace"))
        assert (found[0], found[1].name, found[1].component, found[1].clusters) == ("b", "b/namespace", "b/namespace", ("b",))
        assert [fleettargets.member_and_name(fleet, name) for name in ("a/x", "c/x", "namespace", "x")] == [
            (("a",), "x"), (("a", "b"), "c/x"), (("a", "b"), "namespace"), (("a", "b"), "x")]


def test_what_is_told_of_sweeps_and_oracles() -> None:
    """Given what came of a swept test, and an oracle as a claim / when they are told / then in
    a line.
    """
    failure = Failure(1, "1:1", (), "story")
    assert [str(SweptTest("test_a.py::test_b", 20, 3, failures)) for failures in ((), (failure,), (failure, failure))] == [
        "test_a.py::test_b: 20 seeds, 3 distinct histories, no failure",
        "test_a.py::test_b: 20 seeds, 3 distinct histories, 1 failure",
        "test_a.py::test_b: 20 seeds, 3 distinct histories, 2 failures"]
    assert str(NoHotLoop(HotLoop(list))) == "oracle restless"


def test_more_deviations_than_are_told() -> None:
    """Given 25 deviations, or 27 / when the story is told / then 25 are, and how
    many more there are.
    """
    class Quiet:
        changes: tuple[Any, ...] = ()

    quiet: Any = Quiet()
    for count, more in ((24, []), (25, []), (26, ["> and 1 more deviations"]), (27, ["> and 2 more deviations"])):
        deviations = [Deviation(f"thing {number}", 1, 1, 2) for number in range(count)]
        assert list(story._lines(quiet, deviations, None)) == [f"> {one}" for one in deviations[:25]] + more


def test_a_cluster_in_the_background() -> None:
    """Given a cluster in the background / when its requests and targets are looked at / then as of
    any other.
    """
    with BackgroundCluster(ClusterOptions(nodes=0, controllers="namespace")) as cluster:
        cluster.call(lambda inner: inner.client.with_options(user_agent="outside").list(CONFIG_MAPS))
        assert [entry.path for entry in requests_of(cluster) if entry.user_agent == "outside"] == ["/api/v1/configmaps"]
        assert Target("outside", ("outside",)) in looked_at(cluster)
        assert looked_at(cluster, "outside") == [Target("outside", ("outside",))]
        with pytest.raises(TargetError) as refused:
            looked_at(cluster, "nobody")
        assert str(refused.value) == NOBODY


async def test_a_test_whose_target_is_nobody() -> None:
    """Given a test that passed, with a target that is nobody / when what it asked is looked at /
    then it is told, with the test where oracles are asked.
    """
    async with Cluster(nodes=0, controllers="namespace", clock="manual") as cluster:
        item: Any = SimpleNamespace(
            nodeid="a::b", funcargs={"fake_cluster": cluster, "fakekube_options": {"target": "nobody"}})
        report: Any = SimpleNamespace(failed=False, passed=True, when="call")
        run = items.ItemRun(Choices(0, ()), tells=False, target="nobody")
        run.take(item, cast("Any", None), report)
        assert str(run.problem) == NOBODY
        for named, said in (("refused", NOBODY), ("clairvoyant", "'clairvoyant' is no oracle: known are ")):
            with pytest.raises(pytest.UsageError) as refused:
                items.ask_oracles(item, report, named)
            assert str(refused.value).startswith(f"fakekube: a::b: {said}")


@pytest.mark.parametrize(("explore", "said"), [
    ("soon", "fakekube: explore: "), ("5-3", "fakekube: explore: ")])
def test_seeds_that_are_none(explore: str, said: str) -> None:
    """Given seeds that are none / when a test is to be explored / then that is told."""
    with pytest.raises(pytest.UsageError) as refused:
        items._seeds(explore)
    assert str(refused.value).startswith(said)


def test_a_test_that_was_to_fail() -> None:
    """Given a test that was to fail and did not / when its failure is told from others / then by
    its phase.
    """
    assert items._reason(cast("Any", None), cast("Any", SimpleNamespace(excinfo=None, when="call"))) == "call"


EXPLORED = """
import pytest
from fakekube.client.resources import CONFIG_MAPS

class Noted:
    runs = 0


@pytest.mark.fakekube(explore=3)
def test_without_a_cluster(fakekube_options):
    pass


@pytest.mark.fakekube(explore=3, crash_points="nobody", controllers="namespace", nodes=0)
async def test_nobody(fake_cluster):
    pass


@pytest.mark.fakekube(explore=3, controllers="namespace", nodes=0)
async def test_setup(fake_cluster, sometimes):
    pass


@pytest.fixture
def sometimes(fake_cluster):
    Noted.runs += 1
    assert Noted.runs == 1
"""
OPTIONS = (
    "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")


@pytest.mark.parametrize(("test", "said"), [
    ("test_without_a_cluster", "*explore needs a cluster of the test's own: fake_cluster, fakekube_server, fake_fleet"),
    ("test_nobody", f"*fakekube: test_it.py::test_nobody: {NOBODY}")])
def test_explorations_that_cannot_be(pytester: pytest.Pytester, test: str, said: str) -> None:
    """Given a test without a cluster of its own, or whose target is nobody / when it is to be
    explored / then the run ends and says so.
    """
    pytester.makepyfile(test_it=EXPLORED)
    result = pytester.runpytest_inprocess(*OPTIONS, "-k", test)
    assert any(said.removeprefix("*") in line for line in [*result.outlines, *result.errlines])


def test_a_setup_that_fails_with_a_seed(pytester: pytest.Pytester) -> None:
    """Given a test whose setup fails with every seed / when it is explored / then the seed is told
    with what failed.
    """
    pytester.makepyfile(test_it=EXPLORED)
    result = pytester.runpytest_inprocess(*OPTIONS, "-k", "test_setup", "--fakekube-findings", "findings.json")
    found = json.loads((pytester.path / "findings.json").read_text())
    assert [(each["test"], each["seeds"], each["seed"]) for each in found["explored"]] == [("test_it.py::test_setup", 1, 1)]
    assert found["failed"] == {}
    assert any("the calm run passes, seed 1 fails" in line for line in result.outlines)
