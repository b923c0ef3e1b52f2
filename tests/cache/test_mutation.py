"""Whoever changes what a cache hands out is found: the object, the place in it, and who did."""

import copy

import pytest

from fakekube.apimachinery import meta
from fakekube.cache.mutation import (
    COMPARED_AFTER_RECONCILE,
    COMPARED_BESIDES,
    KEPT_AFTERWARDS,
    CacheMutated,
    MutationDetector,
    WatchedIndexer,
)
from fakekube.client.resources import PODS
from fakekube.composition.cluster import Cluster
from fakekube.runtime import Context, Request, Result, controller

POD = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"restartPolicy": "Never", "containers": [
    {"name": "main", "image": "busybox"}], "tolerations": [{"key": "mine", "operator": "Exists"}]}}
TOLERATION = {"key": "gpu", "operator": "Exists"}


def web(name: str, **spec) -> dict:
    return {"kind": "Web", "metadata": {"namespace": "default", "name": name}, "spec": spec}


class Caches:
    """A detector, an indexer with objects in it, and what was found."""

    def __init__(self, count: int = 1) -> None:
        self.found: list[CacheMutated] = []
        self.detector = MutationDetector(self.found.append)
        self.indexer = WatchedIndexer(self.detector)
        for number in range(count):
            self.put(web(f"w{number}", replicas=1))

    def put(self, obj: dict) -> None:
        self.indexer.put(meta.key_of(obj), obj)

    async def reconcile(self, process, key: str = "default/k", component: str = "ctl") -> None:
        await self.detector.watched_process(component, process)(key)


def tolerate(pod: dict) -> None:
    pod["spec"]["tolerations"].append(TOLERATION)


class Tolerating:
    """Reads pods by a lister and does something to them; ``how`` is given the lister and the
    request.
    """

    def __init__(self, ctx: Context, how) -> None:
        self.pods, self.how = ctx.lister(PODS), how

    async def reconcile(self, request: Request) -> Result:
        self.how(self.pods, request)
        return Result()


def tolerating(how):
    return controller("web").for_(PODS).complete(lambda ctx: Tolerating(ctx, how))


def cluster(*extra, **options) -> Cluster:
    return Cluster(**{"nodes": 0, "clock": "manual", "controllers": "", "cache_mutation_detector": True, **options}, extra=extra)


def read(pods, _: Request) -> None:
    pods.list()


def change(pods, request) -> None:
    tolerate(pods.get(*request))


async def test_a_reconciler_that_appends_to_a_cached_pod_fails_whoever_settles() -> None:
    """Given a controller that appends to a cached pod's tolerations / when a pod is created and the
    cluster settles / then CacheMutated says which pod, where, from what to what, and which
    controller at which key.
    """
    async with cluster(tolerating(change)) as world:
        await world.client.create(PODS, POD)
        with pytest.raises(CacheMutated) as caught:
            await world.settle()
    text = str(caught.value)
    assert text.splitlines()[0] == "cached Pod default/p was changed by the controller web at default/p:"
    [line] = [line for line in text.splitlines() if "spec.tolerations" in line]
    number = len(POD["spec"]["tolerations"]) + 2  # the two that admission adds
    assert line == f'  spec.tolerations[{number}]: (none) -> {{"key":"gpu","operator":"Exists"}}'
    assert "copy" in text.splitlines()[-1]


async def test_what_settle_has_told_is_not_told_again_at_the_end() -> None:
    """Given a mutation that ``settle`` raised / when the cluster stops / then it is not raised once
    more.
    """
    async with cluster(tolerating(change)) as world:
        await world.client.create(PODS, POD)
        with pytest.raises(CacheMutated):
            await world.settle()


async def test_the_end_tells_of_what_nobody_was_told() -> None:
    """Given a mutation that no ``settle`` came after / when the cluster stops / then that raises
    it.
    """
    world = cluster(tolerating(read))
    await world.start()
    await world.client.create(PODS, POD)
    await world.settle()
    tolerate(world.manager.informers.get(PODS).lister.get("default", "p"))
    with pytest.raises(CacheMutated, match="what runs outside of a reconcile"):
        await world.stop()


async def test_run_until_is_told_too() -> None:
    """Given the same controller / when somebody waits for what never comes / then CacheMutated is
    raised, and not Stalled.
    """
    async with cluster(tolerating(change)) as world:
        await world.client.create(PODS, POD)
        with pytest.raises(CacheMutated):
            await world.run_until(lambda: False)


async def test_a_nested_change_in_a_list_is_found() -> None:
    """Given a controller that lists pods and changes a label of each / when it settles / then
    CacheMutated names the label.
    """
    def relabel(pods, request) -> None:
        for pod in pods.list("default"):
            pod["metadata"]["labels"]["app"] = "mine"

    async with cluster(tolerating(relabel)) as world:
        await world.client.create(PODS, {**POD, "metadata": {**POD["metadata"], "labels": {"app": "a"}}})
        with pytest.raises(CacheMutated, match=r'metadata\.labels\.app: "a" -> "mine"'):
            await world.settle()


async def test_a_handler_that_changes_what_it_is_told_is_found() -> None:
    """Given a component whose handler sets a field / when a pod is created / then CacheMutated
    names both.
    """
    class Marking:
        name, user_agent, user = "marking", "", None

        async def start(self, ctx: Context) -> None:
            ctx.add_handler(PODS, lambda pod: pod["metadata"].update(seen=True))

        async def stop(self) -> None:
            pass

    async with cluster(Marking()) as world:
        await world.client.create(PODS, POD)
        with pytest.raises(CacheMutated) as caught:
            await world.settle()
    assert "cached Pod default/p was changed by the handler of marking for Pod default/p:" in str(caught.value)
    assert "metadata.seen: (none) -> true" in str(caught.value)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pod: {**pod, "spec": {**pod["spec"], "tolerations": [
    *pod["spec"]["tolerations"]]}}])
async def test_who_copies_first_passes(copied) -> None:
    """Given a controller that changes a copy, of all or of the path to what it changes / when it
    ran / then nothing is raised.
    """
    changed = []

    def change_a_copy(pods, request) -> None:
        mine = copied(pods.get(*request))
        tolerate(mine)
        changed.append(mine)

    async with cluster(tolerating(change_a_copy)) as world:
        await world.client.create(PODS, POD)
        await world.settle()
    assert changed


async def test_what_a_client_hands_out_may_be_changed() -> None:
    """Given objects from ``get``, ``list`` and a watch / when the caller changes them / then no
    cache and no answer changes.
    """
    async with cluster(tolerating(read)) as world:
        async with await world.client.watch(PODS) as events:
            made = await world.client.create(PODS, POD)
            await world.settle()
            told = [event.object for event in events.pending()]
        got = await world.client.get(PODS, "p", "default")
        listed = (await world.client.list(PODS)).items
        for pod in (made, got, *told, *listed):
            tolerate(pod)
        assert TOLERATION not in (await world.client.get(PODS, "p", "default"))["spec"]["tolerations"]
        assert told


async def test_it_is_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given no option and nothing in the environment / when a cluster is made / then no detector is
    at work; upstream's variable switches it on, and an option beats it.
    """
    monkeypatch.delenv("KUBE_CACHE_MUTATION_DETECTOR", raising=False)
    assert Cluster().options.cache_mutation_detector is False
    monkeypatch.setenv("KUBE_CACHE_MUTATION_DETECTOR", "true")
    assert Cluster().options.cache_mutation_detector is True
    async with cluster(tolerating(change), cache_mutation_detector=False) as world:
        await world.client.create(PODS, POD)
        await world.settle()


async def test_the_failure_of_the_block_comes_first() -> None:
    """Given a mutation and a test that fails by itself / when the cluster stops / then the test's
    failure is raised, and the mutation is a note on it.
    """
    async def fail() -> None:
        async with cluster(tolerating(read)) as world:
            await world.client.create(PODS, POD)
            await world.settle()
            tolerate(world.manager.informers.get(PODS).lister.get("default", "p"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        await fail()
    assert "CacheMutated" in caught.value.__notes__[0]


# by itself


async def test_two_that_had_it_are_both_named_when_nobody_knows_better() -> None:
    """Given more objects than are compared at once, handed to two reconciles / when one was changed
    / then both are named.
    """
    caches = Caches(COMPARED_AFTER_RECONCILE + COMPARED_BESIDES * 3)

    async def reads(key) -> None:
        list(caches.indexer.list())

    async def changes(key) -> None:
        list(caches.indexer.list())[-1]["spec"]["replicas"] = 2

    await caches.reconcile(reads, "a")
    await caches.reconcile(changes, "b")
    caches.detector.close()
    [found] = caches.found
    assert "by the controller ctl at a or by the controller ctl at b:\n  spec.replicas: 1 -> 2" in str(found)


async def test_an_object_that_was_replaced_meanwhile_is_compared_too() -> None:
    """Given a reconcile that keeps an object while others replace it / when it changes it / then
    that is found at its end.
    """
    caches = Caches()

    async def process(key) -> None:
        held = caches.indexer.get("default", "w0")
        for number in range(KEPT_AFTERWARDS // 2):
            caches.put(web("w0", replicas=number))
        held["spec"]["replicas"] = 2

    await caches.reconcile(process)
    assert "by the controller ctl at default/k:" in str(caches.found[0])


async def test_who_kept_an_object_for_long_is_named() -> None:
    """Given a reconcile that changes an object which more others have followed than are kept / when
    it still runs / then the object is compared once more as it is forgotten, and the reconcile is
    named.
    """
    caches = Caches()

    async def process(key) -> None:
        held = caches.indexer.get("default", "w0")
        held["spec"]["replicas"] = 2
        for number in range(KEPT_AFTERWARDS + 2):
            caches.put(web("w0", replicas=number))

    await caches.reconcile(process)
    assert "by the controller ctl at default/k:" in str(caches.found[0])


def test_a_change_of_what_was_never_handed_out_is_found_at_the_end() -> None:
    """Given an object that somebody kept from before / when it is changed outside of everything /
    then the end finds it.
    """
    caches = Caches(0)
    kept = web("kept", replicas=1)
    caches.put(kept)
    del kept["spec"]
    caches.detector.close()
    assert 'spec: {"replicas":1} -> (none)' in str(caches.found[0])
    assert "somebody who kept it" in str(caches.found[0])


@pytest.mark.parametrize("value", [{1, 2}, object(), 1.0, True])
async def test_values_that_are_no_json_or_of_another_type_are_found(value) -> None:
    """Given a reconcile that puts something in that is no JSON, or of another type / when it ends /
    then it is found.
    """
    caches = Caches()

    async def process(key) -> None:
        caches.indexer.get("default", "w0")["spec"]["replicas"] = value

    await caches.reconcile(process)
    assert "spec.replicas: 1 -> " in str(caches.found[0])


async def test_only_the_first_change_is_told() -> None:
    """Given a changed object that was told of / when others change it, and the caches close / then
    nothing more is told: what the server wrote meanwhile may share parts with it.
    """
    caches = Caches()

    async def changes(key) -> None:
        caches.indexer.get("default", "w0")["spec"]["replicas"] = 2

    await caches.reconcile(changes)
    caches.put(web("w1", replicas=1))
    caches.indexer.get("default", "w0")["spec"]["replicas"] = 3
    await caches.reconcile(changes)
    caches.put(web("w0", replicas=1))
    caches.detector.close()
    assert len(caches.found) == 1


async def test_reading_costs_no_more_than_a_bound() -> None:
    """Given a thousand objects / when a reconcile lists them all / then a bounded number of them is
    compared when it ends.
    """
    caches = Caches(1000)
    compared = []
    compare = caches.detector._compare
    caches.detector._compare = lambda known: (compared.append(known), compare(known))

    async def process(key) -> None:
        caches.indexer.list()

    await caches.reconcile(process)
    assert 0 < len(compared) <= COMPARED_AFTER_RECONCILE + COMPARED_BESIDES
