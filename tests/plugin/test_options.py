"""Every option is there wherever options are given: constructor, marker, ini file, fixture, command
line, configuration file.
"""

import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from fakekube import Cluster, pytest_plugin
from fakekube.cli.configuration import ServeConfiguration
from fakekube.cli.main import serve
from fakekube.composition.options import CALLBACKS, ClusterOptions, OptionError
from fakekube.testing.background import BackgroundCluster

OTHER_NAMES = {"files": "load", "snapshot": "state", "from_": "state", "host": "bind_address"}
ONLY_OF_SERVE = {
    "config": "the configuration file's own name", "verbosity": "of the log of the whole process",
    "ready_file": "for scripts that start a process and wait for it"}
QUIET = ("-p", "no:asyncio", "-p", "no:aiohttp", "-p", "no:timeout", "-p", "no:cacheprovider")


def keywords(function: Callable[..., object]) -> set[str]:
    """The keyword arguments of a function, by the names that options have elsewhere."""
    given = inspect.signature(function).parameters.values()
    return {OTHER_NAMES.get(one.name, one.name) for one in given if one.kind == one.KEYWORD_ONLY}


def test_no_option_exists_in_one_place_only() -> None:
    """Given the options of a cluster and of a server, when they are compared with those of marker,
    ini file, command line and configuration file, then all have the same.
    """
    of_cluster = {field.name for field in fields(ClusterOptions)} | keywords(Cluster.__init__) - {"options", "member"}
    of_server = keywords(Cluster.serve) | {"kubeconfig"}
    everywhere = of_cluster | of_server | {"fleet"}  # the names of several clusters, where there are such
    assert set(CALLBACKS) <= of_cluster
    assert keywords(BackgroundCluster.__init__) == of_server
    assert {*pytest_plugin.INI, *pytest_plugin.PATHS, pytest_plugin.GUARD} == everywhere
    for names in ([str(one.name) for one in serve.params], ServeConfiguration.model_fields):
        assert {OTHER_NAMES.get(name, name) for name in names} - {*ONLY_OF_SERVE} == everywhere


OURS = """
from fakekube.client.resources import CONFIG_MAPS
from fakekube.runtime import controller

class Quiet:
    def __init__(self, ctx): pass
    async def reconcile(self, request): pass

quiet = controller("quiet").for_(CONFIG_MAPS).complete(Quiet)

def outcome(pod, attempt, container): return 7
async def on_exec(process): return 3
async def on_connect(connection): pass
def on_metric(*asked): return None

def scheduler_plugins(ctx):
    return []
"""
NAMES = {name: f"ours_in_python:{name}" for name in CALLBACKS}
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: loaded, namespace: default}\n"

TOLD = """
import json
import pytest
from fakekube.client.resources import CONFIG_MAPS

def told(server, file):
    cluster = server.cluster
    with open(file, "w") as out:
        json.dump({
            "callbacks": {name: value and value.__qualname__ for name, value in cluster._controllers.callbacks.items()},
            "extra": "quiet" in server.cluster.manager.names, "port": server.url.rpartition(":")[2],
            "kubeconfig": str(server.kubeconfig), "began": str(cluster.clock.now()),
            "loaded": bool(server.call(lambda one: one.client.get(CONFIG_MAPS, "loaded", "default", missing_ok=True)))}, out)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with functions and a controller to name, and a manifest."""
    pytester.makepyfile(ours_in_python=OURS, telling=TOLD)
    (pytester.path / "map.yaml").write_text(MAP)
    return pytester


def test_every_option_can_be_said_in_the_ini_file(project: pytest.Pytester, unused_tcp_port: int) -> None:
    """Given an ini file with each of them, files relative to it, when a test asks for a server,
    then that is what it says.
    """
    lines = [f"fakekube_{name} = {text}" for name, text in {
        **NAMES, "extra": "ours_in_python:quiet", "load": "map.yaml", "port": unused_tcp_port, "bind_address": "127.0.0.1",
        "kubeconfig": "config", "start": "2027-01-01T00:00:00Z"}.items()]
    project.makeini("\n".join(["[pytest]", *lines]))
    project.makepyfile("from telling import told\ndef test_it(fakekube_server): told(fakekube_server, 'told')\n")
    project.runpytest_subprocess(*QUIET).assert_outcomes(passed=1)
    assert json.loads((project.path / "told").read_text()) == {
        "callbacks": {name: name for name in CALLBACKS}, "extra": True, "port": str(unused_tcp_port),
        "kubeconfig": str(project.path / "config"), "began": "2027-01-01 00:00:00+00:00", "loaded": True}


def test_every_option_can_be_said_in_marker_and_fixture(project: pytest.Pytester) -> None:
    """Given functions and components in a marker, and a conftest that adds to the options, when
    servers are made, then both count: the fixture over the marker, a marker over a fixture that
    stands farther away.
    """
    project.makeconftest("""
import pytest

@pytest.fixture(scope="session")
def fakekube_options_session(fakekube_options_session):
    return {**fakekube_options_session, "nodes": 2, "seed": 4}

@pytest.fixture
def fakekube_options(fakekube_options, request):
    return {**fakekube_options, "start": "2027-01-01T00:00:00Z"}
""")
    project.makepyfile("""
import ours_in_python as ours
import pytest
from pathlib import Path
from telling import told

pytestmark = pytest.mark.fakekube(nodes=3, start="2028-01-01T00:00:00Z")

@pytest.mark.fakekube(outcome=ours.outcome, on_exec=ours.on_exec, on_connect=ours.on_connect, on_metric=ours.on_metric,
                      scheduler_plugins=ours.scheduler_plugins, extra=[ours.quiet], load=Path("map.yaml"), nodes=1)
def test_it(fakekube_server):
    options = fakekube_server.cluster.options
    assert (options.nodes, options.seed) == (1, 4)
    told(fakekube_server, "told")

@pytest.mark.fakekube(nodes=0)
def test_module(fakekube_server_module):
    assert (fakekube_server_module.cluster.options.nodes, str(fakekube_server_module.clock.now())[:4]) == (3, "2028")

def test_session(fakekube_server_session):
    assert fakekube_server_session.cluster.options.nodes == 2
""")
    project.runpytest_subprocess(*QUIET).assert_outcomes(passed=3)
    told = json.loads((project.path / "told").read_text())
    assert told["callbacks"] == {name: name for name in CALLBACKS}
    assert (told["extra"], told["loaded"], told["began"][:4]) == (True, True, "2027")


def test_servers_of_a_module_and_of_the_session_are_shared_and_reset(project: pytest.Pytester) -> None:
    """Given servers that live longer than a test, when two tests use one, then both meet the same
    port and the same objects; after a reset it is as new, at the same port, and a stopped
    controller runs again.
    """
    project.makepyfile("""
import urllib.request
import json
import pytest
from fakekube.client.resources import CONFIG_MAPS, PODS

urls = {}

@pytest.fixture(params=["module", "session"])
def server(request):
    return request.getfixturevalue(f"fakekube_server_{request.param}")

@pytest.fixture
def scope(request): return request.node.callspec.params["server"]

def create(server, name):
    server.call(lambda cluster: cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "default"}}))

def names(server):
    with urllib.request.urlopen(f"{server.url}/api/v1/namespaces/default/configmaps") as answer:
        return [item["metadata"]["name"] for item in json.load(answer)["items"]]

def test_one(server, scope):
    urls[scope] = server.url
    create(server, "left")
    server.stop_controller("scheduler")
    server.advance("1h")

def test_other(server, scope):
    assert server.url == urls[scope]
    assert "left" in names(server)
    began = server.cluster.options.start
    server.reset()
    assert "left" not in names(server)
    assert (server.url, str(server.clock.now())) == (urls[scope], "2026-01-01 00:00:00+00:00")
    assert server.cluster.manager.is_running("scheduler")
    server.restart_controller("job")
    server.start_controller("job")
""")
    project.runpytest_subprocess(*QUIET).assert_outcomes(passed=4)


def test_a_snapshot_decides_what_farther_places_say(project: pytest.Pytester) -> None:
    """Given a project whose ini file says how many nodes, when a test goes on from the file of a
    snapshot, then the snapshot decides, and what it does not decide is as the ini file says.
    """
    project.makeini("[pytest]\nfakekube_nodes = 3\nfakekube_outcome = ours_in_python:outcome\nfakekube_clock = manual\n")
    project.makepyfile("""
import pytest

@pytest.mark.fakekube(nodes=0)
def test_first(fakekube_server):
    fakekube_server.advance("1h")
    fakekube_server.snapshot().write("taken")

@pytest.mark.fakekube(state="taken")
def test_second(fakekube_server):
    cluster = fakekube_server.cluster
    assert (cluster.options.nodes, cluster.clock.mode) == (0, "manual")
    assert str(cluster.clock.now()) == "2026-01-01 01:00:00+00:00"
    assert cluster._controllers.callbacks["outcome"].__qualname__ == "outcome"
""")
    project.runpytest_subprocess(*QUIET).assert_outcomes(passed=2)


@pytest.mark.parametrize(("option", "value", "text"), [
    ("outcome", "ours:f", "outcome: 'ours:f' names nothing that can be imported: No module named 'ours'"),
    ("on_exec", "json:nothing", "on_exec: 'json:nothing' names nothing"),
    ("on_connect", "json", "on_connect: 'json' names nothing that can be imported: say module:attribute"),
    ("on_metric", "json:__name__", "on_metric: 'json:__name__' is no function"),
    ("scheduler_plugins", 3, "scheduler_plugins: 3 is no function"),
    ("extra", "json:nothing", "extra: 'json:nothing' names nothing"),
])
def test_what_names_nothing_is_refused(option: str, value: object, text: str) -> None:
    """Given a text that names no function or component, when a cluster is made, then OptionError
    names option and text.
    """
    with pytest.raises(OptionError) as caught:
        Cluster(**{option: value})  # type: ignore[arg-type]
    assert text in str(caught.value)


def test_a_port_that_is_none_is_refused(tmp_path: Path) -> None:
    """Given a port that no port can be, when a cluster is to be served there, then OptionError says
    so.
    """
    with pytest.raises(OptionError, match="port: '99999' is no port"), BackgroundCluster(port="99999", nodes=0):
        pass
