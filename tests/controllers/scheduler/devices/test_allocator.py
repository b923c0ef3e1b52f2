"""Which devices claims get: pools, requests, selectors, constraints, taints."""

import pytest

from fakekube_controllers.scheduler.devices.model import AllocationError, NodeAllocationError, TakesTooLong
from tests.controllers.scheduler.devices.cases import (
    DRIVER,
    allocate,
    allocation,
    allocator,
    body,
    claim,
    device,
    device_class,
    devices,
    first_of,
    given,
    request,
    slice_of,
)

ZONE = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
OLD, NEW = device("old", {"model": "old"}), device("new", {"model": "new"})


def model(name):
    return f'device.attributes["{DRIVER}"].model == "{name}"'


def test_claims_get_the_first_devices_that_are_free():
    """Given three devices, one of them allocated / when two claims ask for one / then each gets one
    of the others, in order; a third finds none.
    """
    slices = [slice_of(devices("a", "b", "c"))]
    taken = [allocation("b")]
    assert given(slices, claim(request()), claim(request(), name="d"), allocated=taken) == [["r=a"], ["r=c"]]
    assert given(slices, *[claim(request(), name=each) for each in "xyz"], allocated=taken) is None
    assert given(slices, claim(request()), node="n2") is None


@pytest.mark.parametrize(("slices", "labels", "selector"), [
    pytest.param([slice_of(devices("a"), allNodes=True)], {}, None, id="everywhere"),
    pytest.param([slice_of(devices("a"), nodeSelector=ZONE)], {"zone": "a"}, ZONE, id="by labels"),
    pytest.param([slice_of(devices("a"))], {}, {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}, id="by name"),
    pytest.param([slice_of([device("x", nodeName="n2"), device("a", nodeSelector=ZONE)], perDeviceNodeSelection=True)],
                 {"zone": "a"}, ZONE, id="each device by itself"),
])
def test_an_allocation_says_where_its_devices_are(slices, labels, selector):
    """Given a device on all nodes, on one, or on those with a label / when a node takes it / then
    the allocation has the node selector; a node that the device is not on gets nothing.
    """
    [found] = allocate(slices, claim(request()), labels=labels)
    assert [each["device"] for each in found["devices"]["results"]] == ["a"]
    assert found.get("nodeSelector") == selector
    if selector:
        assert allocate(slices, claim(request()), node="n3") is None


def test_only_whole_pools_of_the_newest_generation_count():
    """Given pools of which a slice is missing, or a newer generation exists / when a claim asks /
    then only the newest whole generation is used, also when its other slices are elsewhere.
    """
    assert given([slice_of(devices("a"), of=2)], claim(request())) is None
    assert given([slice_of(devices("a")), slice_of(devices("b"), generation=2)], claim(request())) == [["r=b"]]
    elsewhere = slice_of(devices("b"), node="n2", name="s2", of=2)
    assert given([slice_of(devices("a"), of=2), elsewhere], claim(request())) == [["r=a"]]
    newer = slice_of(devices("b"), node="n2", name="s2", generation=2, of=1)
    assert given([slice_of(devices("a"), of=2), newer], claim(request())) is None


def test_a_pool_with_two_devices_of_one_name_is_of_no_use():
    """Given a pool with one name twice / when a claim asks for one or for all / then the node is
    rejected, with a reason; other pools may do.
    """
    wrong = slice_of(devices("a", "a"))
    with pytest.raises(NodeAllocationError, match="invalid resource pools were encountered"):
        given([wrong], claim(request()))
    assert given([wrong, slice_of(devices("b"), pool="q")], claim(request())) == [["r=b"]]
    text = f"claim n/c, request r: asks for all devices, but resource pool {DRIVER}/p is currently invalid"
    with pytest.raises(AllocationError, match=text):
        given([wrong], claim(request(mode="All")))
    with pytest.raises(AllocationError, match="is currently being updated"):
        given([slice_of(devices("a"), of=2)], claim(request(mode="All")))


def test_all_means_every_device_that_matches():
    """Given two devices that match and one that does not / when all are asked for / then both are
    given, and nothing when one of them is not free, or none matches.
    """
    slices = [slice_of([NEW, OLD, device("newer", {"model": "new"})])]
    wanted = claim(request(mode="All", selectors=[model("new")]))
    assert given(slices, wanted) == [["r=new", "r=newer"]]
    assert given(slices, wanted, allocated=[allocation("newer")]) is None
    assert given(slices, claim(request(mode="All", selectors=[model("none")]))) is None


def test_class_and_request_select():
    """Given a class and a request with selectors / when a device must pass both / then only one
    that does is given.
    """
    slices = [slice_of([device("a", {"model": "new"}), device("b", {"model": "new", "ecc": True})])]
    ecc = f'device.attributes["{DRIVER}"].?ecc.orValue(false)'
    classes = [device_class(selectors=[model("new")])]
    assert given(slices, claim(request(selectors=[ecc])), classes=classes) == [["r=b"]]
    assert given(slices, claim(request(selectors=[ecc])), classes=[device_class(selectors=[model("old")])]) is None


@pytest.mark.parametrize(("expression", "text"), [
    ("device.nothing", "claim n/c: selector #0: CEL compile error: compilation failed: "),
    (f'device.attributes["{DRIVER}"].nothing',
     f"claim n/c: selector #0 on device {DRIVER}/p/a: CEL runtime error: no such key: nothing. consider using CEL optional"),
])
def test_a_selector_that_cannot_be_asked_ends_the_search(expression, text):
    """Given a selector with an error / when a device is asked about / then that is an error of the
    claim, in upstream's words.
    """
    with pytest.raises(AllocationError) as failed:
        given([slice_of(devices("a"))], claim(request(selectors=[expression])))
    assert str(failed.value).startswith(text)


def test_the_first_alternative_that_can_be_had_is_taken():
    """Given a prioritized list / when the first alternative cannot be had / then the second is
    given under its own name, also where the first would need more devices than a claim may have.
    """
    slices = [slice_of([OLD, device("old2", {"model": "old"})])]
    wanted = first_of("r", new=body(selectors=[model("new")]), old=body(2, selectors=[model("old")]))
    assert given(slices, claim(wanted)) == [["r/old=old", "r/old=old2"]]
    assert given([slice_of([OLD, NEW])], claim(wanted)) == [["r/new=new"]]
    assert given(slices, claim(first_of("r", many=body(33), one=body()))) == [["r/one=old"]]
    with pytest.raises(AllocationError, match="has subrequests, but the DRAPrioritizedList feature is disabled"):
        given(slices, claim(wanted), prioritized_list=False)


def test_an_earlier_request_gives_up_a_device_that_a_later_one_needs():
    """Given two devices of which one fits both requests / when the first request takes that one /
    then the search goes back, and both get theirs.
    """
    slices = [slice_of([NEW, OLD])]
    assert given(slices, claim(request("any"), request("new", selectors=[model("new")]))) == [["any=old", "new=new"]]
    assert given(slices, claim(request("any")), claim(request("new", selectors=[model("new")]))) == [["any=old"], ["new=new"]]


@pytest.mark.parametrize(("constraint", "expected"), [
    ({"matchAttribute": f"{DRIVER}/numa"}, [["r=b", "r=c"]]),
    ({"distinctAttribute": f"{DRIVER}/numa"}, [["r=a", "r=b"]]),
    ({"matchAttribute": f"{DRIVER}/numa", "requests": ["other"]}, [["r=a", "r=b"]]),
    ({"matchAttribute": f"{DRIVER}/nothing"}, None),
    ({"distinctAttribute": f"{DRIVER}/nothing"}, None),
    ({"matchAttribute": "other.example.com/numa"}, None),
])
def test_constraints_between_devices(constraint, expected):
    """Given devices on two NUMA nodes / when a claim asks for two that have the same, or another /
    then such are given; devices without the attribute never.
    """
    slices = [slice_of([device("a", {"numa": 1}), device("b", {"numa": 2}), device("c", {"numa": 2})])]
    assert given(slices, claim(request(count=2), constraints=[constraint])) == expected


def test_values_of_other_types_are_not_the_same():
    """Given the number 1 and the truth / when they must be the same / then they are not."""
    slices = [slice_of([device("a", {"x": 1}), device("b", {"x": True})])]
    assert given(slices, claim(request(count=2), constraints=[{"matchAttribute": f"{DRIVER}/x"}])) is None


def test_attributes_with_several_values_must_have_one_in_common():
    """Given lists of values, and the gate for them / when devices must match / then those with a
    value in common are given, and those without any in common are distinct.
    """
    listed = [{"name": name, "attributes": {"root": {"strings": values}}} for name, values in (
        ("a", ["x", "y"]), ("b", ["z"]), ("c", ["y", "z"]))]
    for kind, expected in (("matchAttribute", [["r=a", "r=c"]]), ("distinctAttribute", [["r=a", "r=b"]])):
        wanted = claim(request(count=2), constraints=[{kind: f"{DRIVER}/root"}])
        assert given([slice_of(listed)], wanted, list_type_attributes=True) == expected
        assert given([slice_of(listed)], wanted) is None


def test_all_devices_that_break_a_constraint_are_an_error():
    """Given devices that differ / when a claim wants all, and all the same / then that is an
    error.
    """
    with pytest.raises(AllocationError) as failed:
        given([slice_of([NEW, OLD])], claim(request(mode="All"), constraints=[{"matchAttribute": f"{DRIVER}/model"}]))
    assert str(failed.value) == (
        f"claim n/c, request r: cannot add device {DRIVER}/p/old because a claim constraint would not be satisfied")


def test_admin_access_takes_what_others_have():
    """Given a device that is allocated / when a request has admin access / then it gets it, and the
    result says so; two such requests of a claim do not share one.
    """
    slices = [slice_of(devices("a"))]
    admin = claim(request(adminAccess=True))
    [found] = allocate(slices, admin, allocated=[allocation("a")])
    assert found["devices"]["results"] == [
        {"request": "r", "driver": DRIVER, "pool": "p", "device": "a", "adminAccess": True}]
    assert given(slices, claim(request("r", adminAccess=True), request("s", adminAccess=True))) is None
    assert given(slices, claim(request()), allocated=[allocation("a", adminAccess=True)]) == [["r=a"]]


def test_taints_keep_requests_off():
    """Given a tainted device / when it is not tolerated / then another is given; the toleration is
    in the result; a taint without effect keeps nobody off.
    """
    slices = [slice_of([device("a", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]), device("b")])]
    assert given(slices, claim(request())) == [["r=b"]]
    assert given(slices, claim(request()), device_taints=False) == [["r=a"]]
    tolerations = [{"key": "k", "operator": "Exists"}]
    [found] = allocate(slices, claim(request(tolerations=tolerations)))
    assert found["devices"]["results"][0] == {
        "request": "r", "driver": DRIVER, "pool": "p", "device": "a", "tolerations": tolerations}
    harmless = [slice_of([device("a", taints=[{"key": "k", "effect": "None"}])])]
    assert given(harmless, claim(request())) == [["r=a"]]


def test_devices_with_binding_conditions_come_last():
    """Given a pool whose devices must be made ready first / when another pool has some, too / then
    that is used; the conditions are in the result.
    """
    ready = slice_of(devices("b"), pool="z")
    unready = slice_of([device("a", bindingConditions=["ok"], bindingFailureConditions=["no"], bindsToNode=True)], allNodes=True)
    assert given([unready, ready], claim(request())) == [["r=b"]]
    [found] = allocate([unready], claim(request()))
    assert found["devices"]["results"][0]["bindingConditions"] == ["ok"]
    assert found["devices"]["results"][0]["bindingFailureConditions"] == ["no"]
    assert found["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["n1"]
    assert given([unready], claim(request()), device_binding_and_status=False) is None


def opaque(value):
    return {"opaque": {"driver": DRIVER, "parameters": {"v": value}}}


def test_configuration_of_class_and_claim():
    """Given configuration of a class, and of a claim for some requests / when allocated / then both
    are in the allocation, each class's once, without names where all requests are meant.
    """
    wanted = claim(
        request("a"), request("b"), request("c", cls="plain"), config=[
            {"requests": ["a"], **opaque(2)}, opaque(3), {"requests": ["a", "b", "c"], **opaque(4)},
            {"requests": ["x"], **opaque(5)}])
    classes = [device_class(config=[opaque(1)]), device_class("plain")]
    [found] = allocate([slice_of(devices("x", "y", "z"))], wanted, classes=classes)
    assert found["devices"]["config"] == [
        {"source": "FromClass", "requests": ["a", "b"], **opaque(1)}, {"source": "FromClaim", "requests": ["a"], **opaque(2)},
        {"source": "FromClaim", **opaque(3)}, {"source": "FromClaim", **opaque(4)}]


def test_configuration_of_the_alternative_that_was_taken():
    """Given configuration for each alternative / when one is taken / then only its is given, and
    none for the other.
    """
    wanted = claim(
        first_of("r", new=body(selectors=[model("new")]), old=body()),
        config=[{"requests": ["r/new"], **opaque(1)}, {"requests": ["r/old"], **opaque(2)}])
    [found] = allocate([slice_of([OLD])], wanted)
    assert found["devices"]["config"] == [{"source": "FromClaim", **opaque(2)}]


@pytest.mark.parametrize(("wanted", "text"), [
    (claim(request(cls="none")), 'could not retrieve device class none: deviceclass.resource.k8s.io "none" not found'),
    (claim(request(cls="")), "missing device class name"),
    (claim(request(mode="Some")), "unsupported count mode Some"),
    (claim(request("a", 20), request("b", 13)), "adding 13 devices exceeds the claim limit of 32, with 20 already accounted for"),
    (claim(request(), constraints=[{}]), "claim n/c, constraint #0: empty constraint"),
    (claim(request(derivedAttributes=[{}])), "cannot handle request with derived attributes"),
])
def test_claims_that_cannot_be_allocated_at_all(wanted, text):
    """Given a claim that nothing can satisfy / when it is tried / then that is an error."""
    with pytest.raises(AllocationError, match=text):
        given([slice_of(devices("a"))], wanted)


def test_like_devices_cost_no_more_than_one():
    """Given 60 devices that are all alike, and a constraint that nothing satisfies / when eight are
    asked for, and one more of another kind / then the search ends after few tries; where they
    differ, it is given up.
    """
    alike = slice_of([device(f"d{number}", {"model": "old"}) for number in range(60)])
    wanted = claim(request("many", 8), request("new", selectors=[model("new")]))
    assert allocator([alike], max_work=40_000).allocate("n1", {}, [wanted]) is None
    unlike = slice_of([device(f"d{number}", {"model": "old", "number": number}) for number in range(60)])
    with pytest.raises(TakesTooLong):
        allocator([unlike], max_work=40_000).allocate("n1", {}, [wanted])


def test_a_pod_may_have_more_devices_than_calls_can_nest():
    """Given forty claims for 32 devices each / when there are as many / then all get theirs."""
    slices = [slice_of(devices(*[f"{pool}-{number}" for number in range(32)]), pool=f"p{pool:02}") for pool in range(40)]
    found = given(slices, *[claim(request(count=32), name=f"c{number}") for number in range(40)])
    assert sum(map(len, found)) == 40 * 32
