"""A topology domain for each Job: what the webhooks of pods do."""

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import JOBS, NODES, PODS
from tests.controllers.jobset.conftest import replicated
from tests.controllers.world import NAMESPACE, index_of

RACK = "example.com/rack"
EXCLUSIVE = {"alpha.jobset.sigs.k8s.io/exclusive-topology": RACK}
KEY = "jobset.sigs.k8s.io/job-key"
PRIORITY = "jobset.sigs.k8s.io/priority"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@pytest.fixture
async def placed(world):
    """A JobSet with one Job of three pods that has a rack for itself; there are two racks."""
    for rack in ("a", "b"):
        await world.client.create(NODES, {"metadata": {"name": f"node-{rack}", "labels": {RACK: rack}}})
    await world.create(replicated(parallelism=3, completions=3, completionMode="Indexed"), annotations=EXCLUSIVE)
    return world


async def test_the_first_pod_keeps_others_out(placed):
    """Given a Job with a rack for itself / when its pods are made / then there is the first alone,
    with terms that keep its Job together and others away.
    """
    [leader] = await placed.pods()
    key = leader["metadata"]["labels"][KEY]
    affinity = leader["spec"]["affinity"]
    assert affinity["podAffinity"][REQUIRED] == [{
        "labelSelector": {"matchExpressions": [{"key": KEY, "operator": "In", "values": [key]}]}, "topologyKey": RACK,
        "namespaceSelector": {}}]
    assert affinity["podAntiAffinity"][REQUIRED] == [{
        "labelSelector": {"matchExpressions": [
            {"key": KEY, "operator": "Exists"}, {"key": KEY, "operator": "NotIn", "values": [key]},
            {"key": PRIORITY, "operator": "In", "values": ["0"]}]},
        "topologyKey": RACK, "namespaceSelector": {}}]
    assert leader["metadata"]["labels"][PRIORITY] == "0"


async def test_the_others_follow_it(placed):
    """Given the first pod / when it has a node / then the others are made for that rack."""
    [leader] = await placed.pods()
    await placed.bind(leader, node="node-b")
    await placed.advance(60)
    pods = await placed.pods()
    assert sorted(map(index_of, pods)) == [0, 1, 2]
    assert [pod["spec"].get("nodeSelector") for pod in pods if index_of(pod)] == [{RACK: "b"}] * 2


def follower(job, **changes):
    """A second pod of a Job, as the Job controller makes it."""
    metadata = job["spec"]["template"]["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "js-w-0", "uid": job["metadata"]["uid"], "controller": True}
    index = {"batch.kubernetes.io/job-completion-index": "1"}
    return {
        "metadata": {
            "name": "js-w-0-1-xyzab", "namespace": NAMESPACE, "labels": {**metadata["labels"]},
            "annotations": {**metadata["annotations"], **index}, "ownerReferences": [owner], **changes.pop("metadata", {})},
        "spec": {"containers": [{"name": "main", "image": "busybox"}], **changes}}


@pytest.mark.parametrize(("changes", "text"), [
    ({}, "follower pod node selector not set"),
    ({"nodeSelector": {"other": "x"}},
     f"follower pod node selector for topology domain not found. missing selector: {RACK}"),
    ({"nodeSelector": {RACK: "a"}},
     "leader pod not yet scheduled, not creating follower pod. this is an expected, transient error"),
    ({"nodeSelector": {RACK: "a"}, "metadata": {"ownerReferences": []}}, "follower pod has no owner reference"),
    ({"nodeSelector": {RACK: "a"}, "metadata": {"labels": {}}}, "pod missing label: jobset.sigs.k8s.io/jobset-name"),
])
async def test_a_pod_that_cannot_follow_is_refused(placed, changes, text):
    """Given a first pod without a node / when another pod is made by hand / then it is refused."""
    job = await placed.client.get(JOBS, "js-w-0", NAMESPACE)
    with pytest.raises(APIError) as caught:
        await placed.client.create(PODS, follower(job, **changes))
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    assert caught.value.message == f'admission webhook "vpod.kb.io" denied the request: {text}'


async def test_a_pod_without_a_first_one_is_refused(placed):
    """Given no first pod / when another is made / then it is refused."""
    await placed.cluster.stop_controller("job")
    await placed.delete_pods(*await placed.pods(), grace_period_seconds=0)
    [leader] = await placed.pods()
    await placed.client.patch(PODS, leader["metadata"]["name"], NAMESPACE, {"metadata": {"finalizers": None}})
    job = await placed.client.get(JOBS, "js-w-0", NAMESPACE)
    with pytest.raises(APIError, match=r"expected 1 leader pod \(js-w-0-0\), but got 0"):
        await placed.client.create(PODS, follower(job, nodeSelector={RACK: "a"}))


async def test_a_node_in_no_rack_is_an_error(placed):
    """Given a first pod on a node without the label / when another follows / then that is an error.
    """
    [leader] = await placed.pods()
    await placed.client.create(NODES, {"metadata": {"name": "nowhere"}})
    await placed.cluster.stop_controller("job")
    await placed.bind(leader, node="nowhere")
    job = await placed.client.get(JOBS, "js-w-0", NAMESPACE)
    text = f'admission webhook "mpod.kb.io" denied the request: node does not have topology label: {RACK}'
    with pytest.raises(APIError) as caught:
        await placed.client.create(PODS, follower(job))
    assert (caught.value.code, caught.value.message) == (500, text)


async def test_a_node_that_is_not_there_is_told_by_its_kind(placed):
    """Given a first pod on a node that nobody has / when another follows / then the error names the
    kind, as upstream's cache does, and not the resource.
    """
    [leader] = await placed.pods()
    await placed.cluster.stop_controller("job")
    await placed.bind(leader, node="nowhere")
    job = await placed.client.get(JOBS, "js-w-0", NAMESPACE)
    with pytest.raises(APIError) as caught:
        await placed.client.create(PODS, follower(job))
    text = 'admission webhook "mpod.kb.io" denied the request: Node "nowhere" not found'
    assert (caught.value.code, caught.value.message) == (500, text)


async def test_nodes_may_be_set_aside_beforehand(world):
    """Given the strategy of labelled nodes / when pods are made / then each selects its Job's
    nodes, and no webhook has a part in it.
    """
    annotations = {**EXCLUSIVE, "alpha.jobset.sigs.k8s.io/node-selector": "true"}
    await world.create(replicated("a", metadata={"annotations": annotations}), replicated("b"))
    pods = {pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]: pod for pod in await world.pods()}
    spec = pods["js-a-0"]["spec"]
    assert spec["nodeSelector"] == {"alpha.jobset.sigs.k8s.io/namespaced-job": f"{NAMESPACE}_js-a-0"}
    taint = {"key": "alpha.jobset.sigs.k8s.io/no-schedule", "operator": "Exists", "effect": "NoSchedule"}
    assert taint in spec["tolerations"]
    assert "affinity" not in spec
    assert PRIORITY not in pods["js-a-0"]["metadata"]["labels"]
    assert "nodeSelector" not in pods["js-b-0"]["spec"]
    assert PRIORITY in pods["js-b-0"]["metadata"]["labels"]


async def test_other_pods_are_left_alone(world):
    """Given a pod with a JobSet's label and no annotation / when it is made / then it stays as it
    is.
    """
    pod = await world.client.create(PODS, {
        "metadata": {"name": "p", "namespace": NAMESPACE, "labels": {"jobset.sigs.k8s.io/jobset-name": "js"}},
        "spec": {"containers": [{"name": "main", "image": "busybox"}]}})
    assert pod["metadata"]["labels"] == {"jobset.sigs.k8s.io/jobset-name": "js"}
