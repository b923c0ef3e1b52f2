"""Tests of pytest that are explored: found, shrunk, told, counted and replayed."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPTIONS = ("-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")

PROJECT = """
import pytest
from tests.exploration import operators
from fakekube.client.resources import CONFIG_MAPS, PODS

async def two_writes(cluster):
    made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "web", "namespace": "default"}})
    await cluster.client.update(CONFIG_MAPS, {**made, "data": {"wanted": "1"}})
    await cluster.settle()
    await cluster.settle()
"""

ONE_POD = """
@pytest.mark.timeout(1800)
@pytest.mark.fakekube(explore={seeds}, extra=[operators.{operator}])
async def test_one_pod(fake_cluster):
    await two_writes(fake_cluster)
    assert len((await fake_cluster.client.list(PODS, "default")).items) == 1
"""

NOTHING_LOST = """
from fakekube.apimachinery.errors import APIError

async def write(client, **data):
    while True:
        now = await client.get(CONFIG_MAPS, "web", "default")
        try:
            return await client.update(CONFIG_MAPS, {{**now, "data": {{**now["data"], **data}}}})
        except APIError:
            pass

@pytest.mark.timeout(1800)
@pytest.mark.fakekube(explore={seeds}, extra=[operators.{operator}])
async def test_nothing_is_lost(fake_cluster):
    client = fake_cluster.client
    await client.create(CONFIG_MAPS, {{"metadata": {{"name": "web", "namespace": "default"}}, "data": {{"wanted": "1"}}}})
    await write(client, wanted="2", more="x")
    await fake_cluster.settle()
    await fake_cluster.settle()
    assert (await client.get(CONFIG_MAPS, "web", "default"))["data"] == {{"wanted": "2", "more": "x", "seen": "2"}}
"""

RACY = PROJECT + """
@pytest.mark.fakekube(explore=200, extra=[operators.two_children])
async def test_one_pod(fake_cluster):
    await two_writes(fake_cluster)
    assert len((await fake_cluster.client.list(PODS, "default")).items) == 1
"""


@pytest.fixture(autouse=True)
def _projects_find_us(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join([str(ROOT), str(ROOT / "controllers"), *sys.path]))


def lines_of(result):
    return "\n".join(result.outlines)


def test_a_race_is_found_told_and_replayed(pytester):
    """Given an operator that looks before it creates, when its test is explored, then a seed fails
    that the calm run does not, with its story, and the command replays it.
    """
    pytester.makepyfile(test_it=RACY)
    told = lines_of(result := pytester.runpytest_subprocess(*OPTIONS))
    result.assert_outcomes(failed=1)
    assert "the calm run passes, seed " in told
    assert re.search(r"> \+\S+ the watch of pods by two-children hears of default/web-\w+: \d+ ms late", told)
    assert len(re.findall(r"ADDED pods default/web-\w+  POST .* by two-children", told.partition("seed that fails")[2])) == 2
    command = re.search(r"pytest (\S+) --fakekube-schedule (\S+)", told)
    replayed = pytester.runpytest_subprocess(*OPTIONS, command[1], "--fakekube-schedule", command[2])
    replayed.assert_outcomes(failed=1)
    assert "len" in lines_of(replayed)
    calm = pytester.runpytest_subprocess(*OPTIONS, "--fakekube-schedule", "1::eJyLjgUAARUAuQ")
    calm.assert_outcomes(passed=1)


def test_what_was_explored_is_counted(pytester):
    """Given tests without a race, when they are explored by ini file, marker, fixture and command
    line, then the summary counts seeds and distinct histories, and each test is one.
    """
    pytester.makeini("[pytest]\nfakekube_explore = 3")
    pytester.makepyfile(test_ini=PROJECT + """
pytestmark = pytest.mark.fakekube(extra=[operators.one_child])

async def test_by_ini(fake_cluster): await two_writes(fake_cluster)

@pytest.mark.fakekube(explore="11-14")
async def test_by_marker(fake_cluster): await two_writes(fake_cluster)

@pytest.mark.fakekube(explore=0)
async def test_not(fake_cluster): await two_writes(fake_cluster)

class TestFixture:
    @pytest.fixture
    def fakekube_options(self, fakekube_options): return {**fakekube_options, "explore": 2}

    @pytest.mark.parametrize("number", [1, 2])
    async def test_by_fixture(self, fake_cluster, number): await two_writes(fake_cluster)

def test_of_nothing(): pass
""")
    told = lines_of(result := pytester.runpytest_subprocess(*OPTIONS, "--fakekube-findings", "found"))
    result.assert_outcomes(passed=6)
    counted = dict(re.findall(r"test_ini.py::(\S+): (\d+ seeds)", told))
    assert counted == {
        "test_by_ini": "3 seeds", "test_by_marker": "4 seeds", "TestFixture::test_by_fixture[1]": "2 seeds",
        "TestFixture::test_by_fixture[2]": "2 seeds"}
    found = json.loads((pytester.path / "found").read_text())["explored"]
    assert all(1 <= len(one["fingerprints"]) == one["histories"] <= one["seeds"] for one in found)
    assert max(one["histories"] for one in found) > 1
    told = lines_of(pytester.runpytest_subprocess(*OPTIONS, "--fakekube-explore", "2", "-k", "by_marker"))
    assert "test_by_marker: 2 seeds" in told
    assert "fakekube: explored" not in lines_of(pytester.runpytest_subprocess(*OPTIONS, "--fakekube-schedule", "1:3"))


def test_a_failure_of_the_calm_run_is_told_as_ever(pytester):
    """Given a test that fails anyway, or is skipped, when it is explored, then it runs once."""
    pytester.makepyfile(PROJECT + """
runs = []

@pytest.mark.fakekube(explore=50)
async def test_wrong(fake_cluster):
    runs.append(1)
    assert len(runs) == 7

@pytest.mark.fakekube(explore=50)
async def test_skipped(fake_cluster): pytest.skip("not here")

@pytest.mark.xfail
@pytest.mark.fakekube(explore=50)
async def test_expected(fake_cluster): assert False

def test_once(): assert runs == [1]
""")
    told = lines_of(result := pytester.runpytest_subprocess(*OPTIONS))
    result.assert_outcomes(failed=1, skipped=1, xfailed=1, passed=1)
    assert "fakekube: explored" not in told
    assert "seed that fails" not in told


def test_fixtures_are_fresh_and_those_of_the_module_live_on(pytester):
    """Given fixtures of a test and of its module, when the test is explored, then each run has its
    own of the first, and all share the other, which is taken down once, as is each of the first.
    """
    pytester.makepyfile(PROJECT + """
events = []

@pytest.fixture(scope="module")
def of_module():
    events.append("module up")
    yield
    events.append("module down")

@pytest.fixture
def of_test(of_module, capsys):
    events.append("up")
    yield
    events.append("down")

@pytest.mark.fakekube(explore=2)
async def test_it(fake_cluster, of_test, record_property):
    print("printed")
    record_property("said", "once")
    await two_writes(fake_cluster)

def test_after(of_module):
    assert events == ["module up", "up", "down", "up", "down", "up", "down"]
""")
    pytester.makepyfile(test_other="""
def test_torn_down():
    from sys import modules
    events = modules["test_fixtures_are_fresh_and_those_of_the_module_live_on"].events
    assert events[-1] == "module down" and events.count("module down") == 1
""")
    pytester.runpytest_subprocess(*OPTIONS, "--junitxml=out.xml").assert_outcomes(passed=3)
    assert (pytester.path / "out.xml").read_text().count('name="said"') == 1


def test_sync_tests_are_explored_behind_a_port(pytester):
    """Given a blocking client and an operator in the cluster, when the test is explored, then the
    race is found.
    """
    pytester.makepyfile(PROJECT + """
import urllib.request, json

def ask(server, method, path, body=None):
    request = urllib.request.Request(
        server.url + path, method=method, data=body and json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer: return json.load(answer)

@pytest.mark.fakekube(explore=100, extra=[operators.two_children])
def test_one_pod(fakekube_server):
    maps = "/api/v1/namespaces/default/configmaps"
    made = ask(fakekube_server, "POST", maps, {"metadata": {"name": "web"}})
    ask(fakekube_server, "PUT", maps + "/web", {**made, "data": {"a": "b"}})
    fakekube_server.settle()
    fakekube_server.run_until(lambda: ask(fakekube_server, "GET", "/api/v1/namespaces/default/pods")["items"])
    assert len(ask(fakekube_server, "GET", "/api/v1/namespaces/default/pods")["items"]) == 1
""")
    told = lines_of(result := pytester.runpytest_subprocess(*OPTIONS))
    result.assert_outcomes(failed=1)
    assert "by two-children hears of default/web-" in told


def test_fleets_are_explored(pytester):
    """Given a fleet, when its test is explored, then both clusters deviate, and all is counted."""
    pytester.makepyfile(PROJECT + """
@pytest.mark.fakekube(explore=5, fleet="east,west", extra=[operators.one_child])
async def test_both(fake_fleet):
    for cluster in fake_fleet.values():
        await two_writes(cluster)
""")
    told = lines_of(result := pytester.runpytest_subprocess(*OPTIONS))
    result.assert_outcomes(passed=1)
    assert re.search(r"5 seeds, [2-5] distinct histories", told)


@pytest.mark.parametrize(("line", "words"), [
    ("explore='many'", "are no seeds"), ("explore='9-3'", "are no seeds"), ("schedule='1:x'", "is no seed"),
    ("schedule='7:17'", "of version 7")])
def test_what_cannot_be_explored_is_refused_with_a_sentence(pytester, line, words):
    """Given seeds or a schedule that are none, when the test runs, then a sentence says so."""
    pytester.makepyfile(PROJECT + f"""
@pytest.mark.fakekube({line})
async def test_it(fake_cluster): pass
""")
    result = pytester.runpytest_subprocess(*OPTIONS)
    assert words in lines_of(result) + "\n".join(result.errlines)
    assert result.ret != 0


@pytest.mark.parametrize(("text", "words"), [
    ("7:17", "--fakekube-schedule: the schedule '7:17' is of version 7"), ("17", "--fakekube-schedule: '17' is no schedule"),
    ("1:1:AAAA", "--fakekube-schedule: the deviations of the schedule cannot be read")])
def test_a_schedule_that_is_none_is_refused_before_any_test_runs(pytester, text, words):
    """Given a schedule of another version, or none, on the command line, when pytest begins, then a
    sentence says so, and nothing else.
    """
    pytester.makepyfile(PROJECT + "async def test_it(fake_cluster): pass")
    result = pytester.runpytest_subprocess(*OPTIONS, "--fakekube-schedule", text)
    [line] = [line for line in result.errlines if line]
    assert words in line
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(("test", "operator"), [(ONE_POD, "two_children"), (NOTHING_LOST, "overwrites")])
def test_a_race_is_found_within_200_seeds(pytester, test, operator):
    """Given operators that trust a cache that is behind, when they are explored, then a seed fails,
    and the calm run does not.
    """
    pytester.makepyfile(PROJECT + test.format(seeds=200, operator=operator))
    told = lines_of(result := pytester.runpytest_subprocess(*OPTIONS))
    result.assert_outcomes(failed=1)
    assert "the calm run passes" in told
    assert f"> +0s the watch of configmaps by {operator.replace('_', '-')} hears of default/web" in told


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("test", "operator"), [(ONE_POD, "one_child"), (NOTHING_LOST, "versioned")])
def test_the_mended_twin_passes(pytester, test, operator):
    """Given an operator that was mended, when 2,000 seeds explore its test, then it passes."""
    pytester.makepyfile(PROJECT + test.format(seeds=2000, operator=operator))
    pytester.runpytest_subprocess(*OPTIONS).assert_outcomes(passed=1)


def test_anyio_runs_explored_tests_too(pytester):
    """Given a project that uses anyio and not pytest-asyncio, when its async test is explored, then
    the race is found.
    """
    test = ONE_POD.format(seeds=200, operator="two_children").replace("async def", "@pytest.mark.anyio\nasync def")
    pytester.makepyfile(PROJECT + test + """
@pytest.fixture
def anyio_backend(): return "asyncio"
""")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:aiohttp")
    result.assert_outcomes(failed=1)
    assert "by two-children hears of default/web" in lines_of(result)


def test_workers_of_xdist_tell_what_they_explored(pytester):
    """Given pytest-xdist, when tests are explored by its workers, then the summary has them all."""
    pytester.makepyfile(PROJECT + """
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.fakekube(explore=3, extra=[operators.one_child])
async def test_it(fake_cluster, number): await two_writes(fake_cluster)
""")
    result = pytester.runpytest_subprocess(*OPTIONS, "-n", "2")
    result.assert_outcomes(passed=2)
    assert len(re.findall(r"::test_it\[\d\]: 3 seeds", lines_of(result))) == 2
