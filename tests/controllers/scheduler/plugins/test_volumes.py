"""Volumes: claims that must be there, where volumes are, who uses them, how many a node takes."""

import pytest

from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins.arguments import ArgumentsError
from fakekube_controllers.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from fakekube_controllers.scheduler.plugins.volume_binding import VolumeBinding
from fakekube_controllers.scheduler.plugins.volume_restrictions import VolumeRestrictions
from fakekube_controllers.scheduler.plugins.volume_zone import VolumeZone
from tests.controllers.scheduler.plugins.cases import (
    ZONE,
    Handle,
    hints,
    node,
    other,
    plugin_of,
    pod,
    scores,
    snapshot,
    statuses,
    zoned,
)

NEVER, NOT_NOW = Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.UNSCHEDULABLE
CLAIM, VOLUME = EventResource.PERSISTENT_VOLUME_CLAIM, EventResource.PERSISTENT_VOLUME
CAPACITY_SCORING = ["StorageCapacityScoring"]


def using(*claims, name="p", **volumes):
    listed = [{"name": f"v{number}", "persistentVolumeClaim": {"claimName": each}} for number, each in enumerate(claims)]
    return pod(name, volumes=[*listed, *({"name": key, key: value} for key, value in volumes.items())])


def claim(name="c", volume=None, cls="slow", modes=("ReadWriteOnce",), size="1Gi", **metadata):
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    annotations = {**bound, **metadata.pop("annotations", {})}
    return {
        "metadata": {"name": name, "namespace": "n", "uid": name, "annotations": annotations, **metadata},
        "spec": {"accessModes": list(modes), "resources": {"requests": {"storage": size}},
                 **({"volumeName": volume} if volume else {}), **({"storageClassName": cls} if cls else {})}}


def volume(name="v", labels=None, zone=None, size="1Gi", cls="slow", csi=None, **spec):
    if zone:
        term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    if csi:
        spec["csi"] = {"driver": csi, "volumeHandle": name}
    return {
        "metadata": {"name": name, "uid": name, "labels": labels or {}},
        "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": cls, **spec},
        "status": {"phase": "Available"}}


def storage_class(name="slow", mode="WaitForFirstConsumer", provisioner="example.com/p", **rest):
    return {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **rest}


def filtered(kind, incoming, *nodes, gates=(), version="1.37", **objects):
    handle = Handle(gates=gates, version=version, **objects)
    return statuses(plugin_of(kind, handle), incoming, nodes, handle)


# binding

UNBOUND = (NEVER, "pod has unbound immediate PersistentVolumeClaims")
NO_VOLUME = (NEVER, "node(s) didn't find available persistent volumes to bind")
NO_SUCH_VOLUME = (NEVER, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
FAR = (NEVER, "node(s) didn't match PersistentVolume's node affinity")
CLASSES = [storage_class(), storage_class("now", "Immediate"), storage_class("local", provisioner="kubernetes.io/no-provisioner")]
AB = (zoned("a1", "a"), zoned("b1", "b"))


@pytest.mark.parametrize(("claims", "expected"), [
    ([], (NEVER, 'persistentvolumeclaim "c" not found')), ([claim(cls="now")], UNBOUND), ([claim(cls=None)], UNBOUND),
    ([claim(deletionTimestamp="2026-01-01T00:00:00Z")], (NEVER, 'persistentvolumeclaim "c" is being deleted')),
    ([{**claim(volume="v"), "status": {"phase": "Lost"}}],
     (NEVER, 'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"')),
    ([claim(volume="v")], {"a1": None, "b1": FAR}), ([claim(cls="local")], {"a1": None, "b1": NO_VOLUME}),
    ([claim()], {"a1": None, "b1": None}),
    ([claim(annotations={"volume.kubernetes.io/selected-node": "b1"})], {"a1": NO_VOLUME, "b1": None}),
    ([claim(volume="gone")], dict.fromkeys(("a1", "b1"), NO_SUCH_VOLUME)),
])
def test_claims_of_a_pod(claims, expected):
    """Given a volume in one zone / then a pod waits until its claim can be used, and goes where it
    can.
    """
    objects = {"persistentvolumeclaims": claims, "persistentvolumes": [volume(zone="a"), volume("l", zone="a", cls="local")],
               "storageclasses": CLASSES}
    assert filtered(VolumeBinding, using("c"), *AB, **objects) == expected


def test_words_of_older_releases():
    """Given releases before 1.33 / then a volume in another zone is told of in other words."""
    objects = {"persistentvolumeclaims": [claim(volume="v")], "persistentvolumes": [volume(zone="a")]}
    found = filtered(VolumeBinding, using("c"), zoned("b1", "b"), version="1.32", **objects)
    assert found == {"b1": (NEVER, "node(s) had volume node affinity conflict")}


def test_a_claim_that_is_to_be_made_for_the_pod():
    """Given a generic ephemeral volume / then the pod waits for its own claim."""
    incoming = using(ephemeral={})
    waits = (NEVER, 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-ephemeral"')
    assert filtered(VolumeBinding, incoming, node("a")) == waits
    found = filtered(VolumeBinding, incoming, node("a"), persistentvolumeclaims=[claim("p-ephemeral", volume="v")])
    assert found == (NEVER, "PVC n/p-ephemeral was not created for pod n/p (pod is not owner)")


def test_a_pod_without_claims_has_nothing_to_say():
    """Given no volume of the kind / then the filter and the score are skipped."""
    assert filtered(VolumeBinding, using(emptyDir={}), node("a")) == "skipped"
    handle = Handle(gates=CAPACITY_SCORING)
    assert scores(plugin_of(VolumeBinding, handle), pod(), [node("a")], handle) == "skipped"


@pytest.mark.parametrize(("allowed", "fits"), [
    ([{"matchLabelExpressions": [{"key": ZONE, "values": ["b", "c"]}]}], False),
    ([{"matchLabelExpressions": [{"key": ZONE, "values": [zone]}]} for zone in "ba"], True),
    ([{}], False),
])
def test_a_class_makes_volumes_for_some_nodes_only(allowed, fits):
    """Given a class with allowed topologies / then volumes are made there and nowhere else."""
    objects = {"persistentvolumeclaims": [claim()], "storageclasses": [storage_class(allowedTopologies=allowed)]}
    assert filtered(VolumeBinding, using("c"), zoned("a1", "a"), **objects) == {"a1": None if fits else NO_VOLUME}


def capacity(amount, zone="a", largest=None):
    return {"metadata": {"name": f"{zone}{amount}", "namespace": "s"}, "storageClassName": "slow", "capacity": amount,
            "nodeTopology": {"matchLabels": {ZONE: zone}}, **({"maximumVolumeSize": largest} if largest else {})}


DRIVER = {"metadata": {"name": "example.com/p"}, "spec": {"storageCapacity": True}}
FULL = (NEVER, "node(s) did not have enough free storage")


@pytest.mark.parametrize(("capacities", "drivers", "expected"), [
    ([], [], {"a1": None, "b1": None}), ([], [DRIVER], {"a1": FULL, "b1": FULL}),
    ([capacity("1Gi"), capacity("1Mi", "b")], [DRIVER], {"a1": None, "b1": FULL}),
    ([capacity("10Gi", largest="1Mi")], [DRIVER], {"a1": FULL, "b1": FULL}),
])
def test_storage_that_a_driver_has_left(capacities, drivers, expected):
    """Given a driver that publishes its capacity / then volumes are made where there is enough."""
    objects = {"persistentvolumeclaims": [claim()], "storageclasses": CLASSES, "csidrivers": drivers,
               "csistoragecapacities": capacities}
    assert filtered(VolumeBinding, using("c"), *AB, **objects) == expected


@pytest.mark.parametrize(("gates", "objects", "expected"), [
    (CAPACITY_SCORING, {"persistentvolumes": [volume("x", zone="a", size="2Gi", cls="local"), volume(
        "y", zone="b", size="4Gi", cls="local")]}, {"a1": 50, "b1": 75}),
    ([], {"persistentvolumes": [volume("x", zone="a", cls="local"), volume("y", zone="b", cls="local")]}, "skipped"),
    (CAPACITY_SCORING, {"csidrivers": [DRIVER], "csistoragecapacities": [capacity("10Gi"), capacity("2Gi", "b")]},
     {"a1": 90, "b1": 50}),
])
def test_capacity_scoring(gates, objects, expected):
    """Given the gate / then more capacity for what is asked for is better, be it a volume that is
    there or room to make one.
    """
    cls = "local" if "persistentvolumes" in objects else "slow"
    handle = Handle(gates=gates, persistentvolumeclaims=[claim(cls=cls)], storageclasses=CLASSES, **objects)
    assert scores(plugin_of(VolumeBinding, handle), using("c"), AB, handle) == expected


def test_volumes_that_are_about_to_be_bound():
    """Given a pod that has reserved the only volume / then another claim does not get it, and
    another pod with the same claim does; after unreserve all may.
    """
    handle = Handle(
        persistentvolumeclaims=[claim(cls="local"), claim("d", cls="local")], storageclasses=CLASSES,
        persistentvolumes=[volume(zone="a", cls="local")])
    plugin, nodes, state, first = plugin_of(VolumeBinding, handle), [zoned("a1", "a")], CycleState(), pod_info(using("c"))
    plugin.pre_filter(state, first, snapshot(*nodes))
    assert plugin.filter(state, first, nodes[0]) is None
    plugin.reserve(state, first, "a1")
    assert statuses(plugin, using("d", name="q"), nodes, handle) == {"a1": NO_VOLUME}
    assert statuses(plugin, using("c", name="q"), nodes, handle) == {"a1": None}
    plugin.unreserve(state, first, "a1")
    assert statuses(plugin, using("d", name="q"), nodes, handle) == {"a1": None}


def test_a_volume_that_is_about_to_be_made():
    """Given a pod whose volume is to be made on a node / then others with the claim go there."""
    handle = Handle(persistentvolumeclaims=[claim()], storageclasses=CLASSES)
    plugin, state, first = plugin_of(VolumeBinding, handle), CycleState(), pod_info(using("c"))
    plugin.pre_filter(state, first, snapshot(*AB))
    assert plugin.filter(state, first, AB[0]) is None
    plugin.reserve(state, first, "a1")
    assert statuses(plugin, using("c", name="q"), AB, handle) == {"a1": None, "b1": NO_VOLUME}


@pytest.mark.parametrize(("args", "gates", "text"), [
    ({"bindTimeoutSeconds": -1}, [],
     r"^bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value$"),
    ({"shape": [{"utilization": 0, "score": 1}]}, [],
     r"^shape: Invalid value: .*: unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring$"),
    ({"shape": [{"utilization": 5, "score": 1}, {"utilization": 5, "score": 11}]}, CAPACITY_SCORING,
     (r"^\[shape\[1\].utilization: Invalid value: 5: values must be sorted in increasing order, "
      r"shape\[1\].score: Invalid value: 11: not in valid range \[0, 10\]\]$")),
])
def test_arguments_that_are_wrong(args, gates, text):
    """Given arguments out of range / then the plugin cannot be made."""
    with pytest.raises(ArgumentsError, match=text):
        VolumeBinding(args, Handle(gates=gates))


# zones


@pytest.mark.parametrize(("labels", "expected"), [
    ({}, "skipped"), ({ZONE: "a"}, {"a1": None, "b1": (NEVER, "node(s) had no available volume zone"), "c1": None}),
    ({ZONE: "a__ b"}, {"a1": None, "b1": None, "c1": None}),
    ({"failure-domain.beta.kubernetes.io/zone": "b"},
     {"a1": (NEVER, "node(s) had no available volume zone"), "b1": None, "c1": None}),
])
def test_volumes_with_labels_of_zones(labels, expected):
    """Given a volume that says where it is / then the pod goes to nodes of that zone, or without
    any.
    """
    objects = {"persistentvolumeclaims": [claim(volume="v")], "persistentvolumes": [volume(labels=labels)]}
    assert filtered(VolumeZone, using("c"), *AB, node("c1"), **objects) == expected


@pytest.mark.parametrize(("claims", "expected"), [
    ([claim(volume="gone")], (NEVER, 'persistentvolume "gone" not found')),
    ([claim(cls=None)], (NEVER, "PersistentVolumeClaim had no pv name and storageClass name")),
    ([claim(cls="none")], (NEVER, 'storageclass.storage.k8s.io "none" not found')),
    ([claim(cls="now")], (NEVER, "PersistentVolume had no name")), ([claim()], "skipped"),
])
def test_claims_without_a_volume_have_no_zone(claims, expected):
    """Given a claim without a volume / then it may wait for its pod, or the pod for it."""
    assert filtered(VolumeZone, using("c"), *AB, persistentvolumeclaims=claims, storageclasses=CLASSES) == expected


# restrictions

DISK_TAKEN = (NOT_NOW, "node(s) had no available disk")
ONE_POD = claim(volume="v", modes=["ReadWriteOncePod"])
TAKEN = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
CLAIM_TAKEN = (NOT_NOW, TAKEN)


@pytest.mark.parametrize(("wanted", "present", "fits"), [
    ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d"}}, False),
    ({"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, True),
    ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "e"}}, True),
    ({"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}}, {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
     False),
    ({"iscsi": {"iqn": "d"}}, {"iscsi": {"iqn": "d", "readOnly": True}}, False),
    ({"rbd": {"monitors": ["a", "b"], "image": "i", "pool": "p"}}, {"rbd": {"monitors": ["b"], "image": "i", "pool": "p"}},
     False),
    ({"rbd": {"monitors": ["a"], "image": "i"}}, {"rbd": {"monitors": ["b"], "image": "i"}}, True),
])
def test_disks_of_one_node(wanted, present, fits):
    """Given a pod with a disk / then no other pod of the node has it, unless both only read."""
    found = filtered(VolumeRestrictions, using(**wanted), node("a", using(name="x", **present)))
    assert found == {"a": None if fits else DISK_TAKEN}


def test_claims_of_one_pod():
    """Given a claim for one pod that a pod uses / then another waits; without that pod there is
    nothing to say.
    """
    nodes = [node("a", using("c", name="x")), node("b")]
    objects = {"persistentvolumeclaims": [ONE_POD]}
    assert filtered(VolumeRestrictions, using("c"), *nodes, **objects) == {"a": CLAIM_TAKEN, "b": CLAIM_TAKEN}
    assert filtered(VolumeRestrictions, using("c"), node("b"), **objects) == "skipped"
    assert filtered(VolumeRestrictions, using("c"), *nodes, persistentvolumeclaims=[claim(volume="v")]) == "skipped"
    assert filtered(VolumeRestrictions, using("c"), *nodes) == (NEVER, 'persistentvolumeclaim "c" not found')


@pytest.mark.parametrize("version", ["1.33", "1.37"])
def test_a_claim_of_one_pod_when_that_pod_is_evicted(version):
    """Given a claim for one pod / when its pod is thought away / then the claim is free; releases
    before 1.34 say in other words that it is not.
    """
    handle = Handle(version=version, persistentvolumeclaims=[ONE_POD])
    plugin, state, incoming = plugin_of(VolumeRestrictions, handle), CycleState(), pod_info(using("c"))
    present = node("a", using("c", name="x"))
    assert plugin.pre_filter(state, incoming, snapshot(present)) is None
    tried = state.clone()
    plugin.remove_pod(tried, incoming, next(iter(present.pods.values())), present)
    assert plugin.filter(tried, incoming, node("a")) is None
    old = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    assert plugin.filter(state, incoming, present).message == (old if version == "1.33" else TAKEN)


# limits

TOO_MANY = (NOT_NOW, "node(s) exceed max volume count")


def limited(name="a", driver="csi", count=1):
    return {"metadata": {"name": name}, "spec": {"drivers": [{"name": driver, "allocatable": {"count": count}}]}}


def attachment(volume_name, node_name="a"):
    return {"metadata": {"name": f"{volume_name}-{node_name}"}, "spec": {
        "attacher": "csi", "nodeName": node_name, "source": {"persistentVolumeName": volume_name}}}


@pytest.mark.parametrize(("count", "extra", "fits"), [
    (1, {}, False), (2, {}, True), (2, {"volumeattachments": [attachment("z")]}, False),
    (2, {"volumeattachments": [attachment("x")]}, True), (2, {"volumeattachments": [attachment("z", "b")]}, True)])
def test_a_node_takes_so_many_volumes_of_a_driver(count, extra, fits):
    """Given a node with one volume of a driver / then another fits as its CSINode says; what is
    attached counts too, once.
    """
    objects = {
        "persistentvolumeclaims": [claim("c", volume="v"), claim("d", volume="x")],
        "persistentvolumes": [volume("v", csi="csi"), volume("x", csi="csi"), volume("z", csi="csi")],
        "csinodes": [limited(count=count)], **extra}
    found = filtered(NodeVolumeLimits, using("c"), node("a", using("d", name="x")), **objects)
    assert found == {"a": None if fits else TOO_MANY}


def test_a_volume_that_two_pods_share_counts_once():
    """Given a node that is full / then a pod with a volume that is there already fits."""
    objects = {"persistentvolumeclaims": [claim(volume="v")], "persistentvolumes": [volume("v", csi="csi")],
               "csinodes": [limited()]}
    assert filtered(NodeVolumeLimits, using("c"), node("a", using("c", name="x")), **objects) == {"a": None}


def test_volumes_that_are_yet_to_be_made_count():
    """Given claims of a class / then the driver that will make their volumes counts them."""
    objects = {"persistentvolumeclaims": [claim("c", cls="csi"), claim("d", cls="csi")],
               "storageclasses": [storage_class("csi", provisioner="csi")], "csinodes": [limited()]}
    assert filtered(NodeVolumeLimits, using("c"), node("a"), **objects) == {"a": None}
    assert filtered(NodeVolumeLimits, using("c", "d"), node("a"), **objects) == {"a": TOO_MANY}


def test_volumes_of_old_drivers_count_for_those_in_their_place():
    """Given a disk that a CSI driver took over / then it counts for that one."""
    disk = {"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}}
    full = filtered(NodeVolumeLimits, using(**disk), node("a"), csinodes=[limited(driver="ebs.csi.aws.com", count=0)])
    assert full == {"a": TOO_MANY}
    assert filtered(NodeVolumeLimits, using(**disk), node("a")) == {"a": None}


@pytest.mark.parametrize(("gates", "prevents", "expected"), [
    (["VolumeLimitScaling"], True, (NOT_NOW, "csi CSI driver is not installed on the node")),
    (["VolumeLimitScaling"], False, None), ([], True, None)])
def test_drivers_that_are_not_installed(gates, prevents, expected):
    """Given a driver that wants no pods where it is missing / then pods wait, with the gate."""
    objects = {"persistentvolumeclaims": [claim(volume="v")], "persistentvolumes": [volume("v", csi="csi")],
               "csidrivers": [{"metadata": {"name": "csi"}, "spec": {"preventPodSchedulingIfMissing": prevents}}]}
    assert filtered(NodeVolumeLimits, using("c"), node("a"), gates=gates, **objects) == {"a": expected}


def test_a_pod_without_volumes_has_no_limit():
    """Given no volume that could be attached / then there is nothing to say; a claim that is
    missing says so.
    """
    assert filtered(NodeVolumeLimits, using(emptyDir={}), node("a")) == "skipped"
    missing = (NEVER, 'looking up PVC n/c: persistentvolumeclaim "c" not found')
    assert filtered(NodeVolumeLimits, using("c"), node("a")) == {"a": missing}


# hints

ADD, UPDATE, DELETE = ActionType.ADD, ActionType.UPDATE, ActionType.DELETE
LEAVING = other(using("c", name="x"), spec={"nodeName": "a"})
CLASS = EventResource.STORAGE_CLASS
EBS, BETA = "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io"
EBS_DISK = {"awsElasticBlockStore": {"volumeID": "x"}}


def csi_node_of(name, *plugins):
    return {"metadata": {"name": name, "annotations": {
        "storage.alpha.kubernetes.io/migrated-plugins": ",".join(plugins)}}, "spec": {"drivers": []}}


def of_zone(key, zone):
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [zone]}]}]}}


@pytest.mark.parametrize(("made", "expected"), [
    (volume(zone="a", **EBS_DISK), {"moved": FAR, "other": None, "zoned": None}),
    (volume(zone="b", **EBS_DISK), {"moved": None, "other": FAR, "zoned": FAR}),
    (volume(zone="b", nfs={}), dict.fromkeys(("moved", "other", "zoned"), FAR)),
    (volume(labels={ZONE: "b__c"}, **EBS_DISK), {"moved": None, "other": None, "zoned": None}),
    (volume(labels={ZONE: "c"}, **EBS_DISK), {"moved": FAR, "other": None, "zoned": None}),
    (volume(nodeAffinity=of_zone(f"{BETA}/zone", "b"), **EBS_DISK), {"moved": None, "other": FAR, "zoned": FAR}),
    (volume(nodeAffinity=of_zone(f"{BETA}/region", "r"), labels={f"{BETA}/zone": "b"}, **EBS_DISK),
     {"moved": None, "other": FAR, "zoned": FAR}),
    (volume(zone="a", azureDisk={}), {"moved": None, "other": None, "zoned": None}),
    (volume(**EBS_DISK), {"moved": None, "other": None, "zoned": None}),
])
def test_volumes_of_drivers_that_have_moved_to_csi(made, expected):
    """Given a volume of a driver that has moved to CSI on one node of three, not on another, and
    one without a CSINode / then there its zone is looked for where the CSI driver has it, and on
    the others where it was before.
    """
    zones = {ZONE: "a", EBS: "b", "topology.kubernetes.io/region": "r"}
    nodes = [node(name, labels=zones) for name in ("moved", "other", "zoned")]
    csi_nodes = [csi_node_of("moved", "kubernetes.io/azure-disk", "kubernetes.io/aws-ebs"), csi_node_of("other")]
    assert filtered(
        VolumeBinding, using("c"), *nodes, persistentvolumeclaims=[claim(volume="v")], persistentvolumes=[made],
        csinodes=csi_nodes) == expected


CSI_NODE, CAPACITY = EventResource.CSI_NODE, EventResource.CSI_STORAGE_CAPACITY


@pytest.mark.parametrize(("kind", "resource", "action", "old", "new", "answer"), [
    (VolumeBinding, CLAIM, ADD, None, claim(), "QUEUE"), (VolumeBinding, CLAIM, ADD, None, claim("d"), "SKIP"),
    (VolumeBinding, VOLUME, ADD, None, volume(), "QUEUE"), (VolumeBinding, CLASS, ADD, None, CLASSES[0], "QUEUE"),
    (VolumeBinding, CLASS, UPDATE, CLASSES[0], CLASSES[0], "SKIP"),
    (VolumeBinding, CAPACITY, UPDATE, capacity("1Gi"), capacity("2Gi"), "QUEUE"),
    (VolumeBinding, CAPACITY, UPDATE, capacity("2Gi"), capacity("1Gi"), "SKIP"),
    (VolumeBinding, CSI_NODE, UPDATE, limited(), limited(count=2), "SKIP"),
    (VolumeZone, CLAIM, UPDATE, claim(), claim(), "QUEUE"), (VolumeZone, VOLUME, UPDATE, volume(), volume(), "SKIP"),
    (VolumeZone, VOLUME, UPDATE, volume(labels={ZONE: "a"}), volume(labels={ZONE: "b"}), "QUEUE"),
    (VolumeZone, CLASS, ADD, None, CLASSES[0], "QUEUE"), (VolumeZone, CLASS, ADD, None, CLASSES[1], "SKIP"),
    (VolumeRestrictions, EventResource.ASSIGNED_POD, DELETE, LEAVING, None, "QUEUE"),
    (VolumeRestrictions, EventResource.ASSIGNED_POD, DELETE, other(using("d", name="x"), spec={"nodeName": "a"}), None, "SKIP"),
    (VolumeRestrictions, CLAIM, ADD, None, claim(), "QUEUE"),
    (NodeVolumeLimits, CSI_NODE, UPDATE, limited(), limited(count=2), "QUEUE"),
    (NodeVolumeLimits, CSI_NODE, UPDATE, limited(count=2), limited(), "SKIP"),
    (NodeVolumeLimits, EventResource.ASSIGNED_POD, DELETE, LEAVING, None, "QUEUE"),
    (NodeVolumeLimits, EventResource.ASSIGNED_POD, DELETE, other(pod("x"), spec={"nodeName": "a"}), None, "SKIP"),
    (NodeVolumeLimits, EventResource.VOLUME_ATTACHMENT, DELETE, attachment("v"), None, "QUEUE"),
])
def test_events_that_may_help(kind, resource, action, old, new, answer):
    """Given a pod with a claim that a plugin has rejected / then those events help that may change
    its mind.
    """
    assert hints(plugin_of(kind, Handle()), resource, action, using("c"), old, new) == answer
