"""When slices are written, tried again and looked at, and what is said then."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import ENDPOINT_SLICES, NODES, PODS, SERVICES
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.endpoints.slicecontroller import EndpointSliceReconciler
from fakekube_controllers.endpoints.slicetracker import SliceTracker
from tests.controllers.scene import Scene

KEY = Request("x", "s")
MANAGER, NAME, MANAGED = "endpointslice-controller.k8s.io", "kubernetes.io/service-name", "endpointslice.kubernetes.io/managed-by"
TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
SERVICE: Tree = {
    "apiVersion": "v1", "kind": "Service", "metadata": {
        "name": "s", "namespace": "x", "uid": "us", "creationTimestamp": "2026-01-01T00:00:00Z"},
    "spec": {"selector": {"app": "a"}, "clusterIP": "10.1.1.1", "ipFamilies": ["IPv4"], "ports": [{"port": 80}]}}


class Delayed(Scene):
    """A scene whose queue notes for how long a key is put off, and which lists slices."""

    def __init__(self, *objects: tuple[Any, Tree], gates: tuple[str, ...] = ()) -> None:
        super().__init__(objects, gates=gates)
        self.later: list[tuple[str, float]] = []
        self.selectors: list[str] = []

    def add_after(self, key: Any, seconds: float) -> None:
        self.later.append((str(key), seconds))

    async def list(self, resource: Any, namespace: str = "", *, label_selector: str = "") -> Any:
        self.selectors.append(label_selector)
        return await super().list(resource, namespace)


def slice_of(name: str = "a", *, service: str = "s", manager: str = MANAGER, uid: str = "", version: str = "5",
        **more: Any) -> Tree:
    labels = {NAME: service, MANAGED: manager}
    return {"metadata": {"name": name, "namespace": "x", "uid": uid or f"u{name}", "resourceVersion": version, "labels": {
        key: value for key, value in labels.items() if value}}, **more}


def tracker(scene: Delayed) -> SliceTracker:
    return SliceTracker(cast("Any", scene), cast("Any", scene), MANAGER)


async def test_slices_are_sent_without_what_is_empty() -> None:
    """Given slices / when they are written / then empty lists are left out, and what is deleted may
    be gone; they are listed by Service and manager.
    """
    scene = Delayed()
    one = tracker(scene)
    await one.create(slice_of(ports=[], endpoints=None, addressType="IPv4"))
    await one.update(slice_of(ports=[{"port": 1}], endpoints=[]))
    await one.delete(slice_of())
    assert scene.done == [
        ("create", "endpointslices", "a", slice_of(addressType="IPv4")),
        ("update", "endpointslices", "a", slice_of(ports=[{"port": 1}])),
        ("delete", "endpointslices", "a", {"missing_ok": True})]
    await one.of(ObjectKey("x", "s"))
    assert scene.selectors == [f"{MANAGED}={MANAGER},{NAME}=s"]


async def test_which_slices_are_somebody_elses() -> None:
    """Given slices that the controller has written / when the same or older versions are seen /
    then nothing is looked at; newer ones, those of no known version, and changes of Service or
    manager have their Services looked at a second later.
    """
    scene = Delayed()
    one = tracker(scene)
    one.listen()
    added, updated, gone = scene.handlers["endpointslices"]

    def told(call: Any, *slices: Tree) -> list[str]:
        scene.later.clear()
        call(*slices)
        assert all(seconds == 1.0 for _, seconds in scene.later)
        return [key for key, _ in scene.later]

    assert told(added, slice_of()) == ["x/s"]
    assert told(added, slice_of(manager="other")) == told(added, slice_of(service="")) == []
    await one.create(slice_of())  # answered as version 9
    for version, expected in (("8", []), ("9", []), ("10", ["x/s"])):
        assert told(added, slice_of(version=version)) == expected
        assert told(updated, slice_of(), slice_of(version=version)) == expected
    assert told(updated, slice_of(service="t"), slice_of(version="9")) == ["x/s", "x/t"]
    assert told(updated, slice_of(service=""), slice_of(version="9")) == ["x/s"]
    assert told(updated, slice_of(manager="other"), slice_of(version="9")) == ["x/s"]
    assert told(updated, slice_of(), slice_of(version="9", manager="other")) == ["x/s"]
    assert told(updated, slice_of(manager="other"), slice_of(version="99", manager="other")) == []
    assert told(gone, slice_of(manager="other")) == told(gone, slice_of("b")) == []
    assert (told(gone, slice_of()), told(gone, slice_of())) == (["x/s"], [])
    await one.create(slice_of())
    await one.delete(slice_of())
    assert told(gone, slice_of()) == []
    await one.create(slice_of())
    one.forget(ObjectKey("x", "s"))
    one.forget(ObjectKey("x", "s"))
    assert told(gone, slice_of()) == []


def pod(name: str, node: str = "n", **status: Any) -> tuple[Any, Tree]:
    return PODS, {"metadata": {"name": name, "namespace": "x", "uid": f"u{name}", "labels": {"app": "a"}}, "spec": {
        "containers": [], "nodeName": node}, "status": {"phase": "Running", "podIPs": [{"ip": f"10.0.0.{len(name)}"}], **status}}


NODE = NODES, {"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z"}}, "spec": {}}


def reconciler(scene: Delayed) -> EndpointSliceReconciler:
    one = EndpointSliceReconciler(cast("Any", scene))
    one.slices = tracker(scene)
    return one


def service(**spec: Any) -> tuple[Any, Tree]:
    return SERVICES, {**SERVICE, "spec": {**SERVICE["spec"], **spec}}


async def test_slices_are_written_for_each_family() -> None:
    """Given a Service of two families / then a slice of each is made with the time of the change,
    and those of another family go.
    """
    old = {**slice_of("old"), "addressType": "FQDN", "endpoints": []}
    scene = Delayed(service(ipFamilies=["IPv6", "IPv4"]), pod("p"), NODE, (ENDPOINT_SLICES, old))
    assert await reconciler(scene).reconcile(KEY) is None
    assert [(verb, sent.get("addressType")) for verb, _, _, sent in scene.done] == [
        ("create", "IPv6"), ("create", "IPv4"), ("delete", None)]
    assert [sent["metadata"]["annotations"] for verb, _, _, sent in scene.done if verb == "create"] == [
        {TRIGGER: "2026-01-01T00:00:00Z"}] * 2


@pytest.mark.parametrize(("gates", "hinted"), [((), False), (("PreferSameTrafficDistribution",), True)])
async def test_hints_by_gate(gates: tuple[str, ...], hinted: bool) -> None:
    """Given a Service whose traffic is to stay in its zone / then hints are given where the gate is
    on.
    """
    ready = [{"type": "Ready", "status": "True"}]
    scene = Delayed(service(trafficDistribution="PreferSameZone"), pod("p", conditions=ready), NODE, gates=gates)
    await reconciler(scene).reconcile(KEY)
    assert ("hints" in scene.done[0][3]["endpoints"][0]) is hinted


async def test_a_service_that_goes_or_has_no_slices() -> None:
    """Given a Service that is to go / then no slice is made; one without a selector has none, and
    slices that are on their way out do not count.
    """
    going = {**SERVICE, "metadata": {**SERVICE["metadata"], "deletionTimestamp": "t"}}
    for found in ((SERVICES, going), service(selector=None), (PODS, pod("q")[1])):
        scene = Delayed(found, pod("p"), NODE)
        assert (await reconciler(scene).reconcile(KEY), scene.done) == (None, [])
    leaving = slice_of("old", addressType="IPv4")
    leaving["metadata"]["deletionTimestamp"] = "t"
    scene = Delayed(service(), pod("p"), NODE, (ENDPOINT_SLICES, leaving))
    await reconciler(scene).reconcile(KEY)
    assert [each[0] for each in scene.done] == ["create"]


LOST = "skipping Pod {} for Service x/s: Node gone Not Found"


@pytest.mark.parametrize(("names", "text"), [(("p",), LOST.format("p")),
    (("p", "qq"), f"[{LOST.format('p')}, {LOST.format('qq')}]")])
async def test_pods_of_nodes_that_are_not_there(names: tuple[str, ...], text: str) -> None:
    """Given pods whose node is not there / then that is told and tried again fifteen times, later
    each time, and anew once the node has been there.
    """
    scene = Delayed(service(), *(pod(name, "gone") for name in names))
    one = reconciler(scene)
    waits: list[Any] = []
    for _ in range(17):
        scene.done.clear()
        waits.append(await one.reconcile(KEY))
    assert scene.done[-1] == ("event", "s", "Warning", "FailedToUpdateEndpointSlices", (
        f"Error updating Endpoint Slices for Service x/s: {text}"))
    seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000, 1000]
    assert waits == [*(Result.after(each, daemon=True) for each in seconds), None, Result.after(1, daemon=True)]
    scene.objects.append(("nodes", {"metadata": {"name": "gone"}}))
    assert await one.reconcile(KEY) is None
    scene.objects.pop()
    assert await one.reconcile(KEY) == Result.after(1, daemon=True)
    scene.objects.pop(0)
    assert await one.reconcile(KEY) is None
    scene.objects.insert(0, ("services", SERVICE))
    assert await one.reconcile(KEY) == Result.after(1, daemon=True)


@pytest.mark.parametrize(("causes", "told"), [([], True), ([{"reason": "NamespaceTerminating"}], False)])
async def test_slices_that_cannot_be_written(causes: list[Tree], told: bool) -> None:
    """Given slices that cannot be written / then that is told and raised, unless the namespace
    goes.
    """
    scene = Delayed(service(), pod("p"), NODE)
    scene.refuse["create", "endpointslices"] = APIError(403, "Forbidden", "no", {"causes": causes})
    if told:
        with pytest.raises(APIError, match="no"):
            await reconciler(scene).reconcile(KEY)
        assert scene.done == [("event", "s", "Warning", "FailedToUpdateEndpointSlices",
            "Error updating Endpoint Slices for Service x/s: no")]
    else:
        assert (await reconciler(scene).reconcile(KEY), scene.done) == (None, [])
    assert SimpleNamespace(selectors=scene.selectors).selectors == [f"{MANAGED}={MANAGER},{NAME}=s"]
