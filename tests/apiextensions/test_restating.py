"""Many objects of a definition that changes: others are answered, nobody sees a mixture."""

import asyncio

import pytest

from fakekube.apiextensions import restating
from fakekube.apimachinery.types import Tree
from fakekube.util import tasks
from tests.apiextensions.definitions import custom_object, definition, version
from tests.apiserver.conftest import Api, api

__all__ = ["api"]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/probe.dev/v1/namespaces/t/widgets"
JSON_PATCH = {"content-type": "application/json-patch+json"}
MERGE = {"content-type": "application/merge-patch+json"}
COUNT = 12
SELECTABLE: list[Tree] = [{"jsonPath": ".spec.b"}]


def schema(**defaults: str) -> Tree:
    fields = {name: {"type": "string"} | ({"default": defaults[name]} if name in defaults else {}) for name in "ab"}
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}


async def redefine(api: Api, *, selectable: bool = False, **defaults: str) -> None:
    change = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": schema(**defaults)}]
    if selectable:
        change.append({"op": "add", "path": "/spec/versions/0/selectableFields", "value": SELECTABLE})
    answer = await api("PATCH", f"{DEFINITIONS}/widgets.probe.dev", change, JSON_PATCH)
    assert answer.status == 200, answer.tree


async def specs(api: Api, query: str = "") -> list[Tree]:
    return [each["spec"] for each in (await api("GET", f"{WIDGETS}{query}")).tree["items"]]


@pytest.fixture
async def many(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """An API with more Widgets than are restated at once."""
    monkeypatch.setattr(restating, "PORTION", 3)
    assert (await api("POST", DEFINITIONS, definition(versions=[version(schema=schema())]))).status == 201
    for number in range(COUNT):
        assert (await api("POST", WIDGETS, custom_object(f"w{number:02}", spec={"a": "x"}))).status == 201
    return api


async def test_others_are_answered_before_all_are_restated(many: Api) -> None:
    """Given many objects / when their definition has a new default, and a list of them and a read
    of something else come at once / then that read is answered first, and the list has the default
    everywhere, though only the definition's writer has asked for it.
    """
    answered: list[str] = []

    async def change() -> None:
        await redefine(many, b="new")
        answered.append("definition")

    async def listed() -> None:
        await tasks.turn()
        assert await specs(many) == [{"a": "x", "b": "new"}] * COUNT
        answered.append("list")

    async def other() -> None:
        await tasks.turn()
        assert (await many("GET", DEFINITIONS)).status == 200
        answered.append("other")

    await asyncio.gather(change(), listed(), other())
    assert answered[0] == "other"
    assert sorted(answered[1:]) == ["definition", "list"]


async def test_the_writer_finds_all_restated(many: Api) -> None:
    """Given many objects / when the writer of a new default and of selectable fields has its answer
    / then they have the default, and are selected by it.
    """
    await redefine(many, selectable=True, b="new")
    assert not many.server.resources.pending
    assert len(await specs(many, "?fieldSelector=spec.b=new")) == COUNT
    assert await specs(many, "?fieldSelector=spec.b=old") == []


async def test_a_change_of_what_is_being_restated(many: Api) -> None:
    """Given objects that are being restated / when the definition changes again, and an object is
    patched / then the last definition holds, and the patch is in its object.
    """
    async def patch() -> None:
        await tasks.turn()
        assert (await many("PATCH", f"{WIDGETS}/w11", {"spec": {"a": "y"}}, MERGE)).status == 200

    async def again() -> None:
        await tasks.turn()
        await redefine(many, b="newest")

    await asyncio.gather(redefine(many, b="new"), patch(), again())
    assert not many.server.resources.pending
    found = await specs(many)
    assert found[:11] == [{"a": "x", "b": "newest"}] * 11
    assert found[11]["a"] == "y"


async def test_a_definition_that_goes(many: Api) -> None:
    """Given objects that are being restated / when their definition is deleted / then they are
    gone, and one of that name begins anew.
    """
    async def delete() -> None:
        await tasks.turn()
        assert (await many("DELETE", f"{DEFINITIONS}/widgets.probe.dev")).status == 200

    await asyncio.gather(redefine(many, b="new"), delete())
    assert not many.server.resources.pending
    assert (await many("GET", WIDGETS)).status == 404
    assert (await many("POST", DEFINITIONS, definition(versions=[version(schema=schema())]))).status == 201
    assert await specs(many) == []


@pytest.mark.parametrize(("bytes_each", "portions"), [(100, 1), (64 * 1024, 4), (300 * 1024, 13)])
async def test_a_portion_is_bounded_in_bytes(
    api: Api, monkeypatch: pytest.MonkeyPatch, bytes_each: int, portions: int,
) -> None:
    """Given twelve objects / when their definition changes / then small ones are restated at once,
    and large ones a quarter of a MiB at a time.
    """
    assert (await api("POST", DEFINITIONS, definition(versions=[version(schema=schema())]))).status == 201
    for number in range(COUNT):
        created = await api("POST", WIDGETS, custom_object(f"w{number:02}", spec={"a": "x" * bytes_each}))
        assert created.status == 201
    done: list[restating.Restating] = []
    portion = restating.Restating.portion

    def counted(self: restating.Restating) -> None:
        done.append(self)
        portion(self)

    monkeypatch.setattr(restating.Restating, "portion", counted)
    await redefine(api, b="new")
    assert len(done) == portions
