"""Devices that are parts of others, and devices that several claims share."""

from itertools import permutations

import pytest
from hypothesis import given as example
from hypothesis import strategies as st

from fakekube.apimachinery import quantity
from fakekube_controllers.scheduler.devices.model import AllocationError, NodeAllocationError
from tests.controllers.scheduler.devices.cases import (
    DRIVER,
    allocate,
    allocation,
    allocator,
    claim,
    device,
    device_class,
    devices,
    given,
    request,
    slice_of,
)


def part(name, memory, **rest):
    """A device that takes so much of the memory that all share."""
    return device(name, consumesCounters=[{"counterSet": "gpu", "counters": {"memory": {"value": memory}}}], **rest)


def counters(memory="8Gi", **rest):
    """A slice with the memory that there is."""
    shared = [{"name": "gpu", "counters": {"memory": {"value": memory}}}]
    return slice_of([], name="counters", of=2, allNodes=True, sharedCounters=shared, **rest)


def parts(*listed, **rest):
    """The slices of a pool of parts."""
    return [counters(), slice_of(list(listed), name="parts", of=2, **rest)]


def test_parts_take_no_more_than_there_is():
    """Given parts of a device / when two are asked for / then two that go together are given, and
    none where what is allocated leaves too little, wherever that is.
    """
    slices = parts(part("whole", "8Gi"), part("a", "4Gi"), part("b", "4Gi"))
    assert given(slices, claim(request(count=2))) == [["r=a", "r=b"]]
    assert given(slices, claim(request()), allocated=[allocation("a")]) == [["r=b"]]
    assert given(slices, claim(request()), allocated=[allocation("whole")]) is None
    assert given(slices, claim(request()), partitionable_devices=False) is None
    elsewhere = slice_of([part("far", "8Gi")], node="n2", name="far", of=3)
    here = slice_of([part("a", "4Gi")], name="parts", of=3)
    shared = counters()
    shared["spec"]["pool"]["resourceSliceCount"] = 3
    assert given([shared, here, elsewhere], claim(request())) == [["r=a"]]
    assert given([shared, here, elsewhere], claim(request()), allocated=[allocation("far")]) is None


@pytest.mark.parametrize("wrong", [
    [slice_of([part("a", "1Gi")])],
    [slice_of([], name="twice", of=2, allNodes=True, sharedCounters=[
        {"name": "x", "counters": {}}, {"name": "x", "counters": {}}]), slice_of(devices("a"), name="s", of=2)],
    [counters(), slice_of(
        [device("a", consumesCounters=[{"counterSet": "gpu", "counters": {"no": {"value": "1"}}}])], name="s", of=2)],
])
def test_a_pool_whose_counters_contradict_each_other_is_invalid(wrong):
    """Given a device that takes of a counter that is not there, or a counter set that is there
    twice / when a claim asks / then the pool is invalid.
    """
    with pytest.raises(NodeAllocationError):
        given(wrong, claim(request()))


def shared_device(name="a", value="10Gi", policy=None, **rest):
    """A device that many claims can have, with memory."""
    memory = {"value": value, **({"requestPolicy": policy} if policy else {})}
    return device(name, capacity={"memory": memory}, allowMultipleAllocations=True, **rest)


def ask(amount, name="r", **rest):
    """A request for so much memory."""
    return request(name, capacity={"requests": {"memory": amount}}, **rest)


def consumed(policy, amount, **features):
    """How much of a device with 10Gi is given to a request; None for nothing."""
    wanted = claim(ask(amount) if amount else request())
    found = allocate([slice_of([shared_device(policy=policy)])], wanted, **features)
    return found and found[0]["devices"]["results"][0]["consumedCapacity"]["memory"]


IN_STEPS = {"default": "1Gi", "validRange": {"min": "1Gi", "max": "6Gi", "step": "2Gi"}}
VALUES = {"default": "2Gi", "validValues": ["2Gi", "4Gi"]}


@pytest.mark.parametrize(("policy", "amount", "expected"), [
    (None, None, "10Gi"), (None, "3Gi", "3Gi"), (None, "11Gi", None),
    (IN_STEPS, None, "1Gi"), (IN_STEPS, "100Mi", "1Gi"), (IN_STEPS, "2Gi", "3Gi"), (IN_STEPS, "3Gi", "3Gi"),
    (IN_STEPS, "6Gi", None),
    (VALUES, None, "2Gi"), (VALUES, "1Gi", "2Gi"), (VALUES, "3Gi", "4Gi"), (VALUES, "5Gi", None),
    ({"validRange": {"min": "1Gi"}}, "1500Mi", "1500Mi"), ({"validRange": {"min": "1Gi", "max": "2Gi"}}, "3Gi", None),
])
def test_what_a_request_takes_by_the_devices_policy(policy, amount, expected):
    """Given a policy of steps, of values, or none / when so much is asked for / then the next that
    is allowed is taken, or nothing where none is.
    """
    assert consumed(policy, amount) == expected


def test_fractions_need_their_gate():
    """Given steps of a tenth / when a fraction is asked for / then it is rounded to a tenth with
    the gate, and to whole units without.
    """
    tenths = {"validRange": {"min": "1", "max": "5", "step": "100m"}}
    assert consumed(tenths, "1250m", fractional_capacity_range=True) == "1300m"
    assert consumed({"validRange": {"min": "1", "step": "1"}}, "1250m") == "2"


def test_a_request_beyond_all_numbers_is_an_error():
    """Given steps / when more is asked for than 64 bits hold / then that is an error of the claim.
    """
    text = f'claim n/c, request r: checking capacity for device {DRIVER}/p/a: capacity "memory": capacity request cannot be rep'
    with pytest.raises(AllocationError, match=text):
        consumed(IN_STEPS, "100E")


def test_claims_share_a_device_until_it_is_used_up():
    """Given a device with 10Gi that claims can share / when they ask for 6, 4 and 1 / then the
    first two have shares of it with ids of their own, and the third goes elsewhere.
    """
    slices = [slice_of([shared_device("a"), shared_device("b")])]
    found = allocate(slices, *[claim(ask(each), name=each) for each in ("6Gi", "4Gi", "1Gi")])
    results = [each["devices"]["results"][0] for each in found]
    assert [each["device"] for each in results] == ["a", "a", "b"]
    assert len({each["shareID"] for each in results}) == 3
    taken = [allocation("a", shareID="s", consumedCapacity={"memory": "6Gi"})]
    assert given(slices, claim(ask("5Gi")), allocated=taken) == [["r=b"]]
    assert given(slices, claim(ask("4Gi")), allocated=taken) == [["r=a"]]


def test_who_only_asks_changes_no_id_of_a_share():
    """Given a device that claims can share / when it is asked first what others would get / then
    a claim gets a share with the same id as without that question.
    """
    mine, others = [claim(ask("1Gi"), name="c")], [claim(ask("1Gi"), name=each) for each in ("a", "b")]
    plain, asked = (allocator([slice_of([shared_device("a")])], consumable_capacity=True) for _ in range(2))
    asked.allocate("n1", {}, others)
    assert asked.allocate("n1", {}, mine) == plain.allocate("n1", {}, mine)


def test_without_the_gate_a_share_is_the_whole_device():
    """Given a share from before the gate was switched off / when a claim asks / then the device is
    taken; a request for capacity is an error.
    """
    slices = [slice_of([shared_device("a")])]
    taken = [allocation("a", shareID="s", consumedCapacity={"memory": "1Gi"})]
    assert given(slices, claim(request()), allocated=taken, consumable_capacity=False) is None
    with pytest.raises(AllocationError, match="has capacity requests, but the DRAConsumableCapacity feature is disabled"):
        given(slices, claim(ask("1Gi")), consumable_capacity=False)


def test_a_request_for_capacity_needs_a_device_that_has_it():
    """Given devices with and without memory that nobody shares / when memory is asked for / then
    one with enough of it is given as a whole.
    """
    slices = [slice_of([device("none"), device("less", capacity={"memory": "1Gi"}), device("more", capacity={"memory": "4Gi"})])]
    [found] = allocate(slices, claim(ask("2Gi")))
    assert found["devices"]["results"] == [{"request": "r", "driver": DRIVER, "pool": "p", "device": "more"}]


def test_shares_of_a_part_count_the_part_once():
    """Given a part that claims can share / when a second share is taken / then its counters are not
    taken again.
    """
    slices = parts(shared_device("a", consumesCounters=part("a", "8Gi")["consumesCounters"]))
    assert given(slices, claim(ask("1Gi")), claim(ask("1Gi"), name="d")) == [["r=a"], ["r=a"]]
    taken = [allocation("a", shareID="s", consumedCapacity={"memory": "1Gi"})]
    assert given(slices, claim(ask("1Gi")), allocated=taken) == [["r=a"]]


def test_a_share_takes_of_the_counters_for_all():
    """Given a part that somebody has a share of / when a part is asked for that needs all there is
    / then it is not given.
    """
    slices = parts(part("whole", "8Gi"), shared_device("a", consumesCounters=part("a", "4Gi")["consumesCounters"]))
    taken = [allocation("a", shareID="s", consumedCapacity={"memory": "1Gi"})]
    assert given(slices, claim(request())) == [["r=whole"]]
    assert given(slices, claim(request()), allocated=taken) is None


# properties

KINDS = ["x", "y"]
SELECTED = f'device.attributes["{DRIVER}"].kind == "{{}}"'
some_devices = st.lists(st.fixed_dictionaries({
    "kind": st.sampled_from(KINDS), "numa": st.integers(0, 1), "memory": st.integers(1, 8), "shared": st.booleans(),
    "counter": st.integers(0, 4)}), min_size=1, max_size=6)
some_requests = st.lists(st.fixed_dictionaries({
    "kind": st.sampled_from([*KINDS, None]), "count": st.integers(1, 3), "memory": st.integers(0, 6), "all": st.booleans(),
    "admin": st.booleans()}), min_size=1, max_size=2)
some_claims = st.lists(
    st.tuples(some_requests, st.sampled_from([None, "matchAttribute", "distinctAttribute"])), min_size=1, max_size=4)


def made(number, of):
    counter = [{"counterSet": "gpu", "counters": {"memory": {"value": str(of["counter"])}}}]
    more = {"allowMultipleAllocations": True} if of["shared"] else {}
    more |= {"consumesCounters": counter} if of["counter"] else {}
    return device(f"d{number}", {"kind": of["kind"], "numa": of["numa"]}, {"memory": str(of["memory"])}, **more)


def asked(number, of):
    rest = {"selectors": [SELECTED.format(of["kind"])]} if of["kind"] else {}
    rest |= {"adminAccess": True} if of["admin"] else {}
    rest |= {"capacity": {"requests": {"memory": str(of["memory"])}}} if of["memory"] else {}
    return request(f"r{number}", of["count"], mode="All" if of["all"] else "ExactCount", **rest)


@example(some_devices, some_claims)
def test_nothing_is_given_twice_and_nothing_overdrawn(listed, wanted):
    """Given devices, whole ones, parts and shared ones, and claims one after the other / when each
    is allocated beside those before it / then nobody shares a device that is not for sharing,
    neither counters nor capacity are overdrawn, and each device is what was asked for.
    """
    known = {f"d{number}": of for number, of in enumerate(listed)}
    slices = [counters("6"), slice_of([made(*each) for each in enumerate(listed)], name="parts", of=2)]
    allocations, whole, shares = [], [], {}
    for number, (requests, constraint) in enumerate(wanted):
        constraints = [{constraint: f"{DRIVER}/numa"}] if constraint else ()
        of = claim(*[asked(*each) for each in enumerate(requests)], name=f"c{number}", constraints=constraints)
        try:
            found = allocate(slices, of, allocated=allocations)
        except AllocationError:
            continue  # all devices, and a constraint that these break
        if found is None:
            continue
        allocations += found
        results = found[0]["devices"]["results"]
        numas = [known[each["device"]]["numa"] for each in results]
        assert constraint != "matchAttribute" or len(set(numas)) == 1
        assert constraint != "distinctAttribute" or len(set(numas)) == len(numas)
        for place, each in enumerate(requests):
            mine = [known[one["device"]] for one in results if one["request"] == f"r{place}"]
            assert all(each["kind"] in (None, one["kind"]) and one["memory"] >= each["memory"] for one in mine)
            assert each["all"] or len(mine) == each["count"]
        for each in results:
            if each.get("adminAccess"):
                continue
            if "shareID" in each:
                amount = quantity.parse(each["consumedCapacity"]["memory"]).value
                shares[each["device"]] = shares.get(each["device"], 0) + amount
            else:
                whole.append(each["device"])
    assert len(set(whole)) == len(whole)
    assert not set(whole) & set(shares)
    assert all(known[name]["shared"] and amount <= known[name]["memory"] for name, amount in shares.items())
    assert sum(known[name]["counter"] for name in {*whole, *shares}) <= 6


@example(some_devices, some_requests)
def test_the_search_finds_what_there_is(listed, requests):
    """Given whole devices and requests for some / when they are allocated / then as an exhaustive
    search would: a solution is found if there is one.
    """
    listed = [{**each, "shared": False, "counter": 0} for each in listed]
    requests = [{**each, "all": False, "admin": False} for each in requests]
    found = given([slice_of([made(*each) for each in enumerate(listed)])], claim(*[asked(*each) for each in enumerate(requests)]))
    needs = [each for each in requests for _ in range(each["count"])]
    exists = any(
        all(need["kind"] in (None, has["kind"]) and has["memory"] >= need["memory"]
            for need, has in zip(needs, chosen, strict=True))
        for chosen in permutations(listed, len(needs)))
    assert (found is not None) == exists


def test_a_class_that_nobody_uses_is_not_read():
    """Given classes beside the one that is asked for / when allocated / then they do not matter."""
    classes = [device_class(), device_class("broken", selectors=["("])]
    assert given([slice_of(devices("a"))], claim(request()), classes=classes) == [["r=a"]]
