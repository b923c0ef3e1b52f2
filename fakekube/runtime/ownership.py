"""Who controls what: references, and claiming what matches a selector.

Upstream: controller-runtime/pkg/controller/controllerutil and
pkg/controller/controller_ref_manager.go.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import LabelMatcher
from fakekube.client.client import Client
from fakekube.client.resources import Resource


def set_controller(obj: Tree, owner: ReadOnlyTree) -> None:
    """Make ``owner`` the controller of ``obj``, in place. ValueError when another one is."""
    current = meta.controller_of(obj)
    if current is not None and current["uid"] != meta.uid_of(owner):
        raise ValueError(f"{meta.key_of(obj)} is controlled by {current['kind']} {current['name']} already")
    kept = [reference for reference in meta.owners_of(obj) if reference["uid"] != meta.uid_of(owner)]
    obj.setdefault("metadata", {})["ownerReferences"] = [*kept, meta.controller_reference(owner)]


class ClaimFailed(Exception):
    """Some objects could not be adopted or released; ``errors`` says why."""

    def __init__(self, errors: Sequence[Exception]) -> None:
        super().__init__("; ".join(map(str, errors)))
        self.errors = errors


class ControllerRefManager:
    """Claims objects of ``resource`` for ``controller``: adopts orphans that match, releases what
    matches no more.

    ``controller`` carries apiVersion and kind. ``can_adopt`` is asked once, before the first
    adoption, and raises when the controller is not what the cache thinks; ``finalizers`` are added
    on adoption and taken off on release.
    """

    def __init__(
        self, client: Client, resource: Resource, controller: Tree, selector: LabelMatcher, *,
        can_adopt: Callable[[], Awaitable[None]] | None = None, finalizers: Sequence[str] = (),
    ) -> None:
        self._client, self._resource, self._controller, self._selector = client, resource, controller, selector
        self._can_adopt, self._finalizers = can_adopt, list(finalizers)

    async def claim(self, objs: Iterable[Tree], matches: Callable[[Tree], bool] | None = None) -> list[Tree]:
        """The objects that are the controller's now.

        Raises ClaimFailed when some could not be decided.
        """
        claimed: list[Tree] = []
        errors: list[Exception] = []
        uid, selects = meta.uid_of(self._controller), self._selector.matches
        for obj in objs:
            reference = meta.controller_of(obj)
            if reference is not None and reference["uid"] != uid:
                continue
            selected = selects(meta.labels_of(obj)) and (matches is None or matches(obj))
            if selected and reference is not None:
                claimed.append(obj)  # nearly all are settled, and there may be thousands
            elif selected or reference is not None:
                try:
                    if await self._settle(obj, selected=selected):
                        claimed.append(obj)
                except APIError as error:
                    errors.append(error)
        if errors:
            raise ClaimFailed(errors)
        return claimed

    async def _settle(self, obj: Tree, *, selected: bool) -> bool:
        """Adopt what nobody controls and is selected, or release what the controller has and is
        not.

        Whether it is the controller's now. Raises APIError.
        """
        if meta.is_deleting(self._controller):
            return False
        if not selected:
            await self.release(obj)
            return False
        if meta.is_deleting(obj):
            return False
        namespace = meta.namespace_of(self._controller)
        if namespace and namespace != meta.namespace_of(obj):
            return False
        try:
            await self.adopt(obj)
        except APIError as error:
            if error.code == 404:
                return False
            raise
        return True

    async def adopt(self, obj: Tree) -> Tree:
        """Make the controller ``obj``'s, by a patch. Raises APIError."""
        if self._can_adopt is not None:
            await self._can_adopt()
            self._can_adopt = None
        metadata: Tree = {"uid": meta.uid_of(obj), "ownerReferences": [meta.controller_reference(self._controller)]}
        if self._finalizers:
            metadata["finalizers"] = self._finalizers
        return await self._patch(obj, metadata)

    async def release(self, obj: Tree) -> None:
        """Take the controller off ``obj``, by a patch; that it is gone or another one by now is
        fine.
        """
        reference = {"$patch": "delete", "uid": meta.uid_of(self._controller)}
        metadata: Tree = {"uid": meta.uid_of(obj), "ownerReferences": [reference]}
        if self._finalizers:
            metadata["$deleteFromPrimitiveList/finalizers"] = self._finalizers
        try:
            await self._patch(obj, metadata)
        except APIError as error:
            if error.code not in (404, 422):
                raise

    async def _patch(self, obj: Tree, metadata: Mapping[str, object]) -> Tree:
        return await self._client.patch(
            self._resource, meta.name_of(obj), meta.namespace_of(obj), {"metadata": metadata}, type="strategic",
        )


def recheck_deletion(client: Client, resource: Resource, controller: Tree) -> Callable[[], Awaitable[None]]:
    """A ``can_adopt`` that asks the server whether the controller is still the same and not on its
    way out.
    """
    async def check() -> None:
        name, namespace = meta.name_of(controller), meta.namespace_of(controller)
        fresh = await client.get(resource, name, namespace)
        if meta.uid_of(fresh) != meta.uid_of(controller):
            raise APIError(
                409, "Conflict", f"original {resource.kind} {namespace}/{name} is gone: got uid {meta.uid_of(fresh)}, "
                f"wanted {meta.uid_of(controller)}",
            )
        if meta.is_deleting(fresh):
            raise APIError(409, "Conflict", f"{namespace}/{name} has just been deleted")

    return check
