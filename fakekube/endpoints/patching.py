"""PATCH: four ways to say how an object changes, each made a function from the old object to the
new.

Three of them are in ``patchchanges.py``, the fourth, apply, in ``applying.py``. Upstream:
apiserver/pkg/endpoints/handlers/patch.go. Left out: CBOR.
"""

from typing import TYPE_CHECKING, Any, cast

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import bodies
from fakekube.endpoints.applying import apply_of
from fakekube.endpoints.options import write_options
from fakekube.endpoints.patchchanges import JSON_PATCH, MERGE_PATCH, STRATEGIC, Change, change_of, patch_type
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope
from fakekube.endpoints.versions import version_named
from fakekube.endpoints.write import check_place, written_answer
from fakekube.registry.store import Transform
from fakekube.registry.strategy import WriteContext

if TYPE_CHECKING:
    from fakekube.managedfields.manager import FieldManager

APPLY = "application/apply-patch+yaml"
BUILT_IN_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)
CUSTOM_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY)
CONFLICT_TRIES = 5


def check_route(request: Request, *, custom: bool) -> None:
    """The gate before a PATCH. Raises 415: in the router's words for built-ins, in the handler's
    for custom resources.
    """
    media = patch_type(request)
    if custom:
        if media not in CUSTOM_TYPES:
            listed = ", ".join(CUSTOM_TYPES)
            raise errors.unsupported_media_type(
                f"the body of the request was in an unknown format - accepted media types include: {listed}")
    elif media not in BUILT_IN_TYPES:
        raise errors.unsupported_media_type("415: Unsupported Media Type", {})


async def patch(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a PATCH of an object, or of a sub-resource that is the object under other rules."""
    form = scope.negotiate(request)
    bodies.check_size(request)
    apply = patch_type(request) == APPLY
    options = write_options(request, "PatchOptions", apply=apply)
    context = scope.context(info, request, "UPDATE", options)
    context.patched, context.by_patch, info.conditional = not apply, True, bool(version_named(info, request))
    namespace = info.namespace if scope.kind.namespaced else ""
    if apply:
        fields = cast("FieldManager", scope.store.fields)
        transform = _placed(scope, apply_of(scope, request, options, context, fields), namespace, info.name)
        written = await scope.store.update(
            context, namespace, info.name, transform, create=not scope.name, tracked=False
        )
    else:
        change = change_of(scope, request, options, context)
        transform = _placed(scope, _existing(scope, change, info.name), namespace, info.name)
        written = await _until_it_fits(scope, info, context, namespace, info.name, transform)
    return written_answer(scope, request, form, written)


async def _until_it_fits(
    scope: Scope, info: RequestInfo, context: WriteContext, namespace: str, name: str, transform: Transform,
) -> Any:
    """The write, tried again when another one came between, unless the patch itself speaks of a
    version.
    """
    tries = 0
    while True:
        tries += 1
        before = scope.store.bucket.get(namespace, name)
        said = len(context.warnings)
        try:
            return await scope.store.update(context, namespace, name, transform)
        except APIError as error:
            moved = scope.store.bucket.get(namespace, name) is not before
            if error.reason != "Conflict" or info.conditional or not moved or tries == CONFLICT_TRIES:
                raise
            del context.warnings[said:]


def _existing(scope: Scope, change: Change, name: str) -> Transform:
    def transform(old: Tree | None) -> Tree:
        if old is None:
            raise errors.not_found(scope.kind.group_resource, name)
        return change(old)

    return transform


def _placed(scope: Scope, transform: Transform, namespace: str, name: str) -> Transform:
    def placed(old: Tree | None) -> Tree:
        tree = transform(old)
        check_place(scope, tree, namespace, name)
        return tree

    return placed
