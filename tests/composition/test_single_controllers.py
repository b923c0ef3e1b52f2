"""Controllers that are stopped and started one by one, while the cluster runs and while it does
not.
"""

import json

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, JOBS, NAMESPACES, PODS
from fakekube.composition.options import OptionError

PATH = "/fakekube/v1/controllers"
SPEC = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}
POD = {"metadata": {"name": "p", "namespace": "default", "annotations": {"fakekube.dev/run-duration": "1m"}}, "spec": SPEC}
JOB = {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": {"spec": SPEC}}}


async def phase(cluster: Cluster, name: str = "p") -> str:
    return str((await cluster.client.get(PODS, name, "default"))["status"]["phase"])


async def is_bound(cluster: Cluster) -> bool:
    return "nodeName" in (await cluster.client.get(PODS, "p", "default"))["spec"]


@pytest.mark.parametrize("used_before", [False, True])
async def test_a_stopped_controller_catches_up_when_it_is_started(used_before: bool) -> None:
    """Given a scheduler that was stopped, before it had a pod or after, when a pod comes, then
    nobody schedules it until the scheduler is started.
    """
    async with Cluster(clock="manual") as cluster:
        if used_before:
            await cluster.client.create(PODS, {**POD, "metadata": {"name": "first", "namespace": "default"}})
            await cluster.settle()
        await cluster.stop_controller("scheduler")
        await cluster.client.create(PODS, POD)
        await cluster.advance("1h")
        assert not await is_bound(cluster)
        await cluster.start_controller("scheduler")
        await cluster.settle()
        assert await is_bound(cluster)


async def test_each_may_be_stopped_and_started_again() -> None:
    """Given a running cluster, when every controller is restarted, twice some, and then a Job
    comes, then it completes; stopping what is stopped and starting what runs changes nothing.
    """
    async with Cluster(clock="manual") as cluster:
        for name in cluster.manager.names:
            await cluster.restart_controller(name)
        await cluster.stop_controller("job")
        await cluster.stop_controller("job")
        await cluster.client.create(JOBS, JOB)
        await cluster.advance("1m")
        assert (await cluster.client.list(PODS)).items == []
        await cluster.start_controller("job-controller")  # upstream's name
        await cluster.start_controller("job")
        await cluster.advance("5m")
        assert (await cluster.client.get(JOBS, "j", "default"))["status"]["succeeded"] == 1
        assert len((await cluster.client.list(PODS)).items) == 1


async def test_pods_go_on_while_the_kubelet_restarts() -> None:
    """Given a pod that runs, when the kubelet is restarted, then the pod comes to its end once, as
    on a node.
    """
    async with Cluster(clock="manual") as cluster:
        await cluster.client.create(PODS, POD)
        await cluster.advance("30s")
        assert await phase(cluster) == "Running"
        await cluster.restart_controller("kubelet")
        await cluster.advance("1m")
        assert await phase(cluster) == "Succeeded"


@pytest.mark.parametrize("controllers", ["", "namespace,serviceaccount"])
async def test_one_that_the_options_left_out_can_be_started(controllers: str) -> None:
    """Given a cluster without it, even without any, when the namespace controller is started by
    name, then it empties a namespace.
    """
    async with Cluster(clock="manual", controllers=controllers, nodes=0) as cluster:
        await cluster.start_controller("namespace")
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.settle()
        await cluster.client.delete(NAMESPACES, "team")
        await cluster.advance("1m")
        assert await cluster.client.get(NAMESPACES, "team", missing_ok=True) is None


async def test_who_is_stopped_stays_stopped_across_a_restore_and_in_a_fork() -> None:
    """Given a scheduler that was stopped, when the cluster is restored, and when it is forked, then
    it is still stopped; after a reset it runs.
    """
    async with Cluster(clock="manual") as cluster:
        await cluster.stop_controller("scheduler")
        await cluster.restore(cluster.snapshot())
        async with cluster.fork() as other:
            for one in (cluster, other):
                await one.client.create(PODS, POD)
                await one.settle()
                assert not await is_bound(one)
        await cluster.reset()
        await cluster.client.create(PODS, POD)
        await cluster.settle()
        assert await is_bound(cluster)


async def test_a_controller_can_be_stopped_before_the_cluster_starts() -> None:
    """Given a cluster that is not started, when one controller is stopped and one that is left out
    is started, then the cluster starts without the one and with the other.
    """
    cluster = Cluster(clock="manual", nodes=0, controllers="*,-job")
    await cluster.stop_controller("scheduler")
    await cluster.start_controller("job")
    async with cluster:
        running = {name for name, runs in (await states(cluster)).items() if runs}
        assert "job" in running
        assert "scheduler" not in running


async def states(cluster: Cluster) -> dict[str, bool]:
    answer = await cluster.client.request("GET", PATH)
    return {item["name"]: item["running"] for item in json.loads(answer.body)["items"]}


async def test_it_can_be_done_over_http() -> None:
    """Given a cluster, when controllers are stopped, started and restarted through its own path, in
    a body and in a query, then the answer and the path say who runs.
    """
    async with Cluster(clock="manual", nodes=0) as cluster:
        assert (await states(cluster))["scheduler"] is True
        answer = await cluster.client.request("POST", PATH, body=b'{"stop": "scheduler"}')
        assert {"name": "scheduler", "running": False} in json.loads(answer.body)["items"]
        assert (await states(cluster))["scheduler"] is False
        await cluster.client.request("POST", PATH, query={"restart": ["scheduler"]})
        assert (await states(cluster))["scheduler"] is True
        await cluster.client.request("POST", PATH, query={"stop": ["scheduler"]})
        await cluster.client.request("POST", PATH, body=b'{"start": "scheduler"}')
        assert (await states(cluster))["scheduler"] is True
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "c", "namespace": "default"}})


@pytest.mark.parametrize(("body", "text"), [
    (b'{"stop": "jobs"}', '"jobs" is not in the list of known controllers'), (b'{"stop": 1}', "stop is no name of a controller"),
    (b'{"stop": "job", "start": "job"}', "give either stop or start"), (b"{}", "nothing to do: give one of stop, start, restart"),
    (b'{"halt": "job"}', "unknown field 'halt'"), (b"[]", "the body is no JSON object"), (b"{", "the body is no JSON"),
])
async def test_what_cannot_be_meant_is_refused_with_a_sentence(body: bytes, text: str) -> None:
    """Given a request that names no controller or no action, when it is sent, then it is answered
    with 400 and a sentence.
    """
    async with Cluster(clock="manual", nodes=0, controllers="job") as cluster:
        with pytest.raises(APIError, match=text) as caught:
            await cluster.client.request("POST", PATH, body=body)
        assert caught.value.code == 400
        with pytest.raises(APIError) as caught:
            await cluster.client.request("DELETE", PATH)
        assert caught.value.code == 405


async def test_an_unknown_controller_is_refused() -> None:
    """Given a name that nobody has, when it is stopped or started, then OptionError names it and
    those that there are.
    """
    async with Cluster(clock="manual", nodes=0, controllers="") as cluster:
        for change in (cluster.stop_controller, cluster.start_controller, cluster.restart_controller):
            with pytest.raises(OptionError, match=r'"jobs" is not in the list of known controllers: .*scheduler'):
                await change("jobs")
