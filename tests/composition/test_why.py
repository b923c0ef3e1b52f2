"""Why objects wait that no component of the package answers for."""

from typing import Any

import pytest

from fakekube.client.resources import JOBS, PODS, REPLICA_SETS, RESOURCE_QUOTAS, Resource
from fakekube.composition.cluster import Cluster
from fakekube.runtime.addon import AddOn
from fakekube.runtime.context import Context
from fakekube.runtime.why import Answer, Change

JOB = {"metadata": {"name": "report", "namespace": "default"}, "spec": {"suspend": True, "template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}
POD = {"metadata": {"name": "p", "namespace": "default"}, "spec": JOB["spec"]["template"]["spec"]}  # type: ignore[index]


def quota(ctx: Context, job: Any) -> Answer | None:
    """An add-on's word on Jobs; on those that run it has none."""
    if not job["spec"].get("suspend"):
        return None
    more = Change("AddQuota", "queue/q", "more")
    return Answer("job/default/report", "NoQuota", f"waits for quota in {ctx.version}", changes=(more,))


async def test_an_add_on_answers_for_its_kinds() -> None:
    """Given an add-on that answers for Jobs, when a Job is asked about, then its answer is told,
    with the Job's conditions; and where it has nothing to say, what the Job itself says.
    """
    operator = AddOn("quota", why={JOBS.group_resource: quota})
    async with Cluster(nodes=1, clock="manual", extra=[operator]) as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.settle()
        answer = await cluster.why("job/report")
        assert (answer.state, answer.changes[0].text) == ("NoQuota", "more")
        assert [reason.plugin for reason in answer.reasons] == ["Suspended=True"]
        await cluster.client.patch(JOBS, "report", "default", {"spec": {"suspend": False}}, type="merge")
        await cluster.settle()
        assert (await cluster.why("job/report")).state == "Well"


async def test_without_a_scheduler_a_pod_says_so() -> None:
    """Given a cluster without a running scheduler, when a pod is asked about, then that is told."""
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.stop_controller("scheduler")
        await cluster.client.create(PODS, POD)
        await cluster.settle()
        assert (await cluster.why("pod/p")).state == "NoScheduler"
        await cluster.start_controller("scheduler")
        await cluster.settle()
        assert str(await cluster.why("pod/p")) == "pod/default/p is on node node-0"


REQUESTS = {"requests": {"cpu": "500m"}}


def job_of(pods: int, **container: Any) -> Any:
    """A Job of so many pods at once, each with half a CPU."""
    main = {"name": "main", "image": "busybox", "resources": REQUESTS, **container}
    return {"metadata": {"name": "report", "namespace": "default"}, "spec": {
        "parallelism": pods, "completions": pods, "template": {"spec": {"restartPolicy": "Never", "containers": [main]}}}}


async def pods_of(cluster: Cluster) -> int:
    return len((await cluster.client.list(PODS, "default")).items)


async def quota_of(cluster: Cluster, **hard: str) -> None:
    hard = {name.replace("_", "."): amount for name, amount in hard.items()}
    await cluster.client.create(RESOURCE_QUOTAS, {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": hard}})
    await cluster.settle()


@pytest.mark.parametrize(("resource", "of"), [(JOBS, 6), (JOBS, 3), (REPLICA_SETS, 5)])
async def test_pods_that_a_quota_refuses_say_how_much_is_missing(resource: Resource, of: int) -> None:
    """Given a quota for two pods, of which one is used, when a Job or a ReplicaSet of more is asked
    about, then it says what the quota lacks; with that it makes them all, with less it does not.
    """
    for share in ("all", "less"):
        async with Cluster(nodes=1, clock="manual") as cluster:
            await quota_of(cluster, pods="2", requests_cpu="1")
            await cluster.client.create(PODS, {**POD, "spec": job_of(1)["spec"]["template"]["spec"]})
            made = job_of(of)
            if resource == REPLICA_SETS:
                containers, labels = made["spec"]["template"]["spec"]["containers"], {"a": "b"}
                template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
                made["spec"] = {"replicas": of, "selector": {"matchLabels": labels}, "template": template}
            await cluster.client.create(resource, made)
            await cluster.settle()
            answer = await cluster.why(f"{resource.plural}/report")
            assert (answer.state, [change.action for change in answer.changes]) == ("QuotaExceeded", ["RaiseQuota"])
            hard: Any = answer.changes[0].details["hard"]
            assert hard == {"pods": str(of + 1), "requests.cpu": f"{(of + 1) * 500}m" if of % 2 == 0 else str((of + 1) // 2)}
            wanted = {**hard, "pods": str(int(hard["pods"]) - (share == "less"))}
            await cluster.client.patch(RESOURCE_QUOTAS, "q", "default", {"spec": {"hard": wanted}}, type="merge")
            await cluster.advance("1s")
            assert (await pods_of(cluster) == of + 1) is (share == "all")


async def test_a_quota_that_pods_do_not_speak_to_says_so() -> None:
    """Given a quota for CPUs, when a Job whose pods name none is asked about, then that is the
    reason, and no other quota would help.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await quota_of(cluster, requests_cpu="8")
        await cluster.client.create(JOBS, job_of(2, resources={}))
        await cluster.settle()
        answer = await cluster.why("job/report")
        assert (answer.state, answer.changes) == ("QuotaExceeded", ())
        assert answer.reasons[0].message == "pods must specify requests.cpu for: main"
