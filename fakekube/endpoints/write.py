"""POST and PUT: from a body to a stored object and its answer.

What is done with the object is the store's to know; here stands the order in which a request is
looked at, which decides what a client that made several mistakes is told. Upstream:
apiserver/pkg/endpoints/handlers/{create,update}.go.
"""

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import bodies
from fakekube.endpoints.answers import object_answer
from fakekube.endpoints.negotiation import Form
from fakekube.endpoints.options import write_options
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope
from fakekube.registry.store import Written

WRONG_NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"


async def create(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a POST on a collection."""
    form = scope.negotiate(request)
    media = bodies.input_type(request)
    bodies.check_size(request)
    options = write_options(request, "CreateOptions")
    tree = bodies.decode(scope, request, options.directive, info.warnings, media=media, emptied=info.emptied)
    context = scope.context(info, request, "CREATE", options)
    written = await scope.store.create(context, info.namespace if scope.kind.namespaced else "", tree)
    return written_answer(scope, request, form, written)


async def update(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a PUT on an object, or on a sub-resource that is the object under other rules."""
    form = scope.negotiate(request)
    bodies.check_size(request)
    options = write_options(request, "UpdateOptions")
    tree: Tree | None = bodies.decode(scope, request, options.directive, info.warnings, emptied=info.emptied)
    namespace = info.namespace if scope.kind.namespaced else ""
    assert tree is not None
    check_place(scope, tree, namespace, info.name)
    context = scope.context(info, request, "UPDATE", options)
    info.conditional = bool((tree.get("metadata") or {}).get("resourceVersion"))

    def replaced(old: Tree | None) -> Tree:
        nonlocal tree
        fresh, tree = tree, None
        if fresh is None:
            fresh = bodies.decode(scope, request, options.directive, [])
        if scope.name == "status" and old is not None:
            for name, value in fresh.items():
                if name not in ("metadata", "status") and value == old.get(name):
                    fresh[name] = old[name]  # a status cannot change it anyway
        return fresh

    written = await scope.store.update(context, namespace, info.name, replaced)
    return written_answer(scope, request, form, written)


def check_place(scope: Scope, tree: Tree, namespace: str, name: str) -> None:
    """Whether an object belongs under the URL that it was sent to. Raises 400.

    A cluster-scoped object's namespace is nobody's concern; an object without a namespace has the
    URL's.
    """
    meta = tree.get("metadata") or {}
    if scope.kind.namespaced and meta.get("namespace", namespace) != namespace:
        raise errors.bad_request(WRONG_NAMESPACE)
    check_name(meta.get("name", ""), name)


def check_name(found: str, name: str) -> None:
    """Whether an object is called as its URL says. Raises 400."""
    if not found:
        raise errors.bad_request(
            f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    if found != name:
        raise errors.bad_request(f"the name of the object ({found}) does not match the name on the URL ({name})")


def written_answer(scope: Scope, request: Request, form: Form, written: Written) -> Response:
    """The answer to a write: 201 for what is new, else 200."""
    record = written.record
    status = 201 if written.created else 200
    data = record.data if record is not None and scope.kind.conversion is None else None
    if data is not None and record is not None and form.plain:
        # the bytes that are stored: nothing is decoded or encoded again
        answer = Response(status, data + b"\n")
        answer.tree = record.tree
        return answer
    return object_answer(scope, request, form, written.tree, status=status, data=data)
