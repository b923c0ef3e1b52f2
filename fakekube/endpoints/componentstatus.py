"""componentstatuses: a kind of long ago that nobody stores.

Upstream: pkg/registry/core/componentstatus/rest.go.

Left out: asking the components; here all of them are well.
"""

from fakekube.apimachinery import errors
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import table
from fakekube.endpoints.answers import object_answer, tree_answer
from fakekube.endpoints.listoptions import ListOptions, parse_list_options
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope

SUBJECT = GroupResource("", "componentstatus")  # as its own storage names it, in the singular
COMPONENTS = ("controller-manager", "scheduler", "etcd-0")


async def get(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a GET of one of them or of all."""
    form = scope.negotiate(request)
    kind = scope.kind
    if info.name and len(info.parts) > 1:
        if info.name not in COMPONENTS:
            raise errors.not_found(SUBJECT, info.name)
        return object_answer(
            scope, request, form, {"kind": kind.kind, "apiVersion": kind.api_version} | _status(info.name)
        )
    options = parse_list_options(request.query, kind, watch=False)
    items = [_status(name) for name in COMPONENTS if _is_selected(name, options)]
    if form.transform == "Table":
        now = scope.services.clock.time()
        rows = table.table_of(kind, items, {}, form.transform_version, table.include_object(request), now)
        return tree_answer(rows, form)
    tree = {"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": {}, "items": items}
    return tree_answer(tree, form, 200, scope.services)


def _is_selected(name: str, options: ListOptions) -> bool:
    """Components have no labels, and no fields but their names."""
    if options.labels is not None and not options.labels.matches({}):
        return False
    return options.fields is None or options.fields.matches({"metadata.name": name, "metadata.namespace": ""})


def _status(name: str) -> Tree:
    return {"metadata": {"name": name}, "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}]}
