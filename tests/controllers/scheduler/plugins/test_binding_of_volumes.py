"""How a volume is bound to the claim of a pod, and what goes wrong with that."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Code, Status
from fakekube_controllers.scheduler.framework.types import pod_info
from fakekube_controllers.scheduler.plugins.volume_binding import VolumeBinding
from tests.controllers.scheduler.plugins.cases import (
    HOSTNAME,
    Handle,
    node,
    other,
    plugin_of,
    pod,
    said,
    snapshot,
    statuses,
)

NEVER = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def using(*claims: Any, name: Any = "p", **sources: Any) -> Any:
    listed = [{"name": f"v{number}", "persistentVolumeClaim": {"claimName": each}} for number, each in enumerate(claims)]
    return pod(name, volumes=[*listed, *({"name": key, key: value} for key, value in sources.items())])


def claim(name: Any = "c", **spec: Any) -> Any:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if "volumeName" in spec else {}
    return {"metadata": {"name": name, "namespace": "n", "uid": name, "annotations": annotations, "resourceVersion": "5"},
    "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "slow", **spec}}


def volume(name: Any = "v", labels: Any = None, **spec: Any) -> Any:
    return {"metadata": {"name": name, "uid": name, "labels": labels or {}, "resourceVersion": "7"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "slow", **spec},
        "status": {"phase": "Available"}}


def storage_class(name: Any = "slow", **more: Any) -> Any:
    return {"metadata": {"name": name}, "provisioner": "csi", "volumeBindingMode": "WaitForFirstConsumer", **more}


BOUND = claim(volumeName="v")
PLAIN = node("a", labels={HOSTNAME: "a"})
LOCAL = storage_class("slow", provisioner="kubernetes.io/no-provisioner")


class Server:
    """Takes patches, and lets a lister see what was bound."""

    def __init__(self, refuses: bool = False) -> None:
        self.patches: list[tuple[Any, ...]] = []
        self.refuses = refuses

    async def patch(self, resource: Any, name: str, namespace: str = "", body: Any = None) -> Any:
        """Remember it."""
        if self.refuses:
            raise APIError(409, "Conflict", "no")
        self.patches.append((resource.plural, name, namespace, body))
        return {"metadata": {"resourceVersion": "9"}}


class Binding:
    """A pod with a claim on a node, ready for PreBind."""

    def __init__(self, *volumes: Any, refuses: bool = False, cls: Any = None) -> None:
        self.claims, self.volumes = [claim()], list(volumes)
        handle = Handle(persistentvolumeclaims=self.claims, persistentvolumes=self.volumes,
        storageclasses=[cls or storage_class()])
        self.server, self.seconds = Server(refuses), 0.0
        handle.client, handle.wait_for = self.server, self._wait_for
        self.plugin = plugin_of(VolumeBinding, handle, bindTimeoutSeconds=7)
        self.state, self.pod = CycleState(), pod_info(using("c"))
        self.plugin.pre_filter(self.state, self.pod, snapshot(PLAIN))
        self.plugin.filter(self.state, self.pod, PLAIN)
        self.meanwhile: Any = lambda: None

    async def _wait_for(self, check: Any, seconds: float) -> Any:
        self.seconds = seconds
        first = check()
        self.meanwhile()
        found = first or check()
        if found is None:
            raise TimeoutError
        return found

    async def result(self) -> Any:
        """What PreBind comes to."""
        return said(await self.plugin.pre_bind(self.state, self.pod, "a"))


async def test_a_volume_is_given_to_its_claim() -> None:
    """Given a volume for a claim / when the pod is bound / then the volume names the claim, and the
    binding ends when the claim is bound.
    """
    binding = Binding(volume(), cls=LOCAL)
    assert binding.plugin.pre_bind_pre_flight(binding.state, binding.pod, "a") is None
    assert said(binding.plugin.pre_bind_pre_flight(binding.state, binding.pod, "b")) == (Code.SKIP, "")

    def bind() -> None:
        binding.claims[0] = BOUND

    binding.meanwhile = bind
    assert await binding.result() is None
    assert binding.seconds == 7.0
    assert binding.server.patches == [("persistentvolumes", "v", "", {
        "metadata": {"resourceVersion": "7", "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
        "spec": {"claimRef": {
            "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": "n", "name": "c", "uid": "c",
            "resourceVersion": "5"}}})]


async def test_a_node_is_given_to_who_makes_the_volume() -> None:
    """Given a claim whose volume is to be made / when the pod is bound / then the claim names the
    node; the binding times out when nobody makes it.
    """
    binding = Binding()
    assert await binding.result() == (Code.ERROR, "binding volumes: context deadline exceeded")
    assert binding.server.patches == [("persistentvolumeclaims", "c", "n", {
        "metadata": {"annotations": {"volume.kubernetes.io/selected-node": "a"}, "uid": "c"}})]
    assert await Binding(refuses=True).result() == (Code.ERROR, "no")


def seen(version: str = "9", annotations: Any = None, uid: str = "c") -> Any:
    found = claim()
    found["metadata"] |= {"resourceVersion": version, "uid": uid, "annotations": annotations if annotations is not None else {}}
    return found


@pytest.mark.parametrize(("claims", "volumes", "text"), [
    ([], [], 'persistentvolumeclaim "c" not found'), ([seen(uid="other")], [], 'persistentvolumeclaim "c" not found'),
    ([seen()], [], 'selectedNode annotation reset for PVC "c"'),
    ([seen(annotations={"x": "y"})], [], 'provisioning failed for PVC "c"'),
    ([seen(annotations={"volume.kubernetes.io/selected-node": "b"})], [], 'provisioning failed for PVC "c"'),
    ([seen("8")], [], "context deadline exceeded"),
    ([seen(annotations={"volume.kubernetes.io/selected-node": "a"})], [], "context deadline exceeded"),
])
async def test_a_binding_that_goes_wrong_says_why(claims: list[Any], volumes: list[Any], text: str) -> None:
    """Given a claim that is gone, or was changed, while its volume is made / then the binding ends
    with that; what was not seen yet is waited for.
    """
    binding = Binding(*volumes)

    def change() -> None:
        binding.claims[:] = claims

    binding.meanwhile = change
    assert await binding.result() == (Code.ERROR, f"binding volumes: {text}")


@pytest.mark.parametrize(("found", "text"), [
    ([], 'failed to check binding: could not find v1.PersistentVolume "v"'),
    ([{"resourceVersion": "9"}], 'ClaimRef got reset for pv "v"'),
    ([{"resourceVersion": "8"}], "context deadline exceeded"),
])
async def test_a_volume_that_is_lost_says_so(found: list[Any], text: str) -> None:
    """Given a volume that goes, or loses its claim, before the claim is bound / then the binding
    ends with that.
    """
    binding = Binding(volume(), cls=LOCAL)

    def change() -> None:
        binding.volumes[:] = [other(volume(), metadata=each) for each in found]

    binding.meanwhile = change
    assert await binding.result() == (Code.ERROR, f"binding volumes: {text}")


def test_what_is_decided_is_kept_until_it_is_bound() -> None:
    """Given a pod that has reserved a volume / when it is bound / then others may have what is
    left; a node that was not decided on reserves nothing.
    """
    binding = Binding(volume(), cls=LOCAL)
    plugin = binding.plugin
    plugin.reserve(binding.state, binding.pod, "b")
    handle = SimpleNamespace(snapshot=None)
    assert statuses(plugin, using("c", name="q"), [PLAIN], handle) == {"a": None}
    plugin.reserve(binding.state, binding.pod, "a")
    binding.claims.append(claim("d"))
    lacks = (NEVER, "node(s) didn't find available persistent volumes to bind")
    assert statuses(plugin, using("d", name="q"), [PLAIN], handle) == {"a": lacks}
    plugin.post_bind(binding.state, binding.pod, "a")
    assert statuses(plugin, using("d", name="q"), [PLAIN], handle) == {"a": None}
    assert isinstance(plugin.pre_score(binding.state, binding.pod, [PLAIN]), Status)
    assert plugin.is_inactive(CycleState(), binding.pod, snapshot(PLAIN))
    assert not plugin.is_inactive(binding.state, binding.pod, snapshot(PLAIN))
