"""The visibility API: what waits in a queue, and at which place.

``/apis/visibility.kueue.x-k8s.io/VERSION/clusterqueues/NAME/pendingworkloads``, and the same of a
LocalQueue. Upstream: pkg/visibility, apis/visibility. Left out: its OpenAPI.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import errors, meta, strconv
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.addon import AggregatedAPI, FindComponent

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue
    from fakekube_controllers.kueue.workload.info import Info

GROUP = "visibility.kueue.x-k8s.io"
VERSIONS = ("v1beta2", "v1beta1")
KIND = "PendingWorkloadsSummary"
DEFAULT_LIMIT, MAX_LIMIT = 1000, 100_000
PRIORITY = 100

FindKueue = Callable[[], "Kueue | None"]


def apis(find: Callable[[FindComponent], FindKueue]) -> Iterator[AggregatedAPI]:
    """The versions of the API; ``find`` gives what finds the running Kueue."""
    for version in VERSIONS:
        def handler_of(component: FindComponent, version: str = version) -> Visibility:
            return Visibility(version, find(component))

        yield AggregatedAPI(f"{version}.{GROUP}", handler_of=handler_of, group_priority=PRIORITY, version_priority=PRIORITY)


class Visibility:
    """Answers for one version."""

    def __init__(self, version: str, find: FindKueue) -> None:
        self._root, self._group_version, self._find = f"/apis/{GROUP}/{version}", f"{GROUP}/{version}", find

    async def handle(self, request: Request) -> Response:
        """A list of what waits, or of what there is to ask for."""
        try:
            return _answer(200, self._answered(request))
        except APIError as error:
            return _answer(error.code, error.status())

    def _answered(self, request: Request) -> Tree:
        if not request.path.startswith(self._root):
            raise errors.no_such_path()
        match request.path.removeprefix(self._root).strip("/").split("/"):
            case [""]:
                return self._resources()
            case ["clusterqueues", name, "pendingworkloads"]:
                return self._summary(request, lambda kueue: _of_cluster_queue(kueue, name))
            case ["namespaces", namespace, "localqueues", name, "pendingworkloads"]:
                return self._summary(request, lambda kueue: _of_local_queue(kueue, ObjectKey(namespace, name)))
        raise errors.no_such_path()

    def _summary(self, request: Request, waiting: "Callable[[Kueue], Iterator[Tree]]") -> Tree:
        if request.method != "GET":
            raise APIError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        limit, offset = _number(request, "limit") or DEFAULT_LIMIT, max(_number(request, "offset"), 0)
        kueue = self._find()
        if kueue is None:
            raise APIError(503, "ServiceUnavailable", "Kueue does not run")
        items = [*islice(waiting(kueue), offset, offset + min(max(limit, 0), MAX_LIMIT))]
        return {"kind": KIND, "apiVersion": self._group_version, "metadata": {}, "items": items}

    def _resources(self) -> Tree:
        found = []
        for singular, namespaced in (("clusterqueue", False), ("localqueue", True)):
            found.append({
                "name": f"{singular}s", "singularName": singular, "namespaced": namespaced, "kind": KIND, "verbs": []})
            found.append({
                "name": f"{singular}s/pendingworkloads", "singularName": "", "namespaced": namespaced, "kind": KIND,
                "verbs": ["get"]})
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": self._group_version, "resources": found}


def _answer(code: int, tree: Tree) -> Response:
    return Response(code, orjson.dumps(tree))


def _number(request: Request, name: str) -> int:
    """A parameter that is a number of 64 bits; 0 without it. Raises APIError."""
    try:
        return strconv.parse_int(request.param(name, "0"))
    except strconv.NumberError as error:
        raise errors.bad_request(str(error)) from error


def _of_cluster_queue(kueue: "Kueue", name: str) -> Iterator[Tree]:
    if kueue.queues.cluster_queue(name) is None:
        raise errors.not_found(GroupResource(GROUP, "clusterqueue"), name)
    return _in_cluster_queue(kueue.queues.pending_workloads_info(name))


def _in_cluster_queue(waiting: "Sequence[Info]") -> Iterator[Tree]:
    places = dict[str, int]()  # by the LocalQueue's name, whatever its namespace, as upstream
    for position, info in enumerate(waiting):
        queue = info.obj["spec"].get("queueName", "")
        place = places.get(queue, 0)
        places[queue] = place + 1
        yield _pending(info.obj, position, place)


def _of_local_queue(kueue: "Kueue", key: ObjectKey) -> Iterator[Tree]:
    cluster_queue = kueue.queues.cluster_queue_from_local_queue(key)
    if cluster_queue is None:
        raise errors.not_found(GroupResource(GROUP, "localqueue"), key.name)
    return _in_local_queue(kueue.queues.pending_workloads_info(cluster_queue), key)


def _in_local_queue(waiting: "Sequence[Info]", key: ObjectKey) -> Iterator[Tree]:
    place = 0
    for position, info in enumerate(waiting):
        if (meta.namespace_of(info.obj), info.obj["spec"].get("queueName")) == (key.namespace, key.name):
            yield _pending(info.obj, position, place)
            place += 1


def _pending(workload: ReadOnlyTree, position: int, place: int) -> Tree:
    metadata = workload["metadata"]
    owners = [{name: owner[name] for name in ("apiVersion", "kind", "name", "uid")} for owner in meta.owners_of(workload)]
    shown = {name: metadata[name] for name in ("name", "namespace", "creationTimestamp")}
    return {
        "metadata": {**shown, "ownerReferences": owners} if owners else shown, "priority": workload["spec"].get("priority") or 0,
        "localQueueName": workload["spec"].get("queueName", ""), "positionInClusterQueue": position,
        "positionInLocalQueue": place}
