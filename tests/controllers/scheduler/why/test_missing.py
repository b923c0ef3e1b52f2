"""What is said to be missing of other pods, of volumes and of devices, and that it helps."""

import pytest

from fakekube.client.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    RESOURCE_CLAIMS,
    STORAGE_CLASSES,
)
from fakekube.runtime.why import texts
from tests.controllers.scheduler.why.applying import (
    CLAIM,
    DEVICE_CLASSES,
    POD_GROUPS,
    PRIORITY_CLASSES,
    RESOURCE_SLICES,
    apply,
    bound,
    cluster,
    create,
    create_node,
    gang,
    halved,
    pod,
    resource_slice,
    retried,
)

APP = {"matchLabels": {"app": "web"}}
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


async def does(running, what, said, *, wanted=1, name="p"):
    """What is proposed for an object is ``said``, and when it is done, so many pods whose names
    begin with a name have nodes.
    """
    await running.settle()
    answer = await running.why(what)
    assert texts(answer.changes) == said, f"{answer}"
    assert [change["text"] for change in answer.tree()["changes"]] == said.split("; ")
    await apply(running.client, answer.changes)
    await retried(running)
    found = await bound(running.client)
    assert sum(each.startswith(name) for each in found) == wanted, f"{answer}\n{found}"


def spreading(key=ZONE, **more):
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": APP, **more}]


def near(key=ZONE, selector=APP, *, apart=False, **more):
    term = {"topologyKey": key, "labelSelector": selector, **more}
    return {"podAntiAffinity" if apart else "podAffinity": {REQUIRED: [term]}}


async def zones(client, **cpus):
    """A node in each zone."""
    for zone, cpu in cpus.items():
        await create_node(client, f"n{zone}", labels={ZONE: zone}, cpu=cpu)


def on(node, name, **more):
    return pod(name, labels={"app": "web"}, nodeName=node, **more)


# other pods


@pytest.mark.parametrize(("before", "spec", "said"), [
    (["na", "na", "nb"], {"topologySpreadConstraints": spreading(), "requests": {"cpu": "3"}}, "1 more cpu on node nb"),
    (["na"], {"topologySpreadConstraints": spreading(nodeAffinityPolicy="Ignore"), "nodeSelector": {"disk": "ssd"}},
     "label disk=ssd on node nb"),
    (["na", "nb"], {"topologySpreadConstraints": spreading(minDomains=3)},
     f"label {ZONE}=new on node nowhere"),
    (["na", "nb"], {"affinity": near(apart=True), "requests": {"cpu": "1"}, "nodeSelector": {ZONE: "b"}},
     "delete pod default/before-1, which is not to be near it"),
    ([], {"affinity": near()}, "a pod with labels app=web in namespace default on node na"),
    (["na"], {"affinity": near(), "requests": {"cpu": "3500m"}}, "500m more cpu on node na"),
    ([], {"affinity": near(selector={"matchExpressions": [
        {"key": "app", "operator": "In", "values": ["db", "cache"]}, {"key": "tier", "operator": "Exists"},
        {"key": "old", "operator": "DoesNotExist"}]}, namespaces=["kube-system"])},
     "a pod with labels app=db, tier=any in namespace kube-system on node na"),
])
async def test_pods_that_are_there_or_not(before, spec, said):
    """Given nodes in two zones (na: 4 cpu, nb: 2 cpu) and one in none, and pods
    on them, when a pod waits by spread constraints or affinity, then what is proposed does.
    """
    async with cluster() as running:
        await zones(running.client, a="4", b="3")
        if "minDomains" in str(spec):
            await create_node(running.client, "nowhere")
        await create(running.client, PODS, *(
            on(node, f"before-{number}", requests={"cpu": "1"}) for number, node in enumerate(before)))
        labels = {"role": "new", **({"app": "web"} if "topologySpreadConstraints" in spec else {})}
        await create(running.client, PODS, pod("p", labels=labels, **spec))
        await does(running, "pod/p", said)


async def test_too_many_pods_in_the_only_domain():
    """Given a zone with two pods where there are to be three zones, and no room elsewhere, then as
    many pods of that zone are to go as are too many, those of low priority first.
    """
    async with cluster() as running:
        await zones(running.client, a="8")
        await create(running.client, PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 7})
        await create(running.client, PODS, on("na", "high-0", priorityClassName="high"), on("na", "low"), on(
            "na", "high-1", priorityClassName="high"))
        await create(running.client, PODS, pod("p", labels={"app": "web"}, topologySpreadConstraints=spreading(
            minDomains=2, maxSkew=3)))
        await does(running, "pod/p", f"delete pod default/low, of which there are too many with {ZONE}=a")


async def test_a_pod_that_is_there_wants_to_be_alone():
    """Given a pod on one node whose anti-affinity takes new pods of the zone, then it is to go,
    though the pod that waits would go to another node.
    """
    async with cluster() as running:
        await create_node(running.client, "n1", labels={ZONE: "a"})
        await create_node(running.client, "n2", labels={ZONE: "a"})
        await create(running.client, PODS, pod("alone", nodeName="n1", affinity=near(apart=True)))
        await create(running.client, PODS, pod("p", labels={"app": "web"}, nodeSelector={HOST: "n2"}))
        await does(running, "pod/p", "delete pod default/alone, which is not to be near it")


async def test_a_gang_apart_needs_nodes():
    """Given a gang of which no two pods may share a node, and one node, then nodes are proposed,
    and not that its own pods go.
    """
    async with cluster() as running:
        await create_node(running.client, "n1")
        await create(running.client, POD_GROUPS, gang("g", 3))
        await create(running.client, PODS, *(
            pod(f"p{number}", "g", labels={"app": "web"}, affinity=near(HOST, apart=True)) for number in range(3)))
        await does(running, "podgroup/g", "2 more nodes", wanted=3)


# volumes


def claim(name, **more):
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {**CLAIM, **more}}


def volume(name, **more):
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/"}, **more}
    return {"metadata": {"name": name, "labels": spec.pop("labels", {})}, "spec": spec}


def using(*names, **more):
    return pod("p", volumes=[{"name": f"v{name}", "persistentVolumeClaim": {"claimName": name}} for name in names], **more)


def storage_class(name, provisioner="kubernetes.io/no-provisioner", **more):
    return {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer", **more}


@pytest.mark.parametrize(("delayed", "selector", "said"), [
    (False, None, "a PersistentVolume of class local with 1Gi for claim default/data"),
    (True, None, "a PersistentVolume of class local with 1Gi for claim default/data"),
    (True, {"matchLabels": {"fast": "yes"}}, "a PersistentVolume of class local with 1Gi for claim default/data"),
])
async def test_a_claim_without_a_volume(delayed, selector, said):
    """Given a claim for which there is no volume, when a pod uses it, then a volume is proposed
    that is fit for it, and with that the pod is scheduled.
    """
    async with cluster("persistentvolume-binder") as running:
        await create_node(running.client, "n1")
        if delayed:
            await create(running.client, STORAGE_CLASSES, storage_class("local"))
        more = {"selector": selector} if selector else {}
        await create(running.client, PERSISTENT_VOLUME_CLAIMS, claim("data", storageClassName="local", **more))
        await create(running.client, PODS, using("data"))
        await does(running, "pod/p", said)


async def test_a_claim_that_is_not_there():
    """Given a volume and a pod with a claim that does not exist, then the claim is proposed."""
    async with cluster("persistentvolume-binder") as running:
        await create_node(running.client, "n1")
        await create(running.client, PERSISTENT_VOLUMES, volume("v"))
        await create(running.client, PODS, using("data"))
        await does(running, "pod/p", "a PersistentVolumeClaim named data")


async def bound_claim(running, **more):
    await create(running.client, PERSISTENT_VOLUMES, volume("v", **more))
    await create(running.client, PERSISTENT_VOLUME_CLAIMS, claim("data", volumeName="v", storageClassName=""))
    await running.settle()


async def test_a_volume_that_the_node_does_not_reach():
    """Given a claim bound to a volume of another rack, then the node is to be in that rack."""
    async with cluster("persistentvolume-binder") as running:
        await create_node(running.client, "n1", labels={"rack": "r1"})
        term = {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r2"]}]}
        await bound_claim(running, nodeAffinity={"required": {"nodeSelectorTerms": [term]}})
        await create(running.client, PODS, using("data"))
        await does(running, "pod/p", "label rack=r2 on node n1")


async def test_a_volume_of_another_zone():
    """Given a claim bound to a volume with the label of another zone, then the node is to be there.
    """
    async with cluster("persistentvolume-binder") as running:
        await zones(running.client, a="4")
        await bound_claim(running, labels={ZONE: "b__c"})
        await create(running.client, PODS, using("data"))
        await does(running, "pod/p", f"label {ZONE}=b on node na")


async def test_a_class_that_makes_volumes_elsewhere():
    """Given a class that makes volumes for one rack only, then the node is to be in it."""
    async with cluster("persistentvolume-binder", "volume-provisioner") as running:
        await create_node(running.client, "n1")
        terms = [{"matchLabelExpressions": [{"key": "rack", "values": ["r2"]}]}]
        await create(running.client, STORAGE_CLASSES, storage_class(
            "made", "fakekube.dev/provisioner", allowedTopologies=terms))
        await create(running.client, PERSISTENT_VOLUME_CLAIMS, claim("data", storageClassName="made"))
        await create(running.client, PODS, using("data"))
        await does(running, "pod/p", "label rack=r2 on node n1")


async def test_a_driver_without_storage():
    """Given a driver that says how much storage it has, and has none, then storage is proposed."""
    async with cluster("persistentvolume-binder", "volume-provisioner") as running:
        await create_node(running.client, "n1")
        await create(running.client, CSI_DRIVERS, {
            "metadata": {"name": "fakekube.dev/provisioner".replace("/", ".")}, "spec": {}})
        driver = "csi.example.com"
        await create(running.client, CSI_DRIVERS, {"metadata": {"name": driver}, "spec": {"storageCapacity": True}})
        await create(running.client, STORAGE_CLASSES, storage_class("made", driver))
        await create(running.client, PERSISTENT_VOLUME_CLAIMS, claim("data", storageClassName="made"))
        await create(running.client, PODS, using("data"))
        await running.settle()
        answer = await running.why("pod/p")
        assert texts(answer.changes) == "room for a volume of 1Gi of class made on node n1"
        await apply(running.client, answer.changes)
        await retried(running)
        [written] = (await running.client.list(PERSISTENT_VOLUME_CLAIMS, "default")).items
        # the scheduler waits for the driver, which is not there
        assert written["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == "n1"


async def test_a_node_with_as_many_volumes_as_it_takes():
    """Given a node that takes one volume of a driver and has it, when a pod has two more, then room
    for two is proposed; room for one does not do.
    """
    for half in (True, False):
        async with cluster() as running:
            await create_node(running.client, "n1")
            await create(running.client, CSI_NODES, {"metadata": {"name": "n1"}, "spec": {"drivers": [
                {"name": "ebs.csi.aws.com", "nodeID": "n1", "allocatable": {"count": 1}}]}})

            def disks(*names):
                return [{"name": f"d{name}", "awsElasticBlockStore": {"volumeID": name}} for name in names]

            await create(running.client, PODS, pod("before", nodeName="n1", volumes=disks("x")))
            await create(running.client, PODS, pod("p", volumes=disks("y", "z")))
            await running.settle()
            answer = await running.why("pod/p")
            assert texts(answer.changes) == "room for 2 more volumes of ebs.csi.aws.com on node n1"
            await (halved if half else apply)(running.client, answer.changes)
            await retried(running)
            assert ("p" in await bound(running.client)) is not half


async def test_a_disk_that_another_pod_has():
    """Given a pod with a disk that no two may have, then it is to go."""
    async with cluster() as running:
        await create_node(running.client, "n1")
        disk = [{"name": "d", "gcePersistentDisk": {"pdName": "disk"}}]
        await create(running.client, PODS, pod("before", nodeName="n1", volumes=disk), pod("p", volumes=disk))
        await does(running, "pod/p", "delete pod default/before, which has a volume that no two may have")


async def test_a_claim_for_one_pod_alone():
    """Given a pod on another node with a claim that is ReadWriteOncePod, then that pod is to go."""
    async with cluster("persistentvolume-binder") as running:
        await create_node(running.client, "n1")
        await create_node(running.client, "n2")
        once = {"accessModes": ["ReadWriteOncePod"]}
        await create(running.client, PERSISTENT_VOLUMES, volume("v", **once))
        await create(running.client, PERSISTENT_VOLUME_CLAIMS, claim("data", volumeName="v", storageClassName="", **once))
        before = using("data", nodeName="n1")
        before["metadata"]["name"] = "before"
        await create(running.client, PODS, before)
        await running.settle()
        await create(running.client, PODS, using("data", nodeSelector={HOST: "n2"}))
        await does(running, "pod/p", "delete pod default/before, which has a volume that no two may have")


# devices


def device_claim(name="c", *, count=1, selector="", class_name="gpu", **more):
    body = {"deviceClassName": class_name, "count": count, **more}
    if selector:
        body["selectors"] = [{"cel": {"expression": selector}}]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"devices": {"requests": [
        {"name": "r", "exactly": body}]}}}


def with_claims(name, *names, group="", **more):
    return pod(name, group, resourceClaims=[{"name": f"r{each}", "resourceClaimName": each} for each in names], **more)


async def a_class(client, expression='device.driver == "gpu.example.com"', *, name="gpu", **more):
    await create(client, DEVICE_CLASSES, {"metadata": {"name": name}, "spec": {
        "selectors": [{"cel": {"expression": expression}}], **more}})


BIG = {"name": "big", "attributes": {"size": {"string": "big"}}}
SMALL = {"name": "small", "attributes": {"size": {"string": "small"}}}
IS_BIG = 'device.attributes["gpu.example.com"].size == "big"'


@pytest.mark.parametrize(("devices", "asked", "said"), [
    ([BIG], {"count": 3}, "2 more devices of class gpu on node n1"),
    ([BIG, SMALL], {"count": 3, "selector": IS_BIG}, "2 more devices of class gpu on node n1"),
    ([], {"count": 2, "class_name": "gpu.example.com"}, "2 more devices of class gpu.example.com on node n1"),
    ([], {"count": 2}, ""),
    ([SMALL], {"allocationMode": "All", "count": None, "selector": IS_BIG}, ""),
])
async def test_devices_that_a_node_lacks(devices, asked, said):
    """Given a node with some devices, when a pod's claim asks for more, then as many as it lacks
    are proposed, half of them do not do, and all of them do; where no device is known that would,
    nothing is proposed.
    """
    for half in (True, False):
        async with cluster() as running:
            await create_node(running.client, "n1")
            await a_class(running.client, name=asked.get("class_name", "gpu"))
            if devices:
                await create(running.client, RESOURCE_SLICES, resource_slice("s", "n1", devices))
            made = device_claim(**asked)
            if asked["count"] is None:
                del made["spec"]["devices"]["requests"][0]["exactly"]["count"]
            await create(running.client, RESOURCE_CLAIMS, made)
            await create(running.client, PODS, with_claims("p", "c"))
            await running.settle()
            answer = await running.why("pod/p")
            assert texts(answer.changes) == said, f"{answer}"
            await (halved if half else apply)(running.client, answer.changes)
            await retried(running)
            assert ("p" in await bound(running.client)) is (bool(said) and not half)


async def test_the_node_that_lacks_the_fewest_devices():
    """Given two nodes with devices of which others have some, then the one that lacks one device is
    proposed, and not the other that lacks two.
    """
    async with cluster() as running:
        await a_class(running.client)
        for name, count in (("n1", 2), ("n2", 3)):
            await create_node(running.client, name)
            await create(running.client, RESOURCE_SLICES, resource_slice(
                name, name, [{"name": f"d{number}"} for number in range(count)]))
        await create(running.client, RESOURCE_CLAIMS, device_claim("before"), device_claim("c", count=3))
        await create(running.client, PODS, with_claims("before", "before", nodeSelector={HOST: "n2"}))
        await running.settle()
        await create(running.client, PODS, with_claims("p", "c"))
        await does(running, "pod/p", "one more device of class gpu on node n1")


async def test_an_extended_resource_that_devices_stand_for():
    """Given a class that stands for an extended resource, when a pod asks for more of it than there
    are devices, then devices are proposed.
    """
    async with cluster() as running:
        await create_node(running.client, "n1")
        await a_class(running.client, extendedResourceName="example.com/gpu")
        await create(running.client, RESOURCE_SLICES, resource_slice("s", "n1", [{"name": "d0"}]))
        await create(running.client, PODS, pod("p", requests={"example.com/gpu": "2"}))
        await does(running, "pod/p", "one more device of class gpu on node n1")


async def test_a_claim_and_a_class_that_are_not_there():
    """Given a pod that names a claim which does not exist, then the claim is proposed; once it is
    there, the class that it asks for; then a device.
    """
    async with cluster() as running:
        await create_node(running.client, "n1")
        await create(running.client, PODS, with_claims("p", "c"))
        await does(running, "pod/p", "a ResourceClaim named c", wanted=0)
        await does(running, "pod/p", "a DeviceClass named gpu", wanted=0)
        await does(running, "pod/p", "one more device of class gpu on node n1")


async def test_a_gang_lacks_devices():
    """Given a gang whose three pods want two devices each, and a node with three, then three more
    are proposed, all on that node, and do.
    """
    async with cluster() as running:
        await create_node(running.client, "n1")
        await a_class(running.client)
        await create(running.client, RESOURCE_SLICES, resource_slice(
            "s", "n1", [{"name": f"d{number}"} for number in range(4)]))
        await create(running.client, POD_GROUPS, gang("g", 3))
        await create(running.client, RESOURCE_CLAIMS, *(device_claim(f"c{number}", count=2) for number in range(3)))
        await create(running.client, PODS, *(with_claims(f"p{number}", f"c{number}", group="g") for number in range(3)))
        await does(running, "podgroup/g", "2 more devices of class gpu on node n1", wanted=3)
