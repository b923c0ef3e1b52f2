"""Connections (exec, attach, port-forward, proxies) as admission sees them: operation CONNECT.

The object is the kind's options, made of the query. Upstream: ConnectResource in
apiserver/pkg/endpoints/handlers/rest.go.
"""

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Request
from fakekube.apimachinery.types import Json, Tree
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope

FLAGS, TEXTS, LISTS = ("stdin", "stdout", "stderr", "tty"), ("container", "path"), ("command",)


def check_dry_run(request: Request) -> None:
    """A connection cannot be tried out. Raises 400."""
    if request.query.get("dryRun"):
        raise errors.bad_request("dryRun is not supported")


async def admit_connection(scope: Scope, info: RequestInfo, request: Request) -> None:
    """Let admission see a connection. Raises what it refuses with."""
    context = scope.context(info, request, "CONNECT")
    options: Tree = {"kind": scope.gvk.kind, "apiVersion": scope.gvk.api_version}
    for name in (*FLAGS, *TEXTS, *LISTS, "ports"):
        value = _value(name, request.query.get(name) or [])
        if value:
            options[name] = value
    await scope.store.admitted(context, info.namespace, info.name.rpartition(":")[2] or info.name, options)


def _value(name: str, texts: list[str]) -> Json:
    if not texts:
        return None
    if name in FLAGS:
        return texts[0].lower() not in ("false", "0")
    if name in TEXTS:
        return texts[0]
    if name in LISTS:
        return texts
    return [int(text) for several in texts for text in several.split(",") if text.isdecimal()]
