"""Small operators with the bugs of the literature: each is found by its strategy, and not by the
calm run; the mended twin is not accused.
"""

import json
import re
from typing import NamedTuple

import pytest

from fakekube.exploration.strategies import STRATEGIES
from tests.exploration import buggy

OPTIONS = ("-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")

PROJECT = """
import pytest
from tests.exploration import buggy
from fakekube.client.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS

WEB = {"metadata": {"name": "web", "namespace": "default"}, "data": {}}

async def names(cluster, resource):
    return [item["metadata"]["name"] for item in (await cluster.client.list(resource, "default")).items]

async def change(cluster, **data):
    found = await cluster.client.get(CONFIG_MAPS, "web", "default")
    await cluster.client.update(CONFIG_MAPS, {**found, "data": data})
    await cluster.settle()

async def play(cluster):
    client = cluster.client
    await client.create(CONFIG_MAPS, WEB)
    await cluster.settle()
"""


class Case(NamedTuple):
    """A bug: the operator that has it, its twin, the strategy, and what is played and claimed."""

    strategy: str
    buggy: str
    mended: str
    play: str


CASES = [
    Case("intermediate-states", "secret_only_first", "secret_always", """
    await cluster.advance("1m")
    assert await names(cluster, SECRETS) == ["web"]
"""),
    Case("stale-states", "by_stale_view", "by_servers_view", """
    await change(cluster, scale="0")
    await change(cluster, scale="1")
    uid = (await client.get(PERSISTENT_VOLUME_CLAIMS, "web", "default"))["metadata"]["uid"]
    await change(cluster, color="blue")
    await change(cluster, color="green")
    await cluster.advance("2m")
    assert (await client.get(PERSISTENT_VOLUME_CLAIMS, "web", "default"))["metadata"]["uid"] == uid
"""),
    Case("unobserved-states", "sees", "there", """
    await client.delete(CONFIG_MAPS, "web", "default")
    await cluster.settle()
    uid = (await client.create(CONFIG_MAPS, WEB))["metadata"]["uid"]
    await cluster.advance("2m")
    assert (await client.get(SECRETS, "web", "default"))["metadata"]["labels"]["of"] == uid
"""),
    Case("conflicts", "gives_up", "tries_again", """
    await cluster.advance("1m")
    assert (await client.get(CONFIG_MAPS, "web", "default"))["data"] == {"ready": "true"}
"""),
    Case("intermediate-states", "moves_in_memory", "moves_on_the_server", """
    await client.create(SECRETS, {"metadata": {"name": "old", "namespace": "default", "labels": {"of": "web"}}})
    await change(cluster, place="new")
    await cluster.advance("1m")
    assert await names(cluster, SECRETS) == ["new"]
"""),
    Case("duplicate-deliveries", "bills_again", "bills_once", """
    await change(cluster, color="blue")
    await cluster.advance("1m")
    assert len(await names(cluster, PODS)) == 1
"""),
    Case("slow-deliveries", "two_children", "one_child", """
    await change(cluster, color="blue")
    await cluster.advance("1m")
    assert len(await names(cluster, PODS)) == 1
"""),
    Case("stale-states", "two_children", "one_child", """
    await change(cluster, color="blue")
    await cluster.advance("1m")
    assert len(await names(cluster, PODS)) == 1
"""),
    Case("ambiguous-writes", "counts_twice", "counts_once", """
    await cluster.advance("1m")
    assert (await client.get(CONFIG_MAPS, "web", "default"))["data"] == {"count": "1", "counted": "true"}
"""),
    Case("conflicts", "rolls_back", "tries_again_later", """
    await cluster.advance("1m")
    assert await names(cluster, SECRETS) == ["web"]
"""),
    Case("ambiguous-writes", "makes_another", "makes_the_same", """
    await cluster.advance("1m")
    assert len(await names(cluster, PODS)) == 1
"""),
]


def test_each_bug_has_its_operators():
    """Given the cases, then each names an operator and its twin."""
    assert all(hasattr(buggy, name) for case in CASES for name in (case.buggy, case.mended))
    assert len({case.buggy for case in CASES}) == 10
    assert {case.strategy for case in CASES} == {*STRATEGIES}


def project(case, operator, seeds):
    marker = f"explore={seeds}, strategies={case.strategy!r}, extra=[buggy.{operator}]"
    return f"{PROJECT}\n@pytest.mark.fakekube({marker})\nasync def test_it(fake_cluster):\n" + (
        "    cluster, client = fake_cluster, fake_cluster.client\n    await play(cluster)\n" + case.play)


def ran(pytester, text, *options):
    pytester.makepyfile(test_it=text)
    result = pytester.runpytest_inprocess(*OPTIONS, *options)
    return result, "\n".join(result.outlines)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.strategy}-{case.buggy}")
def test_a_bug_is_found_told_and_replayed(pytester, case):
    """Given an operator with a bug, when its strategy tries it with 200 seeds, then the calm run
    passes, a seed fails, its story names the fault, and the command replays it.
    """
    result, told = ran(pytester, project(case, case.buggy, 200), "--fakekube-findings", "findings.json")
    result.assert_outcomes(failed=1)
    found = json.loads((pytester.path / "findings.json").read_text())["explored"][0]
    assert found["seed"] <= 200
    assert 1 <= len(found["deviations"]) <= 2
    assert re.search(r"the calm run passes, seed \d+ fails", told)
    assert "  > " in found["story"]
    assert "fault: " in found["story"]
    replayed, _ = ran(pytester, project(case, case.buggy, 0), "--fakekube-schedule", found["schedule"])
    replayed.assert_outcomes(failed=1)


@pytest.mark.parametrize("seeds", [50, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.strategy}-{case.mended}")
def test_a_mended_twin_is_not_accused(pytester, case, seeds):
    """Given the operator without its bug, when the same strategy tries it, then nothing is said."""
    result, told = ran(pytester, project(case, case.mended, seeds))
    result.assert_outcomes(passed=1)
    assert f"{seeds} seeds" in told
