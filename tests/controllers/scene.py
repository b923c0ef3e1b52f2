"""As much of a context as a controller needs that is asked one thing: objects that the caches show,
and all that it writes, says and queues, in order.
"""

from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Tree


class Scene:
    """Client, context, clock, recorder and queue in one.

    ``done`` holds what was written: verb, plural and subresource, name, and what was sent; and
    Events, as ("event", name, type, reason, message). ``refuse`` gives an error for a verb and a
    plural.
    """

    def __init__(self, objects: Sequence[tuple[Any, Tree]] = (), *, gates: Iterable[str] = (), now: float = 0.0) -> None:
        self.objects = [(resource.plural, obj) for resource, obj in objects]
        self.done: list[tuple[Any, ...]] = []
        self.queued: list[Any] = []
        self.gates, self.now, self.refuse = set(gates), now, dict[tuple[str, str], APIError]()
        self.client = self.clock = self
        self.caught_up = True
        self.options: dict[str, Any] = {}
        self.handlers: dict[str, tuple[Any, ...]] = {}

    # the context

    def lister(self, resource: Any) -> "Shown":
        return Shown(self, resource.plural)

    def informer(self, _: Any) -> "Scene":
        return self

    def has_reached(self, _: str) -> bool:
        return self.caught_up

    def recorder(self, _: str) -> "Scene":
        return self

    def enabled(self, gate: str) -> bool:
        return gate in self.gates

    def time(self) -> float:
        return self.now

    def add_handler(self, resource: Any, on_add: Any = None, on_update: Any = None, on_delete: Any = None) -> None:
        self.handlers[resource.plural] = (on_add, on_update, on_delete)

    def add(self, key: Any) -> None:
        self.queued.append(key)

    def event(self, obj: Tree, kind: str, reason: str, message: str) -> None:
        self.done.append(("event", meta.name_of(obj), kind, reason, message))

    # the client

    async def get(self, resource: Any, name: str, namespace: str = "", *, missing_ok: bool = False) -> Tree | None:
        found = Shown(self, resource.plural).get(namespace, name)
        if found is None and not missing_ok:
            raise APIError(404, "NotFound", f'{resource.plural} "{name}" not found')
        return found

    async def create(self, resource: Any, obj: Tree) -> Tree:
        return self._write("create", resource, obj, "")

    async def update(self, resource: Any, obj: Tree, *, subresource: str = "") -> Tree:
        return self._write("update", resource, obj, subresource)

    async def update_status(self, resource: Any, obj: Tree) -> Tree:
        return self._write("update", resource, obj, "status")

    async def patch(
        self, resource: Any, name: str, namespace: str = "", body: Tree | None = None, *, subresource: str = "", **_: Any,
    ) -> Tree:
        return self._write("patch", resource, {"metadata": {"name": name, "namespace": namespace}}, subresource, body)

    async def delete(self, resource: Any, name: str, namespace: str = "", **options: Any) -> None:
        self._write("delete", resource, {"metadata": {"name": name, "namespace": namespace}}, "", options)

    def _write(self, verb: str, resource: Any, obj: Tree, subresource: str, sent: Any = None) -> Tree:
        if (error := self.refuse.get((verb, resource.plural))) is not None:
            raise error
        what = f"{resource.plural}/{subresource}" if subresource else resource.plural
        self.done.append((verb, what, obj["metadata"].get("name", ""), obj if sent is None else sent))
        given = {"name": "made", "uid": "made", "creationTimestamp": format_time(self.now)}
        return {**obj, "metadata": {**given, **obj["metadata"], "resourceVersion": "9"}}

    async def list(self, resource: Any, namespace: str = "") -> Any:
        return SimpleNamespace(items=Shown(self, resource.plural).list(namespace or None))


class Shown:
    """What the caches show of a resource."""

    def __init__(self, scene: Scene, plural: str) -> None:
        self._scene, self._plural = scene, plural
        self.indexes: dict[str, Callable[[Tree], Iterable[str]]] = {}

    def add_index(self, name: str, values: Callable[[Tree], Iterable[str]]) -> None:
        self.indexes[name] = values

    def by_index(self, name: str, value: str) -> Sequence[Tree]:
        return [obj for obj in self.list() if value in self.indexes[name](obj)]

    def list(self, namespace: str | None = None, selector: labels.Selector | None = None) -> list[Tree]:
        found = (obj for plural, obj in self._scene.objects if plural == self._plural)
        return [obj for obj in found if namespace in (None, meta.namespace_of(obj)) and (
            selector is None or selector.matches(meta.labels_of(obj)))]

    def get(self, namespace: str, name: str) -> Tree | None:
        return next((obj for obj in self.list(namespace) if meta.name_of(obj) == name), None)

    def controlled_by(self, uid: str) -> Sequence[Tree]:
        return [obj for obj in self.list() if (meta.controller_of(obj) or {}).get("uid") == uid]
