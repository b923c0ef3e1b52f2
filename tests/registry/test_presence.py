"""Who waits for the first object, or change, of a resource is told once, and of what was before."""

from collections.abc import Callable

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.presence import Wake
from tests.registry.small_storage import KINDS, MAPS, NODES, REVIEWS, ROLES, Small, older


class Told:
    """Who waits, and what they were told."""

    def __init__(self, small: Small) -> None:
        self.small = small
        self.heard: list[tuple[str, int | None]] = []

    def wake(self, name: str) -> Wake:
        return lambda since: self.heard.append((name, since))

    def wait(self, resource: GroupResource, name: str, *, whole: bool = False) -> Callable[[], object] | None:
        return self.small.presence.await_first(resource, self.wake(name), whole=whole)


@pytest.fixture
def told() -> Told:
    return Told(Small())


def test_the_first_object_wakes_all_who_wait_once(told: Told) -> None:
    """Given two who wait for a resource and one for another, when it gets an object, and another
    one, then both are woken once, in their order, with the version at which there was none.
    """
    small = told.small
    assert told.wait(MAPS, "one")
    assert told.wait(MAPS, "two", whole=True)
    assert told.wait(NODES, "other")
    assert not small.storage.has(MAPS), "who waits does not make a bucket"
    small.make(MAPS, "a")
    assert told.heard == [("one", 5), ("two", 5)]
    small.make(MAPS, "b")
    assert told.heard == [("one", 5), ("two", 5)]
    assert told.wait(MAPS, "late") is None
    small.remove(MAPS, "a")
    small.remove(MAPS, "b")
    assert told.wait(MAPS, "again")
    small.make(MAPS, "c")
    assert told.heard[2:] == [("again", small.storage.revision - 1)]


def test_an_object_among_others_leaves_no_version_without_any(told: Told) -> None:
    """Given who waits for changes of what has objects, when one is added or changed, then there was
    no version without any.
    """
    small = told.small
    small.make(MAPS, "a")
    small.presence.await_changes(lambda resource, since: told.heard.append((resource.resource, since)))
    assert told.heard == [("maps", None)]
    small.make(NODES, "n")
    assert told.heard[1:] == [("nodes", 6)]


def test_who_cancels_is_not_woken(told: Told) -> None:
    """Given three who wait, of whom one cancels and one cancels another as it is woken, when the
    object comes, then only those are woken who still wait.
    """
    small = told.small
    third: list[Callable[[], object]] = []

    def cancel_third(_: int | None) -> None:
        third[0]()

    small.presence.await_first(MAPS, cancel_third, whole=False)
    cancel = told.wait(MAPS, "second")
    third.append(told.wait(MAPS, "third") or (lambda: None))
    told.wait(MAPS, "fourth")
    assert cancel
    cancel()
    cancel()
    small.make(MAPS, "a")
    assert told.heard == [("fourth", 5)]


def test_what_comes_with_the_cluster_counts_once_somebody_asks(told: Told) -> None:
    """Given first objects, when they are waited for, in parts or as a whole, then who wants the
    whole has them at once, the other when somebody asks for them.
    """
    small = told.small
    assert told.wait(ROLES, "part")
    assert not small.storage.has(ROLES)
    small.buckets.bucket(ROLES)
    assert told.heard == [("part", None)]
    other = Told(Small())
    assert other.wait(ROLES, "whole", whole=True) is None
    assert other.small.storage.has(ROLES)
    assert told.wait(ROLES, "late") is None


def test_nobody_waits_for_what_is_not_served_or_cannot_be_watched(told: Told) -> None:
    """Given resources that are unknown, cannot be watched or are gone, when somebody waits, then
    there is nothing to wait for.
    """
    assert told.wait(GroupResource("x", "none"), "unknown") is None
    assert told.wait(REVIEWS, "reviews") is None
    told.small.resources.install(older(KINDS[0]))
    assert told.wait(MAPS, "maps") is None


def test_changes_of_all_are_told_once_a_resource(told: Told) -> None:
    """Given a cluster with first objects and with changes, when somebody waits for changes, then
    what was changed is told at once, the others once they are, and nothing after cancelling.
    """
    small = told.small
    small.buckets.bucket(ROLES)
    small.buckets.bucket(NODES)
    small.make(MAPS, "a")
    heard: list[tuple[str, int | None]] = []
    cancel = small.presence.await_changes(lambda resource, since: heard.append((resource.resource, since)))
    assert heard == [("maps", None)]
    small.make(MAPS, "b")
    small.remove(ROLES, "new")
    small.make(ROLES, "more")
    small.make(NODES, "n")
    small.make(NODES, "m")
    revision = small.storage.revision
    assert heard == [("maps", None), ("roles", None), ("nodes", revision - 2)]
    more: list[str] = []
    small.presence.await_changes(lambda resource, _: more.append(resource.resource))
    assert more == ["roles", "nodes", "maps"]
    cancel()
    small.make(REVIEWS, "r")
    assert (len(heard), more[3:]) == (3, ["reviews"])


def test_a_resource_that_goes_ends_the_waiting_for_it(told: Told) -> None:
    """Given who waits for an object in an empty bucket, when its resource goes and comes back, then
    the first object of the new one wakes them.
    """
    small = told.small
    small.buckets.bucket(NODES)
    told.wait(NODES, "n")
    small.resources.remove(KINDS[1])
    small.resources.install(KINDS[1])
    assert told.heard == []
    small.make(NODES, "a")
    assert told.heard == [("n", 5)]


@pytest.mark.parametrize(
    ("metadata", "woken"),
    [
        ({}, False),
        ({"finalizers": ["a.b/c"]}, False),
        ({"finalizers": ["orphan"]}, True),
        ({"finalizers": ["foregroundDeletion"]}, True),
        ({"ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}]}, True),
    ],
)
def test_who_waits_for_ties_is_woken_by_owners_and_finalizers(told: Told, metadata: dict[str, object], woken: bool) -> None:
    """Given who waits for what concerns a garbage collector, when objects come, then an owner or a
    finalizer for dependents wakes them once; where there is one, there is nothing to wait for.
    """
    heard: list[int] = []
    assert told.small.presence.await_owned(lambda: heard.append(1))
    told.small.make(MAPS, "a", **metadata)
    told.small.make(MAPS, "b", **metadata)
    assert heard == [1] * woken
    assert (told.small.presence.await_owned(lambda: None) is None) == woken
