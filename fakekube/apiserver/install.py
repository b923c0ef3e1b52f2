"""Which endpoints differ from what their verb says: the one list of them.

Upstream: the storage map of pkg/registry/core/rest/storage_core.go and of its fellows.
"""

from collections.abc import Callable

from fakekube.apiserver.nodeproxy import NodeProxy
from fakekube.apiserver.podlog import PodLogs
from fakekube.apiserver.routes import SpecialRoutes, late
from fakekube.auth.authorizer import Authorizer
from fakekube.auth.tokens import Tokens
from fakekube.endpoints.reviews import Reviews, TokenCheck
from fakekube.endpoints.tokenrequest import TokenRequests

STREAMS, PROXY = ("GET", "POST"), ("GET", "POST", "PUT", "PATCH", "DELETE")
CONNECTIONS = (
    ("pods/exec", "apiserver.connect:execute", STREAMS),
    ("pods/attach", "apiserver.connect:attach", STREAMS),
    ("pods/portforward", "apiserver.connect:forward_ports", STREAMS),
    ("pods/proxy", "apiserver.proxy:to_pod", PROXY),
    ("services/proxy", "apiserver.proxy:to_service", PROXY),
    ("nodes/proxy", "apiserver.proxy:to_node", PROXY),
)
AUTHENTICATION, AUTHORIZATION, METRICS = "authentication.k8s.io", "authorization.k8s.io", "metrics.k8s.io"


def special_routes(
    nodes: Callable[[], NodeProxy], authorizer: Authorizer, tokens: Tokens, check: TokenCheck,
) -> SpecialRoutes:
    """The endpoints by group, ``resource/subresource`` and method.

    ``nodes`` gives the agents of the nodes, ``check`` knows whom tokens of any origin name.
    """
    reviews = Reviews(authorizer, check)
    return {
        **{("", name, method): late(where, nodes) for name, where, methods in CONNECTIONS for method in methods},
        ("", "bindings", "POST"): late("endpoints.subresources:bind"),
        ("", "pods/binding", "POST"): late("endpoints.subresources:bind"),
        ("", "pods/eviction", "POST"): late("endpoints.subresources:evict"),
        ("", "pods/log", "GET"): PodLogs(nodes).get,
        ("", "serviceaccounts/token", "POST"): TokenRequests(tokens).create,
        ("", "componentstatuses", "GET"): late("endpoints.componentstatus:get"),
        (METRICS, "nodes", "GET"): late("apiserver.resourcemetrics:of_nodes", nodes),
        (METRICS, "pods", "GET"): late("apiserver.resourcemetrics:of_pods", nodes),
        ("*", "*/scale", "GET"): late("endpoints.subresources:get_scale"),
        ("*", "*/scale", "PUT"): late("endpoints.subresources:update_scale"),
        ("*", "*/scale", "PATCH"): late("endpoints.subresources:patch_scale"),
        (AUTHORIZATION, "selfsubjectaccessreviews", "POST"): reviews.access,
        (AUTHORIZATION, "subjectaccessreviews", "POST"): reviews.access,
        (AUTHORIZATION, "localsubjectaccessreviews", "POST"): reviews.access,
        (AUTHORIZATION, "selfsubjectrulesreviews", "POST"): reviews.rules,
        (AUTHENTICATION, "selfsubjectreviews", "POST"): reviews.self_review,
        (AUTHENTICATION, "tokenreviews", "POST"): reviews.token,
    }
