"""Every write remembers what it answers to: the request, who made it, and the change that led
there.
"""

from datetime import timedelta

from fakekube import Cluster
from fakekube.apimachinery.causes import ACTING, CAUSE, Acting, Cause
from fakekube.client.resources import CONFIG_MAPS, JOBS, PODS
from fakekube.runtime import Result, controller
from fakekube.storage.memory import Event


class Copier:
    """Copies ConfigMap ``a`` to ``b``, ten seconds after it saw it."""

    def __init__(self, ctx) -> None:
        self.client, self.maps, self.waited = ctx.client, ctx.lister(CONFIG_MAPS), False

    async def reconcile(self, request):
        if request != ("default", "a"):
            return None
        if not self.waited:
            self.waited = True
            return Result(timedelta(seconds=10))
        await self.client.create(CONFIG_MAPS, {"metadata": {"name": "b", "namespace": "default"}})
        return None


def last_event(cluster, group, resource) -> Event:
    for bucket in cluster.apiserver.storage.buckets:
        if bucket.resource == (group, resource):
            return bucket.history()[-1]
    raise AssertionError(resource)


async def test_a_write_remembers_the_change_that_led_to_it() -> None:
    """Given a controller that waits ten seconds before it acts on what it saw, when it writes, then
    the write knows the request, the user agent, the controller, its key and the version of what it
    saw.
    """
    declared = controller("copier").for_(CONFIG_MAPS).complete(Copier)
    async with Cluster(nodes=0, controllers="", clock="manual", extra=[declared]) as cluster:
        start = cluster.clock.time()
        seen = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
        first = last_event(cluster, "", "configmaps").cause
        assert first == Cause(start, "POST", "/api/v1/namespaces/default/configmaps", "kubernetes-admin", "fakekube", None)
        await cluster.advance(10)
        second = last_event(cluster, "", "configmaps").cause
        assert second == Cause(
            start + 10, "POST", "/api/v1/namespaces/default/configmaps", "system:kube-controller-manager", "copier",
            Acting("copier", ("default", "a"), seen["metadata"]["resourceVersion"]))
        assert (CAUSE.get(), ACTING.get()) == (None, None)


async def test_the_chain_of_a_pods_start_leads_back_to_the_create_of_its_job() -> None:
    """Given a Job that a test created, when its pod runs, then each write points at an earlier one:
    kubelet, scheduler, Job controller, and the test's own request at the end.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.client.create(JOBS, {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}})
        await cluster.advance(1)
        by_revision = {
            str(event.revision): event for bucket in cluster.apiserver.storage.buckets for event in bucket.history()}
        agents, event = [], last_event(cluster, "", PODS.plural)
        while event is not None:
            agents.append(event.cause.user_agent)
            event = by_revision.get(event.cause.acting.revision) if event.cause.acting else None
        assert list(dict.fromkeys(agents)) == ["kubelet", "kube-scheduler", "kube-controller-manager", "fakekube"]
