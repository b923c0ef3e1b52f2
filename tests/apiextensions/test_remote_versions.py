"""Versions that a webhook converts: what is remembered; functions of this process that convert."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apiextensions import remote
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.util.rng import Rng
from fakekube.webhooks.callables import Callables, conversion_url
from fakekube.webhooks.client import CallError

V1, V2 = GroupVersionKind("x.dev", "v1", "W"), GroupVersionKind("x.dev", "v2", "W")
DEFINITION: Tree = {
    "spec": {"conversion": {"webhook": {
        "clientConfig": {"url": conversion_url("ws.x.dev")}, "conversionReviewVersions": ["v0", "v1beta1", "v1"]}}},
    "status": {"acceptedNames": {"kind": "W"}}}


class Counting:
    """Converts by naming the version, and remembers how many it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def convert(self, objects: list[Tree], wanted: GroupVersionKind) -> list[Tree]:
        """The same objects, of the wanted version."""
        self.asked.append([tree["metadata"]["uid"] for tree in objects])
        return [{**tree, "apiVersion": wanted.api_version, "by": wanted.version} for tree in objects]


def version_of(gvk: GroupVersionKind) -> Any:
    """A version whose reader marks what it has read."""
    reader = SimpleNamespace(converted=lambda tree, defaults=False: {**tree, "read": gvk.version, "defaults": defaults})
    return SimpleNamespace(gvk=gvk, reader=reader)


def remote_version() -> tuple[remote.RemoteVersion, Counting]:
    """v2, of objects that are stored as v1."""
    converter: Any = Counting()
    return remote.RemoteVersion(version_of(V2), version_of(V1), converter), converter


def stored(uid: str, revision: str = "1", **fields: Any) -> Tree:
    """An object as it is stored."""
    return {"apiVersion": "x.dev/v1", "kind": "W", "metadata": {"uid": uid, "resourceVersion": revision}, **fields}


def read(tree: Tree) -> Tree:
    """The same as v2 shows it."""
    return {**tree, "apiVersion": "x.dev/v2", "by": "v2", "read": "v2", "defaults": False}


async def test_what_was_converted_is_remembered() -> None:
    """Given objects that were read / when they are read again / then only those of another revision
    are converted again, all in one review; one of that version is read as it is.
    """
    of, converter = remote_version()
    own = {**stored("own"), "apiVersion": "x.dev/v2"}
    await of.read([stored("a"), own, stored("b")])
    await of.read([stored("a"), stored("b", "2"), stored("c")])
    await of.read([stored("a"), stored("b", "2"), own])
    assert converter.asked == [["a", "b"], ["b", "c"]]
    assert (of.from_stored(stored("b", "2")), of.from_stored(own)) == (read(stored("b", "2")), own)


async def test_the_eldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given as many objects as are remembered / when one more is read / then the one is forgotten
    that was converted the longest ago.
    """
    monkeypatch.setattr(remote, "REMEMBERED", 2)
    of, converter = remote_version()
    await of.read([stored("a"), stored("b")])
    await of.read([stored("a", "2")])  # now b is the eldest
    await of.read([stored("c")])
    await of.read([stored("a", "2"), stored("c")])
    assert converter.asked == [["a", "b"], ["a"], ["c"]]
    await of.read([stored("b")])
    assert converter.asked[3:] == [["b"]]


async def test_objects_that_nobody_has_read() -> None:
    """Given an object that was not read in this version / when it is shown / then it is what it was
    but for its version; when its metadata alone has changed since it was read / then it is shown as
    it was read, with the new metadata.
    """
    of, _ = remote_version()
    await of.read([stored("a", spec={"n": 1})])
    later = stored("a", "2", spec={"n": 1})
    assert of.from_stored(later) == {**read(stored("a", spec={"n": 1})), "metadata": later["metadata"]}
    changed = stored("a", "2", spec={"n": 2})
    assert of.from_stored(changed) == {**changed, "apiVersion": "x.dev/v2"}
    assert of.from_stored(stored("z")) == {**stored("z"), "apiVersion": "x.dev/v2"}


async def test_what_is_written() -> None:
    """Given an object in v2 / when it is prepared and stored / then it is what the webhook made of
    it, with defaults, once; one of the stored version stays, and one that was not prepared is what
    is stored already, with its own metadata.
    """
    of, converter = remote_version()
    new = {**stored("a"), "apiVersion": "x.dev/v2"}
    await of.store(new)
    assert of.to_stored(new) == {**new, "apiVersion": "x.dev/v1", "by": "v1", "read": "v1", "defaults": True}
    assert of.to_stored(new) == new
    own = stored("b")
    await of.store(own)
    assert of.to_stored(own) is own
    assert converter.asked == [["a"]]
    await of.read([stored("a", spec={"n": 1})])
    assert of.to_stored({**new, "metadata": {"uid": "a", "labels": {"x": "y"}}}) == {
        **stored("a", spec={"n": 1}), "metadata": {"uid": "a", "labels": {"x": "y"}}}
    assert of.to_stored({**new, "metadata": {}}) == {**new, "metadata": {}}


def converter(callables: Callables) -> remote.WebhookConverter:
    """That of a definition whose URL leads to a function."""
    client: Any = SimpleNamespace(callables=callables)
    return remote.WebhookConverter(DEFINITION, lambda: client, Rng(1))


async def test_a_function_converts() -> None:
    """Given a function that converts / when objects are read / then each gets a copy and the wanted
    version, and keeps its metadata but for labels and annotations.
    """
    callables, given = Callables(), list[tuple[Tree, str]]()

    def convert(tree: Tree, api_version: str) -> Tree:
        given.append((tree, api_version))
        return {**tree, "apiVersion": api_version, "metadata": {"name": "other", "labels": {"a": "b"}}}

    callables.add_conversion("ws.x.dev", convert)
    tree = stored("a")
    assert await converter(callables).convert([tree], V2) == [
        {**tree, "apiVersion": "x.dev/v2", "metadata": {**tree["metadata"], "labels": {"a": "b"}}}]
    assert [(each, to) for each, to in given] == [(tree, "x.dev/v2")]
    assert given[0][0] is not tree


@pytest.mark.parametrize(("error", "told"), [
    (TypeError("t"), "TypeError: t"), (AttributeError("a"), "AttributeError: a"), (KeyError("k"), "KeyError: 'k'"),
    (IndexError("i"), "IndexError: i"), (ValueError("v"), "ValueError: v"),
])
async def test_a_function_that_fails(error: Exception, told: str) -> None:
    """Given a function that raises what Python raises for another shape / when objects are read /
    then the webhook has failed, and that is said.
    """
    callables = Callables()

    def convert(tree: Tree, api_version: str) -> Tree:
        raise error

    callables.add_conversion("ws.x.dev", convert)
    with pytest.raises(APIError) as refused:
        await converter(callables).convert([stored("a")], V2)
    assert str(refused.value) == f"conversion webhook for x.dev/v1, Kind=W failed: {told}"


async def test_a_call_that_is_to_go_wrong() -> None:
    """Given a fault for conversions / when objects are read / then it is asked with the kind, the
    configuration and the time of a call, and its words are told.
    """
    callables, asked = Callables(), list[tuple[str, Tree, int]]()

    def fault(name: str, config: Tree, timeout_seconds: int) -> None:
        asked.append((name, config, timeout_seconds))
        raise CallError("it is down")

    callables.fault = fault
    with pytest.raises(APIError) as refused:
        await converter(callables).convert([stored("a")], V2)
    assert str(refused.value) == "conversion webhook for x.dev/v1, Kind=W failed: it is down"
    assert asked == [("W.x.dev", {"url": conversion_url("ws.x.dev")}, 30)]


@pytest.mark.parametrize(("understood", "expected"), [
    (["v1"], "v1"), (["v1beta1"], "v1beta1"), (["v0", "v1beta1", "v1"], "v1beta1"), (["v1", "v1beta1"], "v1"),
])
async def test_which_review_is_sent(understood: list[str], expected: str) -> None:
    """Given the versions of reviews that a webhook understands / when it is asked / then the first
    of them that there is is sent, with a uid, the wanted version and the objects.
    """
    sent: list[tuple[Tree, Tree, int, str]] = []

    async def call(config: Tree, review: Tree, *, timeout_seconds: int, expected: Any) -> Tree:
        sent.append((config, review, timeout_seconds, expected.api_version))
        objects = [{**tree, "apiVersion": "x.dev/v2"} for tree in review["request"]["objects"]]
        return {"response": {"uid": review["request"]["uid"], "result": {"status": "Success"}, "convertedObjects": objects}}

    client: Any = SimpleNamespace(callables=Callables(), call=call)
    config = {"url": "https://h"}
    definition: Tree = {**DEFINITION, "spec": {"conversion": {"webhook": {
        "clientConfig": config, "conversionReviewVersions": understood}}}}
    tree = stored("a")
    converted = await remote.WebhookConverter(definition, lambda: client, Rng(1)).convert([tree], V2)
    assert converted == [{**tree, "apiVersion": "x.dev/v2"}]
    [(asked, review, seconds, api_version)] = sent
    assert (asked, seconds, api_version) == (config, 30, f"apiextensions.k8s.io/{expected}")
    assert len(review["request"].pop("uid")) == 36
    assert review == {
        "kind": "ConversionReview", "apiVersion": f"apiextensions.k8s.io/{expected}", "response": None,
        "request": {"desiredAPIVersion": "x.dev/v2", "objects": [tree]}}
