"""Which pods, ports and addresses a Service has, and which changes its endpoints tell of."""

from typing import Any, cast

import pytest

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube_controllers.endpoints import backends
from fakekube_controllers.endpoints.backends import TriggerTimeTracker
from fakekube_controllers.endpoints.slices import address_types

PORTS: Tree = {
    "name": "c",
    "ports": [
        {"name": "web", "containerPort": 1},
        {"name": "dns", "containerPort": 2, "protocol": "UDP"},
        {"name": "web", "containerPort": 3},
        {"containerPort": 4},
    ],
}
SIDECAR: Tree = {"name": "s", "restartPolicy": "Always", "ports": [{"name": "side", "containerPort": 5}]}
INIT: Tree = {"name": "i", "ports": [{"name": "init", "containerPort": 6}]}


def service(name: str = "s", **spec: Any) -> Tree:
    return {"metadata": {"name": name, "namespace": "x", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": spec}


def pod(
    name: str = "p",
    *,
    labels: Tree | None = None,
    spec: Tree | None = None,
    ready: bool = True,
    since: str = "",
    ips: tuple[str, ...] = ("10.0.0.1",),
    leaving: bool = False,
    phase: str = "Running",
    **status: Any,
) -> Tree:
    condition = {"type": "Ready", "status": str(ready), **({"lastTransitionTime": since} if since else {})}
    return {
        "metadata": {
            "name": name,
            "namespace": "x",
            "uid": f"u-{name}",
            "labels": labels or {"app": "a"},
            **({"deletionTimestamp": "t"} if leaving else {}),
        },
        "spec": {"nodeName": "n", "containers": [PORTS], "initContainers": [SIDECAR, INIT], **(spec or {})},
        "status": {"phase": phase, "conditions": [condition], "podIPs": [{"ip": ip} for ip in ips], **status},
    }


@pytest.mark.parametrize(
    ("port", "number"),
    [
        ({"port": 80}, 80),
        ({"port": 80, "targetPort": 8080}, 8080),
        ({"port": 80, "targetPort": "web"}, 1),
        ({"port": 80, "targetPort": "dns"}, None),
        ({"port": 80, "targetPort": "dns", "protocol": "UDP"}, 2),
        ({"port": 80, "targetPort": "web", "protocol": "UDP"}, None),
        ({"port": 80, "targetPort": "side"}, 5),
        ({"port": 80, "targetPort": "init"}, None),
        ({"port": 80, "targetPort": "web", "protocol": "TCP"}, 1),
    ],
)
def test_the_port_of_a_pod(port: Tree, number: int | None) -> None:
    """Given a Service's port / then its number, or that of a container's or sidecar's port of that
    name and protocol, the first one.
    """
    assert backends.find_port(pod(), port) == number


def test_the_ports_that_a_pod_has() -> None:
    """Given ports of a Service / then those that the pod has, with every name, and the protocol of
    the application where it is given.
    """
    ports = [
        {"port": 80},
        {"name": "n", "port": 81, "targetPort": "none"},
        {"name": "d", "port": 53, "targetPort": "dns", "protocol": "UDP", "appProtocol": "x"},
    ]
    assert backends.found_ports(pod(), service(ports=ports)) == [
        {"name": "", "port": 80, "protocol": "TCP"},
        {"name": "d", "port": 2, "protocol": "UDP", "appProtocol": "x"},
    ]
    assert backends.found_ports(pod(), service()) == []


@pytest.mark.parametrize(
    ("found", "among", "even_leaving"),
    [
        (pod(), True, True),
        (pod(leaving=True), False, True),
        (pod(ips=()), False, False),
        (pod(ips=(), podIP="10.0.0.1"), True, True),
        (pod(phase="Succeeded"), False, False),
        (pod(phase="Failed"), False, False),
        (pod(ready=False), True, True),
        ({"metadata": {"name": "p"}, "spec": {}}, False, False),
    ],
)
def test_which_pods_are_endpoints(found: Tree, among: bool, even_leaving: bool) -> None:
    """Given pods / then those with an address that have not ended are endpoints; those on their way
    out only where asked for.
    """
    assert (backends.belongs(found, terminating=False), backends.belongs(found, terminating=True)) == (among, even_leaving)


def test_addresses_names_and_references() -> None:
    """Given a pod with addresses of both families / then each in its usual form, its name within
    the domain of its Service alone, and its reference.
    """
    found = pod(ips=("10.0.0.1", "2001:DB8:0::1", "10.0.0.2"), spec={"hostname": "h", "subdomain": "s"})
    assert (backends.addresses(found, 4), backends.addresses(found, 6)) == (["10.0.0.1", "10.0.0.2"], ["2001:db8::1"])
    assert backends.addresses({"metadata": {}}, 4) == []
    assert (backends.hostname(found, service()), backends.hostname(found, service("other"))) == ("h", "")
    assert backends.hostname(pod(spec={"subdomain": "s"}), service()) == ""
    assert backends.target(found) == {"kind": "Pod", "namespace": "x", "name": "p", "uid": "u-p"}


@pytest.mark.parametrize(
    ("spec", "served", "addressed", "families"),
    [
        ({"selector": {}}, True, False, ["IPv4", "IPv6"]),
        ({}, False, False, ["IPv4", "IPv6"]),
        ({"selector": {"a": "b"}, "type": "ExternalName"}, False, False, ["IPv4", "IPv6"]),
        ({"selector": {"a": "b"}, "type": "ClusterIP", "clusterIP": "None"}, True, False, ["IPv4", "IPv6"]),
        ({"clusterIP": "10.0.0.1"}, False, True, ["IPv4"]),
        ({"clusterIP": "fd00::1"}, False, True, ["IPv6"]),
        ({"clusterIP": "10.0.0.1", "ipFamilies": ["IPv6", "IPv4"]}, False, True, ["IPv6", "IPv4"]),
        ({"clusterIP": ""}, False, False, ["IPv4", "IPv6"]),
    ],
)
def test_what_a_service_is(spec: Tree, served: bool, addressed: bool, families: list[str]) -> None:
    """Given Services / then whether they get endpoints, have an address, and of which families."""
    found = service(**spec)
    assert (backends.is_served(found), backends.has_address(found), address_types(found)) == (served, addressed, families)


# changes

BEFORE = pod()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (BEFORE, BEFORE, []),
        (BEFORE, pod(message="m"), []),
        (BEFORE, pod(ready=False), ["a", "all"]),
        (pod(ready=False), BEFORE, ["a", "all"]),
        (BEFORE, pod(ips=("10.0.0.2",)), ["a", "all"]),
        (pod(ips=()), pod(), ["a", "all"]),
        (BEFORE, pod(leaving=True), ["a", "all"]),
        (pod(leaving=True), pod(leaving=True), ["a", "all"]),
        (BEFORE, pod(labels={"app": "b"}), ["a", "b"]),
        (BEFORE, pod(labels={"app": "a", "x": "y"}), []),
        (BEFORE, pod(labels={"app": "b"}, ready=False), ["a", "all", "b"]),
        (BEFORE, pod(spec={"hostname": "h"}), []),
        (BEFORE, pod(spec={"hostname": "h"}, ready=False), ["a", "all"]),
    ],
)
def test_which_services_a_change_is_told_to(old: Tree, new: Tree, told: list[str]) -> None:
    """Given Services that select by label, everything, or nothing / when a pod changes / then those
    whose endpoints may be others, the past ones too, are reconciled.
    """
    assert changes(old, new) == told
    if old is new:
        assert changes(None, new) == ["a", "all"]


def changes(old: Tree | None, new: Tree) -> list[str]:
    known = [
        service("a", selector={"app": "a"}),
        service("b", selector={"app": "b"}),
        service("all", selector={}),
        service("none"),
        service("both", selector={"app": "a", "z": "z"}),
    ]
    world = Watching(known)
    backends.enqueue_services_of_pods(cast("Any", world), cast("Any", world), cast("Any", world))
    (added, updated, gone), _ = world.handlers["pods"], world.handlers["services"]
    if old is None:
        gone(new)
        added(new)
        assert world.queued[: len(world.queued) // 2] == world.queued[len(world.queued) // 2 :]
        return sorted(world.queued[: len(world.queued) // 2])
    updated(old, new)
    return sorted(world.queued)


class Watching:
    """A context, a lister of Services and a queue, as far as they are needed."""

    def __init__(self, services: list[Tree]) -> None:
        self.services, self.queued, self.later = services, list[str](), list[tuple[str, float]]()
        self.handlers: dict[str, Any] = {}
        self.clock, self.now = self, 0.0

    def time(self) -> float:
        return self.now

    monotonic = time

    def list(self, namespace: str) -> list[Tree]:
        return self.services if namespace == "x" else []

    def add_handler(self, resource: Any, *handlers: Any) -> None:
        self.handlers[resource.plural] = handlers

    def add(self, key: Any) -> None:
        self.queued.append(key.name)

    def add_when_quiet(self, key: Any, seconds: float) -> None:
        self.later.append((key.name, seconds))


def test_many_changes_at_once_are_told_together() -> None:
    """Given a Service / when forty pods come at one instant / then thirty are told each, and the
    rest once it is quiet; a Service that is made anew begins anew.
    """
    world = Watching([service("a", selector={"app": "a"})])
    backends.enqueue_services_of_pods(cast("Any", world), cast("Any", world), cast("Any", world))
    added, _, _ = world.handlers["pods"]
    for number in range(40):
        added(pod(f"p{number}"))
    assert (world.queued, world.later) == (["a"] * 30, [("a", 0.05)] * 10)
    first, second, gone = world.handlers["services"]
    assert first is second is None
    gone(world.services[0])
    gone(world.services[0])
    added(pod())
    assert len(world.queued) == 31


def test_the_time_of_the_change_that_is_told() -> None:
    """Given a Service and pods / then first its own creation is told, then the earliest readiness
    that was not told yet, and nothing when there is none.
    """
    tracker, found = TriggerTimeTracker(), service()
    one, other = pod("1", since="2026-01-01T00:00:05Z"), pod("2", since="2026-01-01T00:00:03Z")
    assert tracker.trigger(found, [one, pod("3")]) == "2026-01-01T00:00:00Z"
    assert tracker.trigger(found, [one]) == ""
    later = pod("1", since="2026-01-01T00:00:09Z")
    assert tracker.trigger(found, [later, other]) == "2026-01-01T00:00:03Z"
    assert tracker.trigger(found, [later, pod("2", since="2026-01-01T00:00:02Z")]) == ""
    assert tracker.trigger(found, [pod("1", since="2026-01-01T00:00:10.5Z"), pod("2", since="2026-01-01T00:00:10Z")]) == (
        "2026-01-01T00:00:10Z"
    )
    tracker.forget(meta.key_of(found))
    tracker.forget(meta.key_of(found))
    assert tracker.trigger(found, []) == "2026-01-01T00:00:00Z"
