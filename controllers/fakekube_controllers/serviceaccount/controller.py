"""Keeps ``default`` and ``kube-root-ca.crt`` in every namespace that is not on its way out.

Both come back when they are deleted, and the ConfigMap is put right when it is changed. Upstream:
serviceaccounts_controller.go and publisher.go. Token Secrets, which no
namespace has of itself since 1.24, are filled in ``tokens.py``.
"""


from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError, is_namespace_terminating
from fakekube.apimachinery.namespace_defaults import ACCOUNT, DESCRIPTION, DESCRIPTION_KEY, ROOT_CA, default_account, root_ca
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS, Resource
from fakekube.client.users import controller_account
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request
from fakekube.workqueue.queue import WorkQueue


class NamespaceDefaultsReconciler:
    """Gives one namespace what it lacks.

    ``root_ca`` among the context's options is the CA's certificate, in PEM.
    """

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        # upstream's publisher is a controller of its own
        self.publisher = ctx.client.with_options(user=controller_account("root-ca-cert-publisher"))
        self.certificate = str(ctx.options.get("root_ca", ""))

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch namespaces, service accounts and ConfigMaps."""
        ctx, self.queue = self.ctx, queue
        ctx.add_handler(NAMESPACES, self._namespace_seen, lambda _, new: self._namespace_seen(new))
        ctx.add_handler(SERVICE_ACCOUNTS, on_delete=lambda last: self._changed(last, ACCOUNT))
        ctx.add_handler(
            CONFIG_MAPS, on_update=lambda _, new: self._changed(new, ROOT_CA),
            on_delete=lambda last: self._changed(last, ROOT_CA))

    def _namespace_seen(self, namespace: Tree) -> None:
        self.queue.add(Request("", meta.name_of(namespace)))

    def _changed(self, obj: Tree, name: str) -> None:
        if meta.name_of(obj) == name:
            self.queue.add(Request("", meta.namespace_of(obj)))

    async def reconcile(self, request: Request) -> None:
        """Create or mend what a namespace must have. Raises APIError."""
        namespace = self.ctx.lister(NAMESPACES).get("", request.name)
        if namespace is None or meta.is_deleting(namespace):
            return
        if self.ctx.lister(SERVICE_ACCOUNTS).get(request.name, ACCOUNT) is None:
            await self._create(self.client, SERVICE_ACCOUNTS, default_account(request.name))
        await self._publish_root_ca(request.name)

    async def _publish_root_ca(self, namespace: str) -> None:
        present, wanted = self.ctx.lister(CONFIG_MAPS).get(namespace, ROOT_CA), root_ca(namespace, self.certificate)
        if present is None:
            await self._create(self.publisher, CONFIG_MAPS, wanted)
        elif present.get("data") != wanted["data"] or not meta.annotations_of(present).get(DESCRIPTION_KEY):
            annotations = {**meta.annotations_of(present), DESCRIPTION_KEY: DESCRIPTION}
            metadata = {**present["metadata"], "annotations": annotations}
            await self.publisher.update(CONFIG_MAPS, {**present, "metadata": metadata, "data": wanted["data"]})

    async def _create(self, client: Client, resource: Resource, obj: Tree) -> None:
        """Create, unless it is there by now or the namespace is no longer open."""
        try:
            await client.create(resource, obj)
        except APIError as error:
            if error.code not in (404, 409) and not is_namespace_terminating(error):
                raise
