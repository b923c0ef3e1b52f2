"""Volumes that are made for claims, and pods that wait for them."""

import pytest

from fakekube.client.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
    STORAGE_CLASSES,
)
from fakekube.composition.cluster import Cluster
from tests.controllers.volumes import PROVISIONER, Storage, claim, pod, storage_class, volume
from tests.controllers.world import NAMESPACE, condition

NODE_OF_PERSISTENT_VOLUME = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}]}]}}
UNBOUND = "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
LATE = "WaitForFirstConsumer"


@pytest.fixture
async def storage():
    """A whole cluster of two nodes on manual time."""
    async with Cluster(nodes=2, clock="manual") as cluster:
        yield Storage(cluster)


async def scheduled(storage, name="p"):
    """Where a pod is, or the message that it has no place."""
    found = await storage.pod(name)
    return found["spec"].get("nodeName") or condition(found, "PodScheduled")["message"]


async def test_a_volume_is_made_at_once(storage):
    """Given a class of ours / when a claim asks for it / then it is bound to a volume that was made
    for it.
    """
    await storage.make(storage_class(reclaimPolicy="Retain", mountOptions=["ro"]), claim(size="3Gi", storageClassName="made"))
    bound = await storage.claim()
    [made] = await storage.volumes()
    assert made["metadata"]["name"] == bound["spec"]["volumeName"] == f"pvc-{bound['metadata']['uid']}"
    assert made["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == PROVISIONER
    spec = made["spec"]
    assert (spec["capacity"], spec["accessModes"], spec["storageClassName"], spec["mountOptions"]) == (
        {"storage": "3Gi"}, ["ReadWriteOnce"], "made", ["ro"])
    assert (spec["persistentVolumeReclaimPolicy"], made["status"]["phase"], bound["status"]["phase"]) == (
        "Retain", "Bound", "Bound")
    assert await storage.messages("c", "Provisioning") == [
        'External provisioner is provisioning volume for claim "default/c"']
    assert await storage.messages("c", "ProvisioningSucceeded") == [
        f"Successfully provisioned volume {made['metadata']['name']}"]


async def test_a_volume_goes_with_its_claim(storage):
    """Given a volume that was made for a claim, to be deleted / when the claim goes / then it goes.
    """
    await storage.make(storage_class(), claim(storageClassName="made"))
    assert len(await storage.volumes()) == 1
    await storage.delete_claim()
    assert await storage.volumes() == []


async def test_a_volume_grows_with_its_claim(storage):
    """Given a class that allows it / when a claim asks for more / then both have more, and Events
    tell.
    """
    await storage.make(storage_class(allowVolumeExpansion=True), claim(storageClassName="made"))
    await storage.client.patch(
        PERSISTENT_VOLUME_CLAIMS, "c", NAMESPACE, {"spec": {"resources": {"requests": {"storage": "5Gi"}}}})
    await storage.advance(1)
    [made] = await storage.volumes()
    assert (made["spec"]["capacity"], (await storage.claim())["status"]["capacity"]) == ({"storage": "5Gi"}, {"storage": "5Gi"})
    assert await storage.messages("c", "VolumeResizeSuccessful") == ["Resize volume succeeded"]


async def test_a_pod_waits_for_a_claim_that_nothing_binds(storage):
    """Given a claim without a volume / then its pod waits, in upstream's words / when a volume
    comes / then it runs.
    """
    await storage.make(claim(), pod())
    assert await scheduled(storage) == UNBOUND
    assert await storage.messages("p", "FailedScheduling") == [UNBOUND]
    await storage.make(volume("v"))
    await storage.advance(5)
    assert (await storage.pod())["status"]["phase"] == "Running"


async def test_older_releases_word_it_with_preemption():
    """Given a release without devices / then the message ends with what preemption says."""
    async with Cluster(nodes=2, clock="manual", kubernetes_version="1.33") as cluster:
        storage = Storage(cluster)
        await storage.make(claim(), pod())
        assert await scheduled(storage) == (
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. "
            "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")


async def test_a_pod_waits_for_a_claim_that_is_missing(storage):
    """Given no such claim / then the pod is not scheduled / when it is made and bound / then the
    pod has a node.
    """
    await storage.make(storage_class(), pod())
    assert await scheduled(storage) == '0/2 nodes are available: persistentvolumeclaim "c" not found. not found'
    await storage.make(claim(storageClassName="made"))
    await storage.advance(5)
    assert await scheduled(storage) in ("node-0", "node-1")


async def test_a_pod_does_not_get_a_claim_that_goes(storage):
    """Given a claim on its way out / then a pod that wants it is not scheduled."""
    await storage.make(claim())
    body = {"metadata": {"finalizers": ["example.com/stays"]}}
    await storage.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", NAMESPACE, body)
    await storage.delete_claim()
    await storage.make(pod())
    assert await scheduled(storage) == '0/2 nodes are available: persistentvolumeclaim "c" is being deleted. not found'


async def test_the_first_consumer_decides_where_a_volume_is_made(storage):
    """Given a class that waits / when a pod for node-1 comes / then the claim says node-1, is
    bound, and the pod runs there.
    """
    await storage.make(storage_class(mode=LATE), claim(storageClassName="made"))
    assert (await storage.phases())["c"] == "Pending"
    await storage.make(pod(nodeSelector={"kubernetes.io/hostname": "node-1"}))
    await storage.advance(5)
    assert await scheduled(storage) == "node-1"
    bound = await storage.claim()
    assert bound["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == "node-1"
    assert (bound["status"]["phase"], (await storage.pod())["status"]["phase"]) == ("Bound", "Running")


async def test_the_first_consumer_gets_a_volume_that_is_there(storage):
    """Given a local volume of a class without provisioner / then a pod goes to its node, and a
    second one finds none.
    """
    await storage.make(
        storage_class(mode=LATE, provisioner="kubernetes.io/no-provisioner"),
        volume("v", storageClassName="made", nodeAffinity=NODE_OF_PERSISTENT_VOLUME),
        claim(storageClassName="made"), claim("d", storageClassName="made"))
    await storage.make(pod())
    assert (await scheduled(storage), (await storage.claim())["spec"]["volumeName"]) == ("node-1", "v")
    await storage.make(pod("q", ["d"]))
    assert await scheduled(storage, "q") == (
        "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")


async def test_a_pod_goes_where_its_volume_is(storage):
    """Given a bound volume of node-1 / then its pod goes there; where it must not, the message says
    why.
    """
    await storage.make(volume("v", nodeAffinity=NODE_OF_PERSISTENT_VOLUME), claim(), pod())
    assert await scheduled(storage) == "node-1"
    await storage.make(pod("q", nodeSelector={"kubernetes.io/hostname": "node-0"}))
    assert (await scheduled(storage, "q")).startswith(
        "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, "
        "1 node(s) didn't match Pod's node affinity/selector.")


async def test_two_pods_do_not_get_one_volume(storage):
    """Given one volume and two claims that wait / when two pods come at once / then one of them has
    it.
    """
    await storage.make(
        storage_class(mode=LATE, provisioner="kubernetes.io/no-provisioner"), volume("v", storageClassName="made"),
        claim("a", storageClassName="made"), claim("b", storageClassName="made"))
    await storage.make(pod("p", ["a"]), pod("q", ["b"]))
    await storage.advance(60)
    assert sorted(await storage.phases()) == ["a", "b", "v"]
    assert sorted((await storage.phases()).values()) == ["Bound", "Bound", "Pending"]


async def test_a_volume_that_nobody_makes_is_given_up(storage):
    """Given a provisioner that is not there / then the pod waits for its volume, others are
    scheduled, and after ten minutes an Event says that it took too long.
    """
    await storage.make(storage_class(mode=LATE, provisioner="example.com/disks"), claim(storageClassName="made"), pod())
    await storage.make(pod("other", []))
    assert await scheduled(storage, "other") in ("node-0", "node-1")
    assert "nodeName" not in (await storage.pod())["spec"]
    await storage.advance(601)
    assert await storage.messages("p", "FailedScheduling") == [
        'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded']


async def test_a_provisioner_that_gives_up_has_the_pod_scheduled_again(storage):
    """Given a pod that waits for its volume / when the chosen node is taken back / then the pod is
    tried again, and waits.
    """
    await storage.make(storage_class(mode=LATE, provisioner="example.com/disks"), claim(storageClassName="made"), pod())
    gone = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": None}}}
    await storage.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", NAMESPACE, gone)
    await storage.advance(5)
    assert await storage.messages("p", "FailedScheduling") == [
        'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "c"']
    assert "volume.kubernetes.io/selected-node" in (await storage.claim())["metadata"]["annotations"]


async def test_a_pod_that_goes_while_it_waits_leaves_room(storage):
    """Given a pod that is about to have a node and a volume / when it is deleted / then another one
    gets them.
    """
    await storage.make(storage_class(mode=LATE, provisioner="example.com/disks"), claim(storageClassName="made"))
    big = {"containers": [{"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "20"}}}]}
    for name in ("node-0", "node-1"):
        room = (await storage.client.get(NODES, name))["status"]["allocatable"]["cpu"]
        big["containers"][0]["resources"]["requests"]["cpu"] = room
    await storage.make(pod(**big))
    await storage.client.delete(PODS, "p", NAMESPACE)
    await storage.make(pod("q", [], **big), pod("r", [], **big))
    await storage.advance(5)
    assert sorted([await scheduled(storage, "q"), await scheduled(storage, "r")]) == ["node-0", "node-1"]


async def test_stateful_sets_with_claims_live(storage):
    """Given a StatefulSet with a claim template / then its pods run, each with a volume of its own,
    which stays with it.
    """
    await storage.make(storage_class())
    await storage.client.create(STATEFUL_SETS, {"metadata": {"name": "s", "namespace": NAMESPACE}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "serviceName": "s",
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim(storageClassName="made")["spec"]}]}})
    await storage.advance(30)
    names = [each["metadata"]["name"] for each in await storage.pods() if each["status"]["phase"] == "Running"]
    assert names == ["s-0", "s-1"]
    before = (await storage.claim("data-s-0"))["spec"]["volumeName"]
    await storage.client.delete(PODS, "s-0", NAMESPACE)
    await storage.advance(60)
    assert (await storage.pod("s-0"))["status"]["phase"] == "Running"
    assert (await storage.claim("data-s-0"))["spec"]["volumeName"] == before
    assert len(await storage.volumes()) == 2


async def test_a_default_class_by_an_option():
    """Given the option / then there is a default class, and a plain claim is bound / without it /
    then there is none.
    """
    async with Cluster(nodes=1, clock="manual", default_storage_class=True) as cluster:
        storage = Storage(cluster)
        await storage.make(claim())
        assert (await storage.claim())["status"]["phase"] == "Bound"
        async with cluster.fork() as other:
            [found] = (await other.client.list(STORAGE_CLASSES)).items
            assert (found["metadata"]["name"], found["provisioner"]) == ("standard", PROVISIONER)
    async with Cluster(nodes=0, clock="manual") as cluster:
        assert (await cluster.client.list(STORAGE_CLASSES)).items == []


async def test_a_restarted_scheduler_goes_on(storage):
    """Given a pod that waits for its volume / when the scheduler starts anew and the volume is made
    by hand / then the pod runs on the node that was chosen.
    """
    await storage.make(storage_class(mode=LATE, provisioner="example.com/disks"), claim(storageClassName="made"), pod())
    node = (await storage.claim())["metadata"]["annotations"]["volume.kubernetes.io/selected-node"]
    await storage.restart("scheduler")
    await storage.advance(1)
    await storage.make(volume("v", storageClassName="made", claimRef={"namespace": NAMESPACE, "name": "c"}))
    await storage.advance(5)
    assert await scheduled(storage) == node


async def test_a_class_that_is_heard_of_late(storage):
    """Given a claim that is to be provisioned already / when its class is heard of later / then its
    volume is made.
    """
    asking = claim(storageClassName="made")
    asking["metadata"]["annotations"] = {"volume.kubernetes.io/storage-provisioner": PROVISIONER}
    with storage.cluster.faults.add(watch="stall", resources="storageclasses.storage.k8s.io", lasting="30s"):
        await storage.make(storage_class(), asking)
        await storage.advance(60)
    assert (await storage.claim())["status"]["phase"] == "Bound"
