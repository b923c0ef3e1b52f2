"""Why objects wait that no component of the package answers for."""

from typing import Any

from fakekube.client.resources import JOBS, PODS
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
