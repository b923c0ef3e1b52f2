"""Buckets come to be when somebody asks, with what a cluster comes with in them."""

from fakekube.apimachinery.causes import CAUSE, Cause
from fakekube.apimachinery.gvk import GroupResource
from fakekube.registry.firstobjects import UnaskedFirstObjects
from fakekube.storage.memory import Bucket, Record, Storage
from tests.registry.small_storage import KINDS, MAPS, NODES, ROLES, STARTED, Small, older


def test_a_bucket_is_made_once_and_by_either_name() -> None:
    """Given nobody asked, when a resource is asked for by its name or names, then its bucket is
    made, told to those who wait for that, and is the same from then on.
    """
    small, made, twice = Small(), [], []
    end = small.buckets.on_made(lambda bucket: made.append(bucket.resource))
    small.buckets.on_made(lambda bucket: twice.append(len(bucket)))
    assert small.buckets.existing(MAPS) is None
    assert not small.storage.has(MAPS)
    maps, roles = small.buckets.bucket(MAPS), small.buckets.named("rbac", "roles")
    assert small.buckets.bucket(MAPS) is small.buckets.named("", "maps") is small.buckets.existing(MAPS) is maps
    assert small.buckets.named("rbac", "roles") is small.buckets.bucket(ROLES) is roles
    assert (made, twice) == ([MAPS, ROLES], [0, 2])
    end()
    small.buckets.bucket(NODES)
    assert (made, twice) == ([MAPS, ROLES], [0, 2, 0])


def test_a_bucket_of_a_state_that_was_taken_over_is_as_it_was() -> None:
    """Given a storage that has buckets already, when they are asked for, then nothing is added,
    and others may find them without making one.
    """
    storage = Storage()
    storage.add_bucket(ROLES, fields=None)
    small, made = Small(storage), []
    small.buckets.on_made(lambda bucket: made.append(bucket.resource))
    found = small.buckets.existing(ROLES)
    assert found is storage.bucket(ROLES)
    assert (len(found), made) == (0, [ROLES])
    assert small.buckets.existing(ROLES) is found
    assert made == [ROLES]
    assert small.buckets.existing(MAPS) is None
    assert small.buckets.is_unchanged(found), "nobody has written"


def test_a_bucket_is_opened_as_its_kind_says() -> None:
    """Given kinds with fields to select by, of a definition, and none, when their buckets are
    opened in another storage, then fields are there, keys are sorted, and there is nothing in it.
    """
    small, other = Small(), Storage()
    maps, nodes = small.buckets.open_in(other, MAPS), small.buckets.open_in(other, NODES)
    roles, unknown = small.buckets.open_in(other, ROLES), small.buckets.open_in(other, GroupResource("x", "none"))
    assert small.buckets.open_in(other, MAPS) is maps
    assert (len(roles), len(unknown), small.storage.has(MAPS)) == (0, 0, False)
    tree = {"metadata": {"name": "a", "uid": "u"}, "kind": "K", "color": "red", "apiVersion": "v1"}
    assert maps.create({**tree}).fields == {"color": "red"}
    assert nodes.create({**tree}).data.startswith(b'{"apiVersion":"v1","color":"red","kind":"K","metadata":')
    for bucket in (roles, unknown):
        assert bucket.create({**tree}).data.startswith(b'{"kind":"K","apiVersion":"v1","metadata":')


def test_first_objects_have_the_uids_and_times_of_the_start() -> None:
    """Given roles that a cluster comes with, when they are first asked for, in this order or
    another, then they are there with the same uids, the time of the start and nobody's cause, and
    the one from before the history is not a part of it.
    """
    small, later = Small(), Small()
    later.make(MAPS, "a")
    seen: list[Cause | None] = []

    def look(_: Record) -> bool:
        seen.append(CAUSE.get())
        return False

    small.storage.await_record(look, lambda: None)
    mine = Cause(5.0, "GET", "/", "ann", "", None)
    token = CAUSE.set(mine)
    try:
        trees = [record.tree() for record in small.buckets.bucket(ROLES).all()]
        assert CAUSE.get() is mine
    finally:
        CAUSE.reset(token)
    assert seen == [None]
    again = {record.name: record.uid for record in later.buckets.bucket(ROLES).all()}
    assert {tree["metadata"]["name"]: tree["metadata"]["uid"] for tree in trees} == again
    assert len({*again.values()}) == 2
    by_name = {tree["metadata"]["name"]: tree for tree in trees}
    old, new = by_name["old"]["metadata"], by_name["new"]["metadata"]
    assert (old["resourceVersion"], old["creationTimestamp"], old["managedFields"]) == (
        "1",
        STARTED,
        [{"manager": "m", "time": STARTED}],
    )
    assert (new["resourceVersion"], new["creationTimestamp"]) == ("6", STARTED)
    assert [by_name[name]["since"] for name in ("old", "new")] == [STARTED] * 2
    assert small.storage.revision == 6


def test_first_objects_are_no_change() -> None:
    """Given buckets with first objects and without, when somebody writes, then those are changed
    and no others.
    """
    small = Small()
    roles, maps, nodes = (small.buckets.bucket(resource) for resource in (ROLES, MAPS, NODES))
    assert [small.buckets.is_unchanged(bucket) for bucket in (roles, maps, nodes)] == [True] * 3
    small.remove(ROLES, "new")
    small.make(MAPS, "a")
    assert [small.buckets.is_unchanged(bucket) for bucket in (roles, maps, nodes)] == [False, False, True]


def test_the_bucket_of_what_is_served_no_longer_goes_if_it_is_empty() -> None:
    """Given kinds in one version and two, with objects and without, when they are removed, then the
    bucket goes with the last version of what has no objects.
    """
    small = Small()
    maps, nodes, roles, _ = KINDS
    small.make(MAPS, "a")
    small.buckets.bucket(NODES)
    other = older(nodes)
    small.resources.install(other)
    small.resources.remove(maps, roles)
    assert [small.storage.has(resource) for resource in (MAPS, ROLES)] == [True, False]
    small.resources.install(nodes)
    assert small.storage.has(NODES)
    small.resources.remove(nodes)
    assert not small.storage.has(NODES)
    small.resources.install(nodes)
    fresh: Bucket = small.buckets.bucket(NODES)
    assert fresh is small.storage.bucket(NODES)


def test_a_fork_takes_along_what_nobody_asked_for() -> None:
    """Given first objects from before the history, when a fork is made before somebody asks for
    them and after, then it has them once, with their uids, and what was asked for is as it is.
    """
    small = Small()
    unasked = UnaskedFirstObjects(small.writer, small.buckets.open_in)
    before, second = unasked.add_to(small.storage.fork()), unasked.add_to(small.storage.fork())
    assert not small.storage.has(ROLES)
    uids = [[record.uid for record in each.bucket(ROLES).all()] for each in (before, second)]
    assert uids[0] == uids[1] == [record.uid for record in small.buckets.bucket(ROLES).all()]
    assert not before.has(MAPS)
    small.remove(ROLES, "new")
    after = unasked.add_to(small.storage.fork())
    assert [record.name for record in after.bucket(ROLES).all()] == ["old"]
