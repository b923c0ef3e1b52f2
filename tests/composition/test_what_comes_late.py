"""What a cluster gets late: kinds that are not served at once, add-ons that are started by name,
and objects that somebody else has made meanwhile.
"""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import ENDPOINTS, Resource
from fakekube.composition import addons, fakekube_api
from fakekube.composition.options import ClusterOptions
from fakekube.composition.serverobjects import ServerObjects
from fakekube.runtime import AddOn
from fakekube.types import Object
from tests.faults.asking import ask


class Bell(Object):
    resource: ClassVar[Resource] = Resource("x.dev", "v1", "bells", "Bell")


class OldBell(Object):
    resource: ClassVar[Resource] = Resource("x.dev", "v1beta1", "bells", "Bell")


class Rope(Object):
    resource: ClassVar[Resource] = Resource("x.dev", "v1", "ropes", "Rope")


def test_definitions_of_kinds() -> None:
    """Given an add-on with kinds, one of them in two versions / when its definitions are made /
    then there is one for each resource, in their order, with its versions.
    """
    found = addons.definitions_of(AddOn("a", kinds=(Bell, Rope, OldBell)))
    assert [(meta.name_of(each), [version["name"] for version in each["spec"]["versions"]]) for each in found] == [
        ("bells.x.dev", ["v1", "v1beta1"]), ("ropes.x.dev", ["v1"])]
    assert addons.definitions_of(AddOn("a")) == []


async def test_an_add_on_with_kinds() -> None:
    """Given an add-on with kinds / when a cluster starts with it / then they are served."""
    async with Cluster(nodes=0, controllers="", clock="manual", extra=[AddOn("a", kinds=(Bell,))]) as cluster:
        await cluster.client.create(Bell.resource, {"metadata": {"name": "b"}}, "default")
        assert [meta.name_of(each) for each in (await cluster.client.list(Bell.resource)).items] == ["b"]


def definition(*conditions: tuple[str, str], version: str = "7") -> dict[str, Any]:
    return {
        "metadata": {"name": "bells.x.dev", "resourceVersion": version},
        "status": {"conditions": [{"type": type_, "status": status} for type_, status in conditions]}}


class Slow:
    """A client of a server that takes its time with definitions."""

    def __init__(self, first: dict[str, Any], *later: dict[str, Any]) -> None:
        self.first, self.later = first, later
        self.asked: list[Any] = []

    async def get(self, _: Any, name: str) -> Any:
        self.asked.append(name)
        return self.first

    async def watch(self, _: Any, **query: str) -> "Slow":
        self.asked.append(query)
        return self

    async def __aenter__(self) -> AsyncIterator[Any]:
        return self._events()

    async def __aexit__(self, *_: object) -> None:
        self.asked.append("ended")

    async def _events(self) -> AsyncIterator[Any]:
        for number, tree in enumerate(self.later):
            self.asked.append(number)
            yield SimpleNamespace(object=tree)


async def test_kinds_that_are_not_served_at_once() -> None:
    """Given a definition that is established at once, or after a while / when it is waited for /
    then the wait ends with that, watched from the version that was read.
    """
    done, other = ("Established", "True"), ("NamesAccepted", "True")
    at_once = Slow(definition(other, done))
    await addons._established(cast("Any", at_once), "bells.x.dev")
    assert at_once.asked == ["bells.x.dev"]
    for first in (definition(), definition(("Established", "False")), {"metadata": {"name": "b", "resourceVersion": "7"}}):
        slow = Slow(first, definition(other), definition(other, done), definition(done))
        await addons._established(cast("Any", slow), "bells.x.dev")
        assert slow.asked == [
            "bells.x.dev", {"field_selector": "metadata.name=bells.x.dev", "resource_version": "7"}, 0, 1, "ended"]


async def test_objects_that_somebody_else_has_made() -> None:
    """Given an object of the server that is gone / when somebody else makes it first / then that is
    fine, and another refusal is not; nothing is made of what was not there at first.
    """
    made: list[Any] = []

    class Racing:
        reason = "AlreadyExists"

        async def get(self, *_: Any, missing_ok: bool) -> None:
            assert missing_ok

        async def create(self, resource: Any, tree: Any) -> None:
            made.append((resource, tree))
            raise APIError(409, self.reason, "refused")

    objects = ServerObjects(ClusterOptions(advertise_address="10.0.0.1"))
    await objects._sync(ENDPOINTS)
    racing = Racing()
    objects._client = cast("Any", racing)
    objects._wanted[ENDPOINTS] = {
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": {"a": "b"}, "uid": "u"}, "subsets": [1], "kind": "X"}
    await objects._sync(ENDPOINTS)
    assert made == [
        (ENDPOINTS, {"metadata": {"name": "kubernetes", "namespace": "default", "labels": {"a": "b"}}, "subsets": [1]})]
    racing.reason = "Forbidden"
    with pytest.raises(APIError, match=r"^refused$"):
        await objects._sync(ENDPOINTS)


async def test_an_add_on_that_is_started_by_name() -> None:
    """Given a cluster without an add-on / when that is started by name / then its webhooks and APIs
    are there, as if the cluster had begun with it; a second start changes nothing.
    """
    configurations = Resource(
        "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration",
        namespaced=False)

    async def names(cluster: Cluster) -> list[str]:
        return [meta.name_of(each) for each in (await cluster.client.list(configurations)).items]

    async with Cluster(nodes=0, controllers="namespace,kueue", clock="manual") as with_it:
        wanted = await names(with_it)
    async with Cluster(nodes=0, controllers="namespace", clock="manual") as cluster:
        assert await names(cluster) == []
        for _ in range(2):
            await cluster.start_controller("kueue")
            assert await names(cluster) == wanted
    assert len(wanted) > 0


async def test_many_faults_are_told_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given five faults, of which two are told in a turn / when they are asked for / then two turns
    go by, and all are told in their order.
    """
    turns: list[int] = []

    async def turn() -> None:
        turns.append(1)

    monkeypatch.setattr(fakekube_api, "FAULTS_IN_A_TURN", 2)
    monkeypatch.setattr(fakekube_api, "turn", turn)
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        for name in "abcde":
            cluster.faults.add(name=name, error="Timeout", optional=True)
        answer = await ask(cluster, "GET", "/fakekube/v1/faults")
        assert [each["name"] for each in orjson.loads(answer.body)["items"]] == ["a", "b", "c", "d", "e"]
        assert len(turns) == 2
