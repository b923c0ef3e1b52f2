"""The client for models instead of trees: ``TypedClient(client).get(Pod, "web")``.

It asks a model's class for its resource and for the conversion from and to a tree, so that any
class that has those may take part; ``fakekube.types`` has them for the built-in kinds. Upstream:
controller-runtime's Client, which reads and writes structs. Left out: watches and rare calls, for
which there are ``Client`` and ``from_tree``.
"""

from typing import ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar, overload

from fakekube.apimachinery.types import Json, Tree
from fakekube.client.client import Client
from fakekube.client.parameters import PatchType
from fakekube.client.resources import Resource


class TypedObject(Protocol):
    """An object of a kind that has a class."""

    resource: ClassVar[Resource]

    @classmethod
    def from_tree(cls, tree: Tree) -> Self:
        """The object that a tree holds, which shares nothing with it."""

    def to_tree(self) -> Tree:
        """The tree of an object, which shares nothing with it."""


M = TypeVar("M", bound=TypedObject)


def resource_of(given: Resource | type[TypedObject]) -> Resource:
    """The resource of a class, or the resource itself."""
    return given if isinstance(given, Resource) else given.resource


class TypedList(NamedTuple, Generic[M]):
    """A list: its items, the version it was taken at, and a token when there is more."""

    items: list[M]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


class TypedClient:
    """Reads and writes models through a client. All that it raises is that client's."""

    def __init__(self, client: Client) -> None:
        self.client = client

    @overload
    async def get(
        self, model: type[M], name: str, namespace: str = "", *, missing_ok: Literal[False] = False,
    ) -> M: ...

    @overload
    async def get(self, model: type[M], name: str, namespace: str = "", *, missing_ok: Literal[True]) -> M | None: ...

    async def get(
        self, model: type[M], name: str, namespace: str = "", *, missing_ok: bool = False,
    ) -> M | None:
        """One object. When it is not there: APIError 404, or None with ``missing_ok``."""
        tree = await self.client.get(model.resource, name, namespace, missing_ok=True) if missing_ok else (
            await self.client.get(model.resource, name, namespace))
        return None if tree is None else model.from_tree(tree)

    async def list(
        self, model: type[M], namespace: str = "", *, label_selector: str = "", field_selector: str = "", limit: int = 0,
        continue_token: str = "",
    ) -> TypedList[M]:
        """The objects of one namespace, or of all when ``namespace`` is empty."""
        found = await self.client.list(
            model.resource, namespace, label_selector=label_selector, field_selector=field_selector, limit=limit,
            continue_token=continue_token,
        )
        items = [model.from_tree(item) for item in found.items]
        return TypedList(items, found.resource_version, found.continue_token, found.remaining)

    async def create(self, obj: M, namespace: str = "", *, field_manager: str = "", dry_run: bool = False) -> M:
        """Create an object; its namespace is the argument, or else its own."""
        return obj.from_tree(await self.client.create(
            obj.resource, obj.to_tree(), namespace, field_manager=field_manager, dry_run=dry_run))

    async def update(self, obj: M, *, field_manager: str = "", dry_run: bool = False) -> M:
        """Replace an object.

        With a resourceVersion in it: APIError 409 when it was changed meanwhile.
        """
        return obj.from_tree(await self.client.update(
            obj.resource, obj.to_tree(), field_manager=field_manager, dry_run=dry_run))

    async def update_status(self, obj: M, *, field_manager: str = "", dry_run: bool = False) -> M:
        """Replace an object's status; the rest of ``obj`` is ignored by the server."""
        return obj.from_tree(await self.client.update_status(
            obj.resource, obj.to_tree(), field_manager=field_manager, dry_run=dry_run))

    async def patch(
        self, model: type[M], name: str, namespace: str = "", body: Json = None, *,
        type: PatchType = "merge",  # noqa: A002 - the word that everybody knows it by
        subresource: str = "", field_manager: str = "", force: bool = False,
    ) -> M:
        """Change an object by a patch of one of four types; the body is a tree."""
        return model.from_tree(await self.client.patch(
            model.resource, name, namespace, body, type=type, subresource=subresource, field_manager=field_manager,
            force=force,
        ))

    async def apply(self, obj: M, *, force: bool = True, field_manager: str = "") -> M:
        """Server-side apply of what the object has set."""
        tree = obj.to_tree()
        metadata = tree.get("metadata") or {}
        return obj.from_tree(await self.client.patch(
            obj.resource, metadata.get("name", ""), metadata.get("namespace", ""), tree, type="apply", force=force,
            field_manager=field_manager,
        ))

    async def delete(
        self, model: type[M], name: str, namespace: str = "", *, propagation_policy: str = "", missing_ok: bool = False,
    ) -> None:
        """Delete an object. When it is not there: APIError 404, or nothing with ``missing_ok``."""
        await self.client.delete(
            model.resource, name, namespace, propagation_policy=propagation_policy, missing_ok=missing_ok)
