"""Small parts of caches: what is kept in place of an object, what is told once only, and reading as
models.
"""

from typing import Any

import pytest

from fakekube.apimachinery.meta import ObjectKey
from fakekube.cache.indexer import Indexer, by_node_name
from fakekube.cache.informer import SharedInformer
from fakekube.cache.lister import Lister
from fakekube.cache.typed import TypedLister
from fakekube.types import Pod
from fakekube.util.rng import Rng
from tests.runtime import harness as harnesses
from tests.runtime.harness import WEBS

HARNESS: Any = harnesses.harness


def pod(name: str, node: str = "", controller: str = "") -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": "ns", "uid": f"u-{name}"}
    if controller:
        metadata["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "X", "name": "x", "uid": controller, "controller": True}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": node} if node else {}}


def test_a_cache_read_as_models() -> None:
    """Given three pods / when they are looked for by index and by controller / then those that are
    meant come as models; an index that nobody added is an error.
    """
    indexer = Indexer()
    indexer.add_index("node", by_node_name)
    for each in (pod("a", "n1", "c1"), pod("b", "n2", "c1"), pod("c", "n1")):
        indexer.put(ObjectKey("ns", each["metadata"]["name"]), each)
    pods = TypedLister(Lister(indexer), Pod)
    found = {
        "n1": pods.by_index("node", "n1"), "n3": pods.by_index("node", "n3"), "c1": pods.controlled_by("c1"),
        "c2": pods.controlled_by("c2"), "all": pods.list()}
    assert all(isinstance(each, Pod) for some in found.values() for each in some)
    assert {how: [each.metadata.name for each in some] for how, some in found.items()} == {
        "n1": ["a", "c"], "n3": [], "c1": ["a", "b"], "c2": [], "all": ["a", "b", "c"]}
    with pytest.raises(KeyError, match="nothing"):
        pods.by_index("nothing", "")
    assert [key in indexer for key in (ObjectKey("ns", "a"), ObjectKey("other", "a"), ObjectKey("ns", "d"))] == [
        True, False, False]


def listen(informer: SharedInformer, told: list[Any]) -> None:
    informer.add_handler(lambda obj: told.append(obj["x"]), lambda old, new: told.append((old["x"], new["x"])))


async def test_what_is_kept_in_place_of_objects() -> None:
    """Given an informer that keeps less of each object, watched for changes or not / when objects
    come and change / then the cache and the handlers have what is kept.
    """
    async with HARNESS() as world:
        await world.web("a", x=1)
        kept = []
        for detector in (None, world.detector):
            informer = SharedInformer(
                world.client, WEBS, clock=world.clock, activity=world.activity, rng=Rng(0), detector=detector,
                transform=lambda obj: {"metadata": obj["metadata"], "x": obj["spec"].get("x")})
            told: list[Any] = []
            kept.append((informer, told))
            listen(informer, told)
            informer.start(world.tasks)
        await world.driver.settle()
        await world.client.patch(WEBS, "a", body={"spec": {"x": 2}})
        await world.driver.settle()
        for informer, told in kept:
            assert told == [1, (1, 2)]
            assert [(sorted(each), each["x"]) for each in informer.lister.list()] == [(["metadata", "x"], 2)]


async def test_starting_twice_is_starting_once() -> None:
    """Given an informer that has started / when it is started again / then there is one list and
    one watch, and everything is told once.
    """
    async with HARNESS() as world:
        await world.web("a")
        informer = SharedInformer(world.client, WEBS, clock=world.clock, activity=world.activity, rng=Rng(0), resync_seconds=60)
        told: list[str] = []
        informer.add_handler(lambda _: told.append("+"), lambda _old, _new: told.append("~"))
        for _ in range(3):
            informer.start(world.tasks)
            await world.driver.settle()
        await world.driver.advance(60)
        assert told == ["+", "~"]
        assert [request.flag("watch") for request in world.server.requests if request.method == "GET"] == [False, True]


async def test_the_end_of_what_was_never_there() -> None:
    """Given an empty cache / when an object is told to be gone / then handlers hear nothing of it.
    """
    async with HARNESS() as world:
        informer = world.manager.informers.get(WEBS)
        told: list[Any] = []
        informer.add_handler(told.append, lambda _, new: told.append(new), told.append)
        await world.start()
        gone = {"kind": "Web", "metadata": {"name": "x", "namespace": "default", "uid": "u", "resourceVersion": "7"}}
        informer.apply("DELETED", gone)
        assert told == []
        informer.apply("ADDED", gone)
        final = {**gone, "last": True}
        informer.apply("DELETED", final)
        assert told == [gone, final]
        assert list(informer.lister.list()) == []
