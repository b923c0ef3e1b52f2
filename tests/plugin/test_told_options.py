"""What the plugin makes of markers, ini file and command line, word for word: which options there
are, which count, how often a test runs, and what the report of a failed one has.
"""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube import pytest_plugin
from fakekube.composition.options import OptionError

EVERY_OPTION = [
    "nodes", "controllers", "kubernetes_version", "feature_gates", "runtime_config", "clock", "seed", "load", "state", "faults",
    "kubeconfig", "cache_mutation_detector", "claims", "explore", "strategies", "crash_points", "oracles", "target", "fleet",
    "port", "bind_address", "insecure", "schedule", "extra", "outcome", "on_exec", "on_connect", "on_metric",
    "scheduler_plugins", "start"]


class Item:
    """A test with markers, fixtures and what is said on the command line and in the ini file."""

    def __init__(self, *markers: dict[str, Any], ini: Any = "", own: str = "", fixtures: Any = None, **told: Any) -> None:
        self._markers = [SimpleNamespace(kwargs=each) for each in markers]
        self.fixturenames = ["fakekube_options_session"] if fixtures is None else fixtures
        self.config: Any = SimpleNamespace(
            getoption=lambda name: told.get(name.removeprefix("fakekube_")), getini={"fakekube_explore": ini}.__getitem__)
        ours = ("fakekube_options_session", "fakekube_options_module", "fakekube_options")
        modules = dict.fromkeys(ours, pytest_plugin.__name__)
        modules |= {own: "conftest"} if own else {}
        self._fixtureinfo = SimpleNamespace(name2fixturedefs={
            name: [SimpleNamespace(func=SimpleNamespace(__module__=module))] for name, module in modules.items()})

    def iter_markers(self, name: str) -> list[Any]:
        return self._markers if name == "fakekube" else []


@pytest.mark.parametrize(("item", "explore"), [
    (Item(), False), (Item(explore="5", fixtures=[]), False), (Item(explore="5", fixtures=["fake_cluster"]), False),
    (Item(explore="5"), "5"), (Item(explore="5", schedule="1:17"), False), (Item({"explore": 9}, explore="5"), "5"),
    (Item({"explore": 9}), 9), (Item({"explore": 9}, {"explore": 8}), 9), (Item({"seed": 1}, {"explore": 8}), 8),
    (Item({"explore": 0}), False), (Item({"explore": None}, ini="7"), False), (Item(ini="7"), "7"),
    (Item({"strategies": "all"}, ini="7"), "7"), (Item({"strategies": "all"}), 25), (Item({"crash_points": "job"}), 25),
    (Item({"strategies": ""}), False), (Item({"oracles": "all"}), False), (Item({"seed": 1}, {"strategies": "all"}), 25),
    (Item(strategies="stale-states"), 25),
    (Item({"strategies": "all", "explore": 0}), False),
    *((Item({"explore": 9}, own=name), None) for name in (
        "fakekube_options_session", "fakekube_options_module", "fakekube_options")),
    (Item({"explore": 9}, own="other"), 9), (Item(own="fakekube_options", explore="5"), "5"),
])
def test_how_often_a_test_runs(item: Item, explore: Any) -> None:
    """Given a test, when it is to run, then the command line says how often before markers, the
    nearest first, and the ini file; a project's own fixture may say it later.
    """
    assert pytest_plugin._explore(cast("Any", item)) == explore
    assert type(pytest_plugin._explore(cast("Any", item))) is type(explore)


def marker(*args: Any, **kwargs: Any) -> Any:
    return SimpleNamespace(args=args, kwargs=kwargs)


def test_which_marker_counts() -> None:
    """Given options and markers, when they are put together, then the last counts; one with a
    snapshot takes away what farther places have said of what the snapshot decides.
    """
    far = {"nodes": 3, "seed": 1, "clock": "manual", "controllers": "*", "tls": True, "port": 7, "extra": "x"}
    assert pytest_plugin._told({"nodes": 1, "seed": 1}, [marker(nodes=2), marker(nodes=3, port=7)]) == {
        "nodes": 3, "seed": 1, "port": 7}
    assert pytest_plugin._told(far, [marker(state="file")]) == {
        "clock": "manual", "controllers": "*", "tls": True, "port": 7, "extra": "x", "state": "file"}
    assert pytest_plugin._told({"nodes": 3, "state": "f"}, [marker(seed=1)]) == {"nodes": 3, "state": "f", "seed": 1}
    assert pytest_plugin._told({}, [marker(state="file", nodes=5)]) == {"state": "file", "nodes": 5}
    assert pytest_plugin._told({}, [marker(**dict.fromkeys(EVERY_OPTION))]) == dict.fromkeys(EVERY_OPTION)


def test_markers_that_cannot_be_meant() -> None:
    """Given a marker without keywords, or of an unknown option, when it counts, then it is refused
    with what there is.
    """
    with pytest.raises(pytest.UsageError) as refused:
        pytest_plugin._told({}, [marker(3)])
    assert str(refused.value) == "@pytest.mark.fakekube takes keyword arguments only, such as nodes=3"
    with pytest.raises(pytest.UsageError) as refused:
        pytest_plugin._told({"colour": "red"}, [])
    text = str(refused.value)
    assert text.startswith("fakekube: unknown option 'colour': known are nodes, ")
    known = text.partition("known are ")[2].split(", ")
    assert set(EVERY_OPTION) <= set(known)
    assert known[-9:] == [
        "faults", "kubeconfig", "cache_mutation_detector", "claims", "explore", "strategies", "crash_points", "oracles", "target"]
    assert len(known) == len(set(known))


class Reported:
    """A test's report, the run of an exploration, and what was told of clusters."""

    def __init__(self, when: str, outcome: str, *, run: Any = None, **funcargs: Any) -> None:
        self.taken: list[Any] = []
        self.report: Any = SimpleNamespace(
            when=when, passed=outcome == "passed", failed=outcome == "failed", sections=[], longreprtext="the error")
        self.run = None if run is None else SimpleNamespace(tells=run, take=lambda *given: self.taken.append(given))
        self.item: Any = SimpleNamespace(funcargs=funcargs, nodeid="test_a.py::test_b", stash={pytest_plugin.RUN: self.run})

    def made(self) -> list[Any]:
        made: Any = pytest_plugin.pytest_runtest_makereport(self.item, cast("Any", "call"))
        next(made)
        with pytest.raises(StopIteration):
            made.send(SimpleNamespace(get_result=lambda: self.report))
        return list(self.report.sections)


def section(cluster: str) -> tuple[str, str]:
    return "fakekube: what happened, and the seed", f"{cluster} in test_a.py::test_b after the error"


@pytest.mark.parametrize(("reported", "clusters", "is_taken"), [
    (Reported("call", "failed", fake_cluster="a"), ["a"], False),
    (Reported("call", "failed", fakekube_server_session="d", fakekube_server_module="c", fakekube_server="b", fake_cluster="a"),
     ["a", "b", "c", "d"], False),
    (Reported("call", "failed", fake_fleet="f"), [], False), (Reported("call", "failed"), [], False),
    (Reported("setup", "failed", fake_cluster="a"), [], False), (Reported("call", "passed", fake_cluster="a"), [], False),
    (Reported("call", "skipped", fake_cluster="a"), [], False),
    (Reported("call", "failed", run=True, fake_cluster="a"), ["a"], True),
    (Reported("call", "failed", run=False, fake_cluster="a"), [], True), (Reported("teardown", "passed", run=True), [], True),
])
def test_reports_of_tests_that_failed(
    reported: Reported, clusters: list[str], is_taken: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a test, when it has failed itself, then its report tells what its clusters did; a run
    that is one of many tells it where it is to, and hears of every report.
    """
    monkeypatch.setattr("fakekube.testing.report.of_failure", lambda cluster, test, told: f"{cluster} in {test} after {told}")
    assert reported.made() == [section(cluster) for cluster in clusters]
    assert reported.taken == ([(reported.item, "call", reported.report)] if is_taken else [])


@pytest.mark.parametrize(("when", "outcome", "options", "asked"), [
    ("call", "passed", {"oracles": "all"}, ["all"]), ("call", "failed", {"oracles": "all"}, []),
    ("teardown", "passed", {"oracles": "all"}, []), ("call", "passed", {}, []), ("call", "passed", None, []),
])
def test_oracles_are_asked_after_a_test_that_passed(
    when: str, outcome: str, options: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a test that names oracles, when it has passed, then they are asked, and else not."""
    names: list[str] = []
    monkeypatch.setattr("fakekube.exploration.items.ask_oracles", lambda _item, _report, named: names.append(named))
    given = {} if options is None else {"fakekube_options": options}
    Reported(when, outcome, **given).made()
    assert names == asked


class Request:
    """What a fixture is given."""

    def __init__(self, *, run: Any = None, schedule: str = "", recorder: Any = None, **ini: Any) -> None:
        self.ini, self.asked = ini, list[str]()
        plugin = None if recorder is None else SimpleNamespace(recorder=recorder)
        manager = SimpleNamespace(get_plugin={"fakekube-recorded": plugin}.__getitem__)
        self.config = SimpleNamespace(
            getini=self._ini, getoption={"fakekube_schedule": schedule}.__getitem__, pluginmanager=manager)
        self.node = SimpleNamespace(stash={pytest_plugin.RUN: run})

    def _ini(self, name: str) -> Any:
        self.asked.append(name)
        return self.ini.get(name.removeprefix("fakekube_"), "")


def called(fixture: Any, *given: Any) -> Any:
    """What the function of a fixture returns."""
    return fixture.__wrapped__(*given) if hasattr(fixture, "__wrapped__") else fixture._get_wrapped_function()(*given)


def test_what_the_ini_file_says() -> None:
    """Given an ini file, when the options of all tests are asked for, then each is one, files are
    paths, and what is recorded has its recorder.
    """
    assert called(pytest_plugin.fakekube_options_session, Request()) == {"cache_mutation_detector": True}
    request = Request(
        nodes="3", cache_mutation_detector="false", claims="m:c", explore="5", oracles="all", load=["a", "b"], state=["c"],
        faults=["d"], kubeconfig=["e"], recorder="R", x="1")
    assert called(pytest_plugin.fakekube_options_session, request) == {
        "cache_mutation_detector": "false", "nodes": "3", "claims": "m:c", "explore": "5", "oracles": "all", "load": ["a", "b"],
        "state": "c", "faults": "d", "kubeconfig": "e", "record": "R"}
    assert {f"fakekube_{name}" for name in EVERY_OPTION} <= set(request.asked)


@pytest.mark.parametrize(("run", "schedule", "more"), [
    (None, "", {}), (None, "1:17", {"schedule": "1:17"}),
    (SimpleNamespace(choices="C"), "1:17", {"schedule": "C", "cache_mutation_detector": False}),
    (SimpleNamespace(choices=None), "1:17", {}),
])
def test_what_a_cluster_is_made_with(run: Any, schedule: str, more: dict[str, Any]) -> None:
    """Given options and a run, when a cluster is made, then it gets what is a cluster's, and the
    schedule of the run; caches are looked at in the calm run alone.
    """
    options = {"nodes": 2, "cache_mutation_detector": True, "fleet": "a", **dict.fromkeys(
        ("claims", "explore", "strategies", "crash_points", "oracles", "target"), "x")}
    made = called(pytest_plugin._fakekube_made_with, Request(run=run, schedule=schedule), options)
    assert made == {"nodes": 2, "cache_mutation_detector": True, "fleet": "a", **more}


def test_claims_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given options, when claims or oracles are named, then they are what is checked, kept for the
    end of the test; names that are none are told.
    """
    checking = pytest_plugin._fakekube_checking
    with called(checking, Request(), {"claims": "", "oracles": None})("a cluster") as given:
        assert given == "a cluster"
    monkeypatch.setattr("fakekube.exploration.claimed.Claimed", lambda options: ("claimed", options))
    for options in ({"claims": "m:c"}, {"oracles": "all"}):
        request = Request()
        assert called(checking, request, options) == request.node.stash[pytest_plugin.CLAIMED] == ("claimed", options)

    def refuses(_: Any) -> None:
        raise OptionError("claims: there is no m")

    monkeypatch.setattr("fakekube.exploration.claimed.Claimed", refuses)
    with pytest.raises(pytest.UsageError) as refused:
        called(checking, Request(), {"claims": "m:c"})
    assert str(refused.value) == "fakekube: claims: there is no m"
