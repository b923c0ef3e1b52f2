"""What parts of controllers do when the server refuses, when time passes and when they are told
twice.
"""

from typing import Any

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.client.resources import CONTROLLER_REVISIONS, PODS
from fakekube.client.transport import TransportError
from fakekube.runtime import controller, podcontrol, pods, revisions
from fakekube.runtime.component import is_killable
from fakekube.runtime.controller import Worker
from fakekube.runtime.owned import OwnedObjects, selector_of
from fakekube.runtime.ownership import ClaimFailed, ControllerRefManager, recheck_deletion
from fakekube.runtime.parts import Parts
from tests.runtime import harness as harnesses
from tests.runtime.harness import WEBS

HARNESS: Any = harnesses.harness
DELETED = "2026-01-01T00:00:00Z"


class All:
    def matches(self, _: Any) -> bool:
        return True


@pytest.mark.parametrize(("kind", "selector", "matched"), [
    ("Web", {"matchLabels": {"a": "1"}}, [True, False]), ("Web", {}, [True, True]), ("Web", None, [False, False]),
    ("Web", {"matchExpressions": [{"key": "a", "operator": "Is", "values": ["1"]}]}, [False, False]),
    ("ReplicationController", {"a": "1"}, [True, False]), ("ReplicationController", None, [True, True])])
def test_what_owners_select(kind: str, selector: Any, matched: list[bool]) -> None:
    """Given the selector of an owner / when labels are looked at / then it matches as upstream's
    does; one that is invalid matches nothing.
    """
    found = selector_of({"kind": kind, "spec": {"selector": selector}})
    assert [found.matches(labels) for labels in ({"a": "1"}, {"a": "2"})] == matched


class Listens:
    """A component that hears of the pods of webs, and notes whose did change."""

    name, user_agent, user = "listens", "listens", None
    owned: OwnedObjects

    async def start(self, ctx: Any) -> None:
        self.heard = list[str]()
        queue = ctx.queue()
        self.owned = OwnedObjects(ctx, WEBS, queue)
        Worker(ctx, queue, self.hear).start()

    async def hear(self, key: Any) -> None:
        self.heard.append(str(key))

    async def stop(self) -> None:
        """There is nothing to stop."""


async def test_children_that_did_not_change_are_no_news() -> None:
    """Given a web with a pod / when the pod is told again in its version / then nobody looks at the
    web; when it changes, somebody does.
    """
    async with HARNESS() as world:
        web = await world.web("a")
        made = await world.client.create(
            PODS, {"metadata": {"name": "p", "ownerReferences": [meta.controller_reference(web)]}})
        listens = Listens()
        await world.start(listens)
        assert listens.heard == ["default/a"]
        informer = world.manager.informers.get(PODS)
        informer.apply("MODIFIED", dict(made))
        await world.driver.settle()
        assert listens.heard == ["default/a"]
        informer.apply("MODIFIED", {**made, "metadata": {**made["metadata"], "resourceVersion": "99"}})
        await world.driver.settle()
        assert listens.heard == ["default/a"] * 2
        reference = meta.controller_reference(web)
        owners = [listens.owned.owner_of(made, {**reference, **other}) for other in (
            {}, {"apiVersion": "other.com/v1"}, {"apiVersion": "example.com/v2"}, {"kind": "Other"}, {"uid": "x"},
            {"name": "b"})]
        assert [None if owner is None else meta.name_of(owner) for owner in owners] == ["a", None, "a", None, None, None]


@pytest.mark.parametrize(("code", "claims"), [(404, True), (422, True), (409, False), (500, False)])
async def test_releases_that_are_refused(code: int, claims: bool) -> None:
    """Given a child that no longer matches / when its release is refused since it is gone or
    another one / then that is fine; any other refusal is told.
    """
    async with HARNESS() as world:
        web = await world.web("a")
        pod = await world.client.create(
            PODS, {"metadata": {"name": "p", "ownerReferences": [meta.controller_reference(web)]}})

        def refuse(request: Request) -> None:
            if request.method == "PATCH":
                raise APIError(code, "Whatever", "refused")

        world.server.fault = refuse
        manager = ControllerRefManager(world.client, PODS, web, All())
        if claims:
            assert await manager.claim([pod], lambda _: False) == []
        else:
            with pytest.raises(ClaimFailed, match=r"^refused$"):
                await manager.claim([pod], lambda _: False)


async def test_orphans_elsewhere_and_owners_on_their_way_out() -> None:
    """Given an orphan in another namespace, and an owner that was deleted a moment ago / when they
    are claimed / then the first is left alone, and the second adopts nothing and says why.
    """
    async with HARNESS() as world:
        web = await world.web("a")
        near = await world.client.create(PODS, {"metadata": {"name": "p"}})
        far = await world.client.create(PODS, {"metadata": {"name": "q"}}, "other")
        assert await ControllerRefManager(world.client, PODS, web, All()).claim([far, near]) == [near]
        assert "ownerReferences" not in (await world.client.get(PODS, "q", "other"))["metadata"]
        world.server.objects["webs", "default", "a"]["metadata"]["deletionTimestamp"] = DELETED
        with pytest.raises(APIError) as refused:
            await recheck_deletion(world.client, WEBS, web)()
        assert (refused.value.code, refused.value.reason, refused.value.message) == (
            409, "Conflict", "default/a has just been deleted")


async def test_two_parts_of_a_name() -> None:
    """Given a component with a part / when another of its name is to start / then that is refused,
    and the first runs on.
    """
    async with HARNESS() as world:
        await world.start()
        parts = Parts(world.manager._root)
        declared = controller("twin").for_(WEBS)
        await parts.start(declared.complete(lambda _: Nothing()))
        with pytest.raises(ValueError, match=r"^there is a controller 'twin' already$"):
            await parts.start(declared.complete(lambda _: Nothing()))
        await parts.stop()
        await parts.start(declared.complete(lambda _: Nothing()))
        await parts.stop()


class Nothing:
    async def reconcile(self, _: Any) -> None:
        """Nothing is to be done."""


@pytest.mark.parametrize("error", [APIError(403, "Forbidden", "no"), TransportError("away")])
async def test_pods_that_cannot_be_deleted(error: Exception) -> None:
    """Given a server that refuses to delete, or is away / when a pod is deleted / then the owner
    gets a Warning, and the error is raised; a pod that is gone is no error and nothing to tell of.
    """
    async with HARNESS() as world:
        web, told = await world.web("a"), list[tuple[Any, ...]]()

        class Recorder:
            def event(self, *values: Any) -> None:
                told.append(values[1:])

        control = podcontrol.PodControl(world.client, Recorder())  # type: ignore[arg-type]  # all that is asked of it
        pod = {"metadata": {"name": "p", "namespace": "default"}}
        assert await control.delete(web, pod) is False
        await world.client.create(PODS, pod)

        def fault(request: Request) -> None:
            if request.method == "DELETE":
                raise error

        world.server.fault = fault
        with pytest.raises(type(error)) as raised:
            await control.delete(web, pod)
        assert raised.value is error or str(raised.value) == str(error)
        world.server.fault = None
        assert await control.delete(web, pod) is True
        assert told == [
            ("Warning", "FailedDelete", f"Error deleting: {error}"), ("Normal", "SuccessfulDelete", "Deleted pod: p")]


async def test_creations_whose_connection_breaks() -> None:
    """Given ten pods to create / when a connection breaks on the way / then its batch is ended, the
    break is the first error, and what came before is counted.
    """
    ended = APIError(403, "Forbidden", "gone", details={"causes": [{"reason": "NamespaceTerminating"}]})
    refused = APIError(403, "Forbidden", "no")
    for faults, wanted, tried in (
        ({}, (10, None), 10), ({4: TransportError("away"), 5: refused}, (5, (500, "", "away")), 7),
        ({4: refused, 5: TransportError("away")}, (5, (403, "Forbidden", "no")), 7),
        ({0: refused}, (0, (403, "Forbidden", "no")), 1), ({4: ended}, (10, None), 10)):
        seen: list[int] = []

        async def create(item: int, faults: Any = faults, seen: list[int] = seen) -> None:
            seen.append(item)
            if item in faults:
                raise faults[item]

        made, error = await podcontrol.slow_start(range(10), create)
        assert (made, error and (error.code, error.reason, error.message)) == wanted
        assert len(seen) == tried


def test_a_pod_that_does_not_say_since_when_it_is_ready_goes_first() -> None:
    """Given two ready pods, of which one does not say since when / when they are ranked / then that
    one goes first, as upstream's afterOrZero has it.
    """
    def pod(uid: str, **condition: str) -> dict[str, Any]:
        return {
            "metadata": {"name": uid, "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"nodeName": "n"},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", **condition}]}}

    for silent, timed in (("a", "b"), ("b", "a")):
        both = [pod(silent), pod(timed, lastTransitionTime="2026-01-01T00:00:05Z")]
        for order in (both, both[::-1]):
            ranked = pods.ranked_for_deletion(order, {}, 1_800_000_000.0, costs=True)
            assert [meta.name_of(each) for each in ranked] == [silent, timed]


async def test_the_names_of_revisions() -> None:
    """Given a name that is taken / when a revision is created / then it is the one that is there if
    it holds the same, and gets another name if not; another refusal is raised.
    """
    async with HARNESS() as world:
        web = await world.web("a")
        client = world.client
        first = revisions.new_revision(web, {"x": 1}, 1, {}, 0)
        made, collisions = await revisions.create(client, web, first, 0)
        assert collisions == 0
        assert await revisions.create(client, web, {**first, "revision": 7}, 0) == (made, 0)
        # as if the hash of other data were the same
        world.server.objects["controllerrevisions", "default", meta.name_of(made)]["data"] = {"x": 2}
        other, collisions = await revisions.create(client, web, first, 0)
        assert collisions == 1
        assert meta.name_of(other) == revisions.revision_name("a", revisions.data_hash({"x": 1}, 1)) != meta.name_of(made)
        assert len(world.server.names("controllerrevisions")) == 2
        assert await revisions.renumber(client, other, 1) == other
        assert (await revisions.renumber(client, other, 3))["revision"] == 3
        assert (await client.get(CONTROLLER_REVISIONS, meta.name_of(other)))["revision"] == 3

        def fault(_: Request) -> None:
            raise APIError(403, "Forbidden", "no")

        world.server.fault = fault
        with pytest.raises(APIError, match=r"^no$"):
            await revisions.create(client, web, first, 0)


def test_who_can_die_at_once() -> None:
    """Given components with and without a way to die at once / then they are told apart."""
    assert not is_killable(Listens())

    class Dies(Listens):
        def kill(self) -> None:
            """Be dead."""

    assert is_killable(Dies())
