"""A client for every node: a kubelet acts as ``system:node:NAME``, in the group ``system:nodes``.

What a kubelet may do, upstream's Node authorizer alone decides. Where somebody else decides, and no
Node authorizer, the composition says so by the option ``privileged_kubelets``: the kubelets are in
``system:masters`` then, or no pod would ever run.
"""

from fakekube.client import users
from fakekube.client.client import Client
from fakekube.runtime.context import Context


class NodeClients:
    """Clients by node, made when they are first used."""

    def __init__(self, ctx: Context) -> None:
        self._client, self._privileged = ctx.client, bool(ctx.options.get("privileged_kubelets"))
        self._clients: dict[str, Client] = {}

    def of(self, node: str) -> Client:
        """The client of a node's kubelet."""
        found = self._clients.get(node)
        if found is None:
            user = users.node(node, privileged=self._privileged)
            found = self._clients[node] = self._client.with_options(user=user)
        return found

    def forget(self, node: str) -> None:
        """A node is gone."""
        self._clients.pop(node, None)
