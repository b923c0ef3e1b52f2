"""A fresh cluster for every test that asks for one.

``fakekube_server`` is a server on a real port, in a background thread, for synchronous clients;
``fake_cluster`` runs in the test's own event loop, for async tests; so does ``fake_fleet``, several
clusters with one clock. ``fakekube_server_module`` and
``fakekube_server_session`` live longer, and have a ``reset()``. Options come from the ini file
(``fakekube_nodes`` ...), from the marker ``@pytest.mark.fakekube(nodes=3, clock="manual")``, the
closest winning, and from the fixture ``fakekube_options``, which a conftest may override. The
report of a test that fails has a section with why pods and Jobs are as they are, the last Events
and writes, and the seed. A controller that changes an object which belongs to a cache fails the
test, unless ``fakekube_cache_mutation_detector = false`` or the marker says otherwise. Tests under
pytest-xdist do not meet: every cluster has a port and memory of its own.

This module imports pytest and nothing else: projects that have us installed and do not use us must
not pay.
"""

from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from fakekube.testing.background import BackgroundCluster

INI = {
    "nodes": "nodes of the cluster (default 1)",
    "controllers": "controllers that run, as kube-controller-manager's --controllers (default *)",
    "kubernetes_version": "Kubernetes release to be (default the newest)",
    "feature_gates": "feature gates, A=true,B=false",
    "runtime_config": "API versions to serve besides, group/version=true",
    "clock": "auto, manual, real, or how many times as fast as the wall's (default auto)",
    "seed": "seed of names, uids and jitter (default 0)",
    "disable_admission_plugins": "admission plugins to switch off",
    "enable_admission_plugins": "admission plugins to switch on that are off by default, NodeRestriction say",
    "admission_control_config_file": "a file with an AdmissionConfiguration, for plugins that take one",
    "scheduler_config": "a file with a KubeSchedulerConfiguration",
    "addon_config": "files with configurations of add-ons, which run then: name=file",
    "authorization_mode": "who decides what users may do: AlwaysAllow (default), AlwaysDeny, Node, RBAC, in order",
    "metrics_server": "false: metrics.k8s.io is not served",
    "default_storage_class": "true: there is a default StorageClass, whose volumes are made at once",
    "warn_unmodelled": "true: answers warn of objects and fields that have no effect here",
    "event_ttl": "how long an Event is kept after its last write (default 1h)",
    "grace": "how long clients outside must be quiet, in real time, before virtual time moves (default 600ms; 0: not at all)",
    "allow_host": "names by which clients reach the server, besides localhost and its address",
    "webhook_services": "where webhooks behind services listen, namespace/name=https://127.0.0.1:9443",
    "allow_origin": "web origins whose pages may use the server",
    "etcd_compaction_interval": "how old a version has to be at least to be read no more (default never, or 5m on a real clock)",
    "advertise_address": "the IP address of the endpoints of the service kubernetes (default: it has none)",
    "client_ca_file": "a file of CAs whose client certificates are believed (default: there is none)",
    "token_auth_file": 'a file of bearer tokens: token,user,uid,"group1,group2" a line',
    "anonymous_auth": "true: who asks without credentials is system:anonymous; false: refused (default: the administrator)",
    "tls": "true: servers speak TLS, and kubeconfigs carry their CA",
    "audit_log": "a file for audit events, one line of JSON each",
    "record": "a file for what clients ask and are answered, lines of JSON (fakekube replay plays it)",
    "resource_quota_sync_period": "how often all quotas are counted anew (default 5m)",
    "start": "where virtual time begins, 2026-01-01T00:00:00Z",
    "outcome": "how containers end: a function, module:function",
    "on_exec": "what commands in containers answer: module:function",
    "on_connect": "what ports of containers answer: module:function",
    "on_metric": "what autoscalers measure: module:function",
    "scheduler_plugins": "which more plugins the scheduler runs: module:function, of its context",
    "extra": "controllers that run besides, module:name",
    "fleet": "names of the clusters of fake_fleet (default manager,worker1,worker2)",
    "port": "port of a server (default one that is free)",
    "bind_address": "IP address of a server (default 127.0.0.1)",
    "insecure": "true: a server may listen where other machines reach it",
    "schedule": "what is chosen that is free in a real cluster: 1:17 is the seed 17",
}

PATHS = {
    "load": "manifests to create at the start",
    "state": "the snapshot to go on from",
    "faults": "what goes wrong on purpose, a plan of faults",
    "kubeconfig": "where a server writes its kubeconfig (default a temporary directory)",
}
"""Options that are files, relative to the ini file."""

GUARD = "cache_mutation_detector"
"""What is on in tests, and off elsewhere unless somebody asks for it."""

EXPLORE = "explore"
"""What is not what a cluster is like, but how often its test runs."""

EXPLORING = {
    "strategies": "what goes wrong in those runs: stale-states, or several with commas, or all (fakekube explore --help)",
    "crash_points": "a component that dies in these runs, in each after another of its writes",
    "oracles": "what is wrong with any run: orphans, or several with commas, or all",
    "target": "with whom: a component, a user agent or a user (default the components of extra=, or who watches outside)",
}
"""Options of tests that are explored."""

CLAIMS = "claims"
"""What is checked while a test runs."""

SEEDS_OF_STRATEGY = 25
"""With so many seeds a strategy is tried where nobody says how many."""

NOT_OF_CLUSTERS = ("fleet", CLAIMS, EXPLORE, *EXPLORING)
"""Options that say what is done with clusters, and not what one is like."""

LONGER_LIVED = ("fakekube_server_module", "fakekube_server_session")
CLUSTERS = ("fake_cluster", "fakekube_server", *LONGER_LIVED)
RECORDED = "fakekube-recorded"
SECTION = "fakekube: what happened, and the seed"
RUN = pytest.StashKey[Any]()
"""The run of an explored test, while it runs."""
CLAIMED = pytest.StashKey[Any]()
"""The claims of a test, while it runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini options, one for each that the marker takes."""
    for name, text in INI.items():
        parser.addini(f"fakekube_{name}", f"fakekube: {text}")
    for name, text in PATHS.items():
        parser.addini(f"fakekube_{name}", f"fakekube: {text}", type="paths")
    parser.addini(f"fakekube_{EXPLORE}", "fakekube: with how many seeds tests run after the calm run, or which: 200, 201-400")
    for name, text in EXPLORING.items():
        parser.addini(f"fakekube_{name}", f"fakekube: {text}")
    parser.addini(f"fakekube_{CLAIMS}", "fakekube: what is true of every state, checked while a test runs: module:name of claims")
    group = parser.getgroup("fakekube")
    group.addoption("--fakekube-record", default="", metavar="FILE", help=(
        "add what the tests' clients ask of clusters to FILE, lines of JSON (fakekube replay plays them)"))
    group.addoption("--fakekube-record-secrets", action="store_true", help=(
        "record values of Secrets, tokens and credentials as they are"))
    parser.addini(f"fakekube_{GUARD}", "fakekube: false: a controller that changes a cached object does not fail its test")
    group = parser.getgroup("fakekube")
    group.addoption("--fakekube-explore", metavar="SEEDS", help="run tests with so many seeds (200), or these (201-400), too")
    group.addoption("--fakekube-strategies", metavar="NAMES", help="let this go wrong in those runs: stale-states, all")
    group.addoption("--fakekube-schedule", metavar="TEXT", help="run tests with this schedule, which an exploration has printed")
    group.addoption("--fakekube-findings", metavar="FILE", help="write what was explored and found, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """The marker; and the async fixture, where some plugin runs async tests.

    Raises UsageError for a schedule that is none, or of another version.
    """
    known = ", ".join(f"{name}=" for name in (*INI, *PATHS, GUARD, CLAIMS, EXPLORE, *EXPLORING))
    config.addinivalue_line("markers", f"fakekube({known}): what the test's cluster is like")
    manager = config.pluginmanager
    if file := config.getoption("--fakekube-record"):
        from fakekube.testing.recorded import RecordedTests

        manager.register(RecordedTests(Path(file), secrets=config.getoption("--fakekube-record-secrets")), RECORDED)
    if schedule := config.getoption("--fakekube-schedule"):
        from fakekube.util.choices import Choices, ScheduleError

        try:
            Choices.of(schedule)
        except ScheduleError as error:
            raise pytest.UsageError(f"--fakekube-schedule: {error}") from error
    if manager.hasplugin("asyncio") or manager.hasplugin("anyio"):
        from fakekube.testing import async_fixtures

        manager.register(async_fixtures.plugin(manager.hasplugin("asyncio")), "fakekube-async")


def _explore(item: pytest.Item) -> Any:
    """What is said of exploring a test before its fixtures are asked: None when they may say it,
    False when nobody says it.
    """
    names = getattr(item, "fixturenames", ())
    if "fakekube_options_session" not in names or item.config.getoption("fakekube_schedule"):
        return False
    told = item.config.getoption("fakekube_explore")
    if told:
        return told
    fixtures: Any = getattr(item, "_fixtureinfo", None)
    for name in ("fakekube_options_session", "fakekube_options_module", "fakekube_options"):
        if any(found.func.__module__ != __name__ for found in fixtures.name2fixturedefs.get(name, ())):
            return None
    for marker in item.iter_markers("fakekube"):
        if EXPLORE in marker.kwargs:
            return marker.kwargs[EXPLORE] or False
    by_strategy = item.config.getoption("fakekube_strategies") or any(
        marker.kwargs.get("strategies") or marker.kwargs.get("crash_points") for marker in item.iter_markers("fakekube"))
    return item.config.getini(f"fakekube_{EXPLORE}") or (SEEDS_OF_STRATEGY if by_strategy else False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A test that is to be explored runs more than once."""
    explore = _explore(item)
    if explore is False:
        return None
    from fakekube.exploration import items

    return items.protocol(item, nextitem, explore, RUN)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What was explored, if anything was."""
    from fakekube.exploration import PROPERTY

    findings = config.getoption("fakekube_findings")
    told = (one for reports in terminalreporter.stats.values() for one in reports)
    if findings or any(PROPERTY in dict(getattr(one, "user_properties", ())) for one in told):
        from fakekube.exploration import items

        items.summarize(terminalreporter, findings)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> "Generator[None, Any, Any]":
    """The claims of a test end with it; on clusters that live longer they begin with it."""
    used = getattr(item, "funcargs", {})
    with ExitStack() as stack:
        for name in [name for name in LONGER_LIVED if name in used]:
            request: Any = item._request  # type: ignore[attr-defined]  # of functions, which alone have fixtures
            stack.enter_context(request.getfixturevalue("_fakekube_checking")(used[name]))
        claimed = item.stash.get(CLAIMED, None)
        if claimed is not None:
            stack.enter_context(claimed)
        return (yield)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> "Iterator[None]":
    """To the report of a test that failed, what its clusters did last, and how to have it again."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.when == "call" and report.passed:
        named = (getattr(item, "funcargs", {}).get("fakekube_options") or {}).get("oracles")
        if named:
            from fakekube.exploration import items

            items.ask_oracles(item, report, named)
    run = item.stash.get(RUN, None)
    if run is not None:
        run.take(item, call, report)
    if report.when == "call" and report.failed and (run is None or run.tells):
        used = getattr(item, "funcargs", {})
        clusters = [used[name] for name in CLUSTERS if name in used]
        if clusters:
            from fakekube.testing import report as words

            for cluster in clusters:
                report.sections.append((SECTION, words.of_failure(cluster, item.nodeid, report.longreprtext)))


def _told(values: "Mapping[str, Any]", markers: "list[pytest.Mark]") -> dict[str, Any]:
    """The options after what markers say, the farthest first.

    Raises UsageError for an option that there is not.
    """
    result = dict(values)
    for marker in markers:
        if marker.args:
            raise pytest.UsageError("@pytest.mark.fakekube takes keyword arguments only, such as nodes=3")
        if "state" in marker.kwargs:  # decides what farther places have said otherwise
            result = _beside_a_snapshot(result)
        result.update(marker.kwargs)
    known = (*INI, *PATHS, GUARD, CLAIMS, EXPLORE, *EXPLORING)
    for name in result:
        if name not in known and not _is_addon(name):
            raise pytest.UsageError(f"fakekube: unknown option {name!r}: known are {', '.join(known)}")
    return result


def _is_addon(name: str) -> bool:
    """Whether an add-on of that name is installed, whose configuration an option may be."""
    from fakekube.composition.installed import installed

    return name in installed().addons


def _beside_a_snapshot(values: "Mapping[str, Any]") -> dict[str, Any]:
    from dataclasses import fields

    from fakekube.composition.options import ClusterOptions
    from fakekube.composition.snapshot import MAY_DIFFER, OF_THE_READER

    decided = [field.name for field in fields(ClusterOptions) if field.name not in MAY_DIFFER + OF_THE_READER]
    return {name: value for name, value in values.items() if name not in decided}


@pytest.fixture(scope="session")
def fakekube_options_session(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What every test's cluster is like, as the ini file says.

    Override it in a conftest to decide otherwise.
    """
    values: dict[str, Any] = {GUARD: True}
    for name in (*INI, GUARD, CLAIMS, EXPLORE, *EXPLORING):
        if text := request.config.getini(f"fakekube_{name}"):
            values[name] = text
    for name in PATHS:
        if paths := request.config.getini(f"fakekube_{name}"):
            values[name] = paths if name == "load" else paths[0]
    if (recorded := request.config.pluginmanager.get_plugin(RECORDED)) is not None:
        values["record"] = recorded.recorder
    return values


@pytest.fixture(scope="module")
def fakekube_options_module(request: pytest.FixtureRequest, fakekube_options_session: dict[str, Any]) -> dict[str, Any]:
    """What the clusters of this module are like: ``fakekube_options_session``, and markers of the
    module and above.
    """
    return _told(fakekube_options_session, [*request.node.iter_markers("fakekube")][::-1])


@pytest.fixture
def fakekube_options(request: pytest.FixtureRequest, fakekube_options_module: dict[str, Any]) -> dict[str, Any]:
    """What this test's cluster is like: ``fakekube_options_module``, and markers of the test and
    its class.

    They are keyword arguments of ``Cluster``, and ``port``, ``bind_address`` and ``kubeconfig`` of
    a server. Override it in a conftest, a module or a class to decide otherwise. Raises UsageError
    for an option that there is not.
    """
    module = request.node.getparent(pytest.Module)
    above = module.listchain() if module is not None else []
    markers = [marker for node, marker in request.node.iter_markers_with_node("fakekube") if node not in above]
    return _told(fakekube_options_module, markers[::-1])


@pytest.fixture
def _fakekube_made_with(request: pytest.FixtureRequest, fakekube_options: dict[str, Any]) -> dict[str, Any]:
    """What a test's cluster is made with: its options, and the schedule of this run."""
    made = {name: value for name, value in fakekube_options.items() if name not in (CLAIMS, EXPLORE, *EXPLORING)}
    run = request.node.stash.get(RUN, None)
    schedule = run.choices if run is not None else request.config.getoption("fakekube_schedule")
    if run is not None and schedule is not None:  # what the calm run has proven need not be proven again
        made[GUARD] = False
    return {**made, "schedule": schedule} if schedule else made


@pytest.fixture
def _fakekube_checking(request: pytest.FixtureRequest, fakekube_options: dict[str, Any]) -> "Callable[[Any], Any]":
    """Makes the block in which the claims of a test are checked on its cluster."""
    if not fakekube_options.get(CLAIMS) and not fakekube_options.get("oracles"):
        return nullcontext
    from fakekube.composition.options import OptionError
    from fakekube.exploration.claimed import Claimed

    try:
        claimed = request.node.stash[CLAIMED] = Claimed(fakekube_options)
    except OptionError as error:
        raise pytest.UsageError(f"fakekube: {error}") from error
    return claimed


@contextmanager
def _served(options: dict[str, Any], folder: Path) -> "Iterator[BackgroundCluster]":
    from fakekube.composition.options import OptionError
    from fakekube.testing.background import BackgroundCluster

    with ExitStack() as stack:
        try:
            given = {name: value for name, value in options.items() if name not in NOT_OF_CLUSTERS}
            cluster = stack.enter_context(BackgroundCluster(**{"kubeconfig": folder / "kubeconfig", **given}))
        except OptionError as error:
            raise pytest.UsageError(f"fakekube: {error}") from error
        yield cluster


@pytest.fixture
def fakekube_server(
    _fakekube_made_with: dict[str, Any], _fakekube_checking: "Callable[[Any], Any]", tmp_path: Path,
) -> "Iterator[BackgroundCluster]":
    """A cluster behind a real port on loopback, in a thread of its own, for clients that block.

    It has ``url``, ``kubeconfig`` (a path), and ``settle()``, ``advance(seconds)``,
    ``run_until(predicate)`` to be called from the test.
    """
    with _served(_fakekube_made_with, tmp_path) as cluster, _fakekube_checking(cluster):
        yield cluster


@pytest.fixture(scope="module")
def fakekube_server_module(
    fakekube_options_module: dict[str, Any], tmp_path_factory: pytest.TempPathFactory,
) -> "Iterator[BackgroundCluster]":
    """As ``fakekube_server``, for all tests of a module; ``reset()`` makes it as new, at the same
    port.
    """
    with _served(fakekube_options_module, tmp_path_factory.mktemp("fakekube")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def fakekube_server_session(
    fakekube_options_session: dict[str, Any], tmp_path_factory: pytest.TempPathFactory,
) -> "Iterator[BackgroundCluster]":
    """As ``fakekube_server``, for the whole run of this process; ``reset()`` makes it as new, at
    the same port.
    """
    with _served(_told(fakekube_options_session, []), tmp_path_factory.mktemp("fakekube")) as cluster:
        yield cluster


@pytest.fixture
def fakekube_kubeconfig(fakekube_server: "BackgroundCluster") -> Path:
    """The path of a kubeconfig that leads to this test's server."""
    return fakekube_server.kubeconfig


@pytest.fixture
def fakekube_in_cluster(fakekube_server: "BackgroundCluster") -> "Iterator[Path]":
    """The in-cluster configuration of a pod that leads to this test's server, which needs ``tls``.

    The folder with ``token``, ``ca.crt`` and ``namespace``, of the account ``default`` in the
    namespace ``default``; the environment is set. ``fakekube.testing.in_cluster`` takes others.
    """
    from fakekube.composition.options import OptionError
    from fakekube.testing.incluster import in_cluster

    with ExitStack() as stack:
        try:
            folder = stack.enter_context(in_cluster(fakekube_server))
        except OptionError as error:
            raise pytest.UsageError(f"fakekube: {error}") from error
        yield folder
