"""Every crash point, of a function and of a test."""

import pytest

from fakekube.client.resources import CONFIG_MAPS, JOBS, SECRETS
from fakekube.exploration.crashes import crash_points
from fakekube.exploration.targets import TargetError
from tests.exploration.buggy import intermediate
from tests.exploration.test_strategies import CASES, PROJECT, ran

JOB = {
    "metadata": {"name": "work", "namespace": "default"},
    "spec": {"completions": 2, "parallelism": 2, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "main", "image": "work"}]}}}}


async def one_map(cluster):
    await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "web", "namespace": "default"}})
    await cluster.advance("1m")
    return [secret["metadata"]["name"] for secret in (await cluster.client.list(SECRETS, "default")).items]


async def test_the_point_at_which_it_fails_is_told():
    """Given an operator that makes a pod and then a Secret, when it dies after each of its writes,
    then after the first the end is another; that of its twin never is.
    """
    found = await crash_points(one_map, "secret-only-first", extra=[intermediate.secret_only_first])
    assert found.calm == ["web"]
    assert [point.where for point in found.points] == [
        "secret-only-first dies after its write 1 is committed (create pods)",
        "secret-only-first dies after its write 2 is committed (create secrets)"]
    assert found.differing == found.points[:1]
    assert "ended with []" in str(found.differing[0])
    mended = await crash_points(one_map, "secret-always", extra=[intermediate.secret_always])
    assert (len(mended.points), mended.differing) == (2, ())


async def test_the_job_controller_ends_as_it_does_undisturbed():
    """Given a Job, when its controller, and all of its process, dies before or after each of its
    writes, then it completes as without.
    """
    async def play(cluster):
        await cluster.client.create(JOBS, JOB)
        await cluster.advance("10m")
        status = (await cluster.client.get(JOBS, "work", "default"))["status"]
        return status["succeeded"], [condition["type"] for condition in status["conditions"]]

    for moment in ("before", "after"):
        found = await crash_points(play, "job", moment=moment)
        assert len(found.points) >= 3
        assert found.differing == ()


async def test_who_cannot_die_is_refused():
    """Given a name of no component, then that is said; so is a client that is none."""
    with pytest.raises(TargetError, match="there is no operator 'nobody' to try"):
        await crash_points(one_map, "nobody")
    with pytest.raises(TargetError, match="fakekube is no component"):
        await crash_points(one_map, "fakekube")


class Silent:
    """A component that asks for nothing."""

    name, user_agent, user = "silent", "", None

    async def start(self, ctx):
        """There is nothing to begin."""

    async def stop(self):
        """There is nothing to end."""


async def test_who_asks_for_nothing_is_refused():
    """Given a component that asks for nothing, then that is said, since no fault would meet it."""
    with pytest.raises(TargetError, match="silent asked for nothing in the calm run: there is nothing to try"):
        await crash_points(one_map, "silent", extra=[Silent()])


@pytest.mark.parametrize(("operator", "outcome"), [("secret_only_first", "failed"), ("secret_always", "passed")])
def test_the_marker(pytester, operator, outcome):
    """Given a test with the marker, when it runs, then it runs once for each write, besides."""
    name = operator.replace("_", "-")
    result, told = ran(pytester, f"""{PROJECT}
@pytest.mark.fakekube(crash_points="{name}", extra=[intermediate.{operator}])
async def test_it(fake_cluster):
    cluster, client = fake_cluster, fake_cluster.client
    await play(cluster)
{CASES[0].play}""")
    result.assert_outcomes(**{outcome: 1})
    assert ("dies after its write 1" in told) == (outcome == "failed")
    assert outcome == "failed" or "2 seeds" in told
