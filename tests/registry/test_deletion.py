"""What a DELETE marks, keeps and removes."""


import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import CONFIG_MAPS, JOBS, NAMESPACES, PODS
from fakekube.composition.cluster import Cluster

POD: Tree = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


async def bound(client: Client) -> Tree:
    await client.create(PODS, POD, "default")
    await client.bind("p", "default", "n")
    return await client.get(PODS, "p", "default")


@pytest.mark.spec("API-141")
async def test_what_is_gone_answers_a_status_and_preconditions_hold(client: Client) -> None:
    """Given a ConfigMap, when deleted with another uid, then 409 naming the Kind; with its own,
    then a Status with it.
    """
    made = await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
    uid = made["metadata"]["uid"]
    with pytest.raises(APIError) as caught:
        await client.delete(CONFIG_MAPS, "a", "default", uid="other")
    assert caught.value.message == (
        f'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in '
        f"record ({uid}). The object might have been deleted and then recreated")
    answer = await client.delete(CONFIG_MAPS, "a", "default", uid=uid)
    assert answer is not None
    assert (answer["kind"], answer["status"], answer["details"]["uid"]) == ("Status", "Success", uid)


@pytest.mark.spec("API-142")
async def test_finalizers_keep_an_object(client: Client) -> None:
    """Given an object with a finalizer, when it is deleted, then it stays, marked; when the
    finalizer goes, it is gone.
    """
    await client.create(CONFIG_MAPS, {"metadata": {"name": "a", "finalizers": ["example.com/hold"]}}, "default")
    kept = await client.delete(CONFIG_MAPS, "a", "default")
    assert kept is not None
    assert kept["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert kept["metadata"]["deletionGracePeriodSeconds"] == 0
    again = await client.delete(CONFIG_MAPS, "a", "default")
    assert again == kept
    with pytest.raises(APIError) as caught:
        await client.patch(CONFIG_MAPS, "a", "default", {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})
    assert "no new finalizers can be added if the object is being deleted" in caught.value.message
    await client.patch(CONFIG_MAPS, "a", "default", {"metadata": {"finalizers": None}})
    assert await client.get(CONFIG_MAPS, "a", "default", missing_ok=True) is None


@pytest.mark.spec("API-143")
async def test_a_bound_pod_gets_its_grace(client: Client, cluster: Cluster) -> None:
    """Given a bound pod, when deleted, then it has its grace period, which a later delete can
    shorten but not extend.
    """
    await bound(client)
    kept = await client.delete(PODS, "p", "default")
    assert kept is not None
    assert kept["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    assert (kept["metadata"]["deletionGracePeriodSeconds"], kept["metadata"]["generation"]) == (30, 2)
    longer = await client.delete(PODS, "p", "default", grace_period_seconds=60)
    assert longer == kept
    await cluster.advance(5)
    shorter = await client.delete(PODS, "p", "default", grace_period_seconds=10)
    assert shorter is not None
    assert shorter["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:10Z"
    assert shorter["metadata"]["generation"] == 2
    await client.delete(PODS, "p", "default", grace_period_seconds=0)
    assert await client.get(PODS, "p", "default", missing_ok=True) is None


@pytest.mark.spec("API-144")
async def test_an_unscheduled_pod_is_marked_and_gone_at_once(client: Client) -> None:
    """Given a pod without a node, when deleted, then watchers see it marked and then deleted."""
    made = await client.create(PODS, POD, "default")
    events = []
    async with await client.watch(PODS, "default", resource_version=made["metadata"]["resourceVersion"]) as watch:
        await client.delete(PODS, "p", "default")
        async for event in watch:
            events.append((event.type, event.object["metadata"].get("deletionGracePeriodSeconds")))
            if event.type == "DELETED":
                break
    assert events == [("MODIFIED", 0), ("DELETED", 0)]


@pytest.mark.spec("API-146", "API-145")
async def test_propagation_policies_become_finalizers(client: Client) -> None:
    """Given Jobs, when deleted bare, in the foreground and in the background, then they are
    orphaned, wait, and are gone.
    """
    for name in ("bare", "foreground", "background"):
        await client.create(JOBS, {"metadata": {"name": name}, "spec": {"suspend": True, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}, "default")
    bare = await client.delete(JOBS, "bare", "default")
    waits = await client.delete(JOBS, "foreground", "default", propagation_policy="Foreground")
    gone = await client.delete(JOBS, "background", "default", propagation_policy="Background")
    assert bare is not None
    assert waits is not None
    assert gone is not None
    assert bare["metadata"]["finalizers"] == ["orphan"]
    assert waits["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert gone["kind"] == "Status"


@pytest.mark.spec("API-152", "API-153", "API-139")
async def test_a_namespace_stays_until_it_is_finalized(client: Client) -> None:
    """Given a namespace, when deleted, then it is Terminating and closed for new objects until its
    finalizers are taken.
    """
    await client.create(NAMESPACES, {"metadata": {"name": "n"}})
    kept = await client.delete(NAMESPACES, "n")
    assert kept is not None
    assert (kept["status"]["phase"], kept["spec"]["finalizers"]) == ("Terminating", ["kubernetes"])
    assert "deletionGracePeriodSeconds" not in kept["metadata"]
    assert await client.delete(NAMESPACES, "n") == kept
    with pytest.raises(APIError) as caught:
        await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "n")
    assert caught.value.message == (
        'configmaps "a" is forbidden: unable to create new content in namespace n because it is being terminated')
    assert caught.value.causes[0]["reason"] == "NamespaceTerminating"
    await client.update(NAMESPACES, {**kept, "spec": {"finalizers": []}}, subresource="finalize")
    assert await client.get(NAMESPACES, "n", missing_ok=True) is None
    with pytest.raises(APIError) as caught:
        await client.delete(NAMESPACES, "default")
    assert caught.value.code == 403
    assert caught.value.message == 'namespaces "default" is forbidden: this namespace may not be deleted'


@pytest.mark.parametrize(("asked", "expected"), [
    (25, ("2026-01-01T00:00:25Z", 25)), (21, ("2026-01-01T00:00:21Z", 21)), (20, ("2026-01-01T00:00:20Z", 20)),
    (10, ("2026-01-01T00:00:20Z", 1)), (30, ("2026-01-01T00:00:30Z", 30)), (-5, ("2026-01-01T00:00:20Z", 1)),
])
async def test_a_grace_period_is_not_shortened_into_the_past(
    client: Client, cluster: Cluster, asked: int, expected: tuple[str, int],
) -> None:
    """Given a pod that is deleted for twenty seconds of thirty, when another period is asked for,
    then it counts from the first delete, and ends now, after a second, where it would be over.
    """
    await bound(client)
    await client.delete(PODS, "p", "default")
    await cluster.advance(20)
    kept = await client.delete(PODS, "p", "default", grace_period_seconds=asked)
    assert kept is not None
    assert (kept["metadata"]["deletionTimestamp"], kept["metadata"]["deletionGracePeriodSeconds"]) == expected
    assert kept["metadata"]["generation"] == 2


async def test_a_pod_that_a_finalizer_holds_is_terminating_from_its_grace_on(client: Client, cluster: Cluster) -> None:
    """Given a bound pod with a finalizer, when its period is over and it is deleted at once, then
    it stays without one, marked no later than now, and goes with its finalizer.
    """
    await client.create(PODS, {**POD, "metadata": {"name": "p", "finalizers": ["example.com/hold"]}}, "default")
    await client.bind("p", "default", "n")
    await client.delete(PODS, "p", "default")
    await cluster.advance(5)
    kept = await client.delete(PODS, "p", "default", grace_period_seconds=0)
    assert kept is not None
    meta = kept["metadata"]
    assert (meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"], meta["generation"]) == ("2026-01-01T00:00:05Z", 0, 2)
    await client.patch(PODS, "p", "default", {"metadata": {"finalizers": None}})
    assert await client.get(PODS, "p", "default", missing_ok=True) is None


async def test_a_pod_stays_while_its_grace_lasts_whatever_is_written(client: Client) -> None:
    """Given a bound pod that is being deleted, when it is written, then it stays, with its grace.
    """
    await bound(client)
    kept = await client.delete(PODS, "p", "default")
    assert kept is not None
    labelled = await client.patch(PODS, "p", "default", {"metadata": {"labels": {"a": "b"}}})
    assert labelled["metadata"]["deletionTimestamp"] == kept["metadata"]["deletionTimestamp"]
    assert (await client.get(PODS, "p", "default"))["metadata"]["labels"] == {"a": "b"}


@pytest.mark.parametrize(("asked", "expected"), [(-9, 1), (-1, 1), (1, 1), (2, 2)])
async def test_a_grace_period_below_nothing_is_a_second(client: Client, asked: int, expected: int) -> None:
    """Given a bound pod, when it is deleted with a period below zero, then it has a second."""
    await bound(client)
    kept = await client.delete(PODS, "p", "default", grace_period_seconds=asked)
    assert kept is not None
    meta = kept["metadata"]
    assert (meta["deletionGracePeriodSeconds"], meta["deletionTimestamp"]) == (expected, f"2026-01-01T00:00:0{expected}Z")
