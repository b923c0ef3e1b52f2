"""Which slices are made, changed and deleted for the pods of a Service, to the letter."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from fakekube.apimachinery.types import Tree
from fakekube_controllers.endpoints.slices import Planner

NAME, MANAGED = "kubernetes.io/service-name", "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslice-controller.k8s.io"
LABELS = {NAME: "s", MANAGED: MANAGER}
OWNER = {"apiVersion": "v1", "kind": "Service", "name": "s", "uid": "service", "controller": True, "blockOwnerDeletion": True}
PORT = {"name": "", "port": 80, "protocol": "TCP"}
OTHER_PORT = {"name": "", "port": 81, "protocol": "TCP"}


class Nodes:
    """One node, in zone z."""

    def get(self, namespace: str, name: str) -> Tree | None:
        assert namespace == ""
        return {"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z"}}} if name == "n" else None


def service(*, labels: Tree | None = None, annotations: Tree | None = None, **spec: Any) -> Tree:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "x", "uid": "service", "labels": labels or {}, "annotations": annotations or {}},
        "spec": {"selector": {"app": "a"}, "clusterIP": "10.0.0.1", "ports": [{"port": 80}], **spec},
    }


def pod(number: int, *, ready: bool = True, leaving: bool = False, node: str = "n", **spec: Any) -> Tree:
    return {
        "metadata": {
            "name": f"p{number}",
            "namespace": "x",
            "uid": f"u{number}",
            **({"deletionTimestamp": "t"} if leaving else {}),
        },
        "spec": {"containers": [], **({"nodeName": node} if node else {}), **spec},
        "status": {
            "phase": "Running",
            "podIPs": [{"ip": f"10.0.0.{number}"}],
            "conditions": [{"type": "Ready", "status": str(ready)}],
        },
    }


def endpoint(number: int, *, ready: bool = True, serving: bool | None = None, terminating: bool = False, **more: Any) -> Tree:
    conditions = {"ready": ready, "serving": ready if serving is None else serving, "terminating": terminating}
    return {
        "addresses": [f"10.0.0.{number}"],
        "conditions": conditions,
        "nodeName": "n",
        "zone": "z",
        "targetRef": {"kind": "Pod", "namespace": "x", "name": f"p{number}", "uid": f"u{number}"},
        **more,
    }


def slice_of(
    name: str,
    *endpoints: Tree,
    ports: Sequence[Tree] = (PORT,),
    labels: Tree | None = None,
    owner: Tree = OWNER,
    family: str = "IPv4",
) -> Tree:
    """A slice that is there, or without a name one that is to come."""
    named: Tree = {"name": name} if name else {"generateName": "s-"}
    metadata = {**named, "namespace": "x", "labels": {**LABELS, **(labels or {})}, "ownerReferences": [owner]}
    return {"metadata": metadata, "addressType": family, "ports": list(ports), "endpoints": list(endpoints)}


def planned(
    pods: Sequence[Tree],
    existing: Any = (),
    *,
    limit: Any = 3,
    family: Any = "IPv4",
    same_traffic: Any = True,
    lost: Any = (),
    **spec: Any,
) -> dict[str, Any]:
    """What is to be done, without what is not."""
    planner = Planner(service(**spec), cast("Any", Nodes()), limit=limit, same_traffic=same_traffic)
    found = planner.plan(family, pods, existing)
    assert [each["metadata"]["name"] for each in planner.lost] == list(lost)
    told: dict[str, Any] = {
        "create": found.create,
        "update": found.update,
        "delete": [each["metadata"]["name"] for each in found.delete],
    }
    return {name: what for name, what in told.items() if what}


def test_a_slice_tells_of_each_pod_what_it_is() -> None:
    """Given pods that are ready, are not, and are on their way out / then a slice with their
    addresses, states, names, nodes and zones; one without a node is left out and told.
    """
    pods = [
        pod(1, hostname="h", subdomain="s"),
        pod(2, ready=False),
        pod(3, leaving=True, hostname="h", subdomain="t"),
        pod(4, ready=False, leaving=True),
        pod(5, node="gone"),
        pod(6, node=""),
    ]
    expected = [
        endpoint(1, hostname="h"),
        endpoint(2, ready=False),
        endpoint(3, ready=False, serving=True, terminating=True),
        endpoint(4, ready=False, terminating=True),
    ]
    assert planned(pods, limit=9, lost=["p5", "p6"]) == {"create": [slice_of("", *expected)]}
    everybody = [
        endpoint(1, hostname="h"),
        endpoint(2, serving=False),
        endpoint(3, serving=True, terminating=True),
        endpoint(4, serving=False, terminating=True),
    ]
    alone = [
        {key: value for key, value in (endpoint(5) | {"nodeName": "gone"}).items() if key != "zone"},
        {key: value for key, value in endpoint(6).items() if key not in ("zone", "nodeName")},
    ]
    assert planned(pods, limit=9, publishNotReadyAddresses=True) == {"create": [slice_of("", *everybody, *alone)]}


def test_pods_without_an_address_of_the_family() -> None:
    """Given pods that have no IPv6 address / then there is a slice of that family without any."""
    assert planned([pod(1)], family="IPv6") == {"create": [slice_of("", family="IPv6", ports=[])]}


@pytest.mark.parametrize(
    ("spec", "labels"),
    [
        ({}, {}),
        ({"clusterIP": "None"}, {"service.kubernetes.io/headless": ""}),
        ({"labels": {"team": "a", NAME: "x", MANAGED: "x", "service.kubernetes.io/headless": "x"}}, {"team": "a"}),
    ],
)
def test_the_labels_of_slices(spec: Tree, labels: Tree) -> None:
    """Given labels of a Service / then its slices have them but for those that mean something."""
    assert planned([], **spec) == {"create": [slice_of("", ports=[], labels=labels)]}
    assert planned([], [slice_of("a", ports=[], labels=labels)], **spec) == {}
    assert planned([pod(1)], [slice_of("a", endpoint(1), labels=labels)], **spec) == {}
    assert planned([pod(1)], [slice_of("a", endpoint(1), labels={"old": "x"})], **spec) == {
        "update": [slice_of("a", endpoint(1), labels=labels)]
    }


FULL = slice_of("full", endpoint(1), endpoint(2), endpoint(3))
TWO, ONE = slice_of("two", endpoint(4), endpoint(5)), slice_of("one", endpoint(6))


@pytest.mark.parametrize(
    ("pods", "existing", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], [FULL, TWO, ONE], {}),
        # what is new comes to the fullest that has room
        ([1, 2, 3, 4, 5, 6, 7], [FULL, ONE, TWO], {"update": [slice_of("two", endpoint(4), endpoint(5), endpoint(7))]}),
        ([4, 5, 6, 7, 8], [ONE, TWO], {"update": [slice_of("one", endpoint(6), endpoint(7), endpoint(8))]}),
        ([1, 2, 3, 7], [FULL], {"create": [slice_of("", endpoint(7))]}),
        ([4, 5, 6, 7, 8, 9], [ONE, TWO], {"create": [slice_of("", endpoint(7), endpoint(8), endpoint(9))]}),
        (
            [4, 5, 6, 7, 8, 9, 10],
            [ONE, TWO],
            {
                "create": [slice_of("", endpoint(7), endpoint(8), endpoint(9))],
                "update": [slice_of("two", endpoint(4), endpoint(5), endpoint(10))],
            },
        ),
        ([7, 8, 9, 10], [], {"create": [slice_of("", endpoint(7), endpoint(8), endpoint(9)), slice_of("", endpoint(10))]}),
        # one that changes anyway is filled first, the fullest of those
        ([1, 3, 4, 5, 7], [FULL, TWO], {"update": [slice_of("full", endpoint(1), endpoint(3), endpoint(7))]}),
        (
            [2, 4, 6, 7, 8],
            [TWO, ONE, FULL],
            {"update": [slice_of("two", endpoint(4), endpoint(7), endpoint(8)), slice_of("full", endpoint(2))]},
        ),
        # one that nothing is left of goes, or becomes the one that comes
        ([6], [FULL, ONE], {"delete": ["full"]}),
        ([7], [FULL], {"update": [slice_of("full", endpoint(7)) | {"metadata": {**slice_of("")["metadata"], "name": "full"}}]}),
        ([], [ONE], {"update": [slice_of("one", ports=[]) | {"metadata": {**slice_of("")["metadata"], "name": "one"}}]}),
        ([], [slice_of("a", ports=[])], {}),
        (
            [1],
            [slice_of("a", endpoint(1), owner={**OWNER, "uid": "old"})],
            {"create": [slice_of("", endpoint(1))], "delete": ["a"]},
        ),
        (
            [],
            [slice_of("a", ports=[]), slice_of("b", ports=[])],
            {"update": [slice_of("a", ports=[]) | {"metadata": {**slice_of("")["metadata"], "name": "a"}}], "delete": ["b"]},
        ),
        (
            [1],
            [slice_of("a", endpoint(1), ports=[OTHER_PORT])],
            {"update": [slice_of("a", endpoint(1)) | {"metadata": {**slice_of("")["metadata"], "name": "a"}}]},
        ),
        # what changes of an endpoint stays in its slice
        ([6], [slice_of("one", endpoint(6, ready=False))], {"update": [ONE]}),
    ],
)
def test_endpoints_stay_where_they_are(pods: list[int], existing: list[Tree], expected: Tree) -> None:
    """Given slices of at most three endpoints / when pods come and go / then these slices are
    written, and no others.
    """
    assert planned([pod(number) for number in pods], existing) == expected


def test_slices_do_not_become_those_of_another_family() -> None:
    """Given a slice of another family that would go / then it goes, and a new one comes."""
    existing = [slice_of("a", endpoint(1), ports=[OTHER_PORT], family="IPv6")]
    assert planned([pod(1)], existing) == {"create": [slice_of("", endpoint(1))], "delete": ["a"]}


def hinted(number: int, node: bool = False) -> Tree:
    nodes = {"forNodes": [{"name": "n"}]} if node else {}
    return endpoint(number, hints={"forZones": [{"name": "z"}], **nodes})


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({}, endpoint(1)),
        ({"trafficDistribution": "PreferClose"}, hinted(1)),
        ({"trafficDistribution": "PreferSameZone"}, hinted(1)),
        ({"trafficDistribution": "PreferSameNode"}, hinted(1, node=True)),
        ({"trafficDistribution": "Other"}, endpoint(1)),
        ({"trafficDistribution": "PreferSameNode", "same_traffic": False}, endpoint(1)),
        ({"trafficDistribution": "PreferClose", "same_traffic": False}, hinted(1)),
        *(
            ({"trafficDistribution": "PreferClose", "annotations": annotations}, shown)
            for annotations, shown in (
                ({"service.kubernetes.io/topology-mode": "Auto"}, endpoint(1)),
                ({"service.kubernetes.io/topology-mode": "auto"}, endpoint(1)),
                ({"service.kubernetes.io/topology-aware-hints": "Auto"}, endpoint(1)),
                ({"service.kubernetes.io/topology-mode": "Disabled"}, hinted(1)),
                ({"service.kubernetes.io/topology-aware-hints": "x", "service.kubernetes.io/topology-mode": "Auto"}, hinted(1)),
            )
        ),
    ],
)
def test_hints_for_traffic_that_stays_close(spec: Tree, shown: Tree) -> None:
    """Given a Service's wish for its traffic / then ready endpoints are hinted for zone and node,
    others are not, and hints that nobody wishes any more go.
    """
    pods = [pod(1), pod(2, ready=False)]
    unready = endpoint(2, ready=False)
    assert planned(pods, **spec) == {"create": [slice_of("", shown, unready)]}
    for before in (endpoint(1), hinted(1), hinted(1, node=True)):
        expected = {} if before == shown else {"update": [slice_of("a", shown, unready)]}
        assert planned(pods, [slice_of("a", before, unready)], **spec) == expected


def test_hints_need_a_zone_and_a_node() -> None:
    """Given a ready pod without a node / when traffic is to stay on its node / then it has no hint.
    """
    bare = {key: value for key, value in endpoint(1).items() if key not in ("zone", "nodeName")}
    spec = {"trafficDistribution": "PreferSameNode", "publishNotReadyAddresses": True}
    assert planned([pod(1, node="")], **spec) == {"create": [slice_of("", bare)]}
