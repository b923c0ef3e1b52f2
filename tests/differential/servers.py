"""A server in the same process, and a short way to send it bytes or trees."""

import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

from fakekube.admission.chain import Chain, build_chain
from fakekube.admission.defaults import DefaultTolerationSeconds
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Tree
from fakekube.client import users
from fakekube.composition.cluster import Cluster
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind
from fakekube.util.tasks import turn

JSON, MERGE, STRATEGIC, PATCH, APPLY = (
    "application/json", "application/merge-patch+json", "application/strategic-merge-patch+json",
    "application/json-patch+json", "application/apply-patch+yaml")
NAMESPACE = "/api/v1/namespaces/default"
PODS = f"{NAMESPACE}/pods"


def new_cluster(controllers: str = "namespace,serviceaccount", **options: Any) -> Cluster:
    return Cluster(nodes=0, controllers=controllers, clock="manual", **options)


async def send(
    cluster: Cluster, method: str, path: str, body: object = None, media: str = JSON, query: Mapping[str, str] | None = None,
) -> tuple[int, Tree]:
    """Status and tree of an answer.

    A body that is no bytes is encoded; one of bytes is sent as it is.
    """
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
    """An answer to a create of a pod without what is that pod's own: its name, uid, version, and
    names drawn at random.
    """
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


class Waiting(DefaultTolerationSeconds):
    """A built-in plugin as it would be if it were far away.

    ``wait`` gives what is awaited for an object, or nothing.
    """

    def wait(self, attrs: Attributes) -> Awaitable[None] | None:
        raise NotImplementedError

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        return operation in ("CREATE", "UPDATE")

    def admit(self, attrs: Attributes) -> Awaitable[None] | None:
        if super().handles(attrs.kind, attrs.operation, attrs.subresource):
            super().admit(attrs)
        return self.wait(attrs)


class Pausing(Waiting):
    """For the pod called ``paused`` it awaits what ``meanwhile`` does."""

    def __init__(self, meanwhile: Callable[[], Awaitable[Any]]) -> None:
        self._meanwhile = meanwhile

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        return kind.plural == "pods" and super().handles(kind, operation, subresource)

    def wait(self, attrs: Attributes) -> Awaitable[None] | None:
        is_paused = attrs.obj is not None and attrs.obj["metadata"].get("name") == "paused"
        return self._pause() if is_paused else None

    async def _pause(self) -> None:
        await self._meanwhile()


class Turning(Waiting):
    """Lets others run for some turns of the event loop, now and then."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def wait(self, attrs: Attributes) -> Awaitable[None] | None:
        turns = self._rng.choice((0, 0, 1, 2, 5))
        return self._turn(turns) if turns else None

    async def _turn(self, turns: int) -> None:
        for _ in range(turns):
            await turn()


def use_plugin(cluster: Cluster, plugin: Waiting) -> None:
    """Put a plugin in the place of the one that it is made of: in the middle of the mutating pass.
    """
    cluster.apiserver.use_admission(Chain([plugin if each.name == plugin.name else each for each in build_chain().plugins]))


def pause(cluster: Cluster, meanwhile: Callable[[], Awaitable[Any]]) -> None:
    """From now on the create of a pod called ``paused`` awaits this, in the middle of the mutating
    pass.
    """
    use_plugin(cluster, Pausing(meanwhile))
