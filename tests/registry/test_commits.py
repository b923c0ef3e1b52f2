"""Writes that others come between, names that are taken, and what the store does by itself."""

from collections.abc import Callable
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, LEASES, NAMESPACES
from fakekube.composition.cluster import Cluster
from fakekube.registry.attributes import AdmitAll, Attributes
from fakekube.registry.store import Store
from fakekube.registry.strategy import WriteContext
from fakekube.storage.memory import Record
from fakekube.util.rng import Rng
from fakekube.util.turns import UNITS


class Namer(Rng):
    """Gives these suffixes, and then the last one for ever."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(0)
        self.suffixes = list(suffixes)

    def suffix(self, *_: Any) -> str:
        return self.suffixes.pop(0) if len(self.suffixes) > 1 else self.suffixes[0]


@pytest.fixture
def store(cluster: Cluster) -> Store:
    return cluster.apiserver.stores.named("", "v1", "configmaps")


def context(store: Store, **more: Any) -> WriteContext:
    return WriteContext(store.cluster, more.pop("rng", Rng(0)), "2026-01-01T00:00:09Z", UserInfo("ann"), **more)


def tree(name: str, **data: str) -> Tree:
    return {"metadata": {"name": name}, "data": data}


def disturb(store: Store, record: Record, value: str) -> Record:
    """Another write."""
    other = record.copy_tree()
    other["data"] = {"other": value}
    return store.bucket.update(other, record)


def disturbed(store: Store, times: int, **metadata: str) -> tuple[Callable[[Tree | None], Tree], list[int]]:
    """A change during which another one comes, so many times."""
    tries: list[int] = []

    def change(old: Tree | None) -> Tree:
        assert old is not None
        tries.append(int(old["metadata"]["resourceVersion"]))
        meta = {**old["metadata"], **metadata}
        if not metadata:
            meta.pop("resourceVersion")
        if len(tries) <= times:
            disturb(store, store.find("default", "a"), str(len(tries)))
        return {**old, "metadata": meta, "data": {"mine": "x"}}

    return change, tries


async def refusal(awaitable: Any) -> APIError:
    with pytest.raises(APIError) as caught:
        await awaitable
    return caught.value


async def test_an_update_begins_again_when_another_write_came_between(store: Store) -> None:
    """Given writes that come during an update, when they are four, then the fifth try sees the last
    of them and is stored; when they are five, it is a Conflict; and none is stored on the way.
    """
    made = (await store.create(context(store), "default", tree("a"))).tree
    first = int(made["metadata"]["resourceVersion"])
    change, tries = disturbed(store, 4)
    written = await store.update(context(store, operation="UPDATE"), "default", "a", change)
    assert tries == [first, first + 1, first + 2, first + 3, first + 4]
    assert (written.tree["data"], written.created, written.record) == ({"mine": "x"}, False, store.find("default", "a"))
    assert written.tree["metadata"]["resourceVersion"] == str(first + 5)
    change, tries = disturbed(store, 5)
    error = await refusal(store.update(context(store, operation="UPDATE"), "default", "a", change))
    assert (error.code, error.reason, error.message, len(tries)) == (
        409,
        "Conflict",
        (
            'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the '
            "latest version and try again"
        ),
        5,
    )
    assert store.find("default", "a").tree()["data"] == {"other": "5"}


async def test_who_names_a_version_is_refused_at_once(store: Store) -> None:
    """Given an update that names the version that it saw, when another write comes during it, then
    it is a Conflict at the first try.
    """
    made = (await store.create(context(store), "default", tree("a"))).tree
    change, tries = disturbed(store, 1, resourceVersion=made["metadata"]["resourceVersion"])
    error = await refusal(store.update(context(store, operation="UPDATE"), "default", "a", change))
    assert (error.code, len(tries)) == (409, 1)


async def test_a_name_that_is_taken(store: Store) -> None:
    """Given an object, when another is made under its name, or would be, then it is refused in
    upstream's words.
    """
    await store.create(context(store), "default", tree("a"))
    for dry_run in (False, True):
        error = await refusal(store.create(context(store, dry_run=dry_run), "default", tree("a")))
        assert error.status() == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "code": 409,
            "message": 'configmaps "a" already exists',
            "reason": "AlreadyExists",
            "details": {"name": "a", "kind": "configmaps"},
        }


async def test_a_name_that_is_made_up_is_tried_eight_times(store: Store) -> None:
    """Given names that are made up and taken, when an object is made, then the first free one of
    eight is its name; when all are taken, it is refused, to be tried again in a second.
    """
    for name in ("x-aaaaa", "x-bbbbb"):
        await store.create(context(store), "default", tree(name))

    def ask(*suffixes: str) -> Any:
        return store.create(context(store, rng=Namer(*suffixes)), "default", {"metadata": {"generateName": "x-"}})

    assert (await ask("aaaaa", "bbbbb", "ccccc")).tree["metadata"]["name"] == "x-ccccc"
    assert (await ask(*["aaaaa"] * 7, "ddddd")).tree["metadata"]["name"] == "x-ddddd"
    error = await refusal(ask(*["aaaaa"] * 8, "eeeee"))
    assert error.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": ('configmaps "x-aaaaa" already exists, the server was not able to generate a unique name for the object'),
        "reason": "AlreadyExists",
        "details": {"name": "x-aaaaa", "kind": "configmaps", "retryAfterSeconds": 1},
        "code": 409,
    }
    named = {"metadata": {"name": "given", "generateName": "x-"}}
    assert (await store.create(context(store), "default", named)).tree["metadata"]["name"] == "given"


async def test_a_name_whose_object_is_on_its_way_out(cluster: Cluster, store: Store) -> None:
    """Given an object that a finalizer holds while it is deleted, when another is made under its
    name, then the refusal says so, also to who puts what may be made by a PUT.
    """
    await store.create(context(store), "default", {"metadata": {"name": "b", "finalizers": ["x.io/y"]}})
    await cluster.client.delete(CONFIG_MAPS, "b", "default")
    error = await refusal(store.create(context(store), "default", tree("b")))
    assert error.message == 'object is being deleted: configmaps "b" already exists'


async def test_a_put_that_another_create_overtakes(cluster: Cluster) -> None:
    """Given a kind that a PUT may create, when another creates the object while admission looks at
    it, then the PUT is refused, as a create is.
    """
    store = cluster.apiserver.stores.named("coordination.k8s.io", "v1", "leases")

    class Overtaken(AdmitAll):
        async def validate(self, attrs: Attributes) -> None:
            cluster.apiserver.stores.admission = AdmitAll()
            await store.create(context(store), "default", {"metadata": {"name": "l"}, "spec": {}})

    before, cluster.apiserver.stores.admission = cluster.apiserver.stores.admission, Overtaken()
    try:
        error = await refusal(
            store.update(context(store, operation="UPDATE"), "default", "l", lambda _: {"metadata": {"name": "l"}, "spec": {}})
        )
    finally:
        cluster.apiserver.stores.admission = before
    assert (error.reason, error.message) == ("AlreadyExists", 'leases.coordination.k8s.io "l" already exists')


async def test_a_resource_that_goes_while_admission_looks_stores_nothing(cluster: Cluster) -> None:
    """Given a create, when its resource is removed while admission looks at it, then the answer is
    that of a path that nothing claims.
    """
    store = cluster.apiserver.stores.named("", "v1", "podtemplates")

    class Removing(AdmitAll):
        async def validate(self, attrs: Attributes) -> None:
            cluster.apiserver.resources.remove(store.kind)

    before, cluster.apiserver.stores.admission = cluster.apiserver.stores.admission, Removing()
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    try:
        error = await refusal(store.create(context(store), "default", {"metadata": {"name": "a"}, "template": template}))
    finally:
        cluster.apiserver.stores.admission = before
    assert (error.code, error.reason, error.message) == (404, "NotFound", "the server could not find the requested resource")


async def test_admission_is_told_what_is_written(cluster: Cluster, store: Store) -> None:
    """Given writes of all sorts, when admission sees them, in both passes, then it is told the
    operation, the names, the old object, and a made up name after the first pass only.
    """
    told: list[tuple[str, ...]] = []

    class Listening(AdmitAll):
        async def admit(self, attrs: Attributes) -> None:
            self.note("admit", attrs)

        async def validate(self, attrs: Attributes) -> None:
            self.note("validate", attrs)

        def note(self, which: str, attrs: Attributes) -> None:
            told.append(
                (
                    which,
                    attrs.operation,
                    attrs.subresource,
                    attrs.namespace,
                    attrs.name,
                    *("-" if each is None else each["metadata"].get("name", "") for each in (attrs.obj, attrs.old)),
                )
            )

    before, cluster.apiserver.stores.admission = cluster.apiserver.stores.admission, Listening()
    client = cluster.client
    try:
        made = await client.create(CONFIG_MAPS, {"metadata": {"generateName": "x-"}}, "default")
        name = made["metadata"]["name"]
        await client.update(CONFIG_MAPS, {**made, "data": {"a": "b"}})
        await client.delete(CONFIG_MAPS, name, "default")
        await client.update(LEASES, {"metadata": {"name": "l", "namespace": "default"}, "spec": {}})
    finally:
        cluster.apiserver.stores.admission = before
    assert told == [
        ("admit", "CREATE", "", "default", "", "", "-"),
        ("validate", "CREATE", "", "default", name, name, "-"),
        ("admit", "UPDATE", "", "default", name, name, name),
        ("validate", "UPDATE", "", "default", name, name, name),
        ("admit", "DELETE", "", "default", name, "-", name),
        ("validate", "DELETE", "", "default", name, "-", name),
        ("admit", "CREATE", "", "default", "l", "l", "-"),
        ("validate", "CREATE", "", "default", "l", "l", "-"),
    ]


async def test_a_status_that_the_server_writes_by_itself(cluster: Cluster) -> None:
    """Given an object, when the server writes its status, past everything, then the rest stays as
    it was, the status is the server's, and of what is not there nothing is written.
    """
    await cluster.client.create(NAMESPACES, {"metadata": {"name": "n", "labels": {"a": "b"}}})
    state, storage = cluster.apiserver.cluster, cluster.apiserver.storage
    before, revision = state.lookup("", "namespaces", "", "n"), storage.revision
    assert before is not None
    state.write_status("", "namespaces", "", "none", {"phase": "Odd"}, now="2026-01-01T00:00:07Z")
    assert storage.revision == revision
    state.write_status("", "namespaces", "", "n", {"phase": "Terminating"}, now="2026-01-01T00:00:07Z")
    entries = [
        *before["metadata"]["managedFields"],
        {
            "manager": "kube-apiserver",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "2026-01-01T00:00:07Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:status": {"f:phase": {}}},
            "subresource": "status",
        },
    ]
    metadata = {**before["metadata"], "resourceVersion": str(revision + 1), "managedFields": entries}
    assert state.lookup("", "namespaces", "", "n") == {**before, "metadata": metadata, "status": {"phase": "Terminating"}}
    assert storage.revision == revision + 1


async def test_what_is_stored_is_found_by_name_and_by_namespace(cluster: Cluster) -> None:
    """Given objects in two namespaces, when the server looks for them, then it finds one by its
    name, those of a namespace, or all, in the order of their names.
    """
    await cluster.client.create(NAMESPACES, {"metadata": {"name": "n"}})
    for namespace, name in (("n", "b"), ("default", "c"), ("n", "a")):
        await cluster.client.create(LEASES, {"metadata": {"name": name}}, namespace)

    def names(namespace: str) -> list[str]:
        found = state.select("coordination.k8s.io", "leases", namespace)
        return [each["metadata"]["name"] for each in found if each["metadata"]["namespace"] in ("n", "default")]

    state = cluster.apiserver.cluster
    assert [names(namespace) for namespace in ("n", "default", "", "none")] == [["a", "b"], ["c"], ["c", "a", "b"], []]
    assert state.lookup("coordination.k8s.io", "leases", "n", "c") is None
    found = state.lookup("coordination.k8s.io", "leases", "default", "c")
    assert found is not None
    assert found["metadata"]["name"] == "c"


async def test_the_store_of_a_kind_is_made_once_and_forgotten_with_it(cluster: Cluster, store: Store) -> None:
    """Given stores, when they are asked for again, then they are the same until the kind changes;
    there is none of what is not served.
    """
    stores, resources = cluster.apiserver.stores, cluster.apiserver.resources
    assert stores.named("", "v1", "configmaps") is stores.store(store.kind) is store
    assert store.fields is store.fields
    with pytest.raises(KeyError, match="nothings"):
        stores.named("", "v1", "nothings")
    resources.install(store.kind)
    assert stores.store(store.kind) is not store


async def test_work_of_a_stage_that_takes_long_is_done_in_turns(store: Store) -> None:
    """Given rules that take longer than a turn, when an object is created, then they are asked
    again with turns, and the object is stored once.
    """
    tries: list[int] = []
    strategy = store.strategy

    class Long(type(strategy)):  # type: ignore[misc]
        def validate_create(self, obj: Tree, of_metadata: Any, ctx: WriteContext) -> Any:
            tries.append(1)
            for _ in range(3):
                ctx.turn.spend(UNITS)
            return super().validate_create(obj, of_metadata, ctx)

    store.__dict__["strategy"] = Long()
    before = store.cluster.select("", "configmaps", "default")
    made = await store.create(context(store), "default", tree("a"))
    assert (len(tries), made.created, len(store.cluster.select("", "configmaps", "default"))) == (2, True, len(before) + 1)
