"""What a request asks for, told by its method, its path and a little of its query.

``RequestInfo`` is what authorization, the request log and metrics see: verb, group, version,
resource, name. It is a guess by form alone and knows nothing of what is served. Upstream:
apiserver/pkg/endpoints/request/requestinfo.go.
Left out: ``proxy`` as a path prefix, which no server has served for years.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fakekube.apimachinery.empties import Emptied
    from fakekube.apimachinery.http import UserInfo
    from fakekube.auth.authorizer import Decision

VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
# /namespaces/x/status is a namespace's, not a resource called status
NAMESPACE_SUBRESOURCES = ("status", "finalize")
FALSE = ("false", "0")
SELECTING = ("list", "watch", "deletecollection")


class RequestInfo:
    """One request.

    ``parts`` are the segments from the resource on, ``namespaced`` whether the path names a
    namespace; ``warnings`` gathers what its answer will say in Warning headers,
    ``audit_annotations`` what those who looked at it say to the audit log. ``impersonator`` is who
    sent it where that is not whom it acts as. ``fault`` names what was made to go wrong with it.
    ``dry_run``, ``conditional`` and ``emptied`` are of a write: nothing is to be stored; it names
    the version of the object that it saw; what it gave with nothing in it, and decoding took out.
    """

    __slots__ = (
        "audit_annotations", "conditional", "decision", "dry_run", "emptied", "fault", "field_selector", "group",
        "impersonation_constraint", "impersonator", "is_resource", "label_selector", "name", "namespace", "namespaced",
        "parts", "path", "resource", "subresource", "verb", "version", "warnings", "watch_path",
    )

    def __init__(self, path: str, verb: str) -> None:
        self.path, self.verb = path, verb
        self.is_resource = self.namespaced = self.watch_path = self.dry_run = self.conditional = False
        self.group = self.version = self.namespace = self.resource = self.subresource = self.name = ""
        self.field_selector = self.label_selector = ""  # of a collection
        self.parts: list[str] = []
        self.warnings: list[str] = []  # for Warning headers, of an error too
        self.emptied: list[Emptied] = []
        self.audit_annotations: dict[str, str] = {}
        self.impersonator: UserInfo | None = None
        self.impersonation_constraint = ""  # the verb by which somebody acts as another
        self.fault = ""
        self.decision: Decision | None = None  # where somebody was asked whether the user may


def parse(method: str, path: str, query: Mapping[str, list[str]]) -> RequestInfo:
    """Read a request line.

    Parameters: the method as sent, the percent-decoded path, the query's values by name.
    Returns a RequestInfo; a path that names no resource has ``is_resource`` False and the
    lower-case method as verb.
    """
    info = RequestInfo(path, method.lower())
    parts = path.strip("/").split("/") if path[:2] != "//" else [""]
    if parts[0] == "apis" and len(parts) > 3:
        info.group, info.version, rest = parts[1], parts[2], parts[3:]
    elif parts[0] == "api" and len(parts) > 2:
        info.version, rest = parts[1], parts[2:]
    else:
        return info
    info.is_resource = True
    info.verb = VERBS.get(method, "")
    if rest[0] == "watch" and len(rest) > 1:
        info.watch_path, info.verb, rest = True, "watch", rest[1:]
    if rest[0] == "namespaces" and len(rest) > 1:
        info.namespace = rest[1]
        if len(rest) > 2 and rest[2] not in NAMESPACE_SUBRESOURCES:
            info.namespaced = True
            rest = rest[2:]
    info.parts = rest
    info.resource = rest[0]
    if len(rest) > 1:
        info.name = rest[1]
        if len(rest) > 2:
            info.subresource = rest[2]
    elif info.verb == "get":
        info.verb = "watch" if asks_for_watch(query) else "list"
        info.name = single_name(query)
    elif info.verb == "delete":
        info.verb = "deletecollection"
    if query and info.verb in SELECTING:
        info.field_selector, info.label_selector = _first(query, "fieldSelector"), _first(query, "labelSelector")
    return info


def _first(query: Mapping[str, list[str]], name: str) -> str:
    values = query.get(name)
    return values[0] if values else ""


def asks_for_watch(query: Mapping[str, list[str]]) -> bool:
    """Whether ``watch`` is given and is neither ``false`` nor ``0``; an empty value counts as true.
    """
    values = query.get("watch") or FALSE
    return values[0] not in FALSE


def single_name(query: Mapping[str, list[str]]) -> str:
    """The name that ``fieldSelector=metadata.name=x`` confines a collection to, or nothing."""
    values = query.get("fieldSelector")
    if not values:
        return ""
    for term in values[0].split(","):
        label, equals, value = term.partition("=")
        if equals and label.strip() == "metadata.name":
            return value.removeprefix("=").strip()
    return ""
