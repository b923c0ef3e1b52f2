"""Oracles: what they find, and whom they do not accuse."""

import pytest

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS
from fakekube.composition.fleet import Fleet
from fakekube.exploration import oracles
from fakekube.exploration.targets import looked_at
from fakekube.testing.history import History
from tests.exploration import innocent, noisy, operators
from tests.exploration.plays.catalog import PLAYS
from tests.exploration.plays.play import CALM, stage_of
from tests.exploration.test_strategies import CASES, PROJECT, project, ran

WEB = {"metadata": {"name": "web", "namespace": "default"}}
OWN = ["job", "deployment", "replicaset", "statefulset", "cronjob", "daemonset", "garbagecollector", "kubelet", "scheduler"]


async def found_in(cluster, target=""):
    who = [oracles.Who(one.user_agents, one.users) for one in looked_at(cluster, target)]
    return oracles.findings(History.of(cluster), list(cluster.apiserver.log), who)


async def one_map(cluster):
    await cluster.client.create(CONFIG_MAPS, WEB)
    await cluster.advance("5m")


async def one_map_that_goes(cluster):
    await one_map(cluster)
    await cluster.client.delete(CONFIG_MAPS, "web", "default")
    await cluster.advance("5m")


async def one_pod_without_a_node(cluster):
    await cluster.client.create(PODS, {
        "metadata": {"name": "web", "namespace": "default"}, "spec": {**operators.POD, "nodeSelector": {"no": "node"}}})
    for _ in range(6):
        await cluster.advance("10s")


@pytest.mark.parametrize(("operator", "play", "oracle", "said"), [
    ("writes_the_same", one_map, "idle-writes", "updates of /api/v1/namespaces/default/configmaps/web by writes-the-same"),
    ("puts_on_a_finalizer", one_map_that_goes, "stuck-finalizers",
     "configmaps default/web waits 300 s for somebody to take off its finalizer fakekube.dev/mine"),
    ("writes_twice_a_second", one_map, "restless",
     "configmaps default/web was written 601 times in 300 s, until the end, while nobody else wrote anything"),
    ("makes_for_the_gone", one_map_that_goes, "acts-for-the-gone", "secrets default/web was made for ConfigMap web, which"),
])
async def test_what_is_found(operator, play, oracle, said):
    """Given an operator that does something wrong, when its run is over, then that is said."""
    async with Cluster(extra=[getattr(noisy, operator)]) as cluster:
        await play(cluster)
        found = await found_in(cluster)
    assert {finding.oracle for finding in found} == {oracle}
    assert said in found[0].text


async def test_who_does_not_come_to_rest():
    """Given an operator that hears of its own writes and writes again, when it is looked at, then
    that is said; of its status, that it swings.
    """
    async with Cluster(extra=[noisy.swings], controllers="") as cluster:
        await cluster.client.create(PODS, {**WEB, "spec": operators.POD})
        await cluster.advance("1s")
        found = await found_in(cluster)
    assert {finding.oracle for finding in found} == {"swinging-status"}


async def test_what_brings_back_what_another_changed_is_found():
    """Given an operator that writes from a cache that is behind, and without a version, when its
    user changes another field meanwhile, then that is found; with a version it is not.
    """
    for operator, wrong in ((operators.overwrites, True), (operators.versioned, False)):
        async with Cluster(extra=[operator], schedule=CALM) as cluster:
            made = await cluster.client.create(CONFIG_MAPS, WEB)
            cluster.faults.add(watch="late", lasting="1s", user_agents=operator.runnable().name)
            made = await cluster.client.update(CONFIG_MAPS, {**made, "data": {"wanted": "1", "color": "red"}})
            await cluster.advance("500ms")
            await cluster.client.update(CONFIG_MAPS, {**made, "data": {"wanted": "1", "color": "blue"}})
            await cluster.advance("1m")
            found = [finding for finding in await found_in(cluster) if finding.oracle == "overwritten"]
        assert bool(found) == wrong
        assert not wrong or "data.color of configmaps default/web" in found[0].text


async def test_who_may_not_is_told():
    """Given a user without a role, when it asks, then that is found."""
    async with Cluster(authorization_mode="RBAC", extra=[noisy.makes_a_pod]) as cluster:
        from fakekube.apimachinery.errors import APIError
        from fakekube.client.users import named

        with pytest.raises(APIError):
            await cluster.client.with_options(user=named("jane", ()), user_agent="jane").list(PODS, "default")
        found = await found_in(cluster, "jane")
    assert [finding.oracle for finding in found] == ["refused"]
    assert "jane may not list /api/v1/namespaces/default/pods" in found[0].text


async def a_claim_in_use(cluster):
    await one_map(cluster)
    await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, "web", "default")
    await cluster.advance("5m")
    assert (await cluster.client.get(PERSISTENT_VOLUME_CLAIMS, "web", "default"))["metadata"]["deletionTimestamp"]


async def a_secret_that_is_changed(cluster):
    await one_map(cluster)
    secret = await cluster.client.get(SECRETS, "web", "default")
    cluster.faults.add(latency="1s", verbs="get", resources="secrets", user_agents="owns-a-secret")
    cluster.faults.add(watch="late", lasting="1m", resources="secrets", user_agents="owns-a-secret")
    await cluster.client.update(CONFIG_MAPS, {**WEB, "data": {"a": "b"}})
    await cluster.advance("500ms")
    await cluster.client.update(SECRETS, {**secret, "data": {"a": "eA=="}})
    await cluster.advance("5m")
    assert (await cluster.client.get(SECRETS, "web", "default"))["data"] == {"a": "Yg=="}


async def a_map_whose_end_is_heard_late(cluster):
    await one_map(cluster)
    cluster.faults.add(watch="late", lasting="1m", resources="configmaps", user_agents="hears-late")
    await cluster.client.delete(CONFIG_MAPS, "web", "default")
    await cluster.client.create(PODS, {**WEB, "spec": operators.POD})
    await cluster.advance("5m")
    assert "secrets default/web" in [change.name for change in History.of(cluster).changes]


async def one_map_a_moment_ago(cluster):
    await cluster.client.create(CONFIG_MAPS, WEB)
    await cluster.settle()


async def one_map_for_hours(cluster):
    await cluster.client.create(CONFIG_MAPS, WEB)
    await cluster.advance("2h")


async def a_pod_beside(cluster):
    await cluster.client.create(PODS, {
        "metadata": {"name": "web", "namespace": "default"}, "spec": {**operators.POD, "nodeSelector": {"no": "node"}}})
    await one_map(cluster)


async def a_minute_of_backing_off(cluster):
    await cluster.client.create(CONFIG_MAPS, WEB)
    for _ in range(60):
        await cluster.advance("1s")
        assert await found_in(cluster) == []


async def a_job_that_hangs_on(cluster):
    await one_map(cluster)
    pods = (await cluster.client.list(PODS, "default")).items
    name = pods[0]["metadata"]["name"]
    await cluster.client.patch(PODS, name, "default", {"metadata": {"finalizers": ["example.com/test"]}})
    await cluster.client.delete(CONFIG_MAPS, "web", "default")
    await cluster.advance("5m")


@pytest.mark.parametrize(("operator", "play"), [
    ("renews_in_a_config_map", one_map), ("beats_in_a_status", a_pod_beside), ("applies_unchanged", one_map),
    ("tries_out", one_map),
    ("resyncs_by_updates", one_map_for_hours), ("writes_a_burst", one_map_a_moment_ago),
    ("hears_late", a_map_whose_end_is_heard_late), ("backs_off", a_minute_of_backing_off),
    ("cleans_up_slowly", one_map_that_goes), ("makes_a_claim", a_claim_in_use), ("owns_a_secret", a_secret_that_is_changed),
    ("deletes_in_the_foreground", a_job_that_hangs_on)])
async def test_who_is_innocent_is_not_accused(operator, play):
    """Given an operator that does what good ones do, and looks as if it did not, when it is looked
    at, then no oracle accuses it.
    """
    async with Cluster(extra=[getattr(innocent, operator)], schedule=CALM, default_storage_class=True) as cluster:
        await play(cluster)
        assert await found_in(cluster) == []


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: play.name)
async def test_our_own_controllers_are_not_accused_in_their_plays(play):
    """Given the plays in which our controllers are tried, when nothing goes wrong, then no oracle
    accuses any of them.
    """
    async with stage_of(play, CALM) as stage:
        await play.story(stage)
        for cluster in stage.values() if isinstance(stage, Fleet) else [stage]:
            assert await found_in(cluster, ",".join(cluster.manager.names)) == []


async def test_orphans_are_nobodys_fault_where_nothing_collects_them():
    """Given a cluster without the garbage collector, when an owner goes, then nobody is accused of
    what is left; with it, of what it does not collect.
    """
    for controllers, finalizer, accused in (("namespace", "", []), ("*", "example.com/test", ["orphans"])):
        async with Cluster(controllers=controllers, nodes=0, extra=[innocent.owns_a_secret]) as cluster:
            await one_map(cluster)
            if finalizer:
                await cluster.client.patch(SECRETS, "web", "default", {"metadata": {"finalizers": [finalizer]}})
            await cluster.client.delete(CONFIG_MAPS, "web", "default")
            await cluster.advance("5m")
            assert (await cluster.client.get(SECRETS, "web", "default"))["metadata"]["ownerReferences"]
            assert [finding.oracle for finding in await found_in(cluster)] == accused


@pytest.mark.parametrize("seeds", [3, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mended)
def test_mended_operators_are_not_accused_when_things_go_wrong(pytester, case, seeds):
    """Given the mended twins of operators with bugs, when their strategies try them, then no oracle
    accuses one in any run.
    """
    text = project(case, case.mended, seeds).replace("@pytest.mark.fakekube(", '@pytest.mark.fakekube(oracles="all", ')
    result, _ = ran(pytester, text)
    result.assert_outcomes(passed=1)


async def test_our_own_controllers_are_not_accused():
    """Given workloads of all kinds that come and go, when nothing goes wrong, then no oracle
    accuses a controller of the cluster.
    """
    async with Cluster(nodes=3) as cluster:
        await cluster.load(WORKLOADS)
        await cluster.advance("30m")
        await cluster.client.delete(CONFIG_MAPS, "web", "default")
        found = await found_in(cluster, ",".join(name for name in OWN if name in cluster.manager.names))
    assert found == []


WORKLOADS = """
{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: default}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick, namespace: default}
spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {a: web}}
  template: {metadata: {labels: {a: web}}, spec: {containers: [{name: a, image: a}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {a: db}}
  template: {metadata: {labels: {a: db}}, spec: {containers: [{name: a, image: a}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: default}
spec: {completions: 3, ttlSecondsAfterFinished: 60, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}
"""


@pytest.mark.parametrize(("operator", "outcome"), [("puts_on_a_finalizer", "failed"), ("makes_a_pod", "passed")])
def test_the_marker(pytester, operator, outcome):
    """Given a test with the marker, when an oracle finds something, then the test fails by it."""
    result, told = ran(pytester, f"""{PROJECT}
from tests.exploration import noisy

@pytest.mark.fakekube(oracles="all", extra=[noisy.{operator}])
async def test_it(fake_cluster):
    await play(fake_cluster)
    await fake_cluster.client.delete(CONFIG_MAPS, "web", "default")
    await fake_cluster.advance("5m")
""")
    result.assert_outcomes(**{outcome: 1})
    assert ("stuck-finalizers: configmaps default/web waits" in told) == (outcome == "failed")


def test_names_of_oracles():
    """Given texts, then they name oracles, or it is said which there are."""
    assert oracles.oracles_of("all") == tuple(oracles.ORACLES)
    assert oracles.oracles_of("orphans, refused") == ("orphans", "refused")
    with pytest.raises(oracles.OracleError, match="'orphan' is no oracle: known are orphans, "):
        oracles.oracles_of(["orphan"])
