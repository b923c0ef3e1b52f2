"""From the names of ``--authorization-mode`` to who decides.

Upstream: pkg/kubeapiserver/options/authorization.go, pkg/kubeapiserver/authorizer. Left out: ABAC
and Webhook, and the file of ``--authorization-config``.
"""

from collections.abc import Callable, Sequence

from fakekube.apimachinery.gvk import GroupResource
from fakekube.auth.authorizer import AlwaysAllow, AlwaysDeny, Authorization, Authorizer, Union
from fakekube.auth.rules import PolicyRule
from fakekube.storage.memory import Bucket

ALWAYS_ALLOW, ALWAYS_DENY, NODE, RBAC = "AlwaysAllow", "AlwaysDeny", "Node", "RBAC"
OPEN = (ALWAYS_ALLOW,)


def authorization(
    modes: Sequence[str], bucket_of: Callable[[GroupResource], Bucket], *, minor: int,
    node_rules: Callable[[], Sequence[PolicyRule]],
) -> Authorization:
    """Who decides by these modes, asked in their order, in a release (its ``minor`` number).

    ``node_rules`` are those that hold for all kubelets.
    """
    if tuple(modes) == OPEN:
        return Authorization(AlwaysAllow())
    from fakekube.auth import node, rbac

    roles = rbac.RBAC(bucket_of)
    known: dict[str, Callable[[], Authorizer]] = {
        ALWAYS_ALLOW: AlwaysAllow, ALWAYS_DENY: AlwaysDeny, RBAC: lambda: roles,
        NODE: lambda: node.Node(bucket_of, node_rules)}
    return Authorization(Union([(mode.lower(), known[mode]()) for mode in modes], minor=minor), roles)
