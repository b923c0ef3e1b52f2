"""Which claims a pod has, for whom they are reserved, and what is written to them."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.scheduler.devices import references
from fakekube_controllers.scheduler.devices.constraints import constraints_of
from fakekube_controllers.scheduler.devices.model import AllocationError, DeviceID, PoolID
from fakekube_controllers.scheduler.devices.references import ClaimProblem
from fakekube_controllers.scheduler.devices.slices import TaintedSlices
from fakekube_controllers.scheduler.devices.writer import ClaimWriter
from tests.controllers.scheduler.devices.cases import claim, device, slice_of
from tests.controllers.scheduler.plugins.cases import Objects


def pod(*entries: dict[str, Any], statuses: Any = (), group: str = "") -> dict[str, Any]:
    spec: dict[str, Any] = {"resourceClaims": list(entries)}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": spec,
    "status": {"resourceClaimStatuses": list(statuses)}}


NAMED = {"name": "a", "resourceClaimName": "c"}
MADE = {"name": "a", "resourceClaimTemplateName": "t"}
STATUS = {"name": "a", "resourceClaimName": "c"}
DELETED = {**claim(), "metadata": {**claim()["metadata"], "deletionTimestamp": "x"}}


def owned(kind: str = "Pod", name: str = "p", uid: str = "u", api: str = "v1") -> Any:
    owner = {"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": True}
    return {**claim(), "metadata": {**claim()["metadata"], "ownerReferences": [owner]}}


NOT_OWNER = "ResourceClaim n/c was not created for Pod n/p (Pod is not owner)"
NOR_GROUP = "ResourceClaim n/c was not created for Pod n/p (neither Pod nor PodGroup g is the owner)"
OF_GROUP = owned("PodGroup", "g", "g", "scheduling.k8s.io/v1beta1")


@pytest.mark.parametrize(("made", "found", "shares", "expected"), [
    (pod(), None, True, []), (pod(NAMED), claim(), True, ["c"]), (pod(MADE, statuses=[STATUS]), owned(), True, ["c"]),
    (pod(MADE, statuses=[{"name": "a"}]), None, True, []), (pod(MADE, statuses=[STATUS], group="g"), OF_GROUP, True, ["c"]),
    (pod(NAMED), None, True, 'could not find ResourceClaim "n/c"'),
    (pod(NAMED), DELETED, True, 'resourceclaim "c" is being deleted'),
    (pod(MADE), claim(), True, 'pod "n/p": ResourceClaim not created yet'),
    (pod(MADE, statuses=[{"name": "b", "resourceClaimName": "c"}]), claim(), True, 'pod "n/p": ResourceClaim not created yet'),
    (pod(MADE, statuses=[STATUS]), claim(), True, NOT_OWNER), (pod(MADE, statuses=[STATUS]), owned(uid="other"), True, NOT_OWNER),
    (pod(MADE, statuses=[STATUS], group="g"), OF_GROUP, False, NOT_OWNER),
    (pod(MADE, statuses=[STATUS], group="g"), claim(), True, NOR_GROUP),
    (pod(MADE, statuses=[STATUS], group="g"), owned("PodGroup", "h", "h", "scheduling.k8s.io/v1"), True, NOR_GROUP),
    (pod(MADE, statuses=[STATUS], group="g"), owned("PodGroup", "g", "g", "other/v1"), True, NOR_GROUP),
    (pod(MADE, statuses=[STATUS], group="g"), owned("Other", "g", "g", "scheduling.k8s.io/v1"), True, NOR_GROUP),
])
def test_a_pods_claims_are_found_or_it_is_told_why_not(made: Any, found: Any, shares: bool, expected: Any) -> None:
    """Given a pod with claims by name or by template / then they are found, or what is wrong is
    told in upstream's words.
    """
    def find(namespace: str, name: str) -> Any:
        return found if (namespace, name) == ("n", "c") else None

    if isinstance(expected, list):
        assert [each["metadata"]["name"] for each in references.claims_of(made, find, shares=shares)] == expected
    else:
        with pytest.raises(ClaimProblem) as refused:
            list(references.claims_of(made, find, shares=shares))
        assert str(refused.value) == expected


def test_claims_are_reserved_for_the_pod_or_its_group() -> None:
    """Given a pod and a group that has some of its entries / then these are reserved for the group,
    the others for the pod; and a reservation for either is the pod's.
    """
    group = {"metadata": {"name": "g", "namespace": "n", "uid": "ug"}, "spec": {"resourceClaims": [NAMED, {**MADE, "name": "b"}]}}
    made = pod(NAMED, {"name": "b", "resourceClaimTemplateName": "other"}, group="g")
    mine = {"resource": "pods", "name": "p", "uid": "u"}
    ours = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "ug"}
    assert references.consumers_of(made, group) == [ours, mine]
    assert references.consumers_of(made, None) == [mine, mine]
    assert references.consumer_of(made) == mine

    def reserved(by: Any, shares: bool = True) -> bool:
        return references.is_reserved_for(made, {"status": {"reservedFor": [by]}}, shares=shares)

    assert [reserved(mine), reserved(ours), reserved(ours, shares=False), reserved({**ours, "name": "h"}),
    reserved({**ours, "apiGroup": "x"}),
            reserved({**ours, "resource": "pods"}), reserved({**mine, "uid": "v"})] == [True, True, False, False, False, False,
            False]
    found = list(references.claims_of_group(group | {"status": {"resourceClaimStatuses": [{"name": "b",
    "resourceClaimName": "d"}]}}, (
        lambda _, name: {**claim(name=name)})))
    assert [each["metadata"]["name"] for each in found] == ["c"]
    with pytest.raises(ClaimProblem, match=r"^PodGroup n/g: ResourceClaim not created yet$"):
        list(references.claims_of_group(group, lambda _, name: claim(name=name)))
    with pytest.raises(ClaimProblem, match=r'^could not find ResourceClaim "n/c"$'):
        list(references.claims_of_group(group, lambda *_: None))


class Server:
    """Remembers what is written; refuses with the codes that it is given, one after the other."""

    def __init__(self, *codes: int) -> None:
        self.codes, self.written = list(codes), list[tuple[str, Any]]()

    def _answer(self, verb: str, body: Any) -> Any:
        self.written.append((verb, body))
        code = self.codes.pop(0) if self.codes else 0
        if code:
            raise APIError(code, "R", f"no {code}")
        return body

    async def update(self, _: Any, body: Any, subresource: str = "") -> Any:
        """Write it."""
        return self._answer(f"update {subresource}".strip(), body)

    async def update_status(self, _: Any, body: Any) -> Any:
        """Write its status."""
        return self._answer("update status", body)

    async def get(self, *_: Any) -> Any:
        """The claim as it is now."""
        return self._answer("get", claim())

    async def patch(self, *arguments: Any, **options: Any) -> Any:
        """Patch it."""
        return self._answer("patch", (arguments[1:], options))


ALLOCATION = {"devices": {"results": [{"device": "d"}]}}
CONSUMER = {"resource": "pods", "name": "p", "uid": "u"}
ALLOCATED = {**claim(), "status": {"allocation": ALLOCATION, "reservedFor": [{"uid": "x"}]}}


async def bound(server: Server, of: Any, allocation: Any = None, *, stamps: bool = False) -> Any:
    """What is written when a claim is bound."""
    tracker: Any = SimpleNamespace(assume=lambda _: None)
    clock: Any = SimpleNamespace(time=lambda: 5.0)
    client: Any = server
    claims: Any = SimpleNamespace(claims=[of], allocations={} if allocation is None else {0: allocation}, special=None)
    await ClaimWriter(client, clock, tracker, stamps=stamps).bind(pod(NAMED), claims, 0, CONSUMER, "a")
    return claims.claims[0]


async def test_an_allocation_is_written_with_its_reservation() -> None:
    """Given a claim that is allocated for a pod / then a finalizer is added, and its status has
    allocation and reservation; one that is allocated is reserved only.
    """
    server = Server()
    written = await bound(server, claim(), ALLOCATION, stamps=True)
    assert written["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert written["status"] == {
        "reservedFor": [CONSUMER], "allocation": {"allocationTimestamp": "1970-01-01T00:00:05Z", **ALLOCATION}}
    assert [verb for verb, _ in server.written] == ["update", "update status"]
    server = Server()
    written = await bound(server, ALLOCATED)
    assert (written["status"], [verb for verb, _ in server.written]) == (
        {"allocation": ALLOCATION, "reservedFor": [{"uid": "x"}, CONSUMER]}, ["update status"])
    assert (await bound(Server(409), ALLOCATED))["status"]["reservedFor"] == [CONSUMER]


@pytest.mark.parametrize(("of", "allocation", "codes", "text"), [
    (DELETED, ALLOCATION, [], "claim n/c got deleted in the meantime"),
    (ALLOCATED, ALLOCATION, [], "claim n/c got allocated elsewhere in the meantime"),
    (claim(), None, [], "claim n/c got deallocated elsewhere in the meantime"), (claim(), ALLOCATION, [500], (
        "add finalizer to claim n/c: no 500")),
    (claim(), ALLOCATION, [0, 500], "add allocation and reservation to claim n/c: no 500"),
    (ALLOCATED, None, [403], "add reservation to claim n/c: no 403"),
    (claim(), ALLOCATION, [409, 404], "get updated claim n/c after conflict: no 404"),
    (claim(), ALLOCATION, [409, 0] * 4 + [409], "add finalizer to claim n/c: no 409"),
])
async def test_a_write_that_goes_wrong_says_so(of: Any, allocation: Any, codes: list[int], text: str) -> None:
    """Given a claim that somebody else changed, or a server that refuses / then what went wrong is
    told; a conflict is tried again, five times in all.
    """
    server = Server(*codes)
    with pytest.raises(ClaimProblem) as refused:
        await bound(server, of, allocation, stamps=True)
    assert str(refused.value) == text
    assert server.codes == []


async def test_what_is_freed_keeps_nothing_of_its_allocation() -> None:
    """Given an allocated claim / when it is freed, or one reservation is taken off / then just that
    is written.
    """
    server: Any = Server()
    writer = ClaimWriter(server, None, None, stamps=False)  # type: ignore[arg-type]  # neither is needed
    await writer.free({**ALLOCATED, "status": {**ALLOCATED["status"], "devices": [1], "kept": 2}})
    assert server.written[-1] == ("update status", {**ALLOCATED, "status": {"kept": 2}})
    assert await writer.unreserve(ALLOCATED, "u")
    assert server.written[-1] == ("patch", (("c", "n", {
        "metadata": {"uid": "c"}, "status": {"reservedFor": [{"$patch": "delete", "uid": "u"}]}}), {
            "type": "strategic", "subresource": "status"}))
    assert not await ClaimWriter(Server(404), None, None, stamps=False).unreserve(ALLOCATED, "u")  # type: ignore[arg-type]


OF = DeviceID("d", "p", "x")


@pytest.mark.parametrize(("one", "other", "same"), [
    ({"string": "a"}, {"string": "a"}, True), ({"string": "a"}, {"version": "a"}, False), ({"int": 1}, {"int": 1}, True),
    ({"bool": True}, {"bool": True}, True), ({"int": 1}, {"bool": True}, False), ({"strings": ["a", "b"]}, {"string": "b"}, True),
    ({"ints": [1, 2]}, {"ints": [2, 3]}, True), ({"bools": [True]}, {"bool": True}, True),
    ({"versions": ["1"]}, {"version": "1"}, True),
    ({"versions": ["1"]}, {"strings": ["1"]}, False), ({"strings": ["a"]}, {}, False), ({"strings": []}, {"strings": []}, False),
])
def test_values_are_the_same_by_type_and_value(one: Any, other: Any, same: bool) -> None:
    """Given attributes of two devices, some with several values / then they match if they have a
    value of one type in common; they are distinct if not, and each has one.
    """
    def holds(kind: str, *values: Any) -> bool:
        [made] = constraints_of(claim(constraints=[{kind: "d/a"}]), "n/c", lists=True)
        return all(made.add("r", "", {"attributes": {"a": value}} if value else {}, OF) for value in values)

    assert holds("matchAttribute", one, other) is same
    has_values = all(next(iter(value.values()), []) not in ([], None) for value in (one, other))
    assert holds("distinctAttribute", one, other) is (has_values and not same)


def test_a_constraint_of_no_kind_is_refused() -> None:
    """Given constraints of which one says nothing / then it is refused by its number."""
    with pytest.raises(AllocationError) as refused:
        constraints_of(claim(constraints=[{"matchAttribute": "d/a"}, {}]), "n/c", lists=False)
    assert str(refused.value) == "claim n/c, constraint #1: empty constraint (unsupported constraint type?)"


def rule(deleted: bool = False, **selector: Any) -> Any:
    metadata = {"name": "r"} | ({"deletionTimestamp": "x"} if deleted else {})
    return {"metadata": metadata, "spec": {"deviceSelector": selector, "taint": {"key": "k", "effect": "NoExecute"}}}


@pytest.mark.parametrize(("rules", "tainted"), [
    ([], []), ([rule()], ["a", "b"]), ([rule(device="a")], ["a"]), ([rule(pool="p", driver="gpu.example.com")], ["a", "b"]),
    ([rule(pool="q")], []), ([rule(driver="x")], []), ([rule(deleted=True)], []), ([{**rule(), "spec": {"taint": {}}}], []),
    ([rule(device=None)], ["a", "b"]),
])
def test_rules_taint_the_devices_that_they_select(rules: list[Any], tainted: list[str]) -> None:
    """Given DeviceTaintRules / then the devices that they select have the taint beside their own,
    in the slices of a node and of a pool.
    """
    own = {"key": "own", "effect": "NoSchedule"}
    slices: Any = Objects([
        slice_of([device("a", taints=[own]), device("b")]), slice_of([device("z")], node="n2", pool="q"),
        slice_of([device("e")], pool="e", allNodes=True)])
    found = TaintedSlices(slices, lambda: rules)
    [here] = found.of_node("n1")
    taints = {each["name"]: [taint["key"] for taint in each.get("taints") or ()] for each in here["spec"]["devices"]}
    assert taints == {"a": ["own", *(["k"] if "a" in tainted else [])], "b": ["k"] if "b" in tainted else []}
    assert [each["spec"]["pool"]["name"] for each in found.of_node("")] == ["e"]
    assert found.of_pool(PoolID("gpu.example.com", "q"))[0]["spec"]["nodeName"] == "n2"
