"""Small operators with the bugs of the literature: each is found by its strategy, and not by the
calm run; the mended twin is not accused.
"""

import json
import re
from typing import NamedTuple

import pytest

from fakekube.exploration.strategies import STRATEGIES
from tests.exploration.buggy import ambiguous, conflicts, intermediate, kopfs, plain, slow, stale, unobserved

OPTIONS = ("-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")

PROJECT = """
import base64
import pytest
from tests.exploration.buggy import ambiguous, conflicts, intermediate, kopfs, plain, slow, stale, unobserved
from fakekube.client.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS

WEB = {"metadata": {"name": "web", "namespace": "default"}, "data": {}}

async def names(cluster, resource):
    return [item["metadata"]["name"] for item in (await cluster.client.list(resource, "default")).items]

async def change(cluster, **data):
    found = await cluster.client.get(CONFIG_MAPS, "web", "default")
    await cluster.client.update(CONFIG_MAPS, {**found, "data": {**(found.get("data") or {}), **data}})
    await cluster.settle()

async def password(cluster, text):
    secret = {"metadata": {"name": "password", "namespace": "default"}, "data": {"password": text}}
    await (cluster.client.update if "password" in await names(cluster, SECRETS) else cluster.client.create)(SECRETS, secret)
    await cluster.settle()

async def version(cluster):
    secret = await cluster.client.get(SECRETS, "web", "default")
    return base64.b64decode(secret["data"]["version"]).decode()

async def play(cluster):
    client = cluster.client
    await client.create(CONFIG_MAPS, WEB)
    await cluster.settle()
"""


class Case(NamedTuple):
    """A bug: the operator that has it, its twin, the strategy, what the story tells, and what is
    played and claimed.
    """

    strategy: str
    buggy: str
    mended: str
    told: str
    play: str


CASES = [
    Case("intermediate-states", "intermediate.secret_only_first", "intermediate.secret_always",
         "dies (after its write 1 is committed .create pods|before its write 2 is committed .create secrets)", """
    await cluster.advance("1m")
    assert await names(cluster, SECRETS) == ["web"]
"""),
    Case("intermediate-states", "intermediate.moves_in_memory", "intermediate.moves_on_the_server",
         "dies (after its write 1 is committed .delete secrets old|before its write 2 is committed .create secrets)", """
    await client.create(SECRETS, {"metadata": {"name": "old", "namespace": "default", "labels": {"of": "web"}}})
    await change(cluster, place="new")
    await cluster.advance("1m")
    assert await names(cluster, SECRETS) == ["new"]
"""),
    Case("intermediate-states", "intermediate.marks_first", "intermediate.marks_and_goes_on",
         r"dies (after|before) its write \d+ is committed .(update|create) (configmaps|secrets)", """
    await change(cluster, version="1")
    await change(cluster, version="2")
    await change(cluster, version="1")
    await cluster.advance("2m")
    assert await version(cluster) == "1"
"""),
    Case("stale-states", "stale.by_stale_view", "stale.by_servers_view", "reads for .* from a replica that is", """
    await change(cluster, scale="0")
    await change(cluster, scale="1")
    await cluster.advance("1m")
    uid = (await client.get(PERSISTENT_VOLUME_CLAIMS, "web", "default"))["metadata"]["uid"]
    await change(cluster, color="blue")
    await change(cluster, color="green")
    await cluster.advance("2m")
    assert (await client.get(PERSISTENT_VOLUME_CLAIMS, "web", "default"))["metadata"]["uid"] == uid
"""),
    Case("unobserved-states", "unobserved.sees", "unobserved.there", "sees nothing of configmaps for", """
    await client.delete(CONFIG_MAPS, "web", "default")
    await cluster.settle()
    uid = (await client.create(CONFIG_MAPS, WEB))["metadata"]["uid"]
    await cluster.advance("2m")
    assert (await client.get(SECRETS, "web", "default"))["metadata"]["labels"]["of"] == uid
"""),
    Case("slow-deliveries", "slow.two_children", "slow.one_child", "of pods", """
    await change(cluster, color="blue")
    await cluster.advance("1m")
    assert len(await names(cluster, PODS)) == 1
"""),
    Case("slow-deliveries", "slow.overwrites", "slow.versioned", "(hears of|watch of) configmaps .* (late|stands still)", """
    await change(cluster, wanted="1")
    await change(cluster, wanted="2")
    await change(cluster, color="blue")
    await cluster.advance("1m")
    assert (await client.get(CONFIG_MAPS, "web", "default"))["data"] == {"wanted": "2", "seen": "2", "color": "blue"}
"""),
    Case("slow-deliveries", "slow.reads_the_other", "slow.hears_of_both", "of secrets", """
    await password(cluster, "b25l")
    await change(cluster, secret="password", color="blue")
    await password(cluster, "dHdv")
    await change(cluster, color="green")
    await cluster.advance("1m")
    assert (await client.get(CONFIG_MAPS, "of-web", "default"))["data"] == {"color": "green", "password": "dHdv"}
"""),
    Case("ambiguous-writes", "ambiguous.counts_twice", "ambiguous.counts_once",
         "write 1 of counts-twice is committed and .*update configmaps web", """
    await cluster.advance("1m")
    assert (await client.get(CONFIG_MAPS, "web", "default"))["data"] == {"count": "1", "counted": "true"}
"""),
    Case("conflicts", "conflicts.says_it_is_done", "conflicts.says_what_is_done",
         "meets a conflict .update secrets web", """
    await change(cluster, version="1")
    await change(cluster, version="2")
    await cluster.advance("1m")
    assert await version(cluster) == "2"
"""),
    Case("conflicts", "conflicts.rolls_back", "conflicts.tries_again_later", "meets a conflict .update configmaps web", """
    await cluster.advance("1m")
    assert await names(cluster, SECRETS) == ["web"]
"""),
]


OUTSIDE = [
    Case("intermediate-states", "kopfs.pod_first", "kopfs.both",
         r"pod-first dies (after its write \d+ is committed .create pods|before its write \d+ is committed .create secrets)", """
    await cluster.advance("1m")
    assert await names(cluster, SECRETS) == ["web"]
"""),
    Case("unobserved-states", "kopfs.hears_of_ends", "kopfs.has_finalizers", "hears-of-ends sees nothing of configmaps for", """
    await cluster.advance("10s")
    await client.delete(CONFIG_MAPS, "web", "default")
    await cluster.advance("2m")
    assert await names(cluster, SECRETS) == []
"""),
    Case("ambiguous-writes", "kopfs.some_pod", "kopfs.the_pod", "of some-pod is committed and .*create pods", """
    await cluster.advance("1m")
    assert len(await names(cluster, PODS)) == 1
"""),
    Case("conflicts", "kopfs.gives_up", "kopfs.tries_again", "of gives-up meets a conflict .update secrets web", """
    await change(cluster, version="1")
    await cluster.advance("1m")
    await change(cluster, version="2")
    await cluster.advance("1m")
    assert await version(cluster) == "2"
"""),
    Case("stale-states", "plain.by_name", "plain.by_uid", "by-name then reads for .* from a replica that is", """
    await cluster.advance("1m")
    await client.delete(CONFIG_MAPS, "web", "default")
    await cluster.advance("1m")
    await client.create(CONFIG_MAPS, WEB)
    await cluster.advance("1m")
    uid = (await client.get(SECRETS, "web", "default"))["metadata"]["uid"]
    await change(cluster, color="blue")
    await cluster.advance("2m")
    assert (await client.get(SECRETS, "web", "default"))["metadata"]["uid"] == uid
"""),
    Case("duplicate-deliveries", "plain.bills_again", "plain.bills_once", "bills-again hears again of all configmaps", """
    await change(cluster, color="blue")
    await cluster.advance("1m")
    assert len(await names(cluster, PODS)) == 1
"""),
    Case("ambiguous-writes", "plain.counts_twice", "plain.counts_once",
         "counts-twice is committed and .*update configmaps web", """
    await cluster.advance("1m")
    assert (await client.get(CONFIG_MAPS, "web", "default"))["data"] == {"count": "1", "counted": "true"}
"""),
]
"""In kopf, and in plain clients over HTTP, which the cluster starts."""

NEEDLES = [
    Case("ambiguous-writes", "ambiguous.counts_one_twice", "ambiguous.counts_one_once",
         r"write \d+ of counts-one-twice is committed and .*update configmaps web-17", """
    for number in range(48):
        await client.create(CONFIG_MAPS, {"metadata": {"name": f"web-{number}", "namespace": "default"}})
    await cluster.advance("5m")
    assert (await client.get(CONFIG_MAPS, "web-17", "default"))["data"] == {"count": "1", "counted": "true"}
"""),
    Case("slow-deliveries", "slow.reads_the_other_once", "slow.hears_of_both_once", "secrets", """
    for number in range(50):
        await password(cluster, f"{number:04}")
        await change(cluster, secret="password", color=str(number))
        await cluster.advance("10s")
    await cluster.advance("1m")
    assert (await client.get(CONFIG_MAPS, "of-web", "default"))["data"] == {"color": "25", "password": "0025"}
"""),
]
"""One write, or one event, of fifty matters."""

MODULES = {module.__name__.rpartition(".")[2]: module for module in (
    ambiguous, conflicts, intermediate, kopfs, plain, slow, stale, unobserved)}
"""They are imported here: each run of pytest in this process forgets what it has imported."""


def test_each_strategy_has_a_bug():
    """Given the cases, then each names an operator and its twin, and each strategy finds some."""
    cases = [*CASES, *OUTSIDE]
    assert {case.strategy for case in cases} == {*STRATEGIES}
    assert len({case.buggy for case in cases}) >= 12
    for name in (name for case in [*cases, *NEEDLES] for name in (case.buggy, case.mended)):
        module, _, operator = name.partition(".")
        assert hasattr(MODULES[module], operator)


def project(case, operator, seeds):
    grace = ', clock="manual", grace="200ms"' if case.buggy in {one.buggy for one in OUTSIDE} else ""
    controllers = "persistentvolumeclaim-protection-controller" if "stale" in case.buggy else ""
    marker = f"explore={seeds}, strategies={case.strategy!r}, extra=[{operator}], nodes=0, controllers={controllers!r}{grace}"
    return f"{PROJECT}\n@pytest.mark.fakekube({marker})\nasync def test_it(fake_cluster):\n" + (
        "    cluster, client = fake_cluster, fake_cluster.client\n    await play(cluster)\n" + case.play)


def ran(pytester, text, *options):
    pytester.makepyfile(test_it=text)
    result = pytester.runpytest_inprocess(*OPTIONS, *options)
    return result, "\n".join(result.outlines)


@pytest.mark.parametrize("case", [*CASES, *OUTSIDE, *NEEDLES], ids=lambda case: f"{case.strategy}-{case.buggy}")
def test_a_bug_is_found_told_and_replayed(pytester, case):
    """Given an operator with a bug, when its strategy tries it with 200 seeds, then the calm run
    passes, a seed fails, its story names the fault, and the command replays it.
    """
    result, told = ran(pytester, project(case, case.buggy, 200), "--fakekube-findings", "findings.json")
    result.assert_outcomes(failed=1)
    found = json.loads((pytester.path / "findings.json").read_text())["explored"][0]
    assert found["seed"] <= 200
    assert 1 <= len(found["deviations"]) <= 3
    assert re.search(r"the calm run passes, seed \d+ fails", told)
    assert "  > " in found["story"]
    assert re.search(f"fault: .*{case.told}", found["story"])
    replayed, _ = ran(pytester, project(case, case.buggy, 0), "--fakekube-schedule", found["schedule"])
    replayed.assert_outcomes(failed=1)


@pytest.mark.parametrize("case", [*CASES, *OUTSIDE], ids=lambda case: f"{case.strategy}-{case.mended}")
def test_a_mended_twin_is_not_accused(pytester, case):
    """Given the operator without its bug, when the same strategy tries it, then nothing is said."""
    seeds = 3 if case in OUTSIDE else 12
    result, told = ran(pytester, project(case, case.mended, seeds))
    result.assert_outcomes(passed=1)
    assert f"{seeds} seeds" in told


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("strategies", ["its own", "all"])
@pytest.mark.parametrize("case", [*CASES, *OUTSIDE], ids=lambda case: f"{case.strategy}-{case.mended}")
def test_a_mended_twin_is_never_accused(pytester, case, strategies):
    """Given the operator without its bug, when its strategy or all of them try it with 2,000 seeds,
    then nothing is said.
    """
    case = case._replace(strategy="all") if strategies == "all" else case
    result, told = ran(pytester, project(case, case.mended, 2000))
    result.assert_outcomes(passed=1)
    assert f"{2000 * len(STRATEGIES) if strategies == 'all' else 2000} seeds" in told
