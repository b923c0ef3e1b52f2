"""What a test does to a node: stop its kubelet, drain it, taint it, delete it.

All of it is plain requests. Draining, cordons and taints work on every cluster; the rest works
where kubelets read the annotations of fakekube. Upstream: k8s.io/kubectl/pkg/drain.
"""

from collections.abc import Mapping

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import NODES, PODS

KUBELET, CONDITIONS = "fakekube.dev/kubelet", "fakekube.dev/conditions"
MIRROR = "kubernetes.io/config.mirror"


class NodeHandle:
    """One node, by name. Every method raises APIError, 404 where there is no such node."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self.name = client, name

    async def get(self) -> Tree:
        """The node as it is."""
        return await self._client.get(NODES, self.name)

    async def stop_kubelet(self) -> None:
        """Stop the kubelet: no heartbeats, no status updates. Containers run on, unobserved."""
        await self._annotate({KUBELET: "stopped"})

    async def start_kubelet(self) -> None:
        """Start the kubelet again, after a stop or a shutdown."""
        await self._annotate({KUBELET: None})

    async def shut_down(self) -> None:
        """Shut the node down gracefully: it ends its pods and accepts no more."""
        await self._annotate({KUBELET: "shutdown"})

    async def set_conditions(self, **conditions: bool | str | None) -> None:
        """Set conditions that the kubelet posts: ``MemoryPressure=True``, ``Ready=False``.

        Without arguments it posts those of a healthy node again.
        """
        said = ",".join(f"{kind}={status}" for kind, status in conditions.items() if status is not None)
        await self._annotate({CONDITIONS: said or None})

    async def cordon(self) -> None:
        """Mark the node as unschedulable."""
        await self._client.patch(NODES, self.name, body={"spec": {"unschedulable": True}})

    async def uncordon(self) -> None:
        """Mark the node as schedulable again."""
        await self._client.patch(NODES, self.name, body={"spec": {"unschedulable": None}})

    async def taint(self, key: str, effect: str, value: str = "") -> None:
        """Add a taint, or change the value of the one with this key and effect.

        Effects are NoSchedule, PreferNoSchedule, NoExecute.
        """
        taint = {"key": key, "effect": effect} | ({"value": value} if value else {})
        await self._set_taints([*await self._taints_without(key, effect), taint])

    async def untaint(self, key: str, effect: str = "") -> None:
        """Remove the taints of a key, or the one with this effect."""
        await self._set_taints(await self._taints_without(key, effect))

    async def drain(self) -> list[str]:
        """Cordon the node and evict its pods, except those of DaemonSets.

        Returns the names (``namespace/name``) of the evicted pods; does not wait until they are
        gone. Raises APIError, 429 where a budget forbids an eviction.
        """
        await self.cordon()
        evicted = []
        for pod in (await self._client.list(PODS, field_selector=f"spec.nodeName={self.name}")).items:
            owner = meta.controller_of(pod)
            stays = MIRROR in meta.annotations_of(pod) or (owner is not None and owner["kind"] == "DaemonSet")
            if stays or meta.is_deleting(pod):
                continue
            try:
                await self._client.evict(meta.name_of(pod), meta.namespace_of(pod))
            except APIError as error:
                if error.code != 404:
                    raise
            else:
                evicted.append(str(meta.key_of(pod)))
        return evicted

    async def delete(self) -> None:
        """Delete the node; its pods are left to the controllers."""
        await self._client.delete(NODES, self.name)

    async def _annotate(self, annotations: Mapping[str, str | None]) -> None:
        await self._client.patch(NODES, self.name, body={"metadata": {"annotations": dict(annotations)}})

    async def _taints_without(self, key: str, effect: str) -> list[Tree]:
        taints: list[Tree] = (await self.get())["spec"].get("taints") or []
        return [taint for taint in taints if taint["key"] != key or effect not in ("", taint["effect"])]

    async def _set_taints(self, taints: list[Tree]) -> None:
        await self._client.patch(NODES, self.name, body={"spec": {"taints": taints or None}})
