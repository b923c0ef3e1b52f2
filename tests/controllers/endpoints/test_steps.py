"""What is written and said of Endpoints and of slices that mirror them, to the letter."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import ENDPOINTS, PODS, SERVICES
from fakekube.runtime.reconcile import Request
from fakekube_controllers.endpoints.endpointscontroller import EndpointsReconciler
from fakekube_controllers.endpoints.mirroring import MirroringReconciler
from tests.controllers.scene import Scene

KEY = Request("x", "s")
TRIGGER, CUT = "endpoints.kubernetes.io/last-change-trigger-time", "endpoints.kubernetes.io/over-capacity"
MANAGED = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
HEADLESS = "service.kubernetes.io/headless"
MADE = "2026-01-01T00:00:00Z"


def service(*, labels: Tree | None = None, **spec: Any) -> tuple[Any, Tree]:
    metadata = {"name": "s", "namespace": "x", "creationTimestamp": MADE, "labels": labels or {}}
    return SERVICES, {"metadata": metadata, "spec": {
        "selector": {"app": "a"}, "clusterIP": "10.1.1.1", "ports": [{"port": 80}], **spec}}


def pod(name: str, ip: str, *, ready: bool = True, leaving: bool = False, **spec: Any) -> tuple[Any, Tree]:
    metadata: Tree = {"name": name, "namespace": "x", "uid": f"u{name}", "labels": {"app": "a"}}
    return PODS, {"metadata": metadata | ({"deletionTimestamp": "t"} if leaving else {}), "spec": {
        "nodeName": "n", "containers": [], **spec}, "status": {"phase": "Running", "podIPs": [{"ip": ip}, {"ip": "fd00::1"}],
                                              "conditions": [{"type": "Ready", "status": str(ready)}]}}


def address(name: str, ip: str, **more: str) -> Tree:
    return {"ip": ip, "nodeName": "n", "targetRef": {"kind": "Pod", "namespace": "x", "name": name, "uid": f"u{name}"}, **more}


def endpoints(*subsets: Tree, labels: Any = None, **annotations: str) -> tuple[Any, Tree]:
    metadata = {"name": "s", "namespace": "x", "labels": MANAGED if labels is None else labels, "annotations": annotations}
    return ENDPOINTS, {"metadata": metadata, "subsets": list(subsets)}


async def written(*objects: tuple[Any, Tree]) -> list[tuple[Any, ...]]:
    scene = Scene(objects)
    await EndpointsReconciler(cast("Any", scene)).reconcile(KEY)
    return [each if each[0] == "delete" else (each[0], each[3]["metadata"], each[3]["subsets"]) for each in scene.done]


PORT = {"port": 80, "protocol": "TCP"}
FULL: Tree = {"addresses": [address("p", "10.0.0.1")], "ports": [PORT]}


@pytest.mark.parametrize(("spec", "pods", "subsets"), [
    ({}, [pod("p", "10.0.0.1"), pod("q", "10.0.0.2", ready=False)], [{**FULL, "notReadyAddresses": [address("q", "10.0.0.2")]}]),
    ({"publishNotReadyAddresses": True}, [pod("q", "10.0.0.2", ready=False), pod("r", "10.0.0.3", leaving=True)], [
        {"addresses": [address("q", "10.0.0.2"), address("r", "10.0.0.3")], "ports": [PORT]}]),
    ({}, [pod("r", "10.0.0.3", leaving=True)], []), ({"ipFamilies": ["IPv6", "IPv4"]}, [pod("p", "10.0.0.1")], [
        {"addresses": [address("p", "fd00::1")], "ports": [PORT]}]),
    ({"ports": None}, [pod("p", "10.0.0.1")], []), ({"ports": [{"name": "w", "port": 80, "appProtocol": "x"}]},
        [pod("p", "10.0.0.1")], [
        {**FULL, "ports": [{"name": "w", "port": 80, "protocol": "TCP", "appProtocol": "x"}]}]),
    ({}, [pod("p", "10.0.0.1", hostname="h", subdomain="s")], [{**FULL, "addresses": [address("p", "10.0.0.1", hostname="h")]}])])
async def test_new_endpoints(spec: Tree, pods: list[Any], subsets: list[Tree]) -> None:
    """Given a Service and pods / then its Endpoints are made, with its labels, and tell of each."""
    metadata = {"name": "s", "namespace": "x", "labels": {"team": "t", **MANAGED}, "annotations": {TRIGGER: MADE}}
    assert await written(service(labels={"team": "t"}, **spec), *pods) == [("create", metadata, subsets)]


async def test_endpoints_of_a_headless_service() -> None:
    """Given a headless Service without ports / then addresses without ports, and the label."""
    found = service(clusterIP="None", ports=None, ipFamilies=["IPv4"])
    [(verb, metadata, subsets)] = await written(found, pod("p", "10.0.0.1"))
    assert (verb, metadata["labels"], subsets) == ("create", {HEADLESS: "", **MANAGED},
        [{"addresses": [address("p", "10.0.0.1")]}])


@pytest.mark.parametrize(("there", "changes"), [
    (endpoints(FULL), False), (endpoints(FULL, labels={**MANAGED, HEADLESS: "x"}), False), (endpoints(FULL, k="v"), False),
    (endpoints(FULL, labels={}), True), (endpoints(FULL, labels={**MANAGED, "old": "l"}), True),
    (endpoints(FULL, **{CUT: "truncated"}), True), (endpoints(), True), (endpoints(FULL, **{TRIGGER: "old"}), False)])
async def test_endpoints_that_are_there(there: tuple[Any, Tree], changes: bool) -> None:
    """Given Endpoints / then they change where they tell something else, or are not managed."""
    expected = {**there[1]["metadata"], "labels": MANAGED, "annotations": {TRIGGER: MADE}}
    assert await written(service(), pod("p", "10.0.0.1"), there) == ([("update", expected, [FULL])] if changes else [])


async def test_what_gets_no_endpoints() -> None:
    """Given a Service without a selector / then nothing is done; without a Service they go."""
    assert await written(service(selector=None), endpoints(FULL)) == await written(service(type="ExternalName")) == []
    assert await written(endpoints(FULL)) == [("delete", "endpoints", "s", {"missing_ok": True})]


@pytest.mark.parametrize(("verb", "there", "reason", "text"), [
    ("create", [], "FailedToCreateEndpoint", "Failed to create endpoint for service x/s: no"),
    ("update", [endpoints()], "FailedToUpdateEndpoint", "Failed to update endpoint x/s: no")])
async def test_endpoints_that_cannot_be_written(verb: str, there: list[Any], reason: str, text: str) -> None:
    """Given Endpoints that cannot be written / then that is told and raised, unless the namespace
    goes and they are not there.
    """
    scene = Scene([service(), pod("p", "10.0.0.1"), *there])
    scene.refuse[verb, "endpoints"] = APIError(403, "Forbidden", "no")
    with pytest.raises(APIError, match="no"):
        await EndpointsReconciler(cast("Any", scene)).reconcile(KEY)
    assert scene.done == [("event", "s", "Warning", reason, text)]
    scene.done.clear()
    going = APIError(403, "Forbidden", "no", {"causes": [{"reason": "NamespaceTerminating"}]})
    scene.refuse[verb, "endpoints"] = going
    if verb == "create":
        await EndpointsReconciler(cast("Any", scene)).reconcile(KEY)
        assert scene.done == []


# mirrors

class Slices:
    """The slices of a Service, and what is done to them."""

    def __init__(self, *there: Tree) -> None:
        self.there, self.done = list(there), list[tuple[Any, ...]]()

    async def of(self, _: Any) -> list[Tree]:
        return self.there

    async def create(self, each: Tree) -> None:
        self.done.append(("create", each))

    async def update(self, each: Tree) -> None:
        self.done.append(("update", each["metadata"]["name"], each))

    async def delete(self, each: Tree) -> None:
        self.done.append(("delete", each["metadata"]["name"]))

    def forget(self, _: Any) -> None:
        self.done.append(("forget",))


LABELS = {"kubernetes.io/service-name": "s", "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io"}
OWNER = {"apiVersion": "v1", "kind": "Endpoints", "name": "s", "uid": "ue", "controller": True, "blockOwnerDeletion": True}


def written_by_hand(*subsets: Tree, deleting: Any = False, labels: Any = None, **annotations: str) -> tuple[Any, Tree]:
    metadata: Tree = {"name": "s", "namespace": "x", "uid": "ue", "labels": labels or {}, "annotations": annotations}
    return ENDPOINTS, {"apiVersion": "v1", "kind": "Endpoints", "subsets": list(subsets), "metadata": metadata | (
        {"deletionTimestamp": "t"} if deleting else {})}


def mirror(*ready: str, unready: tuple[str, ...] = (), name: str = "", family: str = "IPv4", port: int = 1,
        **annotations: str) -> Tree:
    named = {"name": name} if name else {"generateName": "s-"}
    return {
        "metadata": {**named, "namespace": "x", "labels": LABELS, "annotations": annotations, "ownerReferences": [OWNER]},
        "addressType": family, "ports": [{"name": "", "port": port}], "endpoints": [
            {"addresses": [ip], "conditions": {"ready": ip in ready}} for ip in (*ready, *unready)]}


def subset(*ready: str, unready: tuple[str, ...] = (), port: int = 1) -> Tree:
    found = {"addresses": [{"ip": ip} for ip in ready], "notReadyAddresses": [{"ip": ip} for ip in unready]}
    return {**{name: items for name, items in found.items() if items}, "ports": [{"port": port}]}


ALONE = service(selector=None)
V4, V6 = mirror("192.0.2.1"), mirror("2001:db8::1", family="IPv6")


@pytest.mark.parametrize(("found", "there", "done"), [
    (written_by_hand(subset("192.0.2.1", "2001:DB8::1")), [], [("create", V4), ("create", V6)]),
    (written_by_hand(subset("192.0.2.1", unready=("192.0.2.2",)), k="v", **{TRIGGER: "x"}), [], [
        ("create", mirror("192.0.2.1", unready=("192.0.2.2",), k="v"))]),
    (written_by_hand(subset("192.0.2.1")), [mirror("192.0.2.1", name="a")], []),
    (written_by_hand(subset("192.0.2.1")), [mirror("192.0.2.1", name="a"), mirror("192.0.2.1", name="b")], [("delete", "b")]),
    (written_by_hand(subset("192.0.2.2")), [mirror("192.0.2.1", name="a")], [("update", "a", mirror("192.0.2.2", name="a"))]),
    (written_by_hand(subset("192.0.2.1"), k="v"), [mirror("192.0.2.1", name="a")], [
        ("update", "a", mirror("192.0.2.1", name="a", k="v"))]),
    (written_by_hand(subset("192.0.2.1", port=2)), [mirror("192.0.2.1", name="a")], [
        ("update", "a", {**mirror("192.0.2.1", name="a", port=2), "metadata": {**V4["metadata"], "name": "a"}})]),
    (written_by_hand(subset("2001:db8::1")), [mirror("192.0.2.1", name="a")], [("create", V6), ("delete", "a")]),
    (written_by_hand(), [mirror("192.0.2.1", name="a")], [("delete", "a")]),
    (written_by_hand(subset("192.0.2.1"), deleting=True), [], []),
    (written_by_hand(subset("192.0.2.1"), labels={"endpointslice.kubernetes.io/skip-mirror": "true"}), [mirror(name="a")], [
        ("delete", "a"), ("forget",)]),
    (written_by_hand(subset("192.0.2.1"), **{"control-plane.alpha.kubernetes.io/leader": "x"}), [], [("forget",)])])
async def test_mirrors_follow_endpoints(found: tuple[Any, Tree], there: list[Tree], done: list[tuple[Any, ...]]) -> None:
    """Given Endpoints of a Service without a selector / then there is a slice for each family and
    each set of ports, which is changed before others are made.
    """
    scene, slices = Scene([ALONE, found]), Slices(*there)
    one = MirroringReconciler(cast("Any", scene))
    one.slices = cast("Any", slices)
    await one.reconcile(KEY)
    assert (slices.done, scene.done) == (done, [])


@pytest.mark.parametrize("objects", [[ALONE], [written_by_hand(subset("192.0.2.1"))],
    [service(), written_by_hand(subset("192.0.2.1"))]])
async def test_without_endpoints_or_a_service_of_its_own_kind_mirrors_go(objects: list[Any]) -> None:
    """Given no Endpoints, no Service, or one with a selector / then the mirrors go."""
    slices, one = Slices(mirror(name="a"), mirror(name="b")), MirroringReconciler(cast("Any", Scene(objects)))
    one.slices = cast("Any", slices)
    await one.reconcile(KEY)
    assert slices.done == [("delete", "a"), ("delete", "b"), ("forget",)]


@pytest.mark.parametrize(("addresses", "count", "events"), [
    (["x", "192.0.2.1", "y"], 1, [("InvalidIPAddress", "Skipped 2 invalid IP addresses when mirroring to EndpointSlices")]),
    ([f"10.0.{n // 250}.{n % 250}" for n in range(1002)], 1000, [("TooManyAddressesToMirror", (
        "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped"))]),
    ([f"10.0.{n // 250}.{n % 250}" for n in range(1000)], 1000, [])])
async def test_addresses_that_are_not_mirrored(addresses: list[str], count: int, events: list[tuple[str, str]]) -> None:
    """Given addresses that are none, or too many / then the others are mirrored, and that is told.
    """
    scene, slices = Scene([ALONE, written_by_hand(subset(*addresses))]), Slices()
    one = MirroringReconciler(cast("Any", scene))
    one.slices = cast("Any", slices)
    await one.reconcile(KEY)
    assert [len(each[1]["endpoints"]) for each in slices.done] == [count]
    assert scene.done == [("event", "s", "Warning", *each) for each in events]


@pytest.mark.parametrize(("causes", "raised"), [([], True), ([{"reason": "NamespaceTerminating"}], False)])
async def test_mirrors_that_cannot_be_written(causes: list[Tree], raised: bool) -> None:
    """Given a mirror that cannot be made / then the error is raised, unless the namespace goes."""

    class Closed(Slices):
        async def create(self, each: Tree) -> None:
            raise APIError(403, "Forbidden", "no", {"causes": causes})

    one = MirroringReconciler(cast("Any", Scene([ALONE, written_by_hand(subset("192.0.2.1"))])))
    one.slices = cast("Any", Closed())
    if raised:
        with pytest.raises(APIError, match="no"):
            await one.reconcile(KEY)
    else:
        await one.reconcile(KEY)


def test_what_mirrors_are_looked_at_for() -> None:
    """Given Services without a selector and Endpoints that are mirrored / when they come, change or
    go / then their mirrors are looked at; of Services only when they get or lose a selector.
    """
    scene = Scene()
    MirroringReconciler(cast("Any", scene)).setup(cast("Any", scene))
    of_services, of_endpoints = scene.handlers["services"], scene.handlers["endpoints"]
    skipped = written_by_hand(labels={"endpointslice.kubernetes.io/skip-mirror": "true"})

    def queued(handler: Any, *objects: tuple[Any, Tree]) -> int:
        scene.queued.clear()
        handler(*(each[1] for each in objects))
        assert scene.queued in ([], [KEY])
        return len(scene.queued)

    assert [queued(of_services[place], ALONE) for place in (0, 2)] == [1, 1]
    assert [queued(of_services[place], service()) for place in (0, 2)] == [0, 0]
    changes = [(ALONE, service()), (service(), ALONE), (ALONE, ALONE), (service(), service())]
    assert [queued(of_services[1], *change) for change in changes] == [1, 1, 0, 0]
    assert [queued(of_endpoints[place], written_by_hand()) for place in (0, 2)] == [1, 1]
    assert [queued(of_endpoints[place], skipped) for place in (0, 2)] == [0, 0]
    pairs = [(skipped, skipped), (skipped, written_by_hand()), (written_by_hand(), skipped),
        (written_by_hand(), written_by_hand())]
    assert [queued(of_endpoints[1], *pair) for pair in pairs] == [0, 1, 1, 1]
