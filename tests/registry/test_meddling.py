"""What admission outside of the server makes of metadata, and what of it counts."""

from collections.abc import Iterator
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS
from fakekube.composition.cluster import Cluster
from fakekube.registry.attributes import AdmitAll, Attributes


class Meddling(AdmitAll):
    """Changes metadata, as somebody outside who was asked."""

    def __init__(self) -> None:
        self.change: Tree = {}
        self.outside = True

    async def admit(self, attrs: Attributes) -> None:
        if self.outside:
            attrs.reinvocable()
        assert attrs.obj is not None
        attrs.obj["metadata"] = {**attrs.obj["metadata"], **self.change}


@pytest.fixture
def meddling(cluster: Cluster) -> Iterator[Meddling]:
    """It, in place of the server's own admission."""
    stores = cluster.apiserver.stores
    before, made = stores.admission, Meddling()
    stores.admission = made
    yield made
    stores.admission = before


async def refusal(awaitable: Any) -> tuple[int, str]:
    with pytest.raises(APIError) as caught:
        await awaitable
    return caught.value.code, caught.value.message


async def test_what_only_the_server_knows_stays_its_own(cluster: Cluster, meddling: Meddling) -> None:
    """Given somebody outside who changes metadata, when an object is created, then its uid and time
    are the server's, it is not on its way out, and the rest is as they made it.
    """
    meddling.change = {
        "uid": "theirs", "creationTimestamp": "2000-01-01T00:00:00Z", "deletionTimestamp": "2000-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 5, "selfLink": "/x", "labels": {"a": "b"}, "resourceVersion": ""}
    made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
    meta = made["metadata"]
    assert (meta["creationTimestamp"], len(meta["uid"]), meta["labels"]) == ("2026-01-01T00:00:00Z", 36, {"a": "b"})
    assert not {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} & set(meta)


@pytest.mark.parametrize(("change", "expected"), [
    ({"resourceVersion": "9"}, (500, "resourceVersion should not be set on objects to be created")),
    ({"namespace": "other"}, (400, "the namespace of the provided object does not match the namespace sent on the request")),
])
async def test_what_nobody_outside_may_say_of_a_new_object(
    cluster: Cluster, meddling: Meddling, change: Tree, expected: tuple[int, str],
) -> None:
    """Given somebody outside who gives a new object a version or another namespace, then it is
    refused as if a client had said so.
    """
    meddling.change = change
    assert await refusal(cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")) == expected


async def test_a_name_that_somebody_gives_before_one_is_made_up(cluster: Cluster, meddling: Meddling) -> None:
    """Given an object whose name is to be made up, when admission gives one, outside or not, then
    that is its name.
    """
    for outside, name in ((True, "theirs"), (False, "ours")):
        meddling.outside, meddling.change = outside, {"name": name}
        made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"generateName": "x-"}}, "default")
        assert made["metadata"]["name"] == name
    meddling.change = {"name": ""}
    made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"generateName": "x-"}}, "default")
    assert made["metadata"]["name"].startswith("x-")


async def test_what_nobody_outside_may_change_of_an_object(cluster: Cluster, meddling: Meddling) -> None:
    """Given an object, when somebody outside moves it to another namespace, or gives it another
    version, then it is refused; what an update cannot change stays.
    """
    client = cluster.client
    made = await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")
    meddling.change = {"namespace": "other"}
    code, message = await refusal(client.patch(CONFIG_MAPS, "a", "default", {"data": {"a": "b"}}))
    assert (code, message) == (400, "the namespace of the provided object does not match the namespace sent on the request")
    meddling.change = {"resourceVersion": "1"}
    assert (await refusal(client.patch(CONFIG_MAPS, "a", "default", {"data": {"a": "b"}})))[0] == 409
    meddling.change = {"creationTimestamp": "2000-01-01T00:00:00Z", "generation": 9, "labels": {"a": "b"}}
    changed = await client.patch(CONFIG_MAPS, "a", "default", {"data": {"a": "b"}})
    assert changed["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
    assert ("generation" in changed["metadata"], changed["metadata"]["labels"]) == (False, {"a": "b"})
