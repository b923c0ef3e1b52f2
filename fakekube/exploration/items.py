"""A test of pytest as a run: calm first, then with seeds, each time with fresh fixtures.

A run is what pytest does for an item, from setup to teardown, without its reports being told; so do
the plugins that run failed tests again. What is told in the end are the reports of one run: the
calm one, or the shrunk failure. Fixtures of modules and sessions live on between the runs.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

from fakekube.exploration import PROPERTY, campaign, oracles, runner, story
from fakekube.exploration.distinct import fingerprint
from fakekube.exploration.oracles import Who
from fakekube.exploration.runner import Explored, Found, Verdict
from fakekube.exploration.seeds import SeedsError, seeds_of
from fakekube.exploration.strategies import Calm, StrategyError, Target, strategies_of
from fakekube.exploration.targets import TargetError, calm_of, looked_at, looked_at_in, requests_of
from fakekube.testing.background import BackgroundCluster
from fakekube.testing.claims import Broken
from fakekube.testing.history import History
from fakekube.testing.temporal import HistoryError
from fakekube.util.choices import Choices
from fakekube.util.collector import collected_by_run

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster
    from fakekube.storage.memory import Storage

OWN_CLUSTERS = ("fake_cluster", "fakekube_server", "fake_fleet")
"""Fixtures that a test has for itself; the others live on from run to run."""
SECTION = "fakekube: the seed that fails"
FOUND = "fakekube_found"
"""The attribute of a report that says which oracle found something."""


class ItemRun:
    """One run of an item, while it runs: what makes its clusters asks for ``choices``, and what
    makes its reports hands them in.

    ``tells``: the reports are for people.
    """

    def __init__(self, choices: Choices | None, *, tells: bool, target: str | None = None) -> None:
        self.choices, self.tells, self._target = choices, tells, target
        self.calm: list[Calm] = []  # what was asked, where a target is said
        self.problem: TargetError | None = None
        self.options: Mapping[str, Any] = {}
        self.seeds: Any = None  # what the option ``explore`` says, once fixtures have said it
        self.failure = self.history = ""
        self.broken: Broken | None = None  # the claim that was
        self.histories: list[History] = []

    def take(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        """One report was made; after that of the call clusters are taken down."""
        if report.failed and not self.failure:
            self.failure = getattr(report, FOUND, "") or _reason(item, call)
            self.broken = _broken(call)
        if report.when != "call":
            return
        used = getattr(item, "funcargs", None) or {}
        self.options = used.get("fakekube_options") or {}
        self.seeds = self.options.get("explore")
        clusters = [used[name] for name in OWN_CLUSTERS if name in used]
        self.history = fingerprint(_storages(clusters))
        if self._target is not None and report.passed:
            try:
                self.calm = [calm for cluster in clusters for calm in calm_of(cluster, self._target)]
            except TargetError as error:
                self.problem = error
        if report.failed and self.tells:
            self.histories = [History.of(cluster) for cluster in _single(clusters)]


def ask_oracles(item: pytest.Item, report: pytest.TestReport, named: Any) -> None:
    """Let a test that has passed fail when an oracle of the option ``oracles`` finds something.

    Raises UsageError.
    """
    used = getattr(item, "funcargs", None) or {}
    target = str((used.get("fakekube_options") or {}).get("target") or "")
    try:
        names = oracles.oracles_of(named)
        clusters = [used[name] for name in OWN_CLUSTERS if name in used]
        found = [finding for cluster, targets in _looked_at(clusters, target) for finding in oracles.findings(
            History.of(cluster), requests_of(cluster), [Who(one.user_agents, one.users) for one in targets], names)]
    except (oracles.OracleError, TargetError) as error:
        raise pytest.UsageError(f"fakekube: {item.nodeid}: {error}") from error
    if found:
        report.outcome = "failed"
        report.longrepr = "\n".join(["what oracles found:", *(f"  {finding}" for finding in found)])
        setattr(report, FOUND, f"oracle {found[0].oracle}")


def _single(clusters: Sequence[Any]) -> "Iterator[Cluster | BackgroundCluster]":
    from fakekube.composition.fleet import Fleet

    for cluster in clusters:
        if isinstance(cluster, Fleet):
            yield from cluster.values()
        else:
            yield cluster


def _looked_at(clusters: Sequence[Any], target: str) -> "Iterator[tuple[Cluster | BackgroundCluster, list[Target]]]":
    """Whom oracles look at in each cluster. Raises TargetError."""
    from fakekube.composition.fleet import Fleet

    for cluster in clusters:
        if isinstance(cluster, Fleet):
            yield from looked_at_in(cluster, target)
        else:
            yield cluster, looked_at(cluster, target)


def _storages(clusters: Sequence[Any]) -> "Iterator[Storage]":
    for cluster in _single(clusters):
        yield cluster.snapshot().storage if isinstance(cluster, BackgroundCluster) else cluster.apiserver.storage


def _reason(item: pytest.Item, call: pytest.CallInfo[None]) -> str:
    """What tells one failure from another: the phase, the error, and the last line of the test's
    file that it came through.
    """
    if call.excinfo is None:  # a test that was to fail, and did not
        return call.when
    if isinstance(call.excinfo.value, HistoryError) and call.excinfo.value.reason:
        return call.excinfo.value.reason
    places = [(str(entry.path), entry.lineno) for entry in call.excinfo.traceback]
    own = [place for place in places if place[0] == str(item.path)] or places
    return f"{call.when} {call.excinfo.typename} {own[-1:]}"


def _broken(call: pytest.CallInfo[None]) -> Broken | None:
    """How the claim was broken by which a test fails, if it does by one."""
    return call.excinfo.value.broken if call.excinfo is not None and isinstance(call.excinfo.value, HistoryError) else None


class _Sibling:
    """Another test of the same collector that comes next: so fixtures of modules live on."""

    def __init__(self, item: pytest.Item) -> None:
        self._above = item.listchain()[:-1]

    def listchain(self) -> list[Any]:
        """The collectors above, and this one."""
        return [*self._above, self]


def _leave_alone() -> None:
    """What a process that is not ours alone does about its garbage after each run."""


class ExploredItem:
    """The exploration of one test.

    ``explore`` is what is said before its fixtures are asked; under ``key`` of the item's stash
    lies the run that goes on.
    """

    def __init__(
        self, item: pytest.Item, nextitem: pytest.Item | None, explore: Any, key: pytest.StashKey[ItemRun],
    ) -> None:
        self._item, self._next, self._explore, self._key = item, nextitem, explore, key
        self._sections = list(item._report_sections)
        self._properties = list(item.user_properties)
        self._end_run: Callable[[], object] = _leave_alone

    def _run(
        self, choices: Choices | None, *, tells: bool = False, target: str | None = None,
    ) -> tuple[ItemRun, list[pytest.TestReport]]:
        item = self._item
        item._report_sections[:], item.user_properties[:] = self._sections, self._properties
        run = item.stash[self._key] = ItemRun(choices, tells=tells, target=target)
        sibling: Any = _Sibling(item)
        reports = runtestprotocol(item, log=False, nextitem=sibling)
        self._end_run()
        return run, reports

    def reports(self) -> list[pytest.TestReport]:
        """Run all, and return what is to be told."""
        calm, reports = self._run(None, tells=True)
        passed = all(report.passed for report in reports) and len(reports) == len(("setup", "call", "teardown"))
        explore = calm.seeds if self._explore is None else self._explore
        if passed and explore:
            if not any(name in getattr(self._item, "fixturenames", ()) for name in OWN_CLUSTERS):
                raise pytest.UsageError(
                    f"{self._item.nodeid}: explore needs a cluster of the test's own: {', '.join(OWN_CLUSTERS)}")
            # the process of a part of a sweep is its own
            is_ours = bool(self._item.config.getoption("fakekube_findings"))
            with collected_by_run() if is_ours else nullcontext(_leave_alone) as self._end_run:
                explored = self._explored(calm.options, explore)
            story = ""
            if explored.found is not None:
                reports, story = self._told(explored.found)
            last = next((report for report in reports if report.failed), reports[1])
            last.user_properties.append((PROPERTY, self._property(explored, story)))
        return [*reports, *self._end()]

    def _explored(self, options: Mapping[str, Any], seeds: Any) -> Explored:
        """Explore every crash point, or by strategies where some are named, else by whatever is
        free.
        """
        named = self._item.config.getoption("fakekube_strategies") or options.get("strategies")
        crashing = "" if named else str(options.get("crash_points") or "")
        if not named and not crashing:
            return runner.explore(self._verdict, _seeds(seeds))
        try:
            plans = campaign.crash_points if crashing else campaign.by_strategies(strategies_of(named), _seeds(seeds))
            return campaign.explore(self._verdict, self._calm, plans, crashing or str(options.get("target") or ""))
        except (StrategyError, TargetError) as error:
            raise pytest.UsageError(f"fakekube: {self._item.nodeid}: {error}") from error

    def _calm(self, target: str) -> tuple[Verdict, list[Calm]]:
        """A run without faults, in which components have caches of their own, and what was asked.

        Raises TargetError.
        """
        run, reports = self._run(Choices(0, ()), target=target)
        if run.problem is not None:
            raise run.problem
        return Verdict(run.failure, run.history, reports), run.calm

    def _verdict(self, choices: Choices, _: Any) -> Verdict:
        run, reports = self._run(choices)
        return Verdict(run.failure, run.history, reports)

    def _told(self, found: Found) -> tuple[list[pytest.TestReport], str]:
        """The reports of the shrunk failure, with its story, and that story."""
        run, reports = self._run(Choices(found.seed, found.deviations), tells=True)
        if run.failure != found.verdict.failure:  # a client outside had its own mind
            run, reports = ItemRun(None, tells=True), found.verdict.detail
        elif run.choices is not None:
            found = found._replace(deviations=tuple(run.choices.deviations))
        failed = next(report for report in reports if report.failed)
        text = "\n".join(story.told(found, command_of(self._item.nodeid, found), run.histories, run.broken))
        failed.sections.append((SECTION, text))
        return reports, text

    def _property(self, explored: Explored, text: str) -> str:
        told: dict[str, Any] = {"seeds": explored.seeds, "histories": len(explored.histories), "words": str(explored)}
        if self._item.config.getoption("fakekube_findings"):
            told["fingerprints"] = explored.histories
        if (found := explored.found) is not None:
            told |= {
                "seed": found.seed, "schedule": found.schedule, "deviations": [str(one) for one in found.deviations],
                "failure": found.verdict.failure, "story": text}
        return json.dumps(told)

    def _end(self) -> list[pytest.TestReport]:
        """Take down what the next test does not need; a report when that fails."""
        call = pytest.CallInfo.from_call(
            lambda: self._item.session._setupstate.teardown_exact(self._next), when="teardown",
            reraise=(pytest.exit.Exception, KeyboardInterrupt))
        return [] if call.excinfo is None else [pytest.TestReport.from_item_and_call(self._item, call)]


def protocol(
    item: pytest.Item, nextitem: pytest.Item | None, explore: Any, key: pytest.StashKey[ItemRun],
) -> bool:
    """What ``pytest_runtest_protocol`` does for a test that may be explored; see ``ExploredItem``.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in ExploredItem(item, nextitem, explore, key).reports():
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    del item.stash[key]
    return True


def command_of(nodeid: str, found: Found) -> str:
    """What replays a failure."""
    return f"pytest {shlex.quote(nodeid)} --fakekube-schedule {found.schedule}"


def _seeds(explore: Any) -> range:
    """Raises UsageError."""
    try:
        return seeds_of(explore)
    except SeedsError as error:
        raise pytest.UsageError(f"fakekube: explore: {error}") from error


def explored_of(stats: "dict[str, list[Any]]") -> Iterator[tuple[str, dict[str, Any]]]:
    """What was explored, by test, from the reports that a terminal has got."""
    for reports in stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == PROPERTY and (report.when == "call" or report.failed):
                    yield report.nodeid, json.loads(value)


def summarize(reporter: Any, findings: str | None) -> None:
    """Tell at the end of a run of pytest what was explored; and write it to a file of JSON."""
    explored = list(explored_of(reporter.stats))
    if explored:
        reporter.section("fakekube: explored")
        for nodeid, told in explored:
            reporter.line(f"{nodeid}: {told['words']}")
    if findings:
        found = {nodeid for nodeid, _ in explored}
        failed = {
            report.nodeid: report.longreprtext for name in ("failed", "error") for report in reporter.stats.get(name, ())
            if report.nodeid not in found}
        told_by_test = [{"test": nodeid, **told} for nodeid, told in explored]
        Path(findings).write_text(json.dumps({"explored": told_by_test, "failed": failed}))
