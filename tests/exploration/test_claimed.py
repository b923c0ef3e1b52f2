"""Claims of whole tests: the option, what a seed that breaks one tells, and what is told early."""

import json
import re

import pytest

from fakekube.composition.options import OptionError
from fakekube.exploration.claimed import claims_of
from fakekube.testing import Eventually, Never
from tests.exploration.test_strategies import ran

HEAD = """
import pytest
from fakekube.client.resources import CONFIG_MAPS, PODS, SECRETS
from fakekube.testing import Always, Eventually, HistoryError, LeadsTo, Never, Until
from tests.exploration import noisy, operators

WEB = {"metadata": {"name": "web", "namespace": "default"}}

def two_pods(state):
    return len(state.list(PODS, "default")) > 1

def has_map(state):
    return state.get(CONFIG_MAPS, "web")

def has_pod(state):
    return state.list(PODS, "default")
"""
KNOWN = [Never(len), Eventually(bool)]


@pytest.mark.parametrize("fixture", ["fake_cluster", "fakekube_server", "fakekube_server_module", "fake_fleet"])
def test_the_marker(pytester, fixture):
    """Given tests with claims, when one is broken, then that test fails in its call, at the state
    that breaks it, and another does not; so on every kind of cluster.
    """
    blocks = fixture.startswith("fakekube_server")
    state = 'state["worker1"]' if fixture == "fake_fleet" else "state"
    cluster = 'fake_fleet["worker1"]' if fixture == "fake_fleet" else fixture
    create = f"{cluster}.client.create" if not blocks else "create"
    helper = f"""
    def create(*args):
        return {fixture}.call(lambda cluster: cluster.client.create(*args))
""" if blocks else ""
    words = {"async ": "", "await ": ""} if blocks else {}

    def test(name, claims, moves):
        text = f"""
@pytest.mark.fakekube(claims={claims})
async def test_{name}({fixture}):{helper}
    await {create}(CONFIG_MAPS, {{"metadata": {{"name": "{name}", "namespace": "default"}}}})
    {moves}
"""
        for old, new in words.items():
            text = text.replace(old, new)
        return text

    never = f'[Never(lambda state: {state}.get(CONFIG_MAPS, "bad"))]'
    result, told = ran(pytester, HEAD + "".join([
        test("good", never, f'await {fixture}.advance("1m")'),
        test("late", f'Eventually(lambda state: {state}.get(CONFIG_MAPS, "no"), within="5m")', f'await {fixture}.advance("1m")'),
        test("ended", f'[Never(lambda state: {state}.get(CONFIG_MAPS, "ended"))]', "pass"),
        test("forgiven", never, "pytest.skip()"),
        test("bad", never, f'await {fixture}.advance("1m"); assert False, "not reached"'),
    ]))
    result.assert_outcomes(failed=3, passed=1, skipped=1)
    assert "was true at +" in told
    assert "not reached" not in told.replace('"not reached"', "")
    assert re.search(r"is not true yet, \+.m0s; it has until \+.m0s", told)


def test_a_claim_in_the_ini_file_is_about_every_test(pytester):
    """Given claims that the ini file names, when a test breaks one, then it fails; one that names
    nothing is an error with a sentence.
    """
    pytester.makeini("[pytest]\nfakekube_claims = tests.exploration.test_claimed:NO_MAP\nasyncio_mode = auto")
    text = HEAD + """
async def test_it(fake_cluster):
    await fake_cluster.client.create(CONFIG_MAPS, WEB)

def test_nothing():
    pass
"""
    result, told = ran(pytester, text)
    result.assert_outcomes(failed=1, passed=1)
    assert "has_web" in told
    pytester.makeini("[pytest]\nfakekube_claims = tests.exploration.test_claimed:Nothing\nasyncio_mode = auto")
    result, told = ran(pytester, text)
    result.assert_outcomes(errors=1, passed=1)
    assert "claims: 'tests.exploration.test_claimed:Nothing' names nothing that can be imported" in told


def has_web(found) -> bool:
    return found["metadata"]["name"] == "web"


def no_map() -> Never:
    from fakekube.client.resources import CONFIG_MAPS

    return Never(has_web, each=CONFIG_MAPS)


NO_MAP = [no_map()]


def test_a_seed_that_breaks_a_claim_is_shrunk_and_told(pytester):
    """Given an operator with a race, when a seed lets it make two pods, then the test fails by the
    claim, at that moment; the failure is shrunk, its story names the claim and the change, and the
    command has it again.
    """
    text = HEAD + """
@pytest.mark.fakekube(explore=200, extra=[operators.two_children], claims=[Never(two_pods), LeadsTo(has_map, has_pod)])
async def test_it(fake_cluster):
    made = await fake_cluster.client.create(CONFIG_MAPS, WEB)
    await fake_cluster.client.update(CONFIG_MAPS, {**made, "data": {"a": "b"}})
    await fake_cluster.advance("1m")
"""
    result, _ = ran(pytester, text, "--fakekube-findings", "findings.json")
    result.assert_outcomes(failed=1)
    found = json.loads((pytester.path / "findings.json").read_text())["explored"][0]
    assert found["failure"].startswith("Never(two_pods ")
    assert "what was claimed: Never(two_pods " in found["story"]
    lines = found["story"].splitlines()
    decisive = lines.index("      ^ here it was no longer as claimed")
    assert "ADDED pods default/web-" in lines[decisive - 1]
    assert len(found["deviations"]) <= 3
    replayed, again = ran(pytester, text, "--fakekube-schedule", found["schedule"])
    replayed.assert_outcomes(failed=1)
    assert "two_pods" in again
    result, _ = ran(pytester, text.replace("two_children", "one_child").replace("200", "40"))
    result.assert_outcomes(passed=1)


def test_a_strategy_that_breaks_a_claim_is_told(pytester):
    """Given an operator that forgets a Secret when it dies, when a claim says that a pod leads to
    one, then the plan of the strategy is told with the claim.
    """
    result, told = ran(pytester, HEAD + """
from fakekube.runtime import controller

class PodAndSecret:
    def __init__(self, ctx):
        self.client, self.pods = ctx.client, ctx.lister(PODS)

    async def reconcile(self, request):
        if request.name == "web" and not self.pods.get("default", "web"):
            await self.client.create(PODS, {**WEB, "spec": operators.POD})
            await self.client.create(SECRETS, WEB)

pod_and_secret = controller("pod-and-secret").for_(CONFIG_MAPS).complete(PodAndSecret)

def has_secret(state):
    return state.get(SECRETS, "web")

@pytest.mark.fakekube(strategies="intermediate-states", extra=[pod_and_secret],
                      claims=LeadsTo(has_pod, has_secret, within="30s"))
async def test_it(fake_cluster):
    await fake_cluster.client.create(CONFIG_MAPS, WEB)
    await fake_cluster.advance("5m")
""")
    result.assert_outcomes(failed=1)
    assert "what was claimed: LeadsTo(has_pod " in told
    assert "did not follow within 0:00:30" in told


@pytest.mark.parametrize("fixture", ["fake_cluster", "fakekube_server"])
def test_who_never_rests_is_told_while_it_runs(pytester, fixture):
    """Given an operator that writes for ever at one instant, when the oracle is asked, then the
    test ends, and fails by it.
    """
    play = {"fake_cluster": """
async def test_it(fake_cluster):
    await fake_cluster.client.create(CONFIG_MAPS, WEB)
    await fake_cluster.advance("1h")
""", "fakekube_server": """
def test_it(fakekube_server):
    fakekube_server.call(lambda cluster: cluster.client.create(CONFIG_MAPS, WEB))
    fakekube_server.advance("1h")
"""}[fixture]
    result, told = ran(pytester, f"{HEAD}\n@pytest.mark.fakekube(oracles='all', extra=[noisy.never_rests]){play}")
    result.assert_outcomes(failed=1)
    assert "restless: configmaps default/web was written 1001 times in 0 s by never-rests, while nobody else wrote" in told


def test_what_names_claims():
    """Given values of the option, then they name claims, or it is said how."""
    assert claims_of("tests.exploration.test_claimed:KNOWN, tests.exploration.test_claimed:NO_MAP") == [*KNOWN, *NO_MAP]
    assert claims_of([KNOWN, (NO_MAP[0],)]) == [*KNOWN, *NO_MAP]
    with pytest.raises(OptionError, match=r"claims: <built-in function len> is no claim: say Always\(p\), Never\(p\)"):
        claims_of([len])
