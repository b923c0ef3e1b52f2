"""Gets and lists: which state, which objects, which bytes."""

import asyncio
from typing import Any

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.endpoints.read import get_object
from tests.endpoints.reads import OTHER, POD, WIDGET, World, told


@pytest.fixture
def world() -> World:
    return World()


def five(world: World) -> None:
    for name in "abcde":
        world.make(name, t="1" if name in "ace" else "2")


@pytest.mark.spec("API-052", "API-053")
async def test_a_list_is_the_stored_bytes_joined(world: World) -> None:
    """Given nothing, then a pod / when pods are listed / then the envelope is upstream's and items
    have no kind.
    """
    assert await world.body() == b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}\n'
    world.make("a")
    assert await world.body() == (
        b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2"},"items":[{"metadata":{"name":"a",'
        b'"namespace":"ns","uid":"uid-a","resourceVersion":"2"},"spec":{}}]}\n')
    world.make("b")
    world.make("c")
    assert [item["metadata"]["name"] for item in orjson.loads(await world.body())["items"]] == ["a", "b", "c"]


@pytest.mark.spec("API-053")
async def test_a_list_of_custom_resources_is_sorted_and_whole() -> None:
    """Given a custom resource / when it is listed / then keys are sorted, items whole, and continue
    is always there.
    """
    world = World(WIDGET)
    record = world.make("a")
    assert await world.body() == (
        b'{"apiVersion":"g.io/v1","items":[' + record.data + b'],"kind":"WidgetList",'
        b'"metadata":{"continue":"","resourceVersion":"2"}}\n')


async def test_another_version_is_rendered_anew() -> None:
    """Given pods that are stored in another version / when they are listed
    / then items are of the version asked for.
    """
    world = World()
    world.make("a", node="n1")
    world.kind = OTHER
    body = orjson.loads(await world.body())
    assert body["apiVersion"] == "other/v2"
    assert body["items"][0]["spec"] == {"host": "n1"}
    assert "kind" not in body["items"][0]
    assert await world.names(fieldSelector="spec.host=n1") == ["a"]
    assert await world.names(fieldSelector="spec.host!=n1") == []


@pytest.mark.spec("API-054")
async def test_pages_are_of_one_state_whatever_is_written_in_between(world: World) -> None:
    """Given five pods and writers / when they are read by twos / then all pages show the state of
    the first.
    """
    five(world)
    first = await world.read(limit="2")
    world.make("bb")
    world.remove("d")
    second = await world.read(limit="2", **{"continue": first.continue_token})
    third = await world.read(limit="2", **{"continue": second.continue_token})
    names = [[record.name for record in page.records] for page in (first, second, third)]
    assert names == [["a", "b"], ["c", "d"], ["e"]]
    assert [page.remaining for page in (first, second, third)] == [3, 1, None]
    assert {page.revision for page in (first, second, third)} == {6}
    assert third.continue_token == ""
    rest = await world.read(**{"continue": first.continue_token})
    assert [record.name for record in rest.records] == ["c", "d", "e"]


@pytest.mark.spec("API-055")
async def test_with_a_selector_nobody_counts_the_rest(world: World) -> None:
    """Given a selector and a limit / when a page is read / then it is filled with matches and
    remaining is not told.
    """
    five(world)
    page = await world.read(limit="2", labelSelector="t=1")
    assert [record.name for record in page.records] == ["a", "c"]
    assert page.remaining is None
    assert page.continue_token
    assert await world.names(limit="2", labelSelector="t=1", **{"continue": page.continue_token}) == ["e"]
    assert await world.names(fieldSelector="metadata.name=c", limit="1") == ["c"]
    assert (await world.read(fieldSelector="metadata.name=c", limit="1")).continue_token == ""


@pytest.mark.spec("API-056", "API-057")
@pytest.mark.parametrize(("query", "message"), [
    ({"continue": "garbage!"},
     "invalid continue token: continue key is not valid: illegal base64 data at input byte 7"),
    ({"continue": "bm9uc2Vuc2U"},
     "invalid continue token: continue key is not valid: invalid character 'o' in literal null (expecting 'u')"),
    ({"continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhXHUwMDAwIn0", "resourceVersion": "5"},
     "specifying resource version is not allowed when using continue"),
    ({"resourceVersion": "abc"},
     ('invalid resource version: resourceVersion: Invalid value: "abc": '
     'strconv.ParseUint: parsing "abc": invalid syntax')),
])
async def test_lists_that_cannot_be_understood(world: World, query: dict[str, str], message: str) -> None:
    """Given a bad token or version / when a list is asked for / then 400 in upstream's words."""
    with pytest.raises(APIError) as error:
        await world.read(**query)
    assert told(error.value) == (400, "BadRequest", message)


@pytest.mark.spec("API-058")
async def test_an_expired_token_hands_over_another_that_goes_on(world: World) -> None:
    """Given a token whose state is compacted / when it is used / then 410 with a token that goes on
    in the present.
    """
    for name in "abc":
        world.make(name)
    page = await world.read(limit="1")
    world.make("d")
    world.storage.compact()
    with pytest.raises(APIError) as error:
        await world.read(limit="1", **{"continue": page.continue_token})
    assert (error.value.code, error.value.reason) == (410, "Expired")
    assert error.value.message.startswith("The provided continue parameter is too old")
    token = error.value.status()["metadata"]["continue"]
    go_on = await world.read(limit="2", **{"continue": token})
    assert [record.name for record in go_on.records] == ["b", "c"]
    assert go_on.revision == 5
    assert await world.names(**{"continue": go_on.continue_token}) == ["d"]


@pytest.mark.spec("API-058", "API-060")
async def test_a_state_is_told_exactly_until_it_is_compacted(world: World) -> None:
    """Given an older revision / when its state is asked for / then exactly that, by Exact or by a
    limit, until 410.
    """
    world.make("a")
    world.make("b")
    world.remove("a")
    assert await world.names(resourceVersion="2", resourceVersionMatch="Exact") == ["a"]
    assert await world.names(resourceVersion="3", limit="5") == ["a", "b"]
    assert await world.names(resourceVersion="2") == ["b"]
    assert await world.names(resourceVersion="2", resourceVersionMatch="NotOlderThan", limit="5") == ["b"]
    world.storage.compact()
    with pytest.raises(APIError) as error:
        await world.read(resourceVersion="2", resourceVersionMatch="Exact")
    assert told(error.value) == (410, "Expired", "The resourceVersion for the provided list is too old.")


async def test_a_list_of_any_version_knows_no_limit(world: World) -> None:
    """Given resourceVersion 0 and a limit / when pods are listed
    / then all come; a limit alone, or with a token, holds.
    """
    five(world)
    assert len(await world.names(resourceVersion="0", limit="1")) == 5
    token = (await world.read(limit="1")).continue_token
    assert await world.names(resourceVersion="0", limit="1", **{"continue": token}) == ["b"]


@pytest.mark.spec("API-061")
async def test_a_revision_to_come_is_waited_for(world: World) -> None:
    """Given a revision that is not there / when it is read / then the read waits, and 504 comes
    after three seconds.
    """
    reading = asyncio.ensure_future(world.names(resourceVersion="2"))
    await asyncio.sleep(0)
    world.make("a")
    world.pass_time(1)
    assert await reading == ["a"]
    late = asyncio.ensure_future(world.read(resourceVersion="99", resourceVersionMatch="Exact"))
    started = world.clock.time()
    while not late.done():
        await asyncio.sleep(0)
        world.clock.fire_next()
    assert world.clock.time() - started == pytest.approx(3, abs=0.1)
    with pytest.raises(APIError) as error:
        late.result()
    assert told(error.value) == (504, "Timeout", "Timeout: Too large resource version: 99, current: 2")
    assert error.value.details == {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1}


@pytest.mark.spec("API-065")
@pytest.mark.parametrize("count", [3, 300])
async def test_selectors_choose_whether_an_index_helps_or_not(world: World, count: int) -> None:
    """Given few or many pods / when they are selected
    / then the result is the same as by looking at each, in key order.
    """
    for number in range(count):
        world.make(f"p{number:03}", "ab"[number % 2], node=f"n{number % 3}", app=f"x{number % 2}")
    wanted = [record.name for record in world.bucket.records() if record.fields["spec.nodeName"] == "n1"]
    assert await world.names("", fieldSelector="spec.nodeName=n1") == wanted
    assert await world.names("b", fieldSelector="spec.nodeName=n1") == [name for name in wanted if int(name[1:]) % 2]
    assert len(await world.names("", labelSelector="app=x1")) == count // 2
    assert await world.names("a", labelSelector="app=x1") == []
    both = {"labelSelector": "app in (x0),app!=x1", "fieldSelector": "spec.nodeName!=n0,metadata.namespace=a"}
    assert await world.names("", **both) == [
        record.name for record in world.bucket.records("a") if record.fields["spec.nodeName"] != "n0"]
    assert await world.names("", fieldSelector="metadata.name=p002") == ["p002"]


async def test_a_namespace_may_be_chosen_by_field(world: World) -> None:
    """Given pods in two namespaces / when metadata.namespace is selected / then tokens are those of
    that namespace.
    """
    world.make("a", "one")
    world.make("b", "one")
    world.make("c", "two")
    page = await world.read("", fieldSelector="metadata.namespace=one", limit="1")
    assert [record.name for record in page.records] == ["a"]
    again = await world.read("", fieldSelector="metadata.namespace=one", **{"continue": page.continue_token})
    assert [record.name for record in again.records] == ["b"]


@pytest.mark.spec("API-062")
async def test_get_knows_versions_too(world: World) -> None:
    """Given one object / when it is read with versions
    / then it is at least so new; no number is 500, no object 404.
    """
    world.make("a")
    record = world.change("a", x="y")
    for version in ("", "0", "2", "3"):
        assert await get_object(POD, world.bucket, "ns", "a", version, world.clock) is record
    with pytest.raises(APIError) as error:
        await get_object(POD, world.bucket, "ns", "a", "abc", world.clock)
    assert told(error.value) == (
        500, "", 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax')
    with pytest.raises(APIError) as error:
        await get_object(POD, world.bucket, "ns", "zz", "0", world.clock)
    assert told(error.value) == (404, "NotFound", 'pods "zz" not found')


async def test_a_large_bucket_is_read_by_the_label_that_one_value_is_asked_of(
    world: World, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given more objects than are looked at one by one / when a label is to have one value, one of
    two, or any but one / then an index answers the first alone, and all are answered right.
    """
    for number in range(300):
        world.make(f"p{number:03}", "a" if number % 2 else "b", side="left" if number % 3 else "right", n=str(number))
    asked: list[tuple[str, str]] = []
    index = type(world.bucket).by_label

    def by_label(self: Any, key: str, value: str) -> Any:
        asked.append((key, value))
        return index(self, key, value)

    monkeypatch.setattr(type(world.bucket), "by_label", by_label)
    assert await world.names("", labelSelector="n=7") == ["p007"]
    assert await world.names("b", labelSelector="n=7") == []
    assert await world.names("", labelSelector="n in (7,8)") == ["p007", "p008"]
    assert len(await world.names("a", labelSelector="side!=left")) == 50
    assert len(await world.names("", labelSelector="side notin (right)")) == 200
    assert asked == [("n", "7"), ("n", "7")]
