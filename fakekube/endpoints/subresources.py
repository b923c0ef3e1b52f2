"""Endpoints below an object that are not the object: binding, eviction, scale.

What they do is in ``registry/subresources.py``; here requests become its calls. Upstream:
apiserver/pkg/endpoints/handlers/create.go (named) and pkg/registry/core/pod/storage.
"""

from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import applying, bodies, patching
from fakekube.endpoints.answers import object_answer
from fakekube.endpoints.negotiation import Form
from fakekube.endpoints.options import WriteOptions, delete_options, write_options
from fakekube.endpoints.patchchanges import Change, change_of, patch_type
from fakekube.endpoints.read import get_object
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope
from fakekube.endpoints.write import check_name, check_place
from fakekube.managedfields.manager import FieldManager
from fakekube.registry import scale, subresources
from fakekube.registry.strategy import WriteContext


async def bind(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a POST of a Binding, below a pod or to the collection of bindings."""
    form, _, body, context = _posted(scope, info, request)
    pods = scope.services.stores.named("", "v1", "pods")
    name = info.name or (body.get("metadata") or {}).get("name", "")
    context.subresource = "binding"
    status = await subresources.bind(pods, context, info.namespace, name, body)
    return object_answer(scope, request, form, status, status=201)


async def evict(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a POST of an Eviction."""
    form, options, body, context = _posted(scope, info, request)
    context.subresource = "eviction"
    wanted, dry_run = delete_options(body.get("deleteOptions") or {})
    context.dry_run = options.dry_run or dry_run
    budgets = scope.services.stores.named("policy", "v1", "poddisruptionbudgets")
    status = await subresources.evict(scope.store, budgets, context, info.namespace, info.name, body, wanted)
    return object_answer(scope, request, form, status, status=201)


def _posted(scope: Scope, info: RequestInfo, request: Request) -> tuple[Form, WriteOptions, Tree, WriteContext]:
    """What every POST begins with, and its body."""
    form = scope.negotiate(request, table=False)
    bodies.input_type(request)
    bodies.check_size(request)
    options = write_options(request, "CreateOptions")
    tree = bodies.decode(scope, request, options.directive, info.warnings)
    meta = tree.setdefault("metadata", {})
    if info.namespace and meta.setdefault("namespace", info.namespace) != info.namespace:
        check_place(scope, tree, info.namespace, info.name)
    return form, options, tree, scope.context(info, request, "CREATE", options)


async def get_scale(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a GET of a Scale."""
    form = scope.negotiate(request)
    store, version = scope.store, request.param("resourceVersion")
    record = await get_object(
        store.kind, store.bucket, info.namespace, info.name, version, request.patience or scope.services.clock)
    await store.ready(record)
    return object_answer(scope, request, form, scale.scale_of(store, store.load(record)))


async def update_scale(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a PUT of a Scale."""
    form = scope.negotiate(request)
    bodies.check_size(request)
    options = write_options(request, "UpdateOptions")
    wanted = bodies.decode(scope, request, options.directive, info.warnings)
    check_place(scope, wanted, info.namespace, info.name)
    context = scope.context(info, request, "UPDATE", options)
    return await _rescale(scope, info, request, form, context, _owned(scope, context, lambda _: wanted))


async def patch_scale(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a PATCH of a Scale, server-side apply among them."""
    form = scope.negotiate(request)
    bodies.check_size(request)
    is_apply = patch_type(request) == patching.APPLY
    options = write_options(request, "PatchOptions", apply=is_apply)
    context = scope.context(info, request, "UPDATE", options)
    if is_apply:
        change: Change = applying.apply_of(scope, request, options, context, _fields(scope))
    else:
        change = _owned(scope, context, change_of(scope, request, options, context))

    def placed(present: Tree) -> Tree:
        result = change(present)
        check_name((result.get("metadata") or {}).get("name", ""), info.name)
        return result

    return await _rescale(scope, info, request, form, context, placed)


async def _rescale(
    scope: Scope, info: RequestInfo, request: Request, form: Form, context: WriteContext, change: Change,
) -> Response:
    """The write of the object behind the Scale; ``change`` has seen to who owns what."""
    transform = scale.rescaled(scope.store, info.name, change)
    context.patched = True
    written = await scope.store.update(context, info.namespace, info.name, transform, tracked=False)
    return object_answer(scope, request, form, scale.written_scale_of(scope.store, written.tree))


def _owned(scope: Scope, context: WriteContext, change: Change) -> Change:
    """A change after which the writer owns what it has set."""
    fields = _fields(scope)

    def owned(present: Tree) -> Tree:
        wanted = change(present)
        fields.update(present, wanted, manager=context.field_manager, now=context.now, subresource=scope.name)
        return wanted

    return owned


def _fields(scope: Scope) -> FieldManager:
    """Who owns the fields of a Scale."""
    return FieldManager(scope.services.definitions.schema(scope.gvk), scope.gvk.api_version)
