"""The controllers of this project under every strategy: they end as they do undisturbed."""

import pytest

from fakekube import Cluster
from fakekube.composition.controllermanager import component, parts_of
from fakekube.composition.fleet import Fleet
from fakekube.composition.installed import installed
from fakekube.exploration.crashes import strategy_points
from fakekube.exploration.oracles import Who, findings
from fakekube.exploration.strategies import STRATEGIES
from fakekube.exploration.targets import looked_at, looked_at_in
from fakekube.testing.history import History
from fakekube.util.choices import Choices
from tests.exploration.plays import addons, multikueue
from tests.exploration.plays.catalog import PLAYS, PROVING
from tests.exploration.plays.known import unknown
from tests.exploration.plays.play import CALM, MANY_SEEDS, stage_of
from tests.exploration.plays.workloads import deployment, job

QUICK = ["intermediate-states"]
"""Of add-ons, whose clusters take longer."""
SLOW_STARTS = (*addons.PLAYS, *multikueue.PLAYS)

AGENTS = "kube-controller-manager,job-controller,deployment-controller"
"""Of kube-controller-manager, where components have caches of their own."""
ALL_PLAYS = pytest.mark.parametrize("play", PLAYS, ids=lambda play: play.name)
FEW_OF_FLEETS = pytest.mark.parametrize(
    "play", [pytest.param(play, marks=pytest.mark.slow) if play in multikueue.SLOW else play for play in PLAYS],
    ids=lambda play: play.name)


def test_no_component_is_left_out():
    """Given all controllers and add-ons that are installed, then each of their components is proved
    by a play.
    """
    names = [part.name for name in installed().entry_points for part in parts_of(component(name))]
    assert sorted(names) == sorted(PROVING)


async def differing(play, target, strategies, seeds):
    return unknown(await strategy_points(play.story, target, strategies, seeds, **play.options), play, strategies)


@FEW_OF_FLEETS
async def test_it_ends_as_undisturbed(play):
    """Given a controller and a story, when strategies try it, then the story ends as it does when
    nothing goes wrong.
    """
    strategies = QUICK if play in SLOW_STARTS else STRATEGIES
    assert await differing(play, play.components[0], strategies, [1]) == []


@FEW_OF_FLEETS
async def test_no_oracle_accuses(play):
    """Given a story in which nothing goes wrong, when oracles look at everybody, then they find
    nothing.
    """
    async with stage_of(play, Choices(0, ())) as stage:
        await play.story(stage)
        looked = looked_at_in(stage) if isinstance(stage, Fleet) else [(stage, looked_at(stage))]
        found = [finding for cluster, targets in looked for finding in findings(
            History.of(cluster), list(cluster.apiserver.log),
            [Who(target.user_agents, target.users) for target in targets])]
    assert [str(finding) for finding in found] == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("play", "target"), [(play, target) for play in PLAYS for target in play.components],
    ids=[f"{play.name}-{target}" for play in PLAYS for target in play.components])
async def test_it_ends_as_undisturbed_with_many_seeds(play, target, strategy):
    """The same with each strategy and a thousand seeds."""
    assert await differing(play, target, [strategy], MANY_SEEDS) == []


async def differing_seeds(play, seeds):
    async with stage_of(play, Choices(0, ())) as stage:
        calm = await play.story(stage)
    found = []
    for seed in seeds:
        async with stage_of(play, Choices(seed)) as stage:
            end = await play.story(stage)
        if end != calm:
            found.append((seed, end))
    return found


@pytest.mark.parametrize("play", [play for play in PLAYS if play not in SLOW_STARTS], ids=lambda play: play.name)
async def test_order_does_not_matter(play):
    """Given a story, when seeds decide what is late and who is first, then it ends as in the calm
    run.
    """
    assert await differing_seeds(play, [1]) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
@ALL_PLAYS
async def test_order_does_not_matter_with_many_seeds(play):
    """The same with a thousand seeds."""
    assert await differing_seeds(play, MANY_SEEDS) == []


@pytest.mark.parametrize("fault", [
    {"watch": "stall", "events": 2, "times": 1}, {"watch": "late"}], ids=["unobserved-states", "slow-deliveries"])
async def test_a_job_makes_no_more_pods_than_it_needs(fault):
    """Given a Job controller whose watch of Jobs is behind what it wrote itself, when its pods end,
    then it waits for its own writes before it makes others, and makes three pods for three
    completions.
    """
    rule = {"resources": "jobs.batch", "lasting": "5s", "user_agents": AGENTS, "optional": True, **fault}
    async with Cluster(schedule=CALM, faults=[rule]) as cluster:
        (succeeded, _, _), ended = await job(cluster)
    assert (succeeded, len(ended)) == (3, 3)


@pytest.mark.parametrize(("gates", "most"), [({}, 3), ({"WatchListClient": False}, 4)])
async def test_a_job_makes_too_many_pods_only_where_a_list_may_be_old(gates, most):
    """Given a Job controller that has made its pods and dies, when what it reads then comes from a
    replica that has none of them, then it makes one too many where it takes what a cache has, and
    three where it begins with what the server holds, as client-go does that streams lists.
    """
    [point] = (await strategy_points(job, "job", ["stale-states"], [10], feature_gates=gates)).points
    assert point.error is None
    assert len(point.end[1]) == most


@pytest.mark.parametrize("release", ["1.37", "1.36"])
async def test_leases_that_come_late_do_not_end_a_node(release):
    """Given a node controller that hears of leases 200 ms late, when 20 minutes pass at once, then
    the nodes stay ready, and so do the pods of a Deployment.
    """
    late = {"watch": "late", "user_agents": AGENTS, "optional": True}
    rules = [
        {**late, "resources": "leases.coordination.k8s.io", "lasting": "200ms"},
        {**late, "resources": "deployments.apps", "lasting": "200ms"}, {**late, "resources": "nodes", "lasting": "20ms"}]
    async with Cluster(schedule=CALM, faults=rules, kubernetes_version=release) as cluster:
        (replicas, ready, _), *_ = await deployment(cluster)
    assert (replicas, ready) == (3, 3)


async def test_one_component_of_an_add_on_may_die():
    """Given an add-on of two components, when a fault lets one of them die by its name, then it
    does, and comes back.
    """
    [play] = [play for play in PLAYS if play.name == "ray-job"]
    died = {"verbs": "write", "components": "raycluster", "nth": 5, "crash": "raycluster"}
    async with Cluster(faults=[died], **play.options) as cluster:
        (status, _), *_ = await play.story(cluster)
    assert status == "SUCCEEDED"
