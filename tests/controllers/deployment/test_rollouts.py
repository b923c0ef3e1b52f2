"""Deployments: from one template to the next and back, little by little or all at once."""

import pytest

from fakekube.client.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from fakekube_controllers.deployment import annotations
from tests.controllers.workloads import NAMESPACE, image_of, labels_of, manifest, name_of, template
from tests.controllers.world import condition

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"


def sizes(sets):
    return {image: found["spec"]["replicas"] for image, found in sets.items()}


def revisions(sets):
    return {image: found["metadata"]["annotations"][REVISION] for image, found in sets.items()}


def reported(obj):
    names = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")
    return tuple(obj["status"].get(name, 0) for name in names)


def progress(obj):
    found = condition(obj, "Progressing")
    return found["status"], found["reason"]


@pytest.mark.spec("JOB-174", "API-149")
async def test_a_deployment_makes_a_set_and_becomes_available(world):
    """Given a new Deployment / when its pods become ready / then revision 1, Available and
    NewReplicaSetAvailable are told, and the set has the hash in its name, its labels and its
    selector.
    """
    found = await world.create(DEPLOYMENTS, replicas=2)
    [made] = (await world.sets()).values()
    pod_hash = labels_of(made)["pod-template-hash"]
    assert name_of(made) == f"a-{pod_hash}"
    assert made["spec"]["selector"]["matchLabels"] == {"app": "a", "pod-template-hash": pod_hash}
    assert made["metadata"]["annotations"] == {
        REVISION: "1", "deployment.kubernetes.io/desired-replicas": "2", "deployment.kubernetes.io/max-replicas": "3"}
    assert all(labels_of(pod)["pod-template-hash"] == pod_hash for pod in await world.pods())
    assert found["metadata"]["annotations"] == {REVISION: "1"}
    assert reported(found) == (2, 2, 0, 0, 2)
    assert condition(found, "Available")["reason"] == "MinimumReplicasUnavailable"
    assert progress(found) == ("True", "ReplicaSetUpdated")
    await world.ready_all()
    found = await world.deployment()
    assert reported(found) == (2, 2, 2, 2, 0)
    assert condition(found, "Available")["reason"] == "MinimumReplicasAvailable"
    assert progress(found) == ("True", "NewReplicaSetAvailable")
    assert condition(found, "Progressing")["message"] == f'ReplicaSet "{name_of(made)}" has successfully progressed.'
    assert await world.events() == [
        ("Normal", "ScalingReplicaSet", f"Scaled up replica set {name_of(made)} from 0 to 2")]


@pytest.mark.spec("JOB-175")
async def test_a_new_image_replaces_pods_within_surge_and_unavailability(world):
    """Given four ready pods and 25 % either way / when the image changes and new pods become ready
    one by one / then there are never more than five pods nor fewer than three available, and in the
    end the old set is kept at 0.
    """
    await world.create(DEPLOYMENTS, replicas=4)
    await world.ready_all()
    await world.set_image(DEPLOYMENTS, "nginx:2")
    seen = []
    while waiting := [pod for pod in await world.active() if pod["status"].get("phase") == "Pending"]:
        found = await world.deployment()
        seen.append(reported(found))
        await world.ready(waiting[0])
    assert max(total for total, *_ in seen) == 5
    assert min(available for *_, available, _ in seen) == 3
    sets = await world.sets()
    assert sizes(sets) == {"nginx:1": 0, "nginx:2": 4}
    assert revisions(sets) == {"nginx:1": "1", "nginx:2": "2"}
    assert {image_of(pod) for pod in await world.active()} == {"nginx:2"}
    assert (await world.deployment())["metadata"]["annotations"][REVISION] == "2"


@pytest.mark.spec("JOB-176")
async def test_a_rollback_uses_the_old_set_again(world):
    """Given two revisions / when the first image is set again / then its set gets the pods back,
    and revision 3.
    """
    await world.create(DEPLOYMENTS, replicas=2)
    await world.ready_all()
    before = (await world.sets())["nginx:1"]["metadata"]["uid"]
    for image in ("nginx:2", "nginx:1"):
        await world.set_image(DEPLOYMENTS, image)
        await world.ready_all()
    sets = await world.sets()
    assert sizes(sets) == {"nginx:1": 2, "nginx:2": 0}
    assert revisions(sets) == {"nginx:1": "3", "nginx:2": "2"}
    assert sets["nginx:1"]["metadata"]["uid"] == before
    assert sets["nginx:1"]["metadata"]["annotations"][HISTORY] == "1"


@pytest.mark.spec("JOB-177")
async def test_a_rollout_that_stands_still_is_told_after_its_deadline(world):
    """Given an image whose pods never become ready / when 600 s have passed / then Progressing is
    False, ProgressDeadlineExceeded; when they become ready after all, then it progresses again.
    """
    await world.create(DEPLOYMENTS, replicas=2)
    await world.ready_all()
    await world.set_image(DEPLOYMENTS, "broken")
    await world.advance(599)
    await world.client.patch(DEPLOYMENTS, "a", NAMESPACE, {"metadata": {"annotations": {"look": "now"}}})
    await world.settle()
    assert progress(await world.deployment()) == ("True", "ReplicaSetUpdated")
    await world.advance(3)
    found = await world.deployment()
    assert progress(found) == ("False", "ProgressDeadlineExceeded")
    assert condition(found, "Progressing")["message"].endswith("has timed out progressing.")
    assert condition(found, "Available")["status"] == "True"
    await world.ready_all()
    assert progress(await world.deployment()) == ("True", "NewReplicaSetAvailable")


async def test_nothing_is_left_to_wait_for_after_a_rollout(world):
    """Given a rollout that took a while / when it is complete / then no timer is pending that would
    pull time forward.
    """
    await world.create(DEPLOYMENTS, replicas=1)
    await world.advance(10)
    await world.ready_all()
    await world.settle()
    assert [line for line in world.cluster.manager.explain() if "again in" in line and line.startswith("deployment")] == []


@pytest.mark.spec("JOB-178")
async def test_a_paused_deployment_is_scaled_and_not_rolled_out(world):
    """Given a paused Deployment / when image and size change / then only the size follows, and
    DeploymentPaused is told / when it is resumed / then the image is rolled out.
    """
    await world.create(DEPLOYMENTS, replicas=2)
    await world.ready_all()
    found = await world.patch(DEPLOYMENTS, paused=True)
    assert progress(found) == ("Unknown", "DeploymentPaused")
    await world.set_image(DEPLOYMENTS, "nginx:2")
    await world.patch(DEPLOYMENTS, replicas=3)
    await world.ready_all()
    await world.advance(1000)
    assert sizes(await world.sets()) == {"nginx:1": 3}
    assert progress(await world.deployment()) == ("Unknown", "DeploymentPaused")
    await world.client.patch(DEPLOYMENTS, "a", NAMESPACE, {"spec": {"paused": None}})
    await world.settle()
    assert sizes(await world.sets())["nginx:2"] == 1
    await world.ready_all()
    assert progress(await world.deployment()) == ("True", "NewReplicaSetAvailable")
    assert sizes(await world.sets()) == {"nginx:1": 0, "nginx:2": 3}


@pytest.mark.spec("JOB-179")
async def test_recreate_waits_for_the_last_old_pod(world):
    """Given two pods on a node without a kubelet, and the strategy Recreate / when the image
    changes / then no new pod comes while an old one terminates and has not ended; one that has
    ended does not count.
    """
    await world.create(DEPLOYMENTS, replicas=2, strategy={"type": "Recreate"})
    await world.ready_all()
    old = await world.pods()
    await world.bind(*old)
    await world.set_image(DEPLOYMENTS, "nginx:2")
    assert await world.active() == []
    assert len(await world.pods()) == 2
    await world.succeed(old[0])
    await world.settle()
    assert await world.active() == []
    await world.drop(*old, grace_period_seconds=0)
    assert [image_of(pod) for pod in await world.active()] == ["nginx:2"] * 2
    assert sizes(await world.sets()) == {"nginx:1": 0, "nginx:2": 2}


async def test_a_deployment_that_is_scaled_in_mid_rollout_grows_in_proportion(world):
    """Given ten replicas, surge 3 and unavailability 2, of which eight are old and five new
    / when it is scaled to 30 / then both sets grow in proportion.
    """
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    await world.create(DEPLOYMENTS, replicas=10, strategy=rolling)
    await world.ready_all()
    await world.set_image(DEPLOYMENTS, "broken")
    assert sizes(await world.sets()) == {"nginx:1": 8, "broken": 5}
    await world.patch(DEPLOYMENTS, replicas=30)
    assert sizes(await world.sets()) == {"nginx:1": 20, "broken": 13}
    await world.patch(DEPLOYMENTS, replicas=0)
    assert sizes(await world.sets()) == {"nginx:1": 0, "broken": 0}


async def test_old_revisions_beyond_the_limit_are_deleted(world):
    """Given a history of two / when five images have been rolled out / then the current set and the
    last two are left.
    """
    await world.create(DEPLOYMENTS, replicas=1, revisionHistoryLimit=2)
    await world.ready_all()
    for number in range(2, 6):
        await world.set_image(DEPLOYMENTS, f"nginx:{number}")
        await world.ready_all()
    await world.advance(1)
    assert revisions(await world.sets()) == {"nginx:3": "3", "nginx:4": "4", "nginx:5": "5"}


async def test_a_clash_of_hashes_makes_another_name(world):
    """Given a stranger's set with the name that a Deployment's would have / when the Deployment is
    created / then it counts a collision and makes a set of another name.
    """
    await world.create(DEPLOYMENTS, replicas=1)
    [made] = (await world.sets()).values()
    await world.client.delete(DEPLOYMENTS, "a", NAMESPACE, propagation_policy="Background")
    await world.advance(5)
    stranger = manifest(name_of(made), replicas=0)
    stranger["spec"] |= {"selector": {"matchLabels": {"s": "s"}}, "template": template(labels={"s": "s"})}
    await world.client.create(REPLICA_SETS, stranger)
    await world.client.create(DEPLOYMENTS, manifest(replicas=1))
    await world.advance(1)
    found = await world.deployment()
    assert found["status"]["collisionCount"] == 1
    [pod] = await world.pods()
    assert pod["metadata"]["ownerReferences"][0]["name"] != name_of(made)


async def test_annotations_follow_and_minimum_ready_seconds_too(world):
    """Given a Deployment with annotations / when they and minReadySeconds change / then its set has
    them, and pods become available only after that time.
    """
    await world.create(DEPLOYMENTS, replicas=1)
    note = {"metadata": {"annotations": {"note": "x"}}, "spec": {"minReadySeconds": 20}}
    await world.client.patch(DEPLOYMENTS, "a", NAMESPACE, note)
    await world.settle()
    [made] = (await world.sets()).values()
    assert (made["metadata"]["annotations"]["note"], made["spec"]["minReadySeconds"]) == ("x", 20)
    await world.ready_all()
    assert reported(await world.deployment()) == (1, 1, 1, 0, 1)
    await world.advance(20)
    assert reported(await world.deployment()) == (1, 1, 1, 1, 0)


async def test_what_keeps_pods_from_coming_is_told(world):
    """Given a quota of no pods / when a Deployment is made / then its condition ReplicaFailure says
    why, until there is room.
    """
    quota = {"metadata": {"name": "q", "namespace": NAMESPACE}, "spec": {"hard": {"pods": "0"}}}
    resource = await world.client.resource("resourcequotas")
    await world.client.create(resource, quota)
    await world.settle()
    found = await world.create(DEPLOYMENTS, replicas=1)
    assert condition(found, "ReplicaFailure")["reason"] == "FailedCreate"
    await world.client.delete(resource, "q", NAMESPACE)
    await world.advance(5)
    assert condition(await world.deployment(), "ReplicaFailure") is None


async def test_orphaned_sets_are_adopted(world):
    """Given a Deployment deleted without its sets / when one like it is made / then it adopts the
    set and its pods.
    """
    await world.create(DEPLOYMENTS, replicas=2)
    [before] = await world.sets()
    pods = [name_of(pod) for pod in await world.pods()]
    await world.client.delete(DEPLOYMENTS, "a", NAMESPACE, propagation_policy="Orphan")
    await world.advance(2)
    found = await world.create(DEPLOYMENTS, replicas=2)
    assert list(await world.sets()) == [before]
    assert [name_of(pod) for pod in await world.pods()] == pods
    assert progress(found)[0] == "True"


@pytest.mark.spec("API-149", "API-145")
async def test_deleting_a_deployment_takes_all_along(world):
    """Given a Deployment with two revisions / when it is deleted in the foreground / then sets and
    pods go before it.
    """
    await world.create(DEPLOYMENTS, replicas=2)
    await world.ready_all()
    await world.set_image(DEPLOYMENTS, "nginx:2")
    await world.client.delete(DEPLOYMENTS, "a", NAMESPACE, propagation_policy="Foreground")
    await world.advance(5)
    assert await world.client.get(DEPLOYMENTS, "a", NAMESPACE, missing_ok=True) is None
    assert (await world.client.list(REPLICA_SETS, NAMESPACE)).items == []
    assert (await world.client.list(PODS, NAMESPACE)).items == []


@pytest.mark.parametrize(("annotation", "reason", "image"), [
    ("1", "DeploymentRollback", "nginx:1"), ("0", "DeploymentRollback", "nginx:1"),
    ("7", "DeploymentRollbackRevisionNotFound", "nginx:2"), ("2", "DeploymentRollbackTemplateUnchanged", "nginx:2"),
])
async def test_the_old_way_to_roll_back_still_works(world, annotation, reason, image):
    """Given two revisions / when the deprecated annotation asks for one / then its template is
    back, an Event says what became of it, and the annotation is gone.
    """
    await world.create(DEPLOYMENTS, replicas=1)
    await world.ready_all()
    await world.set_image(DEPLOYMENTS, "nginx:2")
    await world.ready_all()
    asked = {"metadata": {"annotations": {"deprecated.deployment.rollback.to": annotation}}}
    await world.client.patch(DEPLOYMENTS, "a", NAMESPACE, asked)
    await world.settle()
    found = await world.deployment()
    assert image_of(found) == image
    assert "deprecated.deployment.rollback.to" not in found["metadata"]["annotations"]
    assert reason in await world.reasons()


async def test_a_new_set_keeps_what_its_deployment_says_and_what_it_was_scaled_for(world):
    """Given a Deployment with annotations of its own and of kubectl / then its set has the former,
    its revision, and the sizes that it was scaled for: as many as wanted, and with the surge.
    """
    await world.client.create(DEPLOYMENTS, {
        "metadata": {"name": "a", "namespace": "default", "annotations": {
            "mine": "x", "kubectl.kubernetes.io/last-applied-configuration": "{}", "deployment.kubernetes.io/max-replicas": "9"}},
        "spec": {
            "replicas": 4, "minReadySeconds": 3, "selector": {"matchLabels": {"app": "a"}},
            "strategy": {"rollingUpdate": {"maxSurge": 2}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": "one"}]}}}})
    await world.settle()
    [made] = (await world.sets()).values()
    assert made["metadata"]["annotations"] == {
        "mine": "x", "deployment.kubernetes.io/revision": "1", "deployment.kubernetes.io/desired-replicas": "4",
        "deployment.kubernetes.io/max-replicas": "6"}
    assert (made["spec"]["minReadySeconds"], made["spec"]["replicas"]) == (3, 4)
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize(("history", "expected"), [
    ("", "7"), ("1,2", "1,2,7"), (",".join(["12345"] * 333), ",".join(["12345"] * 333 + ["7"])),
    (",".join(["12345"] * 334), ",".join(["12345"] * 333 + ["7"]))])
def test_a_history_of_revisions_loses_its_oldest_beyond_2000_letters(history, expected):
    """Given the revisions that a set had / when it has another one / then the old one is added, and
    the oldest go where 2,000 letters are exceeded.
    """
    before = {"deployment.kubernetes.io/revision-history": history} if history else {}
    current = {"deployment.kubernetes.io/revision": "7", **before}
    found = annotations.of_new_set({"metadata": {}}, current, 8)
    assert found == {"deployment.kubernetes.io/revision": "8", "deployment.kubernetes.io/revision-history": expected}


def test_a_set_that_is_as_new_or_odd_keeps_its_annotations():
    """Given a revision as high as the new one, or one that is no number / then nothing changes."""
    same = {"deployment.kubernetes.io/revision": "8", "x": "y"}
    odd = {"deployment.kubernetes.io/revision": "eight"}
    assert annotations.of_new_set({"metadata": {"annotations": {"a": "b"}}}, same, 8) == {**same, "a": "b"}
    assert annotations.of_new_set({"metadata": {"annotations": {"a": "b"}}}, odd, 8) == odd
