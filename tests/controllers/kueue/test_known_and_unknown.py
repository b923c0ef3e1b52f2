"""What the cache does with queues and cohorts that come twice or are not there, whose LocalQueues
have metrics, and what nobody may ask.
"""

import json
from copy import deepcopy

import pytest

from fakekube.apimachinery import labels
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.cache import spec
from fakekube_controllers.kueue.configuration import Configuration, Metrics
from fakekube_controllers.kueue.conversion import conversions
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import LOCAL_QUEUES
from tests.controllers.kueue import trees
from tests.controllers.kueue.core.world import World, world

ONE = {"one": {"cpu": 5}}
PENDING_WORKLOADS = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq/pendingworkloads"


def test_a_queue_that_comes_twice_has_its_newer_spec() -> None:
    """Given a ClusterQueue with a Workload, when it is added again with another quota, then it has
    that, and its Workload as before; what is not there can go.
    """
    cache = trees.cache_of(trees.flavor("one"), trees.cluster_queue("cq", ONE))
    cache.add_or_update_workload(trees.admitted(trees.workload("w"), "cq", {"cpu": ("one", 1)}))
    cache.add_cluster_queue(trees.cluster_queue("cq", {"one": {"cpu": 7}}))
    found = cache.hm.cluster_queues["cq"]
    assert [quota.nominal for quota in found.resource_node.quotas.values()] == [7000]
    assert [key.name for key in found.workloads] == ["w"]
    cache.delete_cluster_queue("absent")
    cache.delete_cohort("absent")
    assert [*cache.hm.cluster_queues] == ["cq"]
    assert [*cache.hm.cohorts] == []


def test_a_cohort_without_an_object_goes_with_the_last_that_names_it() -> None:
    """Given cohorts that ClusterQueues and cohorts name, when nothing names one any more, then it
    is there only if it has an object.
    """
    cache = trees.cache_of(trees.flavor("one"), trees.cluster_queue("cq", ONE, cohort="a"), trees.cluster_queue("cq2", ONE))
    assert [*cache.hm.cohorts] == ["a"]
    cache.update_cluster_queue(trees.cluster_queue("cq", ONE, cohort="b"))
    assert [*cache.hm.cohorts] == ["b"]
    cache.add_or_update_cohort(trees.cohort("b", parent="top"))
    assert [*cache.hm.cohorts] == ["b", "top"]
    cache.update_cluster_queue(trees.cluster_queue("cq", ONE))
    assert [*cache.hm.cohorts] == ["b", "top"]
    cache.update_cluster_queue(trees.cluster_queue("cq", ONE, cohort="b"))
    cache.delete_cohort("b")
    assert [*cache.hm.cohorts] == ["b"]
    assert cache.hm.cohorts["b"].parent_cohort is None


def test_cohorts_in_a_circle_count_nothing() -> None:
    """Given cohorts with an admitted Workload below, when they become a circle, then none is
    counted, and again when it is none.
    """
    cache = trees.cache_of(
        trees.flavor("one"), trees.cohort("a"), trees.cohort("b", parent="a"), trees.cluster_queue("cq", ONE, cohort="b"))
    cache.add_or_update_workload(trees.admitted(trees.workload("w"), "cq", {"cpu": ("one", 1)}))
    counts = []
    for parent in ("", "b", ""):
        cache.add_or_update_cohort(trees.cohort("a", parent=parent))
        counts.append([cache.hm.cohorts[name].admitted_workloads_count() for name in ("a", "b")])
    assert counts == [[1, 1], [0, 0], [1, 1]]


@pytest.mark.parametrize(("selector", "wanted"), [
    ({}, True), (None, False), ({"matchLabels": {"a": "b"}}, True), ({"matchLabels": {"a": "c"}}, False),
    ({"matchExpressions": [{"key": "a", "operator": "Perhaps"}]}, False)])
def test_namespaces_that_a_queue_selects(selector: Tree | None, wanted: bool) -> None:
    """Given a selector of namespaces, when a ClusterQueue is read, then it selects by labels; none,
    and one that cannot be read, select nothing.
    """
    found = spec.read({"spec": {"namespaceSelector": selector}})
    assert found.namespace_selector.matches({"a": "b"}) is wanted


@pytest.mark.parametrize(("older", "newer", "back"), [
    ({"clusterProfileRef": {"name": "p"}}, {"clusterSource": {"clusterProfileRef": {"name": "p"}}},
     {"clusterProfileRef": {"name": "p"}, "kubeConfig": {"location": "", "locationType": ""}}),
    ({"kubeConfig": {"location": "s", "locationType": "Secret"}},
     {"clusterSource": {"kubeConfig": {"location": "s", "locationType": "Secret"}}},
     {"kubeConfig": {"location": "s", "locationType": "Secret"}}),
    ({"kubeConfig": {"location": "", "locationType": ""}}, {"clusterSource": {}},
     {"kubeConfig": {"location": "", "locationType": ""}}),
])
@pytest.mark.spec("KUEUE-026")
def test_sources_of_worker_clusters_in_both_versions(older: Tree, newer: Tree, back: Tree) -> None:
    """Given a MultiKueueCluster of v1beta1 with a kubeconfig or a profile, when it is converted,
    then v1beta2 has it as the source, and v1beta1 as before on the way back.
    """
    function = conversions(Features())["multikueueclusters.kueue.x-k8s.io"]
    old = {"apiVersion": "kueue.x-k8s.io/v1beta1", "metadata": {"name": "a"}, "spec": deepcopy(older)}
    converted = function(old, "kueue.x-k8s.io/v1beta2")
    assert converted["spec"] == newer
    assert function(deepcopy(converted), "kueue.x-k8s.io/v1beta1")["spec"] == back


def counted(of: World, queue: str) -> bool:
    """Whether there is a count of what a LocalQueue has admitted."""
    return any(
        line.startswith("kueue_local_queue_admitted_workloads_total{") and f'name="{queue}"' in line
        for line in of.cluster.metrics.text().splitlines())


@pytest.mark.parametrize(("metrics", "gate", "wanted"), [
    (Metrics(), True, [True, True]),
    (Metrics(local_queues=False), True, [False, False]),
    (Metrics(), False, [False, False]),
    (Metrics(local_queue_selector=labels.parse("shown=yes")), True, [False, True]),
    (Metrics(local_queue_selector=labels.parse("shown=yes")), False, [False, False]),
])
async def test_whose_local_queues_have_metrics(metrics: Metrics, gate: bool, wanted: list[bool]) -> None:
    """Given LocalQueues with a label and without, when they admit Workloads, then those are counted
    whose LocalQueue is selected, and none where there are no such metrics.
    """
    async with world(Configuration(metrics=metrics, features=Features(LocalQueueMetrics=gate))) as of:
        await of.queues()
        await of.create(LOCAL_QUEUES, "labelled", {"clusterQueue": "cq"}, labels={"shown": "yes"})
        await of.workload("a")
        await of.workload("b", queueName="labelled")
        await of.cluster.advance("2s")
        assert [counted(of, queue) for queue in ("q", "labelled")] == wanted


@pytest.mark.spec("KUEUE-178")
async def test_pending_workloads_can_only_be_read() -> None:
    """Given a ClusterQueue, when somebody would write what waits in it, then the server does not
    allow that method.
    """
    async with world() as of:
        await of.queues()
        answer = await of.client.request("GET", PENDING_WORKLOADS)
        with pytest.raises(APIError) as refused:
            await of.client.request("POST", PENDING_WORKLOADS)
    assert json.loads(answer.body)["items"] == []
    assert (refused.value.code, refused.value.reason, refused.value.message) == (
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
