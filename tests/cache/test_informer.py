"""A cache follows its server, through cut watches, lost history and refused lists."""

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.cache.indexer import Indexer, by_label
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, PODS
from tests.runtime.harness import WEBS, Harness, harness


def log_of(informer):
    """What an informer tells, as texts."""
    told = []
    informer.add_handler(
        lambda obj: told.append(f"+{meta.name_of(obj)}"),
        lambda _old, new: told.append(f"~{meta.name_of(new)}"),
        lambda obj: told.append(f"-{meta.name_of(obj)}"),
    )
    return told


async def test_handlers_hear_of_the_list_and_then_of_every_change():
    """Given an object, when an informer starts and things change, then it tells them in order."""
    async with harness() as world:
        await world.web("a")
        informer = world.manager.informers.get(WEBS)
        told = log_of(informer)
        await world.start()
        assert informer.has_synced
        await world.web("b")
        await world.client.patch(WEBS, "a", body={"spec": {"x": 1}})
        await world.client.delete(WEBS, "b")
        await world.driver.settle()
        assert told == ["+a", "+b", "~a", "-b"]
        assert informer.lister.get("default", "a")["spec"] == {"x": 1}
        assert informer.resource_version == str(world.server.revision)


async def test_a_cache_lags_behind_by_one_turn():
    """Given a synced cache, when something is created, then it is there only after the loop has
    turned.
    """
    async with harness() as world:
        informer = world.manager.informers.get(WEBS)
        await world.start()
        web = await world.web("a")
        assert informer.lister.get("default", "a") is None
        assert not informer.has_reached(meta.resource_version_of(web))
        assert not world.activity.idle
        await world.driver.settle()
        assert informer.has_reached(meta.resource_version_of(web))
        assert informer.lister.get("default", "a") is not None


async def test_a_late_handler_hears_of_what_is_there():
    """Given a synced cache, when a handler comes, then it is told what is there; removed, it hears
    nothing more.
    """
    async with harness() as world:
        await world.web("a")
        informer = world.manager.informers.get(WEBS)
        await world.start()
        told = []
        registration = informer.add_handler(lambda obj: told.append(meta.name_of(obj)))
        registration.remove()
        await world.web("b")
        await world.driver.settle()
        assert told == ["a"]


async def test_a_cut_watch_resumes_without_loss_or_doubling():
    """Given a watch that is cut, when things change before it is back, then each is told once,
    without a list.
    """
    async with harness() as world:
        informer = world.manager.informers.get(WEBS)
        told = log_of(informer)
        await world.start()
        await world.web("a")
        await world.driver.settle()
        world.server.cut()
        await world.web("b")
        await world.driver.advance(2)
        assert told == ["+a", "+b"]
        lists = [r for r in world.server.requests if r.method == "GET" and not r.flag("watch")]
        assert len(lists) == 1


async def test_a_version_that_is_gone_leads_to_a_new_list():
    """Given a cut watch and a compacted history, when things changed meanwhile, then the
    differences are told.
    """
    async with harness() as world:
        informer = world.manager.informers.get(WEBS)
        told = log_of(informer)
        await world.web("a")
        await world.web("b")
        await world.start()
        told.clear()
        world.server.cut()
        await world.client.delete(WEBS, "a")
        await world.client.patch(WEBS, "b", body={"spec": {"x": 1}})
        await world.web("c")
        world.server.compact()
        await world.driver.advance(5)
        assert told == ["~b", "+c", "-a"]
        await world.web("d")
        await world.driver.settle()
        assert told[-1] == "+d"


async def test_a_refused_list_is_tried_again_with_back_off():
    """Given a server that refuses, when it gives in, then the cache fills; meanwhile an explanation
    says why not.
    """
    async with harness() as world:
        informer = world.manager.informers.get(WEBS)
        await world.web("a")

        def refuse(request):
            if request.path.endswith("/webs"):
                raise APIError(403, "Forbidden", "webs is forbidden")

        world.server.fault = refuse
        world.manager.informers.start()
        await world.driver.advance(10)
        assert list(world.manager.explain()) == ["informer webs.v1.example.com has not synced webs is forbidden"]
        assert 3 <= len(world.server.requests) <= 7
        world.server.fault = None
        await world.driver.advance(60)
        assert informer.has_synced
        assert len(informer.indexer) == 1


async def test_a_cache_fills_as_soon_as_its_definition_is_there():
    """Given a resource that is not served, when its definition comes hours later, then the cache
    fills at once.
    """
    async with harness() as world:
        informer = world.manager.informers.get(WEBS)

        def unknown(request):
            if request.path.endswith("/webs"):
                raise APIError(404, "NotFound", "the server could not find the requested resource")

        world.server.fault = unknown
        await world.start()
        await world.driver.advance(7200)
        assert world.clock.pending == 0
        world.server.fault = None
        now = world.clock.time()
        await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, {
            "metadata": {"name": "webs.example.com"}, "spec": {"group": "example.com", "names": {"plural": "webs"}},
        })
        await world.driver.settle()
        assert informer.has_synced
        assert world.clock.time() == now


async def test_a_kind_that_goes_is_told_of_once(caplog):
    """Given a cache whose kind goes with its definition / when hours pass / then one warning tells
    of it, and another one when it goes a second time.
    """
    async with harness() as world:
        world.manager.informers.get(WEBS)
        await world.start()

        def unknown(request):
            if request.path.endswith("/webs"):
                raise APIError(404, "NotFound", "404 page not found")

        for times in (1, 2):
            world.server.fault = unknown
            for stream in [stream for stream in world.server.streams if stream.plural == "webs"]:
                stream.end()
            await world.driver.advance(7200)
            told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
            assert told == ["reflector of webs.v1.example.com: 404 page not found"] * times
            world.server.fault = None
            await world.driver.advance(60)


async def test_a_kind_that_may_come_later_is_awaited_in_silence(caplog):
    """Given a cache of an optional kind whose definition is not there / when hours pass / then no
    warning tells of it; once it was there and goes, one does.
    """
    async with harness() as world:
        def unknown(request):
            if request.path.endswith("/webs"):
                raise APIError(404, "NotFound", "404 page not found")

        world.server.fault = unknown
        world.manager.informers.get(WEBS).reflector.is_optional = True
        await world.start()
        await world.driver.advance(7200)
        assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == []
        world.server.fault = None
        await world.driver.advance(60)
        world.server.fault = unknown
        for stream in [stream for stream in world.server.streams if stream.plural == "webs"]:
            stream.end()
        await world.driver.advance(7200)
        told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        assert told == ["reflector of webs.v1.example.com: 404 page not found"]


async def test_resync_tells_everything_again_without_pulling_time():
    """Given an informer with a resync, when an hour passes, then all is told as updates; it alone
    moves no time.
    """
    from fakekube.cache.informer import SharedInformer
    from fakekube.util.rng import Rng

    async with harness() as world:
        await world.web("a")
        informer = SharedInformer(
            world.client, WEBS, clock=world.clock, activity=world.activity, rng=Rng(0), resync_seconds=600,
        )
        told = log_of(informer)
        informer.start(world.tasks)
        await world.driver.settle()
        assert world.clock.pending == 0
        await world.driver.advance(3600)
        assert told == ["+a"] + ["~a"] * 6


async def test_indices_follow_changes():
    """Given indexed pods, when an owner or a label changes, then lookups by it change."""
    async with harness() as world:
        lister = world.manager.informers.get(PODS).lister
        await world.start()
        owner = {"apiVersion": "v1", "kind": "Web", "name": "w", "uid": "u", "controller": True}
        await world.client.create(PODS, {"metadata": {"name": "p", "ownerReferences": [owner], "labels": {"k": "1"}}})
        await world.client.create(PODS, {"metadata": {"name": "q", "namespace": "other"}}, "other")
        await world.driver.settle()
        assert [meta.name_of(pod) for pod in lister.controlled_by("u")] == ["p"]
        assert [meta.name_of(pod) for pod in lister.owned_by("u")] == ["p"]
        assert len(lister.labelled("k", "1")) == len(lister.list("default", {"k": "1"})) == 1
        assert [meta.name_of(pod) for pod in lister.list("other")] == ["q"]
        await world.client.patch(PODS, "p", body={"metadata": {"ownerReferences": [], "labels": {"k": "2"}}})
        await world.driver.settle()
        assert lister.controlled_by("u") == lister.labelled("k", "1") == []
        assert len(lister.labelled("k", "2")) == 1
        await world.client.delete(PODS, "p")
        await world.driver.settle()
        assert lister.labelled("k", "2") == []
        assert len(lister.list()) == 1


def test_an_index_that_comes_late_covers_what_is_there():
    """Given objects, when an index is added, then they are found by it; its values are listed."""
    indexer = Indexer()
    for name, value in (("a", "1"), ("b", "2"), ("c", "1")):
        obj = {"metadata": {"name": name, "labels": {"k": value}}}
        indexer.put(meta.key_of(obj), obj)
    indexer.add_index("k", by_label("k"))
    assert [meta.name_of(obj) for obj in indexer.by_index("k", "1")] == ["a", "c"]
    assert list(indexer.index_values("k")) == ["1", "2"]


async def test_a_handler_that_fails_reaches_who_waits():
    """Given a handler with a bug, when it is told something, then whoever drives time gets its
    error.
    """
    world = Harness()
    world.manager.informers.get(WEBS).add_handler(lambda obj: obj["nothing"])
    await world.start()
    await world.web("a")
    with pytest.raises(KeyError, match="nothing"):
        await world.driver.settle()
    await world.manager.stop()


@pytest.mark.parametrize(("events", "seconds", "waits"), [(0, 0.0, True), (1, 0.0, False), (0, 1.0, False), (0, 0.999, True)])
async def test_a_watch_that_ends_at_once_without_an_event_is_backed_off(events, seconds, waits):
    """Given a watch that the server ends / when it had no event and lasted less than a second /
    then the next one waits; else it begins at once.
    """
    async with harness() as world:
        world.manager.informers.get(WEBS)
        await world.start()
        await world.driver.advance(60)
        asked = len(world.server.requests)
        [stream] = world.server.streams
        for number in range(events):
            await world.web(f"w{number}")
            await world.driver.settle()
        stream.end()
        await world.driver.settle()
        [again] = world.server.streams
        assert len([request for request in world.server.requests[asked:] if "watch" in request.query]) == 1
        asked = len(world.server.requests)
        if seconds:
            await world.driver.advance(seconds)
        for number in range(events):
            await world.web(f"x{number}")
            await world.driver.settle()
        again.end()
        await world.driver.settle()
        begun = [request for request in world.server.requests[asked:] if "watch" in request.query]
        assert len(begun) == (0 if waits else 1)
        await world.driver.advance(60)
        assert len(world.server.streams) == 1
