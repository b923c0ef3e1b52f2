"""What a node has too little of for another pod, and why else it does not take it."""

from collections.abc import Mapping
from typing import Any

import pytest

from fakekube_controllers.kubelet.pods import predicates
from fakekube_controllers.kubelet.pods.predicates import Allocations, Rejection


def node(taints: list[Any] | None = None, **allocatable: Any) -> dict[str, Any]:
    return {"metadata": {"name": "n", "labels": {"disk": "fast"}}, "spec": {"taints": taints},
    "status": {"allocatable": allocatable}}


def pod(*ports: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "ports": list(ports)}], **spec}}


def test_a_pod_asks_for_thousandths_and_units() -> None:
    """Given pods / then what they ask for is counted in thousandths of a CPU, and units of all
    else, overhead and init containers included; a pod that says nothing asks for nothing.
    """
    def asks(**requests: str) -> dict[str, Any]:
        return {"name": "c", "resources": {"requests": requests}}

    assert predicates.requests_of(pod()) == {}
    assert predicates.requests_of({"spec": {"containers": [asks(cpu="1500m", memory="1Ki"), asks(cpu="1")]}}) == {
        "cpu": 2500, "memory": 1024}
    assert predicates.requests_of({"spec": {"containers": [{"name": "a"}], "initContainers": [asks(cpu="2")]}})["cpu"] == 2000
    assert predicates.requests_of(pod(overhead={"cpu": "3"}))["cpu"] == 3000
    assert predicates.requests_of(pod(resources={"requests": {"cpu": "4"}}))["cpu"] == 4000


def test_a_node_has_room_until_it_is_full() -> None:
    """Given a node of two CPUs and three places / then pods are taken to the last of it, and each
    that goes makes room once.
    """
    small, allocations = node(cpu="2", pods="3"), Allocations()
    allocations.add("n", "a", {"cpu": 1500})
    allocations.add("n", "a", {"cpu": 1500})
    allocations.add("elsewhere", "z", {"cpu": 9000})
    assert allocations.insufficient(small, {"cpu": 500}) is None
    assert allocations.insufficient(small, {"cpu": 501}) == Rejection(
        "OutOfcpu", "Node didn't have enough resource: cpu, requested: 501, used: 1500, capacity: 2000")
    allocations.add("n", "b", {})
    assert allocations.insufficient(small, {}) is None
    allocations.add("n", "c", {"cpu": 500})
    assert allocations.insufficient(small, {}) == Rejection(
        "OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3")
    for uid in ("a", "a", "b", "unknown"):
        allocations.remove("n", uid)
    assert allocations.insufficient(small, {"cpu": 1500}) is None
    assert allocations.insufficient(small, {"cpu": 1501}) is not None


@pytest.mark.parametrize(("requests", "reason"), [
    ({"example.com/gpu": 1}, None), ({"memory": 1}, "OutOfmemory"), ({"memory": 0}, None), ({"example.com/disk": 2}, None),
    ({"example.com/disk": 3}, "OutOfexample.com/disk"),
])
def test_a_resource_that_the_node_does_not_know(requests: dict[str, int], reason: str | None) -> None:
    """Given a resource that the node does not list / then one with a domain is not the kubelet's to
    refuse, and one without is missing.
    """
    found = Allocations().insufficient(node(None, cpu="1", **{"example.com/disk": "2"}), requests)
    assert (found and found.reason) == reason
    only = {"metadata": {"name": "n"}, "spec": {}, "status": {"capacity": {"cpu": "1"}}}
    assert Allocations().insufficient(only, {"cpu": 1001}) is not None
    assert Allocations().insufficient({"metadata": {"name": "n"}, "spec": {}}, {}) is None


PORTS = Rejection("NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports")
TAINTS = Rejection("TaintToleration", "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate")
AFFINITY = Rejection("NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector")


@pytest.mark.parametrize(("mine", "theirs", "clash"), [
    ({"hostPort": 80}, {"hostPort": 80}, True), ({"hostPort": 80}, {"hostPort": 81}, False), ({}, {"hostPort": 80}, False),
    ({"hostPort": 80, "protocol": "UDP"}, {"hostPort": 80}, False), ({"hostPort": 80, "protocol": "TCP"}, {"hostPort": 80}, True),
    ({"hostPort": 80, "hostIP": "1.1.1.1"}, {"hostPort": 80}, True),
    ({"hostPort": 80}, {"hostPort": 80, "hostIP": "1.1.1.1"}, True),
    ({"hostPort": 80, "hostIP": "1.1.1.1"}, {"hostPort": 80, "hostIP": "1.1.1.2"}, False),
    ({"hostPort": 80, "hostIP": "1.1.1.1"}, {"hostPort": 80, "hostIP": "1.1.1.1"}, True),
    ({"containerPort": 80}, {"containerPort": 80}, False),
])
def test_two_pods_cannot_have_one_port(mine: Mapping[str, Any], theirs: Mapping[str, Any], clash: bool) -> None:
    """Given a port of the host that a pod asks for and one that another has / then they clash if
    number and protocol are the same, and the addresses overlap.
    """
    asked: list[str] = []

    def others(name: str) -> list[dict[str, Any]]:
        asked.append(name)
        return [pod(), pod(theirs)]

    assert predicates.failed_predicate(pod(mine), node(), others) == (PORTS if clash else None)
    assert asked == (["n"] if mine.get("hostPort") else [])


@pytest.mark.parametrize(("spec", "taints", "rejection"), [
    ({"nodeSelector": {"disk": "slow"}}, [], AFFINITY), ({"nodeSelector": {"disk": "fast"}}, [], None),
    ({}, [{"key": "a", "effect": "NoExecute"}], TAINTS), ({}, [{"key": "a", "effect": "NoSchedule"}], None),
    ({"tolerations": [{"key": "a", "operator": "Exists"}]}, [{"key": "a", "effect": "NoExecute"}], None),
    ({"nodeSelector": {"disk": "slow"}}, [{"key": "a", "effect": "NoExecute"}], AFFINITY),
])
def test_a_node_refuses_what_does_not_belong_to_it(spec: Mapping[str, Any], taints: list[Any],
rejection: Rejection | None) -> None:
    """Given a selector or a taint / then the kubelet refuses the pod for the first that it does not
    meet; a taint that only keeps pods from being scheduled is none of its business.
    """
    assert predicates.failed_predicate(pod(**spec), node(taints), lambda _: ()) == rejection
