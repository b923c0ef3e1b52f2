"""Strategies and crash points against operators outside that are declared, in kopf, in a thread and
as a command: those that die are found, their mended twins are not accused.
"""

import json

import pytest

from fakekube.exploration import items
from fakekube.testing import operators
from tests.exploration.test_strategies import OPTIONS, ran

LOADED = items, operators  # before pytester, which forgets what is loaded in its runs

PROJECT = """
import sys
import threading
from pathlib import Path

import pytest
from kubernetes import client, config, watch

from fakekube.testing.operators import command_operator, thread_operator

def connected(kubeconfig):
    settings = client.Configuration()
    config.load_kube_config(str(kubeconfig), client_configuration=settings)
    return client.CoreV1Api(client.ApiClient(settings))

def names(found):
    return sorted(one.metadata.name for one in found.items)

def ensure(create, name, **fields):
    try:
        create("default", {"metadata": {"name": name}, **fields})
    except client.ApiException as error:
        if error.status != 409:
            raise

QUICKLY = {"nodes": 0, "controllers": ""}
POD = {"spec": {"containers": [{"name": "main", "image": "web"}]}}

def two_objects(core, name):
    if name not in names(core.list_namespaced_pod("default")):
        ensure(core.create_namespaced_pod, name, **POD)
        ensure(core.create_namespaced_secret, name)

def two_objects_mended(core, name):
    ensure(core.create_namespaced_pod, name, **POD)
    ensure(core.create_namespaced_secret, name)

def from_a_cache(core, name):
    if not names(core.list_namespaced_secret("default", resource_version="0")):
        core.create_namespaced_secret("default", {"metadata": {"generateName": "web-"}})

def from_a_cache_mended(core, name):
    if not names(core.list_namespaced_secret("default")):
        core.create_namespaced_secret("default", {"metadata": {"generateName": "web-"}})

def operator(work):
    def shop(kubeconfig, stop):
        core = connected(kubeconfig)
        while not stop.is_set():
            for event in watch.Watch().stream(core.list_namespaced_config_map, "default", label_selector="shop=web"):
                if event["type"] == "ADDED":
                    work(core, event["object"].metadata.name)
    return shop

def play(server):
    core = connected(server.kubeconfig)
    core.create_namespaced_config_map("default", {"metadata": {"name": "web", "labels": {"shop": "web"}}})
    server.advance("2m")  # an operator that looks away twice, for 20 s each, and restarts has come by then
    return core
"""

TWO = """
@pytest.mark.fakekube(extra=[thread_operator("shop", operator(WORK))], **QUICKLY, HOW)
def test_it(fakekube_server):
    assert names(play(fakekube_server).list_namespaced_secret("default")) == ["web"]
"""

ONE = """
@pytest.mark.fakekube(extra=[thread_operator("shop", operator(WORK), restart_policy="Always")], **QUICKLY, HOW)
def test_it(fakekube_server):
    assert len(names(play(fakekube_server).list_namespaced_secret("default"))) == 1
"""


def project(test: str, work: str, how: str) -> str:
    """A test of an operator that does that work."""
    return PROJECT + test.replace("WORK", work).replace("HOW", how)


@pytest.mark.parametrize(("test", "work", "how", "fault"), [
    (TWO, "two_objects", 'crash_points="shop"', "fault: shop dies after its write 1 is committed (create pods)"),
    (TWO, "two_objects", 'strategies="intermediate-states"', "fault: shop dies after its write 1 is committed (create pods)"),
    (ONE, "from_a_cache", 'strategies="stale-states"', "from a replica that is"),
])
def test_a_bug_is_found_told_and_replayed(pytester, test, work, how, fault):
    """Given an operator in a thread with a bug, when every crash point or a strategy tries it, then
    the calm run passes, the bug is found and told, and the schedule has it again.
    """
    result, told = ran(pytester, project(test, work, how), "--fakekube-findings", "findings.json")
    result.assert_outcomes(failed=1)
    assert "the calm run passes, " in told
    assert fault in told
    found = json.loads((pytester.path / "findings.json").read_text())["explored"][0]
    replayed, _ = ran(pytester, project(test, work, "explore=0"), "--fakekube-schedule", found["schedule"])
    replayed.assert_outcomes(failed=1)


@pytest.mark.parametrize(("test", "work", "how"), [
    (TWO, "two_objects_mended", 'crash_points="shop"'),
    (TWO, "two_objects_mended", 'strategies="intermediate-states,unobserved-states", explore=5'),
    (ONE, "from_a_cache_mended", 'strategies="stale-states,conflicts", explore=5'),
])
def test_a_mended_twin_is_not_accused(pytester, test, work, how):
    """Given its mended twin, when the same tries it, then its test passes."""
    result, told = ran(pytester, project(test, work, how))
    result.assert_outcomes(passed=1)
    assert "fakekube: explored" in told


MODULE = """
import pytest
from tests.plugin.crashing import OPERATORS, SELECTOR, connected

pytestmark = pytest.mark.fakekube(extra=[OPERATORS[OPERATOR]], grace="500ms", nodes=0, controllers="")

@pytest.fixture
def server(fakekube_server_module):
    fakekube_server_module.reset()
    yield fakekube_server_module
    fakekube_server_module.faults.clear()

@pytest.mark.parametrize("name", ["a", "b"])
def test_it(server, name):
    core = connected(server.kubeconfig)
    with server.faults.add(crash="shop", users="shop", verbs="create", nth=1, moment="after"):
        core.create_namespaced_config_map("default", {"metadata": {"name": name, "labels": SELECTOR}})
        server.settle()
    assert [secret.metadata.name for secret in core.list_namespaced_secret("default").items] == [name]
"""


def test_clusters_of_modules_with_two_workers(pytester):
    """Given modules with a cluster of their own, faults, and an operator in kopf, in a thread and
    as a command, when they run in two processes, then all pass, and nothing of one test is left
    for the next.
    """
    for operator in "kopf", "thread", "command":
        pytester.makepyfile(**{f"test_{operator}": MODULE.replace("OPERATOR]", f"{operator!r}]")})
    result = pytester.runpytest_subprocess(*OPTIONS, "-n", "2", "--dist", "loadfile")
    result.assert_outcomes(passed=6)
