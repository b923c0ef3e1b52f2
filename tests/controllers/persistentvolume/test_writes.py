"""What the binder writes and says, to the letter, for one claim or one volume at a time."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from fakekube.runtime.reconcile import Request
from fakekube_controllers.persistentvolume.controller import PersistentVolumeBinder
from tests.controllers.scene import Scene

COMPLETED, BY_CONTROLLER = "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"
PROVISIONED = "pv.kubernetes.io/provisioned-by"
ASKED, OLD_ASKED = "volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner"
SELECTED = "volume.kubernetes.io/selected-node"
CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"


def claim(*, annotations: Tree | None = None, status: Tree | None = None, **spec: Any) -> Tree:
    metadata = {"name": "c", "namespace": "x", "uid": "uc", "resourceVersion": "1", **(
        {"annotations": annotations} if annotations else {})}
    return {"metadata": metadata, "status": status or {}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}}


def volume(name: str = "v", *, annotations: Tree | None = None, phase: str = "Available",
        modes: tuple[str, ...] = ("ReadWriteOnce",),
           size: str = "2Gi", deleting: bool = False, **spec: Any) -> Tree:
    metadata: Tree = {"name": name, "uid": f"u{name}", "resourceVersion": "1"}
    metadata |= {"annotations": annotations} if annotations else {}
    metadata |= {"deletionTimestamp": "t"} if deleting else {}
    status = {"phase": phase, "message": "old"} if phase else {}
    return {"metadata": metadata, "status": status, "spec": {"accessModes": list(modes), "capacity": {"storage": size}, **spec}}


REFERENCE = {"kind": "PersistentVolumeClaim", "namespace": "x", "name": "c", "uid": "uc", "apiVersion": "v1",
    "resourceVersion": "1"}
BY_NAME = {"namespace": "x", "name": "c"}


async def outcome(*objects: tuple[Any, Tree], of: Request = Request("x", "c")) -> tuple[list[tuple[Any, ...]], list[Any]]:  # noqa: B008
    """What is written and said for a claim or a volume, shortened to what changes; what is queued.
    """
    scene = Scene(objects)
    binder = PersistentVolumeBinder(cast("Any", scene))
    binder.queue = cast("Any", scene)
    assert await binder.reconcile(of) is None
    return [_short(each) for each in scene.done], scene.queued


def _short(each: tuple[Any, ...]) -> tuple[Any, ...]:
    if each[0] != "update":
        return each
    obj = each[3]
    if each[1].endswith("/status"):
        return "status", each[2], obj["status"]
    spec = {key: value for key, value in obj["spec"].items() if key in ("claimRef", "volumeName", "storageClassName")}
    return "update", each[2], spec, obj["metadata"].get("annotations", {})


def of_claim(found: Tree, *others: Tree) -> list[tuple[Any, Tree]]:
    return [(PERSISTENT_VOLUME_CLAIMS, found), *((PERSISTENT_VOLUMES, each) for each in others)]


BOUND = ("status", "c", {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}})
BOTH = {COMPLETED: "yes", BY_CONTROLLER: "yes"}
BINDING: list[tuple[Any, ...]] = [
    ("update", "v", {"claimRef": REFERENCE}, {BY_CONTROLLER: "yes"}), ("status", "v", {"phase": "Bound"}),
    ("update", "c", {"volumeName": "v"}, BOTH), BOUND]
PENDING = ("status", "c", {"phase": "Pending"})
NOTHING_THERE = ("event", "c", "Normal", "FailedBinding",
                 "no persistent volumes available for this claim and no storage class is set")


@pytest.mark.parametrize(("found", "others", "done"), [
    (claim(), [volume()], BINDING), (claim(), [], [NOTHING_THERE, PENDING]),
    (claim(status={"phase": "Pending"}), [], [NOTHING_THERE]),
    (claim(), [volume("many", modes=("ReadWriteOnce", "ReadOnlyMany"), size="1Gi"), volume()], BINDING),
    (claim(), [volume("z", size="2Gi"), volume(size="2Gi"), volume("a", size="3Gi")], BINDING),
    (claim(annotations={"k": "v"}), [volume(annotations={"l": "w"}, claimRef=BY_NAME)], [
        ("update", "v", {"claimRef": REFERENCE}, {"l": "w"}), ("status", "v", {"phase": "Bound"}),
        ("update", "c", {"volumeName": "v"}, {"k": "v", **BOTH}), BOUND]),
    # a claim that names its volume
    (claim(volumeName="v"), [], [PENDING]),
    (claim(volumeName="v"), [volume()], [BINDING[0], BINDING[1], ("update", "c", {"volumeName": "v"}, {COMPLETED: "yes"}),
        BOUND]),
    (claim(volumeName="v"), [volume(claimRef={**REFERENCE, "uid": "uc"}, phase="Bound")], [
        ("update", "c", {"volumeName": "v"}, {COMPLETED: "yes"}), BOUND]),
    (claim(volumeName="v"), [volume(claimRef={**REFERENCE, "uid": "other"})], [
        ("event", "c", "Warning", "FailedBinding", 'volume "v" already bound to a different claim.'), PENDING]),
    (claim(volumeName="v", annotations={BY_CONTROLLER: "yes"}), [volume(claimRef={**REFERENCE, "uid": "other"})], [
        ("event", "c", "Warning", "FailedBinding", 'volume "v" already bound to a different claim.')]),
    *((claim(volumeName="v", **wanted), [volume(**offered)], [
        ("event", "c", "Warning", "VolumeMismatch", f'Cannot bind to requested volume "v": {why}'), PENDING])
      for wanted, offered, why in cast("Any", (
        ({}, {"size": "1023Mi"}, "requested PV is too small"),
        ({"storageClassName": "a"}, {}, "storageClassName does not match"),
        ({"volumeAttributesClassName": "a"}, {}, "volumeAttributesClassName does not match"),
        ({"volumeMode": "Block"}, {}, "incompatible volumeMode"),
        ({"accessModes": ["ReadOnlyMany"]}, {}, "incompatible accessMode")))),
    # a claim that is bound
    (claim(volumeName="v", annotations=BOTH, status=BOUND[2]), [volume(claimRef=REFERENCE, phase="Bound")], []),
    (claim(volumeName="v", annotations=BOTH, status={**BOUND[2], "capacity": {"storage": "1Gi"}}),
     [volume(claimRef=REFERENCE, phase="Bound")], []),
    (claim(volumeName="v", annotations=BOTH, status={"phase": "Bound"}), [volume(claimRef=REFERENCE, phase="Bound")], [BOUND]),
    (claim(volumeName="v", annotations=BOTH, status={"phase": "Pending", "capacity": {"storage": "1Gi"}}),
     [volume(claimRef=REFERENCE, phase="Bound")], [BOUND]),
    (claim(volumeName="v", annotations=BOTH, status=BOUND[2]), [volume()], BINDING[:2]),
    *((claim(annotations=BOTH, status=BOUND[2], **named), there, [("status", "c", {"phase": "Lost"}), (
        "event", "c", "Warning", reason, text)]) for named, there, reason, text in (
        ({}, [], "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"),
        ({"volumeName": "v"}, [], "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!"),
        ({"volumeName": "v"}, [volume(claimRef={**REFERENCE, "uid": "other"})], "ClaimMisbound",
         "Two claims are bound to the same volume, this one is bound incorrectly"))),
    (claim(annotations=BOTH, status={"phase": "Lost"}), [], []),
    (claim(annotations=BOTH, status={"phase": "Lost", "capacity": {}}), [], [("status", "c", {"phase": "Lost"})]),
])
async def test_what_becomes_of_a_claim(found: Tree, others: list[Tree], done: list[tuple[Any, ...]]) -> None:
    """Given a claim and volumes / then this is written and said, in this order, and no more."""
    assert await outcome(*of_claim(found, *others)) == (done, [])


def storage_class(name: str, *, made: str = "2026-01-01T00:00:00Z", default: str = "", **fields: Any) -> Tree:
    annotations = {f"storageclass.{default}kubernetes.io/is-default-class": "true"} if default != "none" else {}
    return {"metadata": {"name": name, "creationTimestamp": made, "annotations": annotations}, "provisioner": "p", **fields}


PLAIN, LATER = storage_class("a", default="none"), storage_class("b", made="2026-01-02T00:00:00Z", default="beta.")
WAITS = storage_class("a", default="none", volumeBindingMode="WaitForFirstConsumer")
WAITING = ("Waiting for a volume to be created either by the external provisioner 'p' or manually by the system administrator. "
           "If volume creation is delayed, please verify that the provisioner is running and correctly registered.")
ASKING: list[tuple[Any, ...]] = [
    ("update", "c", {"storageClassName": "a"}, {OLD_ASKED: "p", ASKED: "p"}),
    ("event", "c", "Normal", "ExternalProvisioning", WAITING), PENDING]


@pytest.mark.parametrize(("found", "classes", "done"), [
    (claim(), [PLAIN], [NOTHING_THERE, PENDING]), (claim(), [PLAIN, storage_class("d")],
        [("update", "c", {"storageClassName": "d"}, {})]),
    (claim(), [storage_class("d"), LATER, storage_class("e")], [("update", "c", {"storageClassName": "b"}, {})]),
    (claim(), [storage_class("e"), storage_class("d")], [("update", "c", {"storageClassName": "d"}, {})]),
    (claim(storageClassName=""), [LATER], [NOTHING_THERE, PENDING]),
    (claim(annotations={"volume.beta.kubernetes.io/storage-class": ""}), [LATER], [NOTHING_THERE, PENDING]),
    (claim(storageClassName="a"), [PLAIN], ASKING[:2]),
    (claim(storageClassName="a", annotations={ASKED: "p"}), [PLAIN], []),
    (claim(storageClassName="a", annotations={OLD_ASKED: "p"}), [PLAIN], ASKING[:2]),
    (claim(storageClassName="a"), [], [
        ("event", "c", "Warning", "ProvisioningFailed", 'storageclass.storage.k8s.io "a" not found')]),
    (claim(storageClassName="a"), [{**PLAIN, "provisioner": "kubernetes.io/no-provisioner"}], [
        ("event", "c", "Warning", "ProvisioningFailed", "no volume plugin matched name: kubernetes.io/no-provisioner")]),
    (claim(storageClassName="a"), [WAITS], [
        ("event", "c", "Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding"), PENDING]),
    (claim(storageClassName="a", annotations={SELECTED: "n"}), [WAITS], [
        ("update", "c", {"storageClassName": "a"}, {SELECTED: "n", OLD_ASKED: "p", ASKED: "p"}), ASKING[1]]),
])
async def test_what_a_class_makes_of_a_claim(found: Tree, classes: list[Tree], done: list[tuple[Any, ...]]) -> None:
    """Given a claim without a volume, and classes / then it gets the newest default one, asks the
    class's provisioner, or waits.
    """
    assert await outcome(*of_claim(found), *((STORAGE_CLASSES, each) for each in classes)) == (done, [])


def pod(name: str, volume_claim: str = "c", node: str = "", phase: str = "Pending", namespace: str = "x") -> Tree:
    return {"metadata": {"name": name, "namespace": namespace}, "status": {"phase": phase}, "spec": {
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": volume_claim}}], **({"nodeName": node} if node else {})}}


@pytest.mark.parametrize(("pods", "text"), [
    ([pod("b")], "waiting for pod b to be scheduled"), ([pod("b"), pod("a")], "waiting for pods a,b to be scheduled"),
    ([pod("a", "other"), pod("b", node="n"), pod("c", phase="Failed"), pod("d", namespace="y"), pod("e")],
     "waiting for pod e to be scheduled")])
async def test_a_claim_says_for_which_pods_it_waits(pods: list[Tree], text: str) -> None:
    """Given pods that use a claim and have no node / then the Event names them in order."""
    found = claim(storageClassName="a", status={"phase": "Pending"})
    assert await outcome(*of_claim(found), (STORAGE_CLASSES, WAITS), *((PODS, each) for each in pods)) == (
        [("event", "c", "Normal", "WaitForPodScheduled", text)], [])


def plugin(why: str) -> str:
    return f'error getting deleter volume plugin for volume "v": {why}'


def failed(reason: str, text: str) -> list[tuple[Any, ...]]:
    return [("status", "v", {"phase": "Failed", "message": text}), ("event", "v", "Warning", reason, text)]


RELEASED = ("status", "v", {"phase": "Released"})
DELETED = ("delete", VOLUMES, "v", {"missing_ok": True})
MINE = {**REFERENCE, "uid": "uc"}
RECYCLED = ("event", "v", "Normal", "VolumeRecycled", "Volume recycled")
FREED = [("update", "v", {}, {}), ("status", "v", {"phase": "Available"})]
KEPT = {key: value for key, value in REFERENCE.items() if key != "uid"}


@pytest.mark.parametrize(("found", "claims", "done", "queued"), [
    (volume(phase=""), [], [("status", "v", {"phase": "Available"})], []), (volume(), [], [], []),
    (volume(phase="", claimRef=BY_NAME), [], [("status", "v", {"phase": "Available"})], []),
    (volume(claimRef=MINE), [claim()], [], [Request("x", "c")]),
    (volume(claimRef=MINE), [claim(volumeName="v")], [("status", "v", {"phase": "Bound"})], []),
    (volume(claimRef=MINE, phase="Bound"), [claim(volumeName="v")], [], []),
    # a claim that has another volume
    (volume(claimRef=MINE, phase="Bound", annotations={BY_CONTROLLER: "yes"}), [claim(volumeName="w")], FREED, []),
    (volume(claimRef=MINE, phase="Bound"), [claim(volumeName="w")], [("update", "v", {"claimRef": KEPT}, {}), FREED[1]], []),
    (volume(claimRef=MINE, phase="Bound", annotations={PROVISIONED: "p", BY_CONTROLLER: "yes"}), [claim(volumeName="w")], [
        ("update", "v", {}, {PROVISIONED: "p"}), FREED[1]], []),
    (volume(claimRef=MINE, phase="Bound", annotations={PROVISIONED: "p"}, persistentVolumeReclaimPolicy="Delete"),
     [claim(volumeName="w")], [RELEASED], []),
    # a claim that is gone, by policy
    (volume(claimRef=MINE, phase="Bound"), [], [RELEASED], []), (volume(claimRef=MINE, phase="Released"), [], [], []),
    (volume(claimRef={**MINE, "uid": "former"}, phase="Bound"), [claim(volumeName="v")], [RELEASED], []),
    (volume(claimRef=MINE, phase="Released", annotations={BY_CONTROLLER: "yes"}, persistentVolumeReclaimPolicy="Recycle", nfs={}),
     [], [RECYCLED, *FREED], []),
    (volume(claimRef=MINE, phase="Bound", persistentVolumeReclaimPolicy="Recycle", hostPath={"path": "/x"}), [], [
        RELEASED, RECYCLED, ("update", "v", {"claimRef": KEPT}, {}), FREED[1]], []),
    (volume(claimRef=MINE, phase="Released", persistentVolumeReclaimPolicy="Recycle", csi={}), [],
     failed("VolumeFailedRecycle", "No recycler plugin found for the volume!"), []),
    (volume(claimRef=MINE, phase="Failed", persistentVolumeReclaimPolicy="Recycle", csi={}), [], [], []),
    (volume(claimRef=MINE, phase="Bound", persistentVolumeReclaimPolicy="Delete", hostPath={"path": "/tmp/x"}), [],
     [RELEASED, DELETED], []),
    (volume(claimRef=MINE, phase="Released", persistentVolumeReclaimPolicy="Delete", hostPath={"path": "/tmp/x"}, deleting=True),
     [], [], []),
    *((volume(claimRef=MINE, phase="Released", persistentVolumeReclaimPolicy="Delete", hostPath={"path": path}), [],
       failed("VolumeFailedDelete", f"host_path deleter only supports /tmp/.+ but received provided {path}"), [])
      for path in ("/tmp/", "/tmp", "/var/x")),
    (volume(claimRef=MINE, phase="Released", persistentVolumeReclaimPolicy="Delete", csi={}), [],
     failed("VolumeFailedDelete", plugin("no volume plugin matched")), []),
    (volume(claimRef=MINE, phase="Released", persistentVolumeReclaimPolicy="Delete", nfs={}), [],
     failed("VolumeFailedDelete", plugin("no deletable volume plugin matched")), []),
    (volume(claimRef=MINE, phase="Released", persistentVolumeReclaimPolicy="Delete", annotations={PROVISIONED: "p"}), [], [], []),
])
async def test_what_becomes_of_a_volume(
    found: Tree, claims: list[Tree], done: list[tuple[Any, ...]], queued: list[Request],
) -> None:
    """Given a volume and the claim that it names, if it is there / then this is written and said.
    """
    objects = [(PERSISTENT_VOLUMES, found), *((PERSISTENT_VOLUME_CLAIMS, each) for each in claims)]
    assert await outcome(*objects, of=Request("", "v")) == (done, queued)


async def test_what_is_gone_is_let_alone() -> None:
    """Given a claim and a volume that are gone / then nothing is written."""
    assert await outcome() == await outcome(of=Request("", "v")) == ([], [])


def test_what_is_looked_at() -> None:
    """Given a binder / when claims, volumes and classes come, change and go / then what they name
    is looked at, and claims that wait where something new may help them.
    """
    waiting = claim(volumeName="v")
    done = {**claim(volumeName="v", annotations=BOTH), "metadata": {**claim(annotations=BOTH)["metadata"], "name": "d"}}
    scene = Scene([(PERSISTENT_VOLUME_CLAIMS, waiting), (PERSISTENT_VOLUME_CLAIMS, done)])
    PersistentVolumeBinder(cast("Any", scene)).setup(cast("Any", scene))
    of_claims, of_volumes, of_classes = (scene.handlers[name] for name in (CLAIMS, VOLUMES, "storageclasses"))
    itself, key, other = Request("", "v"), Request("x", "c"), Request("x", "d")

    def told(handler: Any, *objects: Tree) -> list[Any]:
        scene.queued.clear()
        handler(*objects)
        return list(scene.queued)

    assert (told(of_claims[0], waiting), told(of_claims[1], waiting, done)) == ([key], [other])
    assert (told(of_claims[2], waiting), told(of_claims[2], claim())) == ([itself], [])
    assert told(of_volumes[0], volume(claimRef=BY_NAME)) == [itself, key]
    assert told(of_volumes[1], volume(), volume(claimRef=BY_NAME)) == [itself, key]
    assert (told(of_volumes[0], volume()), told(of_volumes[0], volume(phase=""))) == ([itself, key], [itself])
    assert (told(of_volumes[2], volume(claimRef=BY_NAME)), told(of_volumes[2], volume())) == ([key], [])
    assert told(of_classes[0], PLAIN) == told(of_classes[1], PLAIN, PLAIN) == [key]
    assert of_classes[2] is None
