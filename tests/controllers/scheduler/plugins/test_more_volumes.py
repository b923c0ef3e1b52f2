"""Volumes: what else is in a pod's way, what would help, and which events do."""

from collections.abc import Mapping
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework.events import ActionType, EventResource
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins import csi_migration
from fakekube_controllers.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from fakekube_controllers.scheduler.plugins.volume_binding import VolumeBinding
from fakekube_controllers.scheduler.plugins.volume_restrictions import VolumeRestrictions
from fakekube_controllers.scheduler.plugins.volume_zone import VolumeZone
from tests.controllers.scheduler.plugins.cases import (
    HOSTNAME,
    ZONE,
    Handle,
    hints,
    node,
    other,
    plugin_of,
    pod,
    snapshot,
    statuses,
)

NEVER, NOT_NOW = Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.UNSCHEDULABLE
A, R = ActionType, EventResource
BETA = "failure-domain.beta.kubernetes.io"


def using(*claims: Any, name: Any = "p", **sources: Any) -> Any:
    listed = [{"name": f"v{number}", "persistentVolumeClaim": {"claimName": each}} for number, each in enumerate(claims)]
    return pod(name, volumes=[*listed, *({"name": key, key: value} for key, value in sources.items())])


def claim(name: Any = "c", **spec: Any) -> Any:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if "volumeName" in spec else {}
    return {"metadata": {"name": name, "namespace": "n", "uid": name, "annotations": annotations, "resourceVersion": "5"},
    "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "slow", **spec}}


def volume(name: Any = "v", labels: Any = None, **spec: Any) -> Any:
    return {"metadata": {"name": name, "uid": name, "labels": labels or {}, "resourceVersion": "7"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "slow", **spec},
        "status": {"phase": "Available"}}


def storage_class(name: Any = "slow", **more: Any) -> Any:
    return {"metadata": {"name": name}, "provisioner": "csi", "volumeBindingMode": "WaitForFirstConsumer", **more}


def prepared(kind: Any, incoming: Any, *nodes: Any, gates: Any = (), **objects: Any) -> tuple[Any, CycleState, Any]:
    """A plugin after its PreFilter, with the state and the pod."""
    handle = Handle(gates=gates, **objects)
    handle.snapshot = snapshot(*nodes)
    plugin, state, info = plugin_of(kind, handle), CycleState(), pod_info(incoming)
    plugin.pre_filter(state, info, handle.snapshot)
    return plugin, state, info


def missing(kind: Any, incoming: Any, on: Any, *others: Any, **objects: Any) -> list[str] | None:
    plugin, state, info = prepared(kind, incoming, *([on] if on is not None else []), *others, **objects)
    found = plugin.missing(state, info, on)
    return None if found is None else [each.text for each in found]


BOUND = claim(volumeName="v")
ZONED = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In",
"values": ["z"]}]}]}}}
PLAIN = node("a", labels={HOSTNAME: "a"})
IN_Y = node("a", labels={HOSTNAME: "a", ZONE: "y"})
LOCAL = storage_class("slow", provisioner="kubernetes.io/no-provisioner")
DRIVER = {"metadata": {"name": "csi"}, "spec": {"storageCapacity": True}}
DISK = {"gcePersistentDisk": {"pdName": "d"}}
SIZED = {"metadata": {"name": "a"}, "spec": {"drivers": [{"name": "csi", "allocatable": {"count": 0}}]}}
NEW_VOLUME = "a PersistentVolume of class slow with 1Gi for claim n/c"


@pytest.mark.parametrize(("kind", "incoming", "on", "objects", "expected"), [
    (VolumeBinding, using("c", "d"), None, {"persistentvolumeclaims": [claim("d")]}, ["a PersistentVolumeClaim named c"]),
    (VolumeBinding, using("c"), None,
     {"persistentvolumeclaims": [claim()], "storageclasses": [storage_class(volumeBindingMode="Immediate")]},
     [NEW_VOLUME]),
    (VolumeBinding, using("c"), None, {"persistentvolumeclaims": [BOUND]}, None),
    (VolumeBinding, using("c"), PLAIN, {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(**ZONED)]},
     [f"label {ZONE}=z on node a"]),
    (VolumeBinding, using("c"), PLAIN, {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume()]}, []),
    (VolumeBinding, using("c"), PLAIN, {"persistentvolumeclaims": [BOUND]}, None),
    (VolumeBinding, using(emptyDir={}), PLAIN, {}, None),
    (VolumeBinding, using("c"), PLAIN, {"persistentvolumeclaims": [claim()], "storageclasses": [LOCAL]}, [NEW_VOLUME]),
    (VolumeBinding, using("c"), PLAIN, {"persistentvolumeclaims": [claim()], "storageclasses": [storage_class()]}, []),
    (VolumeBinding, using("c"), PLAIN,
     {"persistentvolumeclaims": [claim()], "storageclasses": [storage_class()], "csidrivers": [DRIVER]},
     ["room for a volume of 1Gi of class slow on node a"]),
    (VolumeBinding, using("c"), PLAIN, {"persistentvolumeclaims": [claim()], "storageclasses": [storage_class(allowedTopologies=[
        {"matchLabelExpressions": [{"key": ZONE, "values": ["z", "y"]}]}])]}, [f"label {ZONE}=z on node a"]),
    (VolumeZone, using("c"), IN_Y, {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(labels={ZONE: "z__x"})]}, [
        f"label {ZONE}=z on node a"]),
    (VolumeZone, using("c"), IN_Y, {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(labels={ZONE: "y"})]}, []),
    (VolumeZone, using("c"), PLAIN, {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(labels={ZONE: "z"})]}, []),
    (VolumeZone, using("c"), None, {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(labels={ZONE: "z"})]}, None),
    (VolumeZone, using("c"), PLAIN, {}, None), (VolumeRestrictions, using("c"), None, {}, ["a PersistentVolumeClaim named c"]),
    (VolumeRestrictions, using("c"), None, {"persistentvolumeclaims": [claim()]}, None),
    (VolumeRestrictions, using(**DISK), node("a", using(name="x", **DISK), using(name="y", emptyDir={})), {}, [
        "delete pod n/x, which has a volume that no two may have"]),
    (NodeVolumeLimits, using("c"), None, {}, None),
    (NodeVolumeLimits, using("c", "d"), node("a"), {
        "persistentvolumeclaims": [claim(), claim("d")], "storageclasses": [storage_class()], "csinodes": [SIZED]}, [
            "room for 2 more volumes of csi on node a"]),
    (NodeVolumeLimits, using("c"), node("a"), {"persistentvolumeclaims": [claim()], "storageclasses": [storage_class()]}, []),
])
def test_what_would_help(kind: Any, incoming: Any, on: Any, objects: dict[str, Any], expected: list[str] | None) -> None:
    """Given a pod that a plugin rejects, before nodes are looked at or on one / then these changes
    would help.
    """
    assert missing(kind, incoming, on, **objects) == expected


def test_a_claim_for_one_pod_is_freed_by_the_pod_that_has_it() -> None:
    """Given a claim for one pod that a pod of another node uses / then that one is to go."""
    once = claim(accessModes=["ReadWriteOncePod"])
    found = missing(VolumeRestrictions, using("c"), node("a"), node("b", using("c", name="x"), using("d", name="y")),
    persistentvolumeclaims=[once])
    assert found == ["delete pod n/x, which has a volume that no two may have"]


def filtered(kind: Any, incoming: Any, *nodes: Any, gates: Any = (), **objects: Any) -> Any:
    handle = Handle(gates=gates, **objects)
    return statuses(plugin_of(kind, handle), incoming, nodes, handle)


CONFLICT = (NEVER, "node(s) had no available volume zone")


@pytest.mark.parametrize(("labels", "on", "expected"), [
    ({ZONE: "z"}, {ZONE: "z"}, None), ({ZONE: "z"}, {ZONE: "y"}, CONFLICT),
    ({ZONE: "z"}, {"topology.kubernetes.io/region": "r"}, CONFLICT),
    ({"topology.kubernetes.io/region": "r"}, {"topology.kubernetes.io/region": "r"}, None),
    ({"topology.kubernetes.io/region": "r"}, {"topology.kubernetes.io/region": "s"}, CONFLICT),
    ({f"{BETA}/zone": "z"}, {ZONE: "z"}, None), ({f"{BETA}/zone": "z"}, {f"{BETA}/zone": "z", ZONE: "y"}, None),
    ({f"{BETA}/region": "r"}, {"topology.kubernetes.io/region": "r"}, None),
    ({f"{BETA}/region": "r"}, {f"{BETA}/region": "s"}, CONFLICT),
    ({ZONE: "x__y"}, {ZONE: "y"}, None),
    ({ZONE: "z", "topology.kubernetes.io/region": "r"}, {ZONE: "z", "topology.kubernetes.io/region": "s"}, CONFLICT),
    ({ZONE: "z"}, {"other": "x"}, None),
])
def test_labels_of_volumes_and_nodes(labels: Mapping[str, str], on: Mapping[str, str], expected: Any) -> None:
    """Given a volume with labels of where it is / then a node must have the same, by the newer name
    of a label too; a node with none of the labels may have all.
    """
    objects = {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(labels=dict(labels))]}
    assert filtered(VolumeZone, using("c"), node("a", labels=dict(on)), **objects) == {"a": expected}


@pytest.mark.parametrize(("incoming", "objects", "expected"), [
    (using(""), {}, (NEVER, "PersistentVolumeClaim had no name")),
    (using("c"), {}, (NEVER, 'persistentvolumeclaim "c" not found')),
    (using("c"), {"persistentvolumeclaims": [claim()], "storageclasses": [{"metadata": {"name": "slow"}}]}, (
        NEVER, 'VolumeBindingMode not set for StorageClass "slow"')),
    (using("c"), {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(labels={ZONE: "x__"})]}, "skipped"),
    (using("c"), {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume()]}, "skipped"),
    (using(emptyDir={}), {}, "skipped"),
    (pod(), {}, "skipped"),
])
def test_zones_of_claims(incoming: Any, objects: dict[str, Any], expected: Any) -> None:
    """Given claims that have no volume, or one without a zone / then that is told, or nothing."""
    assert filtered(VolumeZone, incoming, node("a"), **objects) == expected


def csi_node(name: Any = "a", **counts: Any) -> Any:
    return {"metadata": {"name": name}, "spec": {"drivers": [
        {"name": driver, **({} if count is None else {"allocatable": {"count": count}})} for driver, count in counts.items()]}}


CSI = {"driver": "csi", "volumeHandle": "h"}
OURS = {**claim("p-ephemeral"), "metadata": {**claim("p-ephemeral")["metadata"], "ownerReferences": [
    {"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": "n/p", "controller": True}]}}
FULL = (NOT_NOW, "node(s) exceed max volume count")


@pytest.mark.parametrize(("incoming", "objects", "expected"), [
    (using(""), {}, (Code.ERROR, "PersistentVolumeClaim had no name")), (pod(), {}, "skipped"),
    (using(ephemeral={}), {}, (NEVER, 'looking up PVC n/p-ephemeral: persistentvolumeclaim "p-ephemeral" not found')),
    (using(ephemeral={}), {"persistentvolumeclaims": [claim("p-ephemeral")]}, (
        Code.ERROR, "PVC n/p-ephemeral was not created for pod n/p (pod is not owner)")),
    (using(ephemeral={}), {"persistentvolumeclaims": [OURS], "storageclasses": [storage_class()], "csinodes": [csi_node(csi=0)]},
     {"a": FULL}),
    (using("c"), {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(csi=CSI)], "csinodes": [csi_node(csi=None)]},
     {"a": None}),
    (using("c"), {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(csi=CSI)], "csinodes": [csi_node(other=0)]},
     {"a": None}),
    (using("c"), {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(csi=CSI)], "csinodes": [csi_node(csi=0)]},
     {"a": FULL}),
    (using("c"), {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(csi={"driver": "csi", "volumeHandle": ""})],
                  "csinodes": [csi_node(csi=0)]}, {"a": None}),
    (using("c"), {"persistentvolumeclaims": [BOUND], "persistentvolumes": [volume(nfs={})], "csinodes": [csi_node(csi=0)]},
     {"a": None}),
    (using("c"), {"persistentvolumeclaims": [claim()], "csinodes": [csi_node(csi=0)]}, {"a": None}),
    (using("c"), {"persistentvolumeclaims": [claim()], "storageclasses": [storage_class(provisioner="kubernetes.io/gce-pd")],
                  "csinodes": [csi_node(**{"pd.csi.storage.gke.io": 0})]}, {"a": FULL}),
    (using(gcePersistentDisk={"pdName": "d"}), {"csinodes": [csi_node(**{"pd.csi.storage.gke.io": 0})]}, {"a": FULL}),
    (using(nfs={}), {"csinodes": [csi_node(csi=0)]}, "skipped"),
])
def test_limits_count_what_a_driver_attaches(incoming: Any, objects: dict[str, Any], expected: Any) -> None:
    """Given volumes of all kinds and a node that takes none of a driver / then only what that
    driver attaches, or will, is too many.
    """
    found = filtered(NodeVolumeLimits, incoming, node("a"), **objects)
    assert (found if isinstance(expected, dict | str) else found["a"]) == expected


def test_old_drivers_and_those_in_their_place() -> None:
    """Given the drivers that moved to CSI / then each is known by its CSI driver and its handle."""
    sources: dict[str, Any] = {
        "awsElasticBlockStore": {"volumeID": "aws://z/vol"}, "gcePersistentDisk": {"pdName": "pd"},
        "azureDisk": {"diskURI": "a/b"},
        "cinder": {"volumeID": "c"}, "portworxVolume": {"volumeID": "x"}}
    assert [csi_migration.translated({field: source}) for field, source in sources.items()] == [
        ("ebs.csi.aws.com", "vol"), ("pd.csi.storage.gke.io", "pd"), ("disk.csi.azure.com", "a/b"),
        ("cinder.csi.openstack.org", "c"),
        ("pxd.portworx.com", "x")]
    assert (csi_migration.translated({"nfs": {}}), csi_migration.translated({"cinder": {}})) == (None,
    ("cinder.csi.openstack.org", ""))
    names = ("aws-ebs", "gce-pd", "azure-disk", "cinder", "portworx-volume", "nfs")
    assert [csi_migration.driver_of(f"kubernetes.io/{name}") for name in names] == [
        "ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org", "pxd.portworx.com", None]


GONE = other(using("c", name="x"), spec={"nodeName": "a"})
INLINE = using(csi={"driver": "csi"})
STORED, UNSTORED = DRIVER, {"metadata": {"name": "csi"}, "spec": {"storageCapacity": False}}


def capacity(amount: str | None, largest: str | None = None) -> dict[str, Any]:
    return {"metadata": {"name": "s"}, **({"capacity": amount} if amount else {}),
    **({"maximumVolumeSize": largest} if largest else {})}


def attached(driver: str) -> dict[str, Any]:
    return {"metadata": {"name": "x"}, "spec": {"attacher": driver}}


def migrated(*names: str) -> dict[str, Any]:
    return {"metadata": {"name": "a", "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(names)}},
    "spec": {}}


@pytest.mark.parametrize(("kind", "incoming", "resource", "action", "old", "new", "answer"), [
    (VolumeBinding, using("c"), R.STORAGE_CLASS, A.UPDATE, storage_class(), storage_class(allowedTopologies=[1]), "QUEUE"),
    (VolumeBinding, using("c"), R.PERSISTENT_VOLUME_CLAIM, A.UPDATE, claim(), None, "SKIP"),
    (VolumeBinding, using(ephemeral={}), R.PERSISTENT_VOLUME_CLAIM, A.ADD, None, claim("p-ephemeral"), "QUEUE"),
    (VolumeBinding, using("c"), R.PERSISTENT_VOLUME_CLAIM, A.ADD, None, other(claim(), metadata={"namespace": "m"}), "SKIP"),
    (VolumeBinding, using("c"), R.CSI_NODE, A.ADD, None, migrated(), "QUEUE"),
    (VolumeBinding, using("c"), R.CSI_NODE, A.UPDATE, migrated("a"), migrated("a"), "SKIP"),
    (VolumeBinding, using("c"), R.CSI_NODE, A.UPDATE, migrated("a"), migrated("b"), "QUEUE"),
    (VolumeBinding, INLINE, R.CSI_DRIVER, A.UPDATE, STORED, UNSTORED, "QUEUE"),
    (VolumeBinding, INLINE, R.CSI_DRIVER, A.UPDATE, UNSTORED, UNSTORED, "SKIP"),
    (VolumeBinding, INLINE, R.CSI_DRIVER, A.UPDATE, STORED, STORED, "SKIP"),
    (VolumeBinding, INLINE, R.CSI_DRIVER, A.UPDATE, None, STORED, "QUEUE"),
    (VolumeBinding, using("c"), R.CSI_DRIVER, A.UPDATE, STORED, UNSTORED, "SKIP"),
    (VolumeBinding, using("c"), R.CSI_STORAGE_CAPACITY, A.ADD, None, capacity("1Gi"), "QUEUE"),
    (VolumeBinding, using("c"), R.CSI_STORAGE_CAPACITY, A.UPDATE, capacity("1Gi"), capacity("1Gi"), "SKIP"),
    (VolumeBinding, using("c"), R.CSI_STORAGE_CAPACITY, A.UPDATE, capacity(None), capacity("1Gi"), "QUEUE"),
    (VolumeBinding, using("c"), R.CSI_STORAGE_CAPACITY, A.UPDATE, capacity("1Gi"), capacity(None), "SKIP"),
    (VolumeBinding, using("c"), R.CSI_STORAGE_CAPACITY, A.UPDATE, capacity("1Gi", "1Mi"), capacity("1Gi", "2Mi"), "QUEUE"),
    (VolumeBinding, using("c"), R.CSI_STORAGE_CAPACITY, A.UPDATE, capacity("1Gi", "1Mi"), capacity("2Gi", "1Mi"), "SKIP"),
    (VolumeZone, using("c"), R.PERSISTENT_VOLUME_CLAIM, A.ADD, None, claim("d"), "SKIP"),
    (VolumeZone, using(ephemeral={}), R.PERSISTENT_VOLUME_CLAIM, A.ADD, None, claim("p-ephemeral"), "SKIP"),
    (VolumeZone, using("c"), R.PERSISTENT_VOLUME, A.ADD, None, volume(), "QUEUE"),
    (VolumeZone, using("c"), R.PERSISTENT_VOLUME, A.UPDATE, volume(labels={"a": "b"}), volume(), "SKIP"),
    (VolumeRestrictions, using(**DISK), R.ASSIGNED_POD, A.DELETE, using(name="x", **DISK), None, "QUEUE"),
    (VolumeRestrictions, using(**DISK), R.ASSIGNED_POD, A.DELETE, {**using(name="x", **DISK), "metadata": {"namespace": "m"}},
     None, "SKIP"),
    (VolumeRestrictions, using(**DISK), R.ASSIGNED_POD, A.DELETE, using(name="x", gcePersistentDisk={"pdName": "e"}), None,
     "SKIP"),
    (VolumeRestrictions, using("c"), R.PERSISTENT_VOLUME_CLAIM, A.ADD, None, claim("d"), "SKIP"),
    (NodeVolumeLimits, using("c"), R.CSI_NODE, A.ADD, None, csi_node(csi=0), "QUEUE"),
    (NodeVolumeLimits, using("c"), R.CSI_NODE, A.UPDATE, csi_node(csi=1), csi_node(csi=1), "SKIP"),
    (NodeVolumeLimits, using("c"), R.CSI_NODE, A.UPDATE, csi_node(), csi_node(csi=1), "QUEUE"),
    (NodeVolumeLimits, using("c"), R.CSI_NODE, A.UPDATE, csi_node(), csi_node(csi=None), "SKIP"),
    (NodeVolumeLimits, using("c"), R.ASSIGNED_POD, A.DELETE, using("c", name="x"), None, "SKIP"),
    (NodeVolumeLimits, using("c"), R.ASSIGNED_POD, A.DELETE, other(using(name="x", ephemeral={}), spec={"nodeName": "a"}), None,
     "QUEUE"),
    (NodeVolumeLimits, using("c"), R.ASSIGNED_POD, A.DELETE, other(using(name="x", nfs={}), spec={"nodeName": "a"}), None,
     "SKIP"),
    (NodeVolumeLimits, using("c"), R.PERSISTENT_VOLUME_CLAIM, A.ADD, None, claim("d"), "SKIP"),
    (NodeVolumeLimits, using(ephemeral={}), R.PERSISTENT_VOLUME_CLAIM, A.ADD, None, claim("p-ephemeral"), "QUEUE"),
    (NodeVolumeLimits, using(**DISK), R.VOLUME_ATTACHMENT, A.DELETE, attached("pd.csi.storage.gke.io"), None, "QUEUE"),
    (NodeVolumeLimits, using(**DISK), R.VOLUME_ATTACHMENT, A.DELETE, attached("csi"), None, "SKIP"),
    (NodeVolumeLimits, pod(), R.VOLUME_ATTACHMENT, A.DELETE, attached("csi"), None, "SKIP"),
])
def test_events_that_may_help(kind: Any, incoming: Any, resource: Any, action: Any, old: Any, new: Any, answer: str) -> None:
    """Given a pod with volumes that a plugin has rejected / then those events help that may change
    its mind.
    """
    assert hints(plugin_of(kind, Handle()), resource, action, incoming, old, new) == answer
