"""Claims, devices and amounts that are just too much, just enough, or of no use: what the allocator
is made of, each part alone.
"""

from typing import Any

import pytest

from fakekube.util.turns import Turn
from fakekube_controllers.scheduler.devices import capacity, references, selectors
from fakekube_controllers.scheduler.devices.capacity import Amount
from fakekube_controllers.scheduler.devices.constraints import constraints_of
from fakekube_controllers.scheduler.devices.model import AllocationError, DeviceID, PoolID, TakesTooLong
from fakekube_controllers.scheduler.devices.pod_claims import PodClaims, is_available, is_ready
from fakekube_controllers.scheduler.devices.proposed import ProposedSlices
from fakekube_controllers.scheduler.devices.references import ClaimProblem
from fakekube_controllers.scheduler.devices.selectors import Selectors
from fakekube_controllers.scheduler.devices.usage import AllocatedDevices
from fakekube_controllers.scheduler.framework import changes
from tests.controllers.scheduler.devices.cases import (
    DRIVER,
    allocate,
    body,
    claim,
    device,
    devices,
    given,
    request,
    slice_of,
)
from tests.controllers.scheduler.plugins.cases import node

ARITHMETIC = "capacity request cannot be represented in the device's range arithmetic"
MOST = "9223372036854775807"
WITHIN = {"min": "100m", "step": "100m"}


def amounts(asked: str | None, value: str, *, fractions: bool, **policy: Any) -> Any:
    """What is taken of the one capacity, or the refusal."""
    capacities = {"m": {"value": value, **({"requestPolicy": policy} if policy else {})}}
    try:
        found = capacity.consumed({"requests": {"m": asked}} if asked else None, capacities, fractions=fractions)
    except AllocationError as refused:
        return str(refused)
    return found and (found["m"].nano, found["m"].text)


@pytest.mark.parametrize(("asked", "value", "fractions", "policy", "expected"), [
    ("-1", "5", False, {}, 'capacity "m": capacity value is negative'), (None, "-1", False, {}, (
        'capacity "m": capacity value is negative')),
    ("0", "5", False, {}, (0, "0")), ("5", "5", False, {}, (5 * 10**9, "5")),
    ("250m", "5", True, {"validRange": WITHIN}, (300_000_000, "300m")),
    ("300m", "5", True, {"validRange": WITHIN}, (300_000_000, "300m")),
    ("50m", "5", True, {"validRange": WITHIN}, (100_000_000, "100m")),
    ("250001u", "5", True, {"validRange": WITHIN}, (
        f'capacity "m": {ARITHMETIC}: request 250001u is not a representable milli value')),
    (f"{MOST}m", "5", True, {"validRange": {"min": "1", "step": "2"}}, (
        f'capacity "m": {ARITHMETIC}: rounding request {MOST}m up to the next step passes the milli-value range')),
    (f"{MOST}m", "5", True, {"validRange": {"min": "7m", "step": "100m"}}, (int(MOST) * 10**6, f"{MOST}m")),
    (MOST, "5", False, {"validRange": {"min": "2", "step": "2"}}, (
        f'capacity "m": {ARITHMETIC}: rounding request {MOST} up to the next step passes MaxInt64')),
    (MOST, "5", False, {"validRange": {"min": "1", "step": "2"}}, (int(MOST) * 10**9, MOST)),
    (None, "1000001u", True, {"validRange": WITHIN}, None),
    (None, "1100m", True, {"validRange": WITHIN}, (1_100_000_000, "1100m")),
    (None, "1150m", True, {"validRange": WITHIN}, None),
    (None, "5", True, {"validRange": {**WITHIN, "max": "5"}}, (5 * 10**9, "5")),
    (None, "5", True, {"validRange": {**WITHIN, "max": "4900m"}}, None),
    (None, "5", True, {"default": "5001u", "validRange": WITHIN}, (5_001_000, "5001u")),
])
def test_what_a_request_takes_of_a_capacity(asked: Any, value: str, fractions: bool, policy: Any, expected: Any) -> None:
    """Given a capacity and its policy / when a request asks for an amount, or for none / then it
    takes the least that the policy allows; one that no device could give is refused, and None says
    that this device does not give it.
    """
    assert amounts(asked, value, fractions=fractions, **policy) == expected


def test_shares_fit_up_to_the_last_part() -> None:
    """Given a device with a capacity of five / then a share fits as long as all shares are five or
    less together.
    """
    capacities = {"m": {"value": "5"}}
    taken = [{"m": 2 * 10**9}, {"m": 10**9, "other": 10**12}]
    assert [capacity.fits({"m": Amount(number * 10**9, "")}, capacities, *taken) for number in (1, 2, 3)] == [
        True, True, False]


def test_without_shares_capacities_are_not_looked_at() -> None:
    """Given devices of too little capacity / when shares are off / then they are given to a request
    for all devices, and to one for one.
    """
    slices = [slice_of([device("a", capacity={"m": "1"})])]
    for asked in (request(), request(mode="All")):
        assert given(slices, claim(asked), consumable_capacity=False) == [["r=a"]]


@pytest.mark.parametrize(("asked", "features", "text"), [
    (request(selectors=[]) | {"exactly": {**body(), "selectors": [{"cel": {"expression": "true"}}, {}]}}, {},
     "claim n/c, request r, selector #1: CEL expression empty (unsupported selector type?)"),
    (request(adminAccess=False), {"admin_access": False},
     "claim n/c, request r: admin access is requested, but the feature is disabled"),
])
def test_requests_that_no_node_is_asked_for(asked: Any, features: Any, text: str) -> None:
    """Given a selector that is of no known type, or admin access that is off / then the claim is
    refused.
    """
    with pytest.raises(AllocationError) as refused:
        allocate([slice_of(devices("a"))], claim(asked), **features)
    assert str(refused.value) == text


def selected(*requirements: Any, terms: int = 1, name: str) -> Any:
    return slice_of(devices(name), pool=name, nodeSelector={"nodeSelectorTerms": [
        {"matchExpressions": list(requirements)}] * terms})


def values(key: str, operator: str, *of: str) -> Any:
    return {"key": key, "operator": operator, "values": list(of)} if of else {"key": key, "operator": operator}


ZONES = values("zone", "In", "x", "y")


@pytest.mark.parametrize(("first", "second", "more"), [
    (ZONES, values("zone", "In", "y", "x"), False), (ZONES, values("zone", "In", "x"), True),
    (ZONES, values("rack", "In", "x", "y"), True), (ZONES, values("zone", "NotIn", "z"), True),
    (values("zone", "Exists"), values("zone", "Exists"), False),
])
def test_what_two_devices_ask_of_nodes_is_said_once(first: Any, second: Any, more: bool) -> None:
    """Given two devices of slices for some nodes / when a claim gets both / then its nodes are
    those of both, and a requirement that they share is there once, whatever the order of its
    values.
    """
    slices = [selected(first, name="a"), selected(second, name="b")]
    found = allocate(slices, claim(request(count=2)), labels={"zone": "x", "rack": "x"})
    assert found[0]["nodeSelector"] == {"nodeSelectorTerms": [{"matchExpressions": [first] + [second] * more}]}


def test_a_slice_has_one_term() -> None:
    """Given a slice for the nodes of one of two terms / then its devices cannot be given."""
    with pytest.raises(AllocationError, match=r"^unsupported ResourceSlice.NodeSelector with 2 terms$"):
        allocate([selected(ZONES, terms=2, name="a")], claim(request()), labels={"zone": "x"})


@pytest.mark.parametrize("kind", ["matchAttribute", "distinctAttribute"])
def test_a_constraint_is_for_its_requests_only(kind: str) -> None:
    """Given a constraint on one request / then a device of another one does not count for it."""
    [made] = constraints_of(claim(constraints=[{kind: "d/a", "requests": ["r"]}]), "n/c", lists=False)
    one, other = ({"attributes": {"a": {"int": number}}} for number in (1, 2))
    of = DeviceID("d", "p", "x")
    assert made.add("s", "", {}, of)
    assert made.add("r", "", one, of)
    assert made.add("s", "", other if kind == "matchAttribute" else one, of)
    made.remove("s", "")
    assert not made.add("r", "", other if kind == "matchAttribute" else one, of)
    made.remove("r", "")
    assert made.add("r", "", other, of)


def test_what_is_not_known_of_a_node_scores_nothing() -> None:
    """Given the claims of a pod / then a node that they were not tried on has no score."""
    assert PodClaims([claim(request())], ()).score("n1") == 0


RACK = {"nodeSelectorTerms": [{"matchExpressions": [values("rack", "In", "r1")]}]}


@pytest.mark.parametrize(("selector", "labels", "expected"), [
    (None, {}, True), (RACK, {}, False), (RACK, {"rack": "r1"}, True), (RACK, {"rack": "r2"}, False),
    (None, None, True), (RACK, None, False),
])
def test_where_devices_can_be_used(selector: Any, labels: Any, expected: bool) -> None:
    """Given an allocation for all nodes, or for those of a rack / then it is of use there; on a
    node that is gone only one for all nodes is.
    """
    info = node("n1", labels=labels or {})
    if labels is None:
        info.node = None
    assert is_available({"nodeSelector": selector} if selector else {}, info) is expected


RESULT = {"request": "r", "driver": "d", "pool": "p", "device": "x", "bindingConditions": ["A", "B"],
          "bindingFailureConditions": ["F"]}


def bound(*conditions: tuple[str, str], known: bool = True, result: Any = RESULT) -> Any:
    said = [{"type": kind, "status": status, "reason": "R", "message": 'm"'} for kind, status in conditions]
    status = {"driver": "d", "pool": "p", "device": "x", "conditions": said}
    return {"metadata": {"name": "c"}, "status": {
        "allocation": {"devices": {"results": [result]}}, "devices": [status] if known else []}}


@pytest.mark.parametrize(("of", "ready", "failure"), [
    ({"metadata": {"name": "c"}}, False, ""), (bound(known=False), False, ""), (bound(), False, ""),
    (bound(("A", "True")), False, ""), (bound(("A", "True"), ("B", "False")), False, ""),
    (bound(("A", "True"), ("B", "True")), True, ""), (bound(("A", "True"), ("B", "True"), ("F", "False")), True, ""),
    (bound(("A", "True"), ("B", "True"), ("F", "True")), False, 'device binding failed: claim=c, reason=R, message="m\\""'),
    (bound(known=False, result={"driver": "d", "pool": "p", "device": "x"}), True, ""),
])
def test_when_devices_are_ready(of: Any, ready: bool, failure: str) -> None:
    """Given a claim / then it is ready once it has an allocation of which each device that has to
    say so says so in all its conditions; one that failed will never be.
    """
    assert is_ready(of) == (ready, failure)


def test_devices_that_are_proposed_are_beside_the_known() -> None:
    """Given a slice of a node, and two proposed devices for it / then the node has both, and the
    known pool is what it was.
    """
    class Known:
        """Answers what it was asked."""

        def of_node(self, name: str) -> Any:
            """By node."""
            return [{"spec": {"nodeName": name}}]

        def of_pool(self, pool: PoolID) -> Any:
            """By pool."""
            return [{"spec": {"pool": pool.pool}}]

    known: Any = Known()
    made = ProposedSlices(known, (
        changes.set_label("node/n1", "rack", "a"),
        changes.add_devices("node/n1", "gpu", DRIVER, {"attributes": {"x": {"int": 1}}}, 2)))
    assert made.of_pool(PoolID(DRIVER, "p")) == [{"spec": {"pool": "p"}}]
    assert made.of_node("n2") == [{"spec": {"nodeName": "n2"}}]
    first, second = made.of_node("n1")
    assert (first, second["spec"]) == ({"spec": {"nodeName": "n1"}}, {
        "driver": DRIVER, "nodeName": "n1", "pool": {"name": "new-1-on-n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"attributes": {"x": {"int": 1}}, "name": f"new-{number}"} for number in range(2)]})


def test_an_entry_of_a_group_may_need_no_claim() -> None:
    """Given a group with an entry that needs no claim, and one that has one / then the latter is
    its only claim; one whose template was not followed yet is a problem.
    """
    entries = [{"name": name, "resourceClaimTemplateName": "t"} for name in ("a", "b")]
    group = {"metadata": {"name": "g", "namespace": "n", "uid": "g"}, "spec": {"resourceClaims": entries}}
    made = claim(name="c")
    made["metadata"]["ownerReferences"] = [{"uid": "g", "controller": True}]
    statuses = [{"name": "a"}, {"name": "b", "resourceClaimName": "c"}]
    assert [*references.claims_of_group({**group, "status": {"resourceClaimStatuses": statuses}}, lambda *_: made)] == [made]
    with pytest.raises(ClaimProblem, match=r"^PodGroup n/g: ResourceClaim not created yet$"):
        list(references.claims_of_group({**group, "status": {"resourceClaimStatuses": statuses[:1]}}, lambda *_: made))


def test_shares_that_are_given_back_leave_nothing() -> None:
    """Given two shares of a device / when they are given back / then what they took is free,
    step by step.
    """
    def share(of: str, amount: str) -> Any:
        result = {"driver": "d", "pool": "p", "device": "x", "shareID": of, "consumedCapacity": {"m": amount}}
        return {"devices": {"results": [result]}}

    used, of = AllocatedDevices(), DeviceID("d", "p", "x")
    used.add(share("1", "2"))
    used.add(share("2", "3"))
    assert (dict(used.consumed(of)), used.is_shared(of), used.is_whole(of)) == ({"m": 5 * 10**9}, True, False)
    used.remove(share("1", "2"))
    assert (dict(used.consumed(of)), used.is_shared(of)) == ({"m": 3 * 10**9}, True)
    used.remove(share("2", "3"))
    assert (dict(used.consumed(of)), used.is_used(of)) == ({}, False)


class Slow:
    """Selectors of which none is done in a turn, or that have no time left."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kept: int = 2) -> None:
        monkeypatch.setattr(selectors, "KEPT", kept)
        self.spawned: list[Any] = []
        self.inner = Selectors(
            37, multiple_allocations=False, list_attributes=False, spawn=lambda work, _: self.spawned.append(work))

    def match(self, text: str, name: str = "a") -> Any:
        """The answer, or "too long"."""
        of = slice_of(devices(name))
        try:
            return self.inner.match("claim n/c", [{"cel": {"expression": text}}], of, device(name), name)
        except TakesTooLong:
            return "too long"


LONG = f"[{', '.join('0' for _ in range(60))}].all(x, [{', '.join('0' for _ in range(60))}].all(y, x == y))"


async def test_a_slow_selector_is_found_out_beside_the_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a selector that takes more than a turn / when it is asked for / then that is too long,
    also once more while it is found out; then the answer is known. Of too many that are being found
    out all are forgotten.
    """
    turns: list[int] = []

    class Short(Turn):
        """A turn that is over at once."""

        def __init__(self) -> None:
            super().__init__()
            self.left = 1
            turns.append(1)

    slow = Slow(monkeypatch)
    monkeypatch.setattr(selectors, "Turn", Short)
    assert [slow.match(LONG), slow.match(LONG), len(slow.spawned), len(turns)] == ["too long", "too long", 1, 1]
    await slow.spawned[0]
    assert [slow.match(LONG), slow.match(LONG), len(turns)] == [True, True, 1]
    assert [slow.match(LONG, name) for name in ("b", "c", "b", "d", "b")] == ["too long"] * 5
    assert len(turns) == 5
    for work in slow.spawned[1:]:
        work.close()


def test_a_cycle_has_only_so_much_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a cycle in which selectors have used up their time / when another one is asked for /
    then that is too long; what was answered is known, and the next cycle goes on.
    """
    slow = Slow(monkeypatch)
    before = slow.inner._units
    assert slow.match("true") is True
    assert slow.inner._units < before
    slow.inner._units = -1
    assert [slow.match("true"), slow.match("false")] == [True, "too long"]
    slow.inner._units = 0
    assert slow.match("false") is False
    slow.inner._units = -1
    assert slow.match("1 == 1") == "too long"
    slow.inner.begin()
    assert slow.match("1 == 1") is True
