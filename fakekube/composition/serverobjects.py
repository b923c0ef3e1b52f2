"""What an API server says of itself in objects, put right when somebody changes or deletes it.

Upstream: pkg/controlplane/controller/clusterauthenticationtrust (the ConfigMap
``extension-apiserver-authentication``) and kubernetesservice with pkg/controlplane/reconcilers (the
endpoints of the service ``kubernetes``), which look every minute and every ten seconds; here it is
done at once. It runs where an option has the server make these objects. Left out: the ConfigMap
keeps CAs that others added, and the endpoints those of other servers.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.apis.server_objects import AUTHENTICATION
from fakekube.client.resources import CONFIG_MAPS, ENDPOINT_SLICES, ENDPOINTS, Resource
from fakekube.composition.options import ClusterOptions
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker

if TYPE_CHECKING:
    from fakekube.workqueue.queue import WorkQueue

NAME = "kube-apiserver"
CONTENT = ("data", "subsets", "addressType", "endpoints", "ports")
"""The fields of these objects that the server writes, its labels aside."""


class ServerObjects:
    """A component that keeps the objects that are there when it first starts."""

    name = user_agent = NAME
    user: UserInfo | None = UserInfo("system:apiserver", ("system:masters",))

    def __init__(self, options: ClusterOptions) -> None:
        self._places: list[tuple[Resource, str, str]] = []
        if options.client_ca_file:
            self._places.append((CONFIG_MAPS, "kube-system", AUTHENTICATION))
        if options.advertise_address:
            self._places += [(ENDPOINTS, "default", "kubernetes"), (ENDPOINT_SLICES, "default", "kubernetes")]
        self._wanted: dict[Resource, Tree] = {}

    async def start(self, ctx: Context) -> None:
        """Note what is there, and listen to it. Raises APIError."""
        queue: WorkQueue[Resource] = ctx.queue(NAME)
        self._client = ctx.client
        for resource, namespace, name in self._places:
            found = await ctx.client.get(resource, name, namespace, missing_ok=True)
            if resource not in self._wanted and found is not None:
                self._wanted[resource] = found
            _listen(ctx, queue, resource, (namespace, name))
            queue.add(resource)
        Worker(ctx, queue, self._sync).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    async def _sync(self, resource: Resource) -> None:
        wanted = self._wanted.get(resource)
        if wanted is None:
            return
        content = {key: wanted[key] for key in CONTENT if key in wanted}
        name, namespace, labels = meta.name_of(wanted), meta.namespace_of(wanted), meta.labels_of(wanted)
        present = await self._client.get(resource, name, namespace, missing_ok=True)
        if present is None:
            metadata = {"name": name, "namespace": namespace, **({"labels": dict(labels)} if labels else {})}
            try:
                await self._client.create(resource, {"metadata": metadata, **content})
            except APIError as error:
                if error.reason != "AlreadyExists":
                    raise
            return
        if "data" in content:
            content["data"] = {**(present.get("data") or {}), **content["data"]}
        changed = {**present, **content}
        if labels:
            changed["metadata"] = {**present["metadata"], "labels": {**meta.labels_of(present), **labels}}
        if changed != present:
            await self._client.update(resource, changed)


def _listen(ctx: Context, queue: "WorkQueue[Resource]", resource: Resource, key: tuple[str, str]) -> None:
    """Add a resource to the queue whenever its object with this key changes or goes."""
    def changed(obj: Tree) -> None:
        if meta.key_of(obj) == key:
            queue.add(resource)

    def updated(_: Tree, new: Tree) -> None:
        changed(new)

    ctx.add_handler(resource, on_update=updated, on_delete=changed)
