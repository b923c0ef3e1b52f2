"""Which volume a claim gets, and what becomes of both."""

import pytest

from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from tests.controllers.volumes import Storage, claim, pod, storage_class, volume
from tests.controllers.world import NAMESPACE, manual_cluster

CONTROLLERS = "persistentvolume-binder,persistentvolume-protection,persistentvolumeclaim-protection,serviceaccount"


@pytest.fixture
async def storage():
    """A cluster with the binder and what protects volumes, without a provisioner, on manual time.
    """
    async with manual_cluster(CONTROLLERS) as cluster:
        yield Storage(cluster)


async def test_the_smallest_volume_that_is_large_enough_is_bound(storage):
    """Given volumes of several sizes / when a claim comes / then both name each other and say what
    there is.
    """
    await storage.make(volume("small", "1Gi"), volume("large", "10Gi"), volume("fit", "5Gi"), claim("c", "2Gi"))
    bound, chosen = await storage.claim(), await storage.volume("fit")
    assert (bound["spec"]["volumeName"], bound["status"]) == (
        "fit", {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "5Gi"}})
    assert bound["metadata"]["annotations"] == {
        "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    reference = chosen["spec"]["claimRef"]
    assert (reference["kind"], reference["namespace"], reference["name"], reference["uid"]) == (
        "PersistentVolumeClaim", NAMESPACE, "c", bound["metadata"]["uid"])
    assert chosen["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert await storage.phases() == {"c": "Bound", "fit": "Bound", "small": "Available", "large": "Available"}


@pytest.mark.parametrize(("offered", "wanted"), [
    (volume("v", modes=["ReadOnlyMany"]), claim(modes=["ReadWriteOnce"])),
    (volume("v", storageClassName="a"), claim(storageClassName="")),
    (volume("v"), claim(selector={"matchLabels": {"disk": "fast"}})),
    (volume("v", volumeMode="Block"), claim()),
    (volume("v", "1Gi"), claim(size="1025Mi")),
    (volume("v", claimRef={"namespace": NAMESPACE, "name": "other"}), claim()),
])
async def test_what_does_not_fit_is_not_bound(storage, offered, wanted):
    """Given a volume that is not what the claim asks for / then both wait, and an Event says so."""
    await storage.make(offered, wanted)
    assert await storage.phases() == {"c": "Pending", "v": "Available"}
    assert "volumeName" not in (await storage.claim())["spec"]
    if not wanted["spec"].get("storageClassName"):
        assert await storage.messages("c", "FailedBinding") == [
            "no persistent volumes available for this claim and no storage class is set"]


async def test_a_claim_that_waits_gets_a_volume_that_comes(storage):
    """Given a claim without a volume / when a fitting one is made / then it is bound."""
    await storage.make(claim(selector={"matchLabels": {"disk": "fast"}}))
    await storage.make(volume("v", labels={"disk": "fast"}))
    assert await storage.phases() == {"c": "Bound", "v": "Bound"}


async def test_fewer_access_modes_come_before_size(storage):
    """Given a larger volume with just the mode that is asked for / then it is taken before a
    smaller one with more.
    """
    await storage.make(volume("more", "1Gi", ["ReadWriteOnce", "ReadWriteMany"]), volume("just", "2Gi"), claim())
    assert (await storage.claim())["spec"]["volumeName"] == "just"


async def test_two_claims_never_have_one_volume(storage):
    """Given one volume / when two claims come at once / then one of them waits."""
    await storage.make(volume("v"), claim("a"), claim("b"))
    assert sorted((await storage.phases()).items()) == [("a", "Bound"), ("b", "Pending"), ("v", "Bound")]


async def test_a_volume_is_kept_for_the_claim_that_it_names(storage):
    """Given a large volume that names a claim, and a small one / then the claim gets the large one,
    by the user's will.
    """
    await storage.make(volume("kept", "10Gi", claimRef={"namespace": NAMESPACE, "name": "c"}), volume("small"), claim())
    assert (await storage.claim())["spec"]["volumeName"] == "kept"
    kept = await storage.volume("kept")
    assert "annotations" not in kept["metadata"]
    assert kept["spec"]["claimRef"]["uid"] == (await storage.claim())["metadata"]["uid"]


async def test_a_claim_gets_the_volume_that_it_names(storage):
    """Given a claim that names a volume / then it is bound to that one, also when it comes later,
    not by the controller.
    """
    await storage.make(claim(volumeName="v"), volume("other"))
    assert (await storage.claim())["status"] == {"phase": "Pending"}
    await storage.make(volume("v", "7Gi"))
    bound = await storage.claim()
    assert (bound["status"]["phase"], bound["status"]["capacity"]) == ("Bound", {"storage": "7Gi"})
    assert bound["metadata"]["annotations"] == {"pv.kubernetes.io/bind-completed": "yes"}


@pytest.mark.parametrize(("offered", "why"), [
    (volume("v", "1Mi"), "requested PV is too small"),
    (volume("v", storageClassName="a"), "storageClassName does not match"),
    (volume("v", volumeMode="Block"), "incompatible volumeMode"),
    (volume("v", modes=["ReadOnlyMany"]), "incompatible accessMode"),
])
async def test_a_named_volume_that_does_not_fit_is_refused(storage, offered, why):
    """Given a claim that names a volume which is not what it asks for / then it waits, and an Event
    says why.
    """
    await storage.make(offered, claim(volumeName="v"))
    assert await storage.phases() == {"c": "Pending", "v": "Available"}
    assert await storage.messages("c", "VolumeMismatch") == [f'Cannot bind to requested volume "v": {why}']


async def test_a_named_volume_of_another_claim_is_refused(storage):
    """Given a volume that is bound / when another claim names it / then that one waits, and an
    Event says why.
    """
    await storage.make(volume("v"), claim("a"))
    await storage.make(claim("b", volumeName="v"))
    assert await storage.phases() == {"a": "Bound", "b": "Pending", "v": "Bound"}
    assert await storage.messages("b", "FailedBinding") == ['volume "v" already bound to a different claim.']


@pytest.mark.parametrize(("policy", "source", "phase", "event"), [
    ("Retain", None, "Released", None),
    ("Delete", None, None, None),
    ("Recycle", None, "Available", ("VolumeRecycled", "Volume recycled")),
    ("Delete", {"hostPath": {"path": "/data"}}, "Failed", (
        "VolumeFailedDelete", "host_path deleter only supports /tmp/.+ but received provided /data")),
    ("Delete", {"csi": {"driver": "d.example.com", "volumeHandle": "h"}}, "Failed", (
        "VolumeFailedDelete", 'error getting deleter volume plugin for volume "v": no volume plugin matched')),
    ("Recycle", {"csi": {"driver": "d.example.com", "volumeHandle": "h"}}, "Failed", (
        "VolumeFailedRecycle", "No recycler plugin found for the volume!")),
])
async def test_the_reclaim_policy_says_what_becomes_of_a_released_volume(storage, policy, source, phase, event):
    """Given a bound volume / when its claim is deleted / then it is kept, gone, available again, or
    failed, and says so.
    """
    await storage.make(volume("v", source=source, persistentVolumeReclaimPolicy=policy), claim())
    await storage.delete_claim()
    released = await storage.volume("v")
    assert (released and released["status"]["phase"]) == phase
    if phase == "Released":
        assert released["spec"]["claimRef"]["name"] == "c"
    if event is not None:
        assert await storage.messages("v", event[0]) == [event[1]]
    if phase == "Failed":
        assert released["status"]["message"] == event[1]
    if phase == "Available":
        assert "claimRef" not in released["spec"]


async def test_a_released_volume_is_not_for_the_next_claim_of_that_name(storage):
    """Given a volume that was released / when a claim of the same name comes / then it is not bound
    to it.
    """
    await storage.make(volume("v"), claim())
    await storage.delete_claim()
    await storage.make(claim())
    assert await storage.phases() == {"c": "Pending", "v": "Released"}


async def test_a_claim_whose_volume_is_gone_is_lost(storage):
    """Given a bound pair / when the volume is deleted by force / then the claim is Lost, and an
    Event says so.
    """
    await storage.make(volume("v"), claim())
    await storage.client.delete(PERSISTENT_VOLUMES, "v")
    await storage.advance(1)
    assert (await storage.volume("v"))["status"]["phase"] == "Bound"
    await storage.cluster.manager.stop_component("persistentvolume-protection")
    await storage.client.patch(PERSISTENT_VOLUMES, "v", body={"metadata": {"finalizers": None}})
    await storage.advance(1)
    assert (await storage.claim())["status"] == {"phase": "Lost"}
    assert await storage.messages("c", "ClaimLost") == [
        "Bound claim has lost its PersistentVolume. Data on the volume is lost!"]


async def test_a_claim_of_a_class_that_is_missing_says_so(storage):
    """Given no such class / when a claim asks for it / then an Event says so / when the class comes
    / then the provisioner is asked.
    """
    await storage.make(claim(storageClassName="made"))
    assert await storage.messages("c", "ProvisioningFailed") == ['storageclass.storage.k8s.io "made" not found']
    await storage.make(storage_class(provisioner="example.com/disks"))
    annotations = (await storage.claim())["metadata"]["annotations"]
    assert annotations["volume.kubernetes.io/storage-provisioner"] == "example.com/disks"
    [message] = await storage.messages("c", "ExternalProvisioning")
    assert message.startswith("Waiting for a volume to be created either by the external provisioner 'example.com/disks' or")


async def test_a_claim_waits_for_its_first_consumer(storage):
    """Given a class that waits / then a claim is not bound to a volume that would do, and says what
    it waits for.
    """
    await storage.make(storage_class(mode="WaitForFirstConsumer"), volume("v", storageClassName="made"))
    await storage.make(claim("c", storageClassName="made"))
    await storage.make(pod(claims=["d"]))
    await storage.make(claim("d", storageClassName="made"))
    assert await storage.phases() == {"c": "Pending", "d": "Pending", "v": "Available"}
    assert await storage.messages("c", "WaitForFirstConsumer") == [
        "waiting for first consumer to be created before binding"]
    assert await storage.messages("d", "WaitForPodScheduled") == ["waiting for pod p to be scheduled"]


async def test_a_default_class_that_comes_later_is_given_to_claims_that_wait(storage):
    """Given a claim that says nothing of a class / when a default class is made / then the claim
    has it.
    """
    await storage.make(claim(), claim("none", storageClassName=""))
    default = storage_class(provisioner="example.com/disks")
    default["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    await storage.client.create(STORAGE_CLASSES, default)
    await storage.advance(1)
    assert (await storage.claim())["spec"]["storageClassName"] == "made"
    assert (await storage.claim("none"))["spec"]["storageClassName"] == ""


async def test_nothing_is_written_twice(storage):
    """Given a bound pair / when the claim is touched / then nothing but that is written."""
    await storage.make(volume("v"), claim())
    touched = await storage.client.patch(
        PERSISTENT_VOLUME_CLAIMS, "c", NAMESPACE, {"metadata": {"labels": {"touched": "yes"}}})
    await storage.advance(60)
    assert (await storage.claim())["metadata"]["resourceVersion"] == touched["metadata"]["resourceVersion"]


async def test_a_claim_without_a_class_and_a_volume_says_so(storage):
    """Given a claim that names no class, and no volume / then an Event says what is missing, and
    the claim goes on waiting.
    """
    await storage.make(claim("c"))
    assert await storage.phases() == {"c": "Pending"}
    assert await storage.messages("c", "FailedBinding") == [
        "no persistent volumes available for this claim and no storage class is set"]
