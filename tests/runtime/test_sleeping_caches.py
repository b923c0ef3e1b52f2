"""Caches of what nobody uses sleep, and miss nothing."""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, NAMESPACES, SECRETS, Resource
from fakekube.composition.cluster import Cluster
from fakekube.runtime.context import Context

CLUSTER_ROLES = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False)
JOB: Tree = {"metadata": {"name": "a"}, "spec": {"suspend": True, "template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}}}


class Listener:
    """Writes down what it is told of one resource."""

    name, user_agent, user = "listener", "", None

    def __init__(self, resource: Resource, *, whole: bool = True) -> None:
        self.resource, self.whole = resource, whole
        self.heard: list[str] = []

    async def start(self, ctx: Context) -> None:
        self.ctx = ctx
        ctx.add_handler(
            self.resource, lambda obj: self.heard.append(f"+{obj['metadata']['name']}"), None,
            lambda obj: self.heard.append(f"-{obj['metadata']['name']}"), whole=self.whole)

    async def stop(self) -> None:
        """Nothing."""


def lists(cluster: Cluster, plural: str) -> int:
    return sum(entry.verb == "list" and entry.resource == plural for entry in cluster.apiserver.log)


async def test_a_cache_of_nothing_asks_for_nothing_and_hears_of_the_first_object_and_its_end() -> None:
    """Given a component that listens for jobs, of which there are none
    When a job is created and deleted before the event loop turns again
    Then it hears of both, and the cache never had to list."""
    listener = Listener(JOBS)
    async with Cluster(nodes=0, clock="manual", controllers="namespace,serviceaccount", extra=[listener]) as cluster:
        assert listener.ctx.informer(JOBS).has_synced
        assert lists(cluster, "jobs") == 0
        await cluster.client.create(JOBS, JOB, "default")
        await cluster.client.delete(JOBS, "a", "default", propagation_policy="Background")
        await cluster.settle()
        assert listener.heard == ["+a", "-a"]
        assert lists(cluster, "jobs") == 0


async def test_what_came_with_the_cluster_is_seen_once_somebody_asks_for_it() -> None:
    """Given a component that does not miss the cluster's own roles while nobody asks for them
    When somebody does
    Then it sees all of them."""
    listener = Listener(CLUSTER_ROLES, whole=False)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[listener]) as cluster:
        assert listener.heard == []
        roles = (await cluster.client.list(CLUSTER_ROLES)).items
        await cluster.settle()
        assert listener.heard == [f"+{role['metadata']['name']}" for role in roles]
        assert "+cluster-admin" in listener.heard


async def test_who_wants_the_whole_gets_it_though_another_did_not() -> None:
    """Given a cache that sleeps over the cluster's own roles
    When another component wants to see them
    Then both do."""
    first, second = Listener(CLUSTER_ROLES, whole=False), Listener(CLUSTER_ROLES)
    second.name = "second"
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[first]) as cluster:
        cluster.manager.add(second)
        await cluster.manager.start_component("second")
        await cluster.settle()
        assert "+cluster-admin" in second.heard
        assert first.heard == second.heard


async def test_what_is_there_is_listed_at_once() -> None:
    """Given a component that listens for namespaces
    When its cluster starts
    Then it hears of those that every cluster has, and of new ones after them."""
    listener = Listener(NAMESPACES)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[listener]) as cluster:
        assert listener.heard == ["+default", "+kube-node-lease", "+kube-public", "+kube-system"]
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.settle()
        assert listener.heard[-1] == "+team"


async def test_a_cluster_that_stopped_wakes_nobody() -> None:
    """Given a cluster with sleeping caches that was stopped
    When an object is stored after all
    Then nothing starts again."""
    listener = Listener(SECRETS)
    async with Cluster(nodes=0, clock="manual", controllers="", extra=[listener]) as cluster:
        pass
    await cluster.client.create(SECRETS, {"metadata": {"name": "late"}}, "default")
    assert listener.heard == []
    assert len(cluster.tasks) == 0
