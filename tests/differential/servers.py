"""A server in the same process, and a short way to send it bytes or trees."""

from collections.abc import Awaitable, Mapping
from typing import Any

import orjson

from fakekube.admission.chain import Chain
from fakekube.admission.defaults import DefaultTolerationSeconds
from fakekube.admission.defaults_on import plugins
from fakekube.apimachinery.http import Request
from fakekube.client import users
from fakekube.cluster import Cluster
from fakekube.registry.attributes import Attributes

JSON, MERGE, STRATEGIC, PATCH, APPLY = (
    "application/json", "application/merge-patch+json", "application/strategic-merge-patch+json",
    "application/json-patch+json", "application/apply-patch+yaml")
NAMESPACE = "/api/v1/namespaces/default"
PODS = f"{NAMESPACE}/pods"

Tree = dict[str, Any]


def new_cluster(controllers: str = "namespace,serviceaccount", **options: Any) -> Cluster:
    return Cluster(nodes=0, controllers=controllers, clock="manual", **options)


async def send(
    cluster: Cluster, method: str, path: str, body: object = None, media: str = JSON, query: Mapping[str, str] | None = None,
) -> tuple[int, Tree]:
    """Status and tree of an answer. A body that is no bytes is encoded; one of bytes is sent as it is."""
    data = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
    asked = {name: [value] for name, value in (query or {}).items()}
    answer = await cluster.apiserver.handle(Request(method, path, asked, {"content-type": media}, data, user=users.admin()))
    return answer.status, orjson.loads(answer.body)


def named(name: str, spec: Tree, **metadata: Any) -> Tree:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


async def post(cluster: Cluster, name: str, spec: Tree, **metadata: Any) -> tuple[int, Tree]:
    """The create of a pod."""
    return await send(cluster, "POST", PODS, named(name, spec, **metadata))


def own(answer: Tree) -> Tree:
    """An answer to a create of a pod without what is that pod's own: its name, uid, version, and names drawn at random."""
    meta = answer.get("metadata") or {}
    text = orjson.dumps(answer)
    for volume in (answer.get("spec") or {}).get("volumes") or ():
        if volume["name"].startswith("kube-api-access-"):
            text = text.replace(volume["name"].encode(), b"VOLUME")
    result: Tree = orjson.loads(text)
    for name in ("name", "uid", "resourceVersion", "creationTimestamp"):
        if name in meta:
            result["metadata"][name] = name
    if result.get("kind") == "Status":
        name = (result.get("details") or {}).get("name") or "\0"
        result = orjson.loads(orjson.dumps(result).replace(b'"%b"' % name.encode(), b'"NAME"'))
        result["message"] = result["message"].replace(f'"{name}"', '"NAME"')
    return result


class Pausing(DefaultTolerationSeconds):
    """A plugin that is far away: for the pod called ``paused`` it awaits what ``meanwhile`` does."""

    def __init__(self, meanwhile: Awaitable[Any]) -> None:
        self._meanwhile = meanwhile

    def admit(self, attrs: Attributes) -> Awaitable[None] | None:
        super().admit(attrs)
        is_paused = attrs.obj is not None and attrs.obj["metadata"].get("name") == "paused"
        return self._wait() if is_paused else None

    async def _wait(self) -> None:
        await self._meanwhile


def pause(cluster: Cluster, meanwhile: Awaitable[Any]) -> None:
    """From now on the create of a pod called ``paused`` awaits this, in the middle of the mutating pass."""
    chain = [Pausing(meanwhile) if plugin.name == Pausing.name else plugin for plugin in plugins()]
    cluster.apiserver.use_admission(Chain(chain))
