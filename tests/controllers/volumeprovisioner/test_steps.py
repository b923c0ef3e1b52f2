"""What the provisioner writes and says for one claim or one volume, to the letter."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from fakekube.runtime.reconcile import Request
from fakekube_controllers.volumeprovisioner.controller import VolumeProvisioner
from tests.controllers.scene import Scene

NAME = "fakekube.dev/provisioner"
ASKED = {"volume.kubernetes.io/storage-provisioner": NAME}
MADE = {"pv.kubernetes.io/provisioned-by": NAME}
REFERENCE = {"kind": "PersistentVolumeClaim", "namespace": "x", "name": "c", "uid": "u", "apiVersion": "v1",
    "resourceVersion": "1"}


def claim(*, annotations: Tree | None = ASKED, status: Tree | None = None, deleting: bool = False, size: str = "2Gi",
          **spec: Any) -> Tree:
    metadata: Tree = {"name": "c", "namespace": "x", "uid": "u", "resourceVersion": "1", "annotations": annotations or {}}
    return {"metadata": metadata | ({"deletionTimestamp": "t"} if deleting else {}), "status": status or {}, "spec": {
        "storageClassName": "k", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}}


def volume(name: str = "v", *, annotations: Tree | None = MADE, phase: str = "Bound", policy: str = "Delete", size: str = "2Gi",
           deleting: bool = False) -> Tree:
    metadata: Tree = {"name": name, "uid": "uv", "annotations": annotations or {}}
    return {"metadata": metadata | ({"deletionTimestamp": "t"} if deleting else {}), "status": {"phase": phase}, "spec": {
        "persistentVolumeReclaimPolicy": policy, "capacity": {"storage": size}}}


def storage_class(**fields: Any) -> Tree:
    return {"metadata": {"name": "k"}, "provisioner": NAME, **fields}


async def done(*objects: tuple[Any, Tree], of: str = "claim") -> list[tuple[Any, ...]]:
    scene = Scene(objects)
    await VolumeProvisioner(cast("Any", scene)).reconcile(Request("x", "c") if of == "claim" else Request("", "v"))
    return scene.done


SPEC = {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "claimRef": REFERENCE, "storageClassName": "k",
        "persistentVolumeReclaimPolicy": "Delete", "volumeMode": "Filesystem",
        "csi": {"driver": "fakekube.dev", "volumeHandle": "pvc-u"}}


def provisioned(**spec: Any) -> list[tuple[Any, ...]]:
    return [
        ("event", "c", "Normal", "Provisioning", 'External provisioner is provisioning volume for claim "x/c"'),
        ("create", "persistentvolumes", "pvc-u", {"metadata": {"name": "pvc-u", "annotations": MADE}, "spec": {**SPEC, **spec}}),
        ("event", "c", "Normal", "ProvisioningSucceeded", "Successfully provisioned volume pvc-u")]


WAITS = {"volumeBindingMode": "WaitForFirstConsumer"}
SELECTED = {**ASKED, "volume.kubernetes.io/selected-node": "n"}


@pytest.mark.parametrize(("found", "fields", "expected"), [
    (claim(), {}, provisioned()), (claim(volumeMode="Block"), {"reclaimPolicy": "Retain", "mountOptions": ["ro"]}, provisioned(
        volumeMode="Block", persistentVolumeReclaimPolicy="Retain", mountOptions=["ro"])),
    (claim(), WAITS, []), (claim(annotations=SELECTED), WAITS, provisioned()),
    (claim(), {"volumeBindingMode": "Immediate"}, provisioned()),
    (claim(annotations=None), {}, []), (claim(deleting=True), {}, []), (claim(storageClassName="other"), {}, []),
    (claim(annotations={"volume.kubernetes.io/storage-provisioner": "other"}), {}, [])])
async def test_a_volume_for_a_claim(found: Tree, fields: Tree, expected: list[tuple[Any, ...]]) -> None:
    """Given a claim and its class / then a volume is made as both say, or nothing is done."""
    assert await done((PERSISTENT_VOLUME_CLAIMS, found), (STORAGE_CLASSES, storage_class(**fields))) == expected


async def test_a_volume_is_made_once() -> None:
    """Given a claim whose volume is there already, or no claim / then nothing is made."""
    there = (PERSISTENT_VOLUMES, volume("pvc-u"))
    assert await done((PERSISTENT_VOLUME_CLAIMS, claim()), (STORAGE_CLASSES, storage_class()), there) == []
    assert await done() == await done(of="volume") == []


@pytest.mark.parametrize(("found", "goes"), [
    (volume(phase="Released"), True), (volume(), False), (volume(phase="Released", policy="Retain"), False),
    (volume(phase="Released", deleting=True), False), (volume(phase="Released", annotations=None), False)])
async def test_a_released_volume(found: Tree, goes: bool) -> None:
    """Given a volume / then one that was made here, is released and is to be deleted goes."""
    deleted = ("delete", "persistentvolumes", "v", {"uid": "uv", "missing_ok": True})
    assert await done((PERSISTENT_VOLUMES, found), of="volume") == ([deleted] if goes else [])


HAD = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
RESIZING: list[tuple[Any, ...]] = [
    ("event", "c", "Normal", "Resizing", "External resizer is resizing volume v"),
    ("patch", "persistentvolumes", "v", {"spec": {"capacity": {"storage": "2Gi"}}})]
RESIZED: list[tuple[Any, ...]] = [
    ("patch", "persistentvolumeclaims/status", "c", {"status": {"capacity": {"storage": "2Gi"}}}),
    ("event", "c", "Normal", "VolumeResizeSuccessful", "Resize volume succeeded")]


@pytest.mark.parametrize(("status", "there", "expected"), [
    (HAD, volume(size="1Gi"), RESIZING + RESIZED), (HAD, volume(size="2Gi"), RESIZED), (HAD, volume(size="3Gi"), RESIZED),
    ({**HAD, "capacity": {"storage": "2Gi"}}, volume(size="1Gi"), []), ({**HAD, "phase": "Pending"}, volume(size="1Gi"), []),
    ({"phase": "Bound"}, volume(size="1Gi"), []), ({**HAD, "capacity": {}}, volume(size="1Gi"), []),
    (HAD, volume(size="1Gi", annotations=None), []), (HAD, volume("other", size="1Gi"), []),
    ({**HAD, "capacity": {"storage": "3Gi"}}, volume(size="1Gi"), [])])
async def test_a_claim_that_asks_for_more(status: Tree, there: Tree, expected: list[tuple[Any, ...]]) -> None:
    """Given a bound claim / then its volume grows to what it asks for, and both say so."""
    found = claim(status=status, volumeName="v")
    assert await done((PERSISTENT_VOLUME_CLAIMS, found), (PERSISTENT_VOLUMES, there)) == expected


def test_what_is_looked_at() -> None:
    """Given a provisioner / when claims and volumes of its own come or change, or a class comes
    that such claims name / then they are looked at, and no others.
    """
    scene = Scene([(PERSISTENT_VOLUME_CLAIMS, claim())])
    VolumeProvisioner(cast("Any", scene)).setup(cast("Any", scene))
    of_claims, of_volumes, of_classes = (
        scene.handlers[name] for name in ("persistentvolumeclaims", "persistentvolumes", "storageclasses"))
    of_claims[0](claim(annotations=None))
    of_claims[1](claim(), claim(annotations=None))
    of_volumes[0](volume(annotations=None))
    of_volumes[1](volume(), volume(annotations=None))
    of_classes[0]({"metadata": {"name": "other"}})
    assert scene.queued == []
    of_claims[0](claim())
    of_claims[1](claim(annotations=None), claim())
    of_classes[0](storage_class())
    assert scene.queued == [Request("x", "c")] * 3
    scene.queued.clear()
    of_volumes[0](volume())
    of_volumes[1](volume(annotations=None), volume())
    assert scene.queued == [Request("", "v")] * 2
    assert (of_claims[2], of_volumes[2], of_classes[1:]) == (None, None, (None, None))
