"""DELETE of one object and of a collection: options, and what is answered.

Upstream: apiserver/pkg/endpoints/handlers/delete.go and registry/generic/registry/store.go
(DeleteCollection). What a deletion does is ``registry/deletion.py``.
"""

from dataclasses import replace

from fakekube.apimachinery import errors, field_errors
from fakekube.apimachinery.errors import APIError, details_of
from fakekube.apimachinery.gvk import GroupKind
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import bodies
from fakekube.endpoints.answers import object_answer
from fakekube.endpoints.options import UNSAFE, delete_options, delete_options_of_query
from fakekube.endpoints.read import list_objects, parse_list_options
from fakekube.endpoints.reading import list_answer
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope
from fakekube.registry import deletion, preconditions
from fakekube.registry.deletion import Deleted, DeleteOptions
from fakekube.registry.strategy import WriteContext
from fakekube.util.tasks import turn

ONE_ONLY = "is not allowed with DELETECOLLECTION, try again after removing the option"
UNSAFE_GATE = "AllowUnsafeMalformedObjectDeletion"
DECODABLE = "unsafe deletion is not allowed because the object is decodable from storage"

UNTURNED_OBJECTS = 16
"""So many objects of a collection are deleted before other requests get a turn."""


async def delete(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a DELETE of one object."""
    form = scope.negotiate(request)
    options, dry_run = request_options(scope, request)
    context = delete_context(scope, info, request, options, dry_run=dry_run)
    namespace = info.namespace if scope.kind.namespaced else ""
    # nothing here cannot be read
    if options.raw.get(UNSAFE) and scope.store.cluster.gate(UNSAFE_GATE):
        record = scope.store.find(namespace, info.name)
        raise preconditions.storage_conflict(scope.store.kind, record.namespace, record.name, DECODABLE)
    if why := scope.store.strategy.why_kept(info.name):
        raise errors.forbidden(scope.kind.group_resource, info.name, why)
    deleted = await deletion.delete(scope.store, context, namespace, info.name, options)
    status = 202 if not deleted.gone and options.orphan_dependents is False else 200
    tree = answer_of(scope, deleted)
    return object_answer(scope, request, form, tree, status=status)


def request_options(scope: Scope, request: Request) -> tuple[DeleteOptions, bool]:
    """The options of a DELETE, from its body if it has one, else from its query; and whether it is
    a dry run.
    """
    bodies.check_size(request)
    if not request.body:
        return delete_options_of_query(request.query)
    tree = bodies.decode_options(scope.services, request, "DeleteOptions", scope.kind.version)
    if not scope.store.cluster.gate(UNSAFE_GATE):
        tree.pop(UNSAFE, None)
    return delete_options(tree)


def delete_context(
    scope: Scope, info: RequestInfo, request: Request, options: DeleteOptions, *, dry_run: bool,
) -> WriteContext:
    """The context of a deletion."""
    context = scope.context(info, request, "DELETE")
    info.dry_run = context.dry_run = dry_run
    info.conditional, context.options = options.resource_version is not None, options.raw
    policy_given = options.propagation_policy is not None or options.orphan_dependents is not None
    if scope.kind.orphan_warning and not policy_given:
        context.warn(scope.kind.orphan_warning)
    return context


def answer_of(scope: Scope, deleted: Deleted) -> Tree:
    """A Success Status once an object is gone, for most kinds; else the object."""
    if not deleted.gone or scope.kind.delete_returns_object:
        return deleted.tree
    meta = deleted.tree["metadata"]
    kind = scope.kind
    details = details_of(kind.group, kind.plural, meta["name"]) | {"uid": meta["uid"]}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


async def delete_collection(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a DELETE of a collection: the objects that were removed, as they were before."""
    form = scope.negotiate(request)
    list_options = parse_list_options(request.query, scope.kind, watch=False)
    if list_options.resource_version not in ("", "0") and not list_options.resource_version_match:
        # upstream lists by pages, and a page with a version is of that very version
        list_options = replace(list_options, resource_version_match="Exact")
    options, dry_run = request_options(scope, request)
    if options.raw.get(UNSAFE):
        raise errors.invalid(GroupKind("meta.k8s.io", "DeleteOptions"), "", [field_errors.invalid(UNSAFE, True, ONE_ONLY)])
    namespace = info.namespace if scope.kind.namespaced else ""
    clock = request.patience or scope.services.clock
    result = await list_objects(scope.kind, scope.store.bucket, namespace, list_options, clock)
    removed = []
    for place, record in enumerate(result.records):
        if place and place % UNTURNED_OBJECTS == 0:
            await turn()
        context = delete_context(scope, info, request, options, dry_run=dry_run)
        context.of_collection = True
        try:
            await deletion.delete(scope.store, context, record.namespace, record.name, options)
        except APIError as error:
            if error.code != 404:
                raise
            continue
        removed.append(record)
    return list_answer(scope, request, form, result._replace(records=removed))
