"""Whoever lists and then watches, with whatever selector and from whatever version, has what a list
would show him.
"""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube.apimachinery.errors import APIError
from tests.endpoints.reads import World

QUERIES: list[dict[str, str]] = [
    {}, {"labelSelector": "t=1"}, {"labelSelector": "t!=1"}, {"labelSelector": "!t"}, {"labelSelector": "t in (1,2),n"},
    {"fieldSelector": "spec.nodeName=n1"}, {"fieldSelector": "spec.nodeName!=n1"}, {"fieldSelector": "metadata.name=a"},
    {"fieldSelector": "metadata.name=a,spec.nodeName=n1"},
    {"fieldSelector": "metadata.namespace=one", "labelSelector": "n"},
]
WRITES = st.lists(st.tuples(
    st.sampled_from(["one", "two"]), st.sampled_from("abc"), st.sampled_from(["", "n1", "n2"]),
    st.fixed_dictionaries({}, optional={"t": st.sampled_from("12"), "n": st.just("x")}), st.booleans(),
), max_size=25)


def write(world: World, namespace: str, name: str, node: str, labels: dict[str, str], gone: bool) -> None:
    if world.bucket.get(namespace, name) is None:
        world.make(name, namespace, node=node, **labels)
    elif gone:
        world.remove(name, namespace)
    else:
        world.change(name, namespace, node=node, **labels)


def apply(known: dict[str, Any], events: list[dict[str, Any]]) -> None:
    """What an informer does; it minds an event that makes no sense to one who knows what it knows.
    """
    for event in events:
        meta = event["object"]["metadata"]
        key = f"{meta['namespace']}/{meta['name']}"
        assert (key in known) == (event["type"] != "ADDED"), f"{event['type']} of {key}"
        if event["type"] == "DELETED":
            del known[key]
        else:
            known[key] = event["object"]


def listed(world: World, namespace: str, query: dict[str, str], **more: str) -> dict[str, Any]:
    result = asyncio.run(world.read(namespace, **query, **more))
    return {f"{record.namespace}/{record.name}": record.tree() for record in result.records}


@given(
    before=WRITES, after=WRITES, query=st.sampled_from(QUERIES), namespace=st.sampled_from(["", "one"]),
    back=st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_list_and_watch_is_the_list(
    before: list[Any], after: list[Any], query: dict[str, str], namespace: str, back: int,
) -> None:
    """Given writes / when a list at an older version is followed by a watch from it / then it ends
    where a list is.
    """
    world = World()
    for one in before:
        write(world, *one)
    version = str(max(1, world.bucket.revision - back))
    known = listed(world, namespace, query, resourceVersion=version, resourceVersionMatch="Exact")
    sink = world.watch(namespace, **query, resourceVersion=version)
    streamed = world.watch(namespace, **query)
    for one in after:
        write(world, *one)
    now = listed(world, namespace, query)
    apply(known, sink.events)
    assert known == now
    from_stream: dict[str, Any] = {}
    apply(from_stream, streamed.events)
    assert from_stream == now


@given(writes=WRITES, query=st.sampled_from(QUERIES), limit=st.integers(1, 3), data=st.data())
@settings(max_examples=60, deadline=None)
def test_pages_are_the_list_at_the_first_page(
    writes: list[Any], query: dict[str, str], limit: int, data: st.DataObject,
) -> None:
    """Given pages with writes in between / when they are put together
    / then they are the list of the first page's time.
    """
    world = World()
    for one in writes:
        write(world, *one)
    whole = listed(world, "", query)
    got: dict[str, Any] = {}
    token: dict[str, str] = {}
    while True:
        page = asyncio.run(world.read("", **query, limit=str(limit), **token))
        got |= {f"{record.namespace}/{record.name}": record.tree() for record in page.records}
        assert len(page.records) <= limit
        if not page.continue_token:
            break
        token = {"continue": page.continue_token}
        for one in data.draw(WRITES):
            write(world, *one)
    assert list(got.items()) == list(whole.items())


def test_a_list_of_the_future_is_no_list() -> None:
    """Given a token of a version to come / when it is used / then 504, not an empty list."""
    world = World()
    world.make("a")

    async def read() -> None:
        reading = asyncio.ensure_future(world.read(resourceVersion="50", limit="1"))
        while not reading.done():
            await asyncio.sleep(0)
            world.clock.fire_next()
        await reading

    with pytest.raises(APIError) as error:
        asyncio.run(read())
    assert error.value.code == 504
