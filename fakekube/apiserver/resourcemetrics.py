"""metrics.k8s.io: what nodes and pods use, asked of the kubelets at the moment of the request.

Upstream: kubernetes-sigs/metrics-server (pkg/api), which asks kubelets every fifteen seconds and
serves the rate between two answers; here an answer is the usage now. Nothing is stored. Left out:
watches.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fakekube.apimachinery import errors, quantity
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.apiserver.nodeproxy import NodeProxy, Usage
from fakekube.endpoints import table
from fakekube.endpoints.answers import object_answer, tree_answer
from fakekube.endpoints.listoptions import parse_list_options
from fakekube.endpoints.read import present
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope

WINDOW = "15s"  # as long as metrics-server waits between two looks
POD_METRICS, NODE_METRICS = GroupResource("metrics.k8s.io", "podmetrics"), GroupResource("metrics.k8s.io", "nodemetrics")

Nodes = Callable[[], NodeProxy]
Measure = Callable[[Tree], Tree | None]


async def of_pods(nodes: Nodes, scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a GET of what one pod uses, or those of a namespace or of all.

    Raises 404 for a pod of which nobody can tell.
    """
    agents, now = nodes(), scope.services.now()

    def measure(pod: Tree) -> Tree | None:
        used = agents.pod_usage(pod) if (pod.get("status") or {}).get("phase") == "Running" else None
        if not used:
            return None
        containers = [{"name": name, "usage": _amounts(of_it)} for name, of_it in used.items()]
        return {"metadata": _metadata(pod, now), "timestamp": now, "window": WINDOW, "containers": containers}

    return _answer(scope, info, request, measure, POD_METRICS)


async def of_nodes(nodes: Nodes, scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a GET of what one node uses, or of what all do.

    Raises 404 for a node of which nobody can tell.
    """
    agents, now = nodes(), scope.services.now()

    def measure(node: Tree) -> Tree | None:
        used = agents.node_usage(node["metadata"]["name"])
        if used is None:
            return None
        return {"metadata": _metadata(node, now), "timestamp": now, "window": WINDOW, "usage": _amounts(used)}

    return _answer(scope, info, request, measure, NODE_METRICS)


def _answer(scope: Scope, info: RequestInfo, request: Request, measure: Measure, missing: GroupResource) -> Response:
    form, kind = scope.negotiate(request), scope.kind
    store = scope.services.stores.named("", "v1", kind.plural)
    namespace = info.namespace if kind.namespaced else ""
    if len(info.parts) > 1:
        found = measure(store.load(store.find(namespace, info.name)))
        if found is None:
            raise errors.not_found(missing, f"{namespace}/{info.name}" if namespace else info.name)
        return object_answer(scope, request, form, {"kind": kind.kind, "apiVersion": kind.api_version, **found})
    if info.verb == "watch":
        text = f'watch is not supported on resources of kind "{kind.group_resource}"'
        raise APIError(405, "MethodNotAllowed", text, errors.details_of(kind.group, kind.plural))
    options = parse_list_options(request.query, kind, watch=False)
    measured = (measure(record.tree()) for record in present(store.kind, store.bucket, namespace, options))
    items = [item for item in measured if item is not None]
    if form.transform == "Table":
        now = scope.services.clock.time()
        rows = table.table_of(kind, items, {}, form.transform_version, table.include_object(request), now)
        return tree_answer(rows, form)
    if form.transform:
        partial: list[Any] = [table.partial_of(kind, item, form.transform_version) for item in items]
        return tree_answer(
            {"kind": form.transform, "apiVersion": form.transform_version, "metadata": {}, "items": partial}, form)
    tree = {"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": {}, "items": items}
    return tree_answer(tree, form, 200, scope.services)


def _metadata(obj: Tree, now: str) -> Tree:
    """Name and labels of what was measured; it was made just now."""
    metadata = obj["metadata"]
    kept = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    labels = {"labels": metadata["labels"]} if metadata.get("labels") else {}
    return {**kept, "creationTimestamp": now, **labels}


def _amounts(used: Usage) -> Mapping[str, str]:
    return {
        "cpu": quantity.render(used.cpu_nanocores),
        "memory": quantity.render(used.memory_bytes * quantity.NANO, quantity.BINARY),
    }
