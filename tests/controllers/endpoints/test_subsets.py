"""The order and form of what endpoints tell, as upstream has it."""

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.endpoints import hashes
from fakekube_controllers.endpoints.slices import identity, same_state
from fakekube_controllers.endpoints.subsets import repack, truncate


def test_what_is_hashed_for_upstreams_order() -> None:
    """Given ports and subsets / then the FNV-1a hash, of 128 bits, of what upstream prints of them.
    """
    assert f"{hashes.fnv128a(''):032x}" == "6c62272e07bb014262b821756295c58d"
    assert f"{hashes.fnv128a('a'):032x}" == "d228cb696f1a8caf78912b704e4a8964"
    assert hashes.slice_port_hash({"name": "web", "port": 80, "protocol": "TCP", "appProtocol": "x"}) == hashes.fnv128a(
        "(v1.EndpointPort){Name:(*string)web Protocol:(*v1.Protocol)TCP Port:(*int32)80 AppProtocol:(*string)x}"
    )
    assert hashes.slice_port_hash({}) == hashes.fnv128a(
        "(v1.EndpointPort){Name:(*string)<nil> Protocol:(*v1.Protocol)<nil> Port:(*int32)<nil> AppProtocol:(*string)<nil>}"
    )
    assert hashes.port_hash({"port": 80}) == hashes.fnv128a(
        "(v1.EndpointPort){Name:(string) Port:(int32)80 Protocol:(v1.Protocol) AppProtocol:(*string)<nil>}"
    )
    assert hashes.port_hash({"name": "n", "port": 80, "protocol": "UDP", "appProtocol": "x"}) == hashes.fnv128a(
        "(v1.EndpointPort){Name:(string)n Port:(int32)80 Protocol:(v1.Protocol)UDP AppProtocol:(*string)x}"
    )
    reference = {
        "kind": "Pod",
        "namespace": "x",
        "name": "p",
        "uid": "u",
        "apiVersion": "v1",
        "resourceVersion": "7",
        "fieldPath": "f",
    }
    subset = {
        "addresses": [{"ip": "10.0.0.1", "hostname": "h", "nodeName": "n", "targetRef": reference}, {"ip": "10.0.0.2"}],
        "ports": [{"port": 80}, {"name": "n", "port": 81, "protocol": "UDP"}],
    }
    assert hashes.subset_hash(subset) == hashes.fnv128a(
        "(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)[{IP:(string)10.0.0.1 Hostname:(string)h NodeName:(*string)n "
        "TargetRef:(*v1.ObjectReference){Kind:(string)Pod Namespace:(string)x Name:(string)p UID:(types.UID)u "
        "APIVersion:(string)v1 ResourceVersion:(string)7 FieldPath:(string)f}} {IP:(string)10.0.0.2 Hostname:(string) "
        "NodeName:(*string)<nil> TargetRef:(*v1.ObjectReference)<nil>}] NotReadyAddresses:([]v1.EndpointAddress)<nil> "
        "Ports:([]v1.EndpointPort)[{Name:(string) Port:(int32)80 Protocol:(v1.Protocol) AppProtocol:(*string)<nil>} "
        "{Name:(string)n Port:(int32)81 Protocol:(v1.Protocol)UDP AppProtocol:(*string)<nil>}]}"
    )
    empty = {
        "Kind": "string",
        "Namespace": "string",
        "Name": "string",
        "UID": "types.UID",
        "APIVersion": "string",
        "ResourceVersion": "string",
        "FieldPath": "string",
    }
    shown = " ".join(f"{key}:({kind})" for key, kind in empty.items())
    assert hashes.subset_hash({"notReadyAddresses": [{"ip": "10.0.0.1", "targetRef": {}}]}) == hashes.fnv128a(
        "(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)<nil> NotReadyAddresses:([]v1.EndpointAddress)[{IP:(string)10.0.0.1 "
        f"Hostname:(string) NodeName:(*string)<nil> TargetRef:(*v1.ObjectReference){{{shown}}}}}] "
        "Ports:([]v1.EndpointPort)<nil>}"
    )


# subsets


def ips(*names: str, uid: str = "") -> list[Tree]:
    return [{"ip": name, **({"targetRef": {"uid": uid}} if uid else {})} for name in names]


def test_the_form_of_subsets() -> None:
    """Given subsets / then ports that the same addresses offer stand together, addresses in order;
    two pods of one address are two, and subsets without ports stay.
    """
    a, b = {"port": 1}, {"port": 2}
    assert repack([{"addresses": ips("2", "1"), "ports": [a]}]) == [{"addresses": ips("1", "2"), "ports": [a]}]
    assert repack([]) == []
    assert repack([{"ports": [a]}]) == [{"ports": [a]}]
    assert repack([{"addresses": ips("1")}, {"notReadyAddresses": ips("2")}]) == [
        {"addresses": ips("1"), "notReadyAddresses": ips("2")}
    ]
    assert repack([{"addresses": [*ips("1", uid="u"), *ips("1", uid="t"), *ips("1")]}]) == [
        {"addresses": [*ips("1"), *ips("1", uid="t"), *ips("1", uid="u")]}
    ]
    assert repack([{"addresses": ips("1"), "notReadyAddresses": ips("1")}]) == [{"notReadyAddresses": ips("1")}]
    together = repack([{"addresses": ips("1"), "ports": [a, b]}, {"addresses": ips("1"), "ports": [{"port": 3}]}])
    assert [(one["addresses"], sorted(port["port"] for port in one["ports"])) for one in together] == [(ips("1"), [1, 2, 3])]
    hashed = [hashes.port_hash(port) for port in together[0]["ports"]]
    assert hashed == sorted(hashed)
    apart = repack([{"addresses": ips(str(port)), "ports": [{"port": port}]} for port in range(1, 7)])
    assert len(apart) == 6
    hashed = [hashes.subset_hash(one) for one in apart]
    assert hashed == sorted(hashed)


def sized(ready: int, others: int = 0) -> Tree:
    found = {"addresses": ips(*map(str, range(ready))), "notReadyAddresses": ips(*map(str, range(others)))}
    return {name: items for name, items in found.items() if items}


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [
        ([(1000, 0)], None),
        ([(500, 500)], None),
        ([(1001, 0)], [(1000, 0)]),
        ([(1001, 5)], [(1000, 0)]),
        ([(1000, 1)], [(1000, 0)]),
        ([(600, 600)], [(600, 400)]),
        ([(300, 600), (300, 600)], [(300, 200), (300, 200)]),
        ([(1500, 9), (500, 9)], [(750, 0), (250, 0)]),
        ([(667, 0), (667, 0), (667, 0)], [(334, 0), (334, 0), (332, 0)]),
        ([(999, 1), (0, 1)], [(999, 1), (0, 0)]),
    ],
)
def test_a_thousand_addresses_at_most(sizes: list[tuple[int, int]], kept: list[tuple[int, int]] | None) -> None:
    """Given ready addresses and others of subsets / then each subset keeps its share, rounded up,
    the ready ones first.
    """
    subsets = [sized(*size) for size in sizes]
    found, cut = truncate(subsets)
    assert cut is (kept is not None)
    assert found == [sized(*size) for size in kept or sizes]


# endpoints of slices


def test_what_makes_endpoints_the_same() -> None:
    """Given endpoints / then addresses in any order, hostname and target make them the same one;
    everything else but hints and the version of the target is its state.
    """
    one: Tree = {
        "addresses": ["2", "1"],
        "hostname": "h",
        "conditions": {"ready": True},
        "zone": "z",
        "targetRef": {"namespace": "x", "name": "p", "uid": "u"},
    }
    assert identity(one) == (("1", "2"), "h", "x", "p")
    assert identity({"addresses": ["1"]}) == (("1",), "", "", "")
    version = {**one["targetRef"], "resourceVersion": "7"}
    assert same_state(one, {**one, "hints": {"forZones": []}, "targetRef": version, "deprecatedTopology": None})
    for changed in ({"zone": "y"}, {"conditions": {"ready": False}}, {"targetRef": {**version, "uid": "v"}}, {"nodeName": "n"}):
        assert not same_state(one, {**one, **changed})
    assert same_state({"addresses": ["1"]}, {"addresses": ["1"]})
