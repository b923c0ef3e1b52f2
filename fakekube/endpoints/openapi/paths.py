"""Paths and operations of a kind, as both versions of OpenAPI describe them.

Upstream: apiserver/pkg/endpoints/installer.go names the operations, kube-openapi prints them.
Clients find by them which kind is behind a path, which verbs it has and which query parameters an
operation knows.
"""

from collections.abc import Callable, Iterable

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.openapi.schemas import META
from fakekube.registry.kind import Kind, Subresource

LIST = ("allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion",
        "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch")
DELETE = ("dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents",
          "propagationPolicy")
WRITE = ("dryRun", "fieldManager", "fieldValidation")
TYPES = {"allowWatchBookmarks": "boolean", "watch": "boolean", "sendInitialEvents": "boolean", "limit": "integer",
         "timeoutSeconds": "integer", "gracePeriodSeconds": "integer", "orphanDependents": "boolean",
         "force": "boolean",
         "ignoreStoreReadErrorWithClusterBreakingPotential": "boolean"}
PATCHES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
           "application/strategic-merge-patch+json")
PRODUCES = ("application/json", "application/vnd.kubernetes.protobuf", "application/yaml")
STREAMS = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")

CUSTOM_PATCHES = PATCHES[:3]
CUSTOM_MEDIA = ("application/json", "application/yaml")

Reference = Callable[[GroupVersionKind | str], Tree | None]
"""A reference to the schema of a kind, or to a definition; None when there is none."""


def _title(kind: Kind) -> str:
    """How operations name a group: by its first label, that of a definition by all of them."""
    labels = kind.group.replace("-", ".").split(".")
    return "".join(map(str.capitalize, labels)) if kind.custom else labels[0].capitalize() or "Core"


def _media(kind: Kind, action: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The forms of answers, and those of bodies."""
    if kind.custom:
        return CUSTOM_MEDIA, CUSTOM_PATCHES if action == "patch" else CUSTOM_MEDIA
    produces = (*PRODUCES, *STREAMS) if action == "list" else PRODUCES
    return produces, PATCHES if action == "patch" else ("*/*",)


class Operations:
    """Describes the operations of one group-version."""

    def __init__(self, reference: Reference, *, v3: bool) -> None:
        self._reference, self._v3 = reference, v3

    def paths(self, kind: Kind) -> Tree:
        """The paths of a kind and of its sub-resources, with their operations."""
        root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        inside = f"{root}/namespaces/{{namespace}}" if kind.namespaced else root
        scope = "Namespaced" if kind.namespaced else ""
        collection, named = f"{inside}/{kind.plural}", f"{inside}/{kind.plural}/{{name}}"
        paths: Tree = {}

        def add(path: str, method: str, operation: Tree) -> None:
            item = paths.setdefault(path, {"parameters": self._path_parameters(path)})
            item[method] = operation

        rows: tuple[tuple[str, str, str, str, str], ...] = (
            ("list", collection, "get", "list", f"list{{gv}}{scope}{kind.kind}"),
            ("create", collection, "post", "post", f"create{{gv}}{scope}{kind.kind}"),
            ("deletecollection", collection, "delete", "deletecollection", f"delete{{gv}}Collection{scope}{kind.kind}"),
            ("get", named, "get", "get", f"read{{gv}}{scope}{kind.kind}"),
            ("update", named, "put", "put", f"replace{{gv}}{scope}{kind.kind}"),
            ("patch", named, "patch", "patch", f"patch{{gv}}{scope}{kind.kind}"),
            ("delete", named, "delete", "delete", f"delete{{gv}}{scope}{kind.kind}"),
        )
        for verb, path, method, action, name in rows:
            if verb in kind.verbs:
                add(path, method, self._operation(kind, kind.gvk, action, name))
        if "list" in kind.verbs and kind.namespaced:
            name = f"list{{gv}}{kind.kind}ForAllNamespaces"
            add(f"{root}/{kind.plural}", "get", self._operation(kind, kind.gvk, "list", name))
        for sub in kind.subresources:
            for method, operation in self._subresource(kind, sub, scope):
                add(f"{named}/{sub.name}", method, operation)
        return paths

    def _subresource(self, kind: Kind, sub: Subresource, scope: str) -> Iterable[tuple[str, Tree]]:
        gvk = sub.kind or kind.gvk
        suffix = f"{scope}{kind.kind}{sub.name.capitalize()}"
        for verb, method, action, word in (
            ("get", "get", "get", "read"), ("update", "put", "put", "replace"), ("patch", "patch", "patch", "patch"),
            ("create", "post", "post", "create"), ("delete", "delete", "delete", "delete"),
        ):
            if verb in sub.verbs:
                yield method, self._operation(kind, gvk, action, f"{word}{{gv}}{suffix}")

    def _operation(self, kind: Kind, gvk: GroupVersionKind, action: str, name: str) -> Tree:
        title, named = _title(kind), kind.gvk if kind.custom else gvk
        answers = gvk._replace(kind=kind.list_kind) if action == "list" else gvk
        schema = self._reference(f"{META}Status" if action in ("delete", "deletecollection") else answers) or {
            "type": "string"
        }
        parameters = {
            "list": LIST, "post": WRITE, "put": WRITE, "patch": (*WRITE, "force"), "delete": DELETE,
            "deletecollection": (*LIST[1:-1], *DELETE),
        }.get(action, ())
        operation: Tree = {
            "operationId": name.replace("{gv}", title + kind.version.capitalize()),
            "tags": [f"{title[:1].lower()}{title[1:]}_{kind.version}"],
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {"group": named.group, "kind": named.kind, "version": named.version},
            "parameters": [self._query(parameter) for parameter in parameters],
        }
        bodies: dict[str, GroupVersionKind | str] = {
            "post": gvk, "put": gvk, "patch": f"{META}Patch", "delete": f"{META}DeleteOptions",
            "deletecollection": f"{META}DeleteOptions"}
        body = None if kind.custom and action == "deletecollection" else bodies.get(action)
        produces, consumes = _media(kind, action)
        if body is not None and (reference := self._reference(body)):
            self._add_body(operation, reference, consumes, required=action in ("post", "put", "patch"))
        codes = {
            "post": ("200", "201", "202"),
            "put": ("200", "201"),
            "patch": ("200",) if kind.custom else ("200", "201"),
            "delete": ("200", "202"),
        }
        for code in codes.get(action, ("200",)):
            operation.setdefault("responses", {})[code] = self._answer(schema, produces)
        operation["responses"]["401"] = {"description": "Unauthorized"}
        if not self._v3:
            operation["produces"] = list(produces)
            operation["consumes"] = list(consumes)
            operation["schemes"] = ["https"]
        return operation

    def _add_body(self, operation: Tree, reference: Tree, consumes: Iterable[str], *, required: bool) -> None:
        if not self._v3:
            operation["parameters"].append(
                {"in": "body", "name": "body", "schema": reference} | ({"required": True} if required else {})
            )
            return
        operation["requestBody"] = {"content": {name: {"schema": reference} for name in consumes}}
        if required:
            operation["requestBody"]["required"] = True

    def _answer(self, schema: Tree, produces: Iterable[str]) -> Tree:
        if not self._v3:
            return {"description": "OK", "schema": schema}
        return {"description": "OK", "content": {media: {"schema": schema} for media in produces}}

    def _query(self, name: str) -> Tree:
        return self._parameter("query", name, TYPES.get(name, "string"))

    def _path_parameters(self, path: str) -> list[Tree]:
        found = [self._parameter("path", name, "string") | {"required": True}
                 for name in ("name", "namespace") if f"{{{name}}}" in path]
        return [*found, self._query("pretty")]

    def _parameter(self, place: str, name: str, type_: str) -> Tree:
        if self._v3:
            return {"in": place, "name": name, "schema": {"type": type_, "uniqueItems": True}}
        return {"in": place, "name": name, "type": type_, "uniqueItems": True}
