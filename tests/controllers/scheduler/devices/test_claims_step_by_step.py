"""The steps of a pod with claims, each alone: what is refused, what is undone, and what the server
does not do.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng
from fakekube_controllers.scheduler.devices.pod_claims import NodeAllocation, PodClaims
from fakekube_controllers.scheduler.devices.references import ClaimProblem
from fakekube_controllers.scheduler.devices.tracker import ClaimTracker
from fakekube_controllers.scheduler.devices.writer import ClaimWriter
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins.dynamic_resources import DynamicResources
from tests.controllers.scheduler.devices.cases import allocation, body, claim, device_class, devices, first_of, request, slice_of
from tests.controllers.scheduler.plugins.cases import Handle, Objects, node, pod, said, snapshot

FINALIZER = "resource.kubernetes.io/delete-protection"
ALL = (
    "DynamicResourceAllocation", "DRAExtendedResource", "DRAPrioritizedList", "DRAWorkloadResourceClaims",
    "DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")


def without(gate: str) -> tuple[str, ...]:
    """All gates but one."""
    return tuple(each for each in ALL if each != gate)


USES = {"resourceClaims": [{"name": "x", "resourceClaimName": "c"}]}
ASKS = {"requests": {"example.com/gpu": "1"}}
NIC: Any = {**device_class(), "spec": {"extendedResourceName": "example.com/gpu"}}
UNRESOLVABLE, ERROR, UNSCHEDULABLE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.ERROR, Code.UNSCHEDULABLE


class Server:
    """Remembers what it is asked for; refuses with the codes that it is given, one after the other.
    """

    def __init__(self, *codes: int) -> None:
        self.codes, self.asked = list(codes), list[Any]()

    def _answer(self, *asked: Any) -> Any:
        self.asked.append(asked)
        code = self.codes.pop(0) if self.codes else 0
        if code:
            raise APIError(code, "R", f"no {code}")
        return asked[-1]

    async def create(self, _: Any, made: Any) -> Any:
        """Make it."""
        own = {"name": "made", "uid": "m", "resourceVersion": "1"}
        return self._answer("create", {**made, "metadata": {**made["metadata"], **own}})

    async def update(self, _: Any, made: Any, subresource: str = "") -> Any:
        """Write it."""
        return self._answer(f"update {subresource}".strip(), made)

    async def update_status(self, _: Any, made: Any) -> Any:
        """Write its status."""
        return self._answer("update status", made)

    async def get(self, *_: Any) -> Any:
        """As it is now."""
        return self._answer("get", special(finalizers=[FINALIZER, "other"]))

    async def patch(self, _: Any, name: str, *rest: Any, **__: Any) -> Any:
        """Change it."""
        return self._answer("patch", name, rest[-1])

    async def delete(self, _: Any, name: str, namespace: str, **options: Any) -> Any:
        """Delete it."""
        return self._answer("delete", name, namespace, options)


class World(Handle):
    """What the plugin is given, and the plugin."""

    def __init__(self, *codes: int, gates: Any = ALL, groups: Any = None, classes: Any = (NIC,), **objects: Any) -> None:
        super().__init__(gates=gates, deviceclasses=list(classes), **objects)
        self.common: dict[str, Any] = {}
        self.groups, self.client, self.spawned = groups, Server(*codes), list[Any]()
        self.rng: Any = Rng(0)
        self.clock: Any = ManualClock()
        self.handlers: list[Any] = []
        made: Any = self
        self.plugin = DynamicResources({"bindingTimeout": "600s"}, made)
        for handler in self.handlers:
            handler()
        self.work = self.plugin._work

    def lister(self, resource: Any) -> Any:
        """What the test has put there, by its controllers, too."""
        found: Any = Objects(self.objects.setdefault(resource.plural, []))
        found.controlled_by = lambda uid: [
            each for each in found.objects if any(owner["uid"] == uid for owner in each["metadata"].get("ownerReferences") or ())]
        return found

    def add_handler(self, resource: Any, added: Any, *_: Any) -> None:
        """Those of classes are told at once."""
        if resource.plural == "deviceclasses":
            self.handlers.append(added)

    def spawn(self, work: Any, what: str) -> None:
        """Keep it."""
        self.spawned.append((work, what))

    def pre_filter(self, of: Any, pending: Any = None) -> Any:
        """What the step says; the claims."""
        claims = PodClaims([], ())
        return said(self.work.pre_filter(pod_info(of), claims, pending or {})), claims


def special(finalizers: Any = (), requests: Any = (), **status: Any) -> Any:
    """A claim that was made for extended resources."""
    made = claim(*requests, name="s")
    made["metadata"] |= {
        "finalizers": list(finalizers), "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [{"uid": "n/p", "controller": True}]}
    return {**made, **({"status": status} if status else {})}


@pytest.mark.parametrize(("made", "gates", "code", "text"), [
    (claim(request()), ALL, None, None), (claim(request(cls="none")), ALL, UNRESOLVABLE, (
        "request r: device class none does not exist")),
    (claim(first_of("r", a=body(), b=body(cls="none"))), ALL, UNRESOLVABLE, "request r/b: device class none does not exist"),
    (claim(first_of("r", a=body())), without("DRAPrioritizedList"), UNRESOLVABLE, (
        "resource claim n/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled")),
    (claim({"name": "r"}), ALL, UNRESOLVABLE, "resource claim n/c, request r: unknown request type"),
    (claim(request(cls="")), ALL, ERROR, "request r: unsupported request type"),
])
def test_claims_that_no_node_can_have(made: Any, gates: Any, code: Any, text: Any) -> None:
    """Given a pod with a claim / when its requests are of no known type, or of a class that is not
    there / then no node is tried.
    """
    found, claims = World(gates=gates, resourceclaims=[made]).pre_filter(pod(**USES))
    assert found == (None if code is None else (code, text))
    assert (claims.allocator is not None) is (code is None)


def test_a_claim_that_somebody_else_gets_just_now() -> None:
    """Given a claim for which devices are decided, but not written / when another pod comes / then
    no node is tried, unless it is of the same group: then it gets the same.
    """
    world = World(resourceclaims=[claim(request())])
    world.work.tracker.reserve("c", allocation("a"))
    found, _ = world.pre_filter(pod(**USES))
    assert found == (UNRESOLVABLE, "resource claim n/c is in the process of being allocated")
    found, claims = world.pre_filter(pod(**USES), {"c": {}})
    assert (found, claims.allocations) == (None, {0: allocation("a")})


def test_a_group_that_is_not_there() -> None:
    """Given a pod of a group that the scheduler does not know / then no node is tried; where groups
    have no claims, or there are none, it is not asked for.
    """
    of = pod(**USES, schedulingGroup={"podGroupName": "g"})
    unknown = SimpleNamespace(group=lambda _: None)
    found, _ = World(groups=unknown, resourceclaims=[claim(request())]).pre_filter(of)
    assert found == (UNRESOLVABLE, 'podgroup.scheduling.k8s.io "g" not found')
    for world in (World(resourceclaims=[claim(request())]),
                  World(groups=unknown, gates=without("DRAWorkloadResourceClaims"), resourceclaims=[claim(request())])):
        assert world.pre_filter(of)[0] is None


def test_a_special_claim_with_requests_is_not_tried_again() -> None:
    """Given a claim for extended resources that was written with its requests / when its pod is
    tried / then no node has it.
    """
    world = World(resourceclaims=[special(requests=[request()])], resourceslices=[slice_of(devices("a"))])
    found, claims = world.pre_filter(pod(**ASKS))
    assert (found, claims.special, claims.special_uid) == (None, 0, "s")
    where = node("n1")
    assert said(world.work.filter(pod_info(pod(**ASKS)), claims, where)) == (
        UNRESOLVABLE, "cannot schedule extended resource claim")
    assert world.work.missing_devices(pod_info(pod(**ASKS)), claims, where) is None


def test_a_claim_that_is_no_special_one_is_its_pods_own() -> None:
    """Given a claim that a pod controls, made of a template / when the pod asks for an extended
    resource / then another claim is made for that.
    """
    other = special()
    other["metadata"]["annotations"] = {}
    found, claims = World(resourceclaims=[other]).pre_filter(pod(**ASKS))
    assert (found, [each["metadata"]["name"] for each in claims.claims]) == (None, ["<extended-resources>"])


def test_pools_of_a_node_that_are_invalid() -> None:
    """Given a node whose pool has two devices of one name / then it has nothing for a claim."""
    world = World(resourceclaims=[claim(request())], resourceslices=[slice_of(devices("a", "a"))])
    _, claims = world.pre_filter(pod(**USES))
    assert said(world.work.filter(pod_info(pod(**USES)), claims, node("n1"))) == (
        UNRESOLVABLE, "invalid resource pools were encountered")


def bound(seconds: Any, conditions: Any = ("A",)) -> Any:
    """A claim that is allocated, and not ready."""
    made = allocation("a", **({"bindingConditions": list(conditions)} if conditions else {}))
    stamp = {} if seconds is None else {"allocationTimestamp": seconds}
    return {**claim(request()), "status": {"allocation": {**made, **stamp}}}


@pytest.mark.parametrize(("made", "late"), [
    (bound("2026-01-01T00:00:00Z"), True), (bound("2026-01-01T00:00:01Z"), False), (bound("2026-01-01T00:00:02Z"), False),
    (bound(None), False),
    (bound("2026-01-01T00:00:00Z", ()), False)])
def test_when_devices_are_late(made: Any, late: bool) -> None:
    """Given devices that have to say that they are ready / when ten minutes have passed since they
    were given / then they are late, and the claim is of no use; never without a time, or for those
    that need not say so.
    """
    world = World(resourceclaims=[made])
    world.clock = SimpleNamespace(time=lambda: 1767225601.0 + 600)
    _, claims = world.pre_filter(pod(**USES))
    found = said(world.work.filter(pod_info(pod(**USES)), claims, node("n1")))
    assert found == ((UNRESOLVABLE, "resourceclaim not available on the node") if late else None)
    assert (world.work.missing_devices(pod_info(pod(**USES)), claims, node("n1")) is None) is late
    assert (claims.unavailable, world.work._readiness(claims)) == (
        {0: None} if late else {}, "" if not made["status"]["allocation"]["devices"]["results"][0].get("bindingConditions")
        else "device binding timeout: claim=c" if late else None)


def test_a_claim_that_is_gone_is_not_waited_for() -> None:
    """Given a claim that is gone while its devices get ready / then that is an error."""
    claims = PodClaims([claim(request())], ())
    assert World().work._readiness(claims) == 'could not find ResourceClaim "n/c"'


async def done(world: World) -> list[Any]:
    """What was spawned, by what it is; done, too."""
    for work, _ in world.spawned:
        await work
    return [what for _, what in world.spawned]


def test_a_node_that_was_not_tried_has_no_devices() -> None:
    """Given a pod with two claims / when devices are kept on a node where only the first has some /
    then that is an error.
    """
    world = World(resourceclaims=[claim(request())])
    _, claims = world.pre_filter(pod(**USES))
    assert said(world.work.reserve(pod_info(pod(**USES)), claims, None, "n1")) == (ERROR, "claim allocation not found for node")
    claims.nodes["n1"] = NodeAllocation({0: allocation("a")})
    pending: Any = {}
    assert world.work.reserve(pod_info(pod(**USES)), claims, pending, "n1") is None
    assert (world.work.tracker.pending("c"), pending) == (allocation("a"), {"c": {"n/p": None}})
    world.work.unreserve(pod_info(pod(**USES)), claims, pending)
    assert (world.work.tracker.pending("c"), pending, world.spawned) == (None, {}, [])


@pytest.mark.parametrize(("codes", "asked"), [
    ((), ["update", "delete"]), ((409,), ["update", "get", "update", "delete"]), ((500,), ["update"]),
    ((404,), ["update"]), ((409, 0) * 5, [*["update", "get"] * 5, "delete"])])
async def test_a_special_claim_goes_with_its_pods_node(codes: Any, asked: Any) -> None:
    """Given a pod whose claim for extended resources is written / when it does not go to its node
    after all / then the claim loses its finalizer and is deleted, whatever the server says.
    """
    world = World(*codes, resourceclaims=[special(finalizers=[FINALIZER, "other"])])
    _, claims = world.pre_filter(pod(**ASKS))
    world.work.unreserve(pod_info(pod(**ASKS)), claims, None)
    assert await done(world) == ["deleting a claim for extended resources"]
    assert [each[0] for each in world.client.asked] == asked
    assert world.client.asked[0][1]["metadata"]["finalizers"] == ["other"]
    assert world.client.asked[-1] in (("delete", "s", "n", {"missing_ok": True}), world.client.asked[0])


@pytest.mark.parametrize(("made", "codes", "expected", "asked"), [
    (special(finalizers=[FINALIZER]), (), (True, UNSCHEDULABLE, "deletion of ResourceClaim completed"), ["update", "delete"]),
    (special(), (500,), (True, ERROR, "no 500"), ["update"]), (None, (), (False, UNSCHEDULABLE, ""), []),
])
async def test_what_is_freed_for_extended_resources(made: Any, codes: Any, expected: Any, asked: Any) -> None:
    """Given a pod that fits nowhere / when its claim for extended resources is written / then that
    is deleted, so that another one can be made.
    """
    world = World(*codes, resourceclaims=[made] if made else [])
    _, claims = world.pre_filter(pod(**ASKS))
    is_found, status = await world.work.free_one(pod_info(pod(**ASKS)), claims)
    assert (is_found, status.code, status.message) == expected
    assert [each[0] for each in world.client.asked] == asked


def test_a_pod_whose_entries_need_no_claims_is_passed_over() -> None:
    """Given a pod whose only entry needs no claim / then its cycle skips the plugin."""
    of = pod(resourceClaims=[{"name": "x", "resourceClaimTemplateName": "t"}])
    of["status"] = {"resourceClaimStatuses": [{"name": "x"}]}
    world, state = World(), CycleState()
    status = world.plugin.pre_filter(state, pod_info(of), snapshot())
    assert isinstance(status, Status)
    assert (status.code, state["DynamicResources"]) == (Code.SKIP, None)


@pytest.mark.parametrize(("codes", "text"), [
    ((500,), "create claim for extended resources n/<extended-resources>: no 500"),
    ((0, 0, 0, 500), "update pod n/p ExtendedResourceClaimStatus: no 500"), ((), "")])
async def test_a_special_claim_that_cannot_be_written(codes: Any, text: str) -> None:
    """Given a claim for extended resources that is to be written / when the server refuses that, or
    to tell the pod / then that is the problem.
    """
    of = pod(**ASKS)
    lister: Any = Objects([])
    server: Any = Server(*codes)
    writer = ClaimWriter(server, ManualClock(), ClaimTracker(lister, shares=False), stamps=False)
    made = {"metadata": {"name": "<extended-resources>", "namespace": "n", "uid": "x", "generateName": "p-"}, "spec": {}}
    claims = PodClaims([made], (), special=0, special_uid="x", allocations={0: allocation("a")})
    claims.nodes["n1"] = NodeAllocation({}, special=made, mappings=[{"containerName": "c"}])
    try:
        await writer.bind(of, claims, 0, {"resource": "pods"}, "n1")
        problem = ""
    except ClaimProblem as refused:
        problem = str(refused)
    assert problem == text
    if not text:
        assert [each[0] for each in server.asked] == ["create", "update", "update status", "patch"]
        assert server.asked[0][1]["metadata"] == {
            "namespace": "n", "generateName": "p-", "name": "made", "uid": "m", "resourceVersion": "1"}
        assert server.asked[3][1:] == ("p", {"status": {"extendedResourceClaimStatus": {
            "requestMappings": [{"containerName": "c"}], "resourceClaimName": "made"}}})
