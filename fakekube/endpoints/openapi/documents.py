"""/openapi/v3, its documents, and /openapi/v2.

A document is made when somebody asks for it; its hash is that of what it is made of (the release,
the Kinds, the fields that declarations name), so that the index costs nothing. Upstream:
kube-openapi (pkg/handler3, pkg/handler).
"""

import hashlib
from collections.abc import Callable, Mapping
from email.utils import formatdate
from typing import Protocol

import orjson

from fakekube.apimachinery import errors
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.answers import PLAIN_TEXT
from fakekube.endpoints.negotiation import JSON, clauses
from fakekube.endpoints.openapi import protobuf, protobuf_v3
from fakekube.endpoints.openapi.paths import Operations
from fakekube.endpoints.openapi.schemas import META, Printer
from fakekube.registry.kind import Kind
from fakekube.registry.resources import ResourceRegistry
from fakekube.schema import descriptions
from fakekube.schema.definitions import Definitions
from fakekube.util.clock import Clock

OF_DEFINITIONS = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
YEAR_SECONDS = 365 * 24 * 3600
NO_CACHE = ("Cache-Control", "no-cache, private")
V2_PROTOBUF = tuple(f"application/com.github.proto-openapi.spec.v2{version}+protobuf" for version in ("@v1.0", ".v1"))
V3_PROTOBUF = tuple(f"application/com.github.proto-openapi.spec.v3{version}+protobuf" for version in ("@v1.0", ".v1.0"))
V3_PROTOBUF_ANSWER = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
V2_PROTOBUF_ANSWER = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


class Others(Protocol):
    """What other servers say of what they serve."""

    @property
    def v3(self) -> Mapping[str, str]:
        """Where their documents of version 3 are, by their names in the index."""

    def has_v2(self) -> bool:
        """Whether there is anything to be merged into ours of version 2."""

    def merged_v2(self, own: Callable[[], Tree]) -> Tree:
        """Our document of version 2 with theirs."""


class OpenAPI:
    """Answers for the OpenAPI paths. ``others`` may be set at any time."""

    def __init__(
        self, definitions: Definitions, resources: ResourceRegistry, clock: Clock, release: str,
    ) -> None:
        self._definitions, self._resources = definitions, resources
        self._clock, self._release = clock, release
        self._made: dict[str, bytes] = {}
        self._hashes: dict[str, str] = {}
        self._seen = -1
        self.others: Others | None = None

    def answer(self, request: Request) -> Response:
        """Answer a path below /openapi. Raises APIError."""
        self._refresh()
        path = request.path.strip("/").removeprefix("openapi/")
        if path == "v3":
            urls = {
                name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"}
                for name, digest in self._hashes.items()
            }
            for name, url in ({} if self.others is None else self.others.v3).items():
                urls[name] = {"serverRelativeURL": url}
            return Response(200, orjson.dumps({"paths": urls}), PLAIN_TEXT)
        if path == "v2":
            return self._v2(request)
        name = path.removeprefix("v3/")
        if name not in self._hashes:
            return Response(404, content_type="")
        return self._v3(request, name)

    def _refresh(self) -> None:
        if self._seen == self._resources.generation:
            return
        self._seen = self._resources.generation
        self._made.clear()
        groups: dict[str, list[Kind]] = {"api": [], "apis": [], "version": []}
        for kind in self._resources.kinds:
            if kind.group:
                groups.setdefault(f"apis/{kind.group}", [])
            groups.setdefault(f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}", []).append(kind)
        # clients keep what has a hash for ever
        words = "with descriptions" if descriptions.are_installed() else ""
        words += self._definitions.added
        self._hashes = {name: self._digest(name, kinds, words) for name, kinds in sorted(groups.items())}

    def _digest(self, name: str, kinds: list[Kind], words: str) -> str:
        text = "\n".join([self._release, name, *map(_facts, kinds)])
        return hashlib.sha512((text + words).encode()).hexdigest().upper()

    def _v3(self, request: Request, name: str) -> Response:
        digest = self._hashes[name]
        asked = request.param("hash")
        if asked and asked != digest:
            return Response(301, content_type="", headers=[("Location", f"/openapi/v3/{name}?hash={digest}"), NO_CACHE])
        headers = [("ETag", f'"{digest}"'), ("Vary", "Accept")]
        if asked:
            expires = formatdate(self._clock.time() + YEAR_SECONDS, usegmt=True)
            headers += [("Cache-Control", "public, immutable"), ("Expires", expires)]
        if request.headers.get("if-none-match") == f'"{digest}"':
            return Response(304, content_type="", headers=headers)
        if wants_protobuf(request, V3_PROTOBUF):
            data = self._encoded(f"{name}.pb", lambda: protobuf_v3.encode(self._group_document(name)))
            return Response(200, data, V3_PROTOBUF_ANSWER, headers)
        check_accept(request)
        return Response(200, self._document(name, lambda: self._group_document(name)), JSON, headers)

    def _v2(self, request: Request) -> Response:
        digest = self._v2_digest()
        headers = [("ETag", f'"{digest}"'), ("Vary", "Accept-Encoding"), ("Vary", "Accept")]
        if request.headers.get("if-none-match") == f'"{digest}"':
            return Response(304, content_type="", headers=headers)
        if wants_protobuf(request, V2_PROTOBUF):
            return Response(200, self._encoded("v2.pb", lambda: protobuf.encode(self._swagger())), V2_PROTOBUF_ANSWER, headers)
        check_accept(request)
        return Response(200, self._document("v2", self._swagger), JSON, headers)

    def _v2_digest(self) -> str:
        if self.others is None or not self.others.has_v2():
            return hashlib.sha512("".join(self._hashes.values()).encode()).hexdigest().upper()
        merged = self._document("v2", self._swagger)
        return self._encoded("v2 digest", lambda: hashlib.sha512(merged).hexdigest().upper().encode()).decode()

    def _document(self, name: str, make: Callable[[], Tree]) -> bytes:
        return self._encoded(name, lambda: orjson.dumps(make()))

    def _encoded(self, name: str, make: Callable[[], bytes]) -> bytes:
        data = self._made.get(name)
        if data is None:
            data = self._made[name] = make()
        return data

    def _group_document(self, name: str) -> Tree:
        kinds = [
            kind
            for kind in self._resources.kinds
            if name == (f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}")
        ]
        printer = Printer(self._definitions, descriptions.load(self._release), v3=True)
        paths = self._paths(kinds, printer, v3=True)
        if not kinds:
            paths[f"/{name}/"] = {
                "get": {"responses": {"401": {"description": "Unauthorized"}}, "tags": [name.partition("/")[0]]}
            }
        security = {"BearerToken": {"in": "header", "name": "authorization", "type": "apiKey"}}
        if kinds and all(kind.custom for kind in kinds):
            return {"openapi": "3.0.0", "info": OF_DEFINITIONS, "paths": paths, "components": {"schemas": printer.all()}}
        return {
            "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": f"v{self._release}"}, "paths": paths,
            "components": {"schemas": printer.all(), "securitySchemes": security},
        }

    def _swagger(self) -> Tree:
        others = self.others
        return self._own_swagger() if others is None or not others.has_v2() else others.merged_v2(self._own_swagger)

    def _own_swagger(self) -> Tree:
        printer = Printer(self._definitions, descriptions.load(self._release), v3=False)
        paths = self._paths(self._resources.kinds, printer, v3=False)
        security = {"BearerToken": {"in": "header", "name": "authorization", "type": "apiKey"}}
        return {
            "swagger": "2.0", "info": {"title": "Kubernetes", "version": f"v{self._release}"}, "paths": paths,
            "definitions": printer.all(), "securityDefinitions": security, "security": [{"BearerToken": []}],
        }

    def _paths(self, kinds: "list[Kind] | tuple[Kind, ...]", printer: Printer, *, v3: bool) -> Tree:
        own: dict[GroupVersionKind, str] = {}
        for kind in kinds:
            if kind.published is not None:
                own |= {kind.gvk: kind.published.name, kind.gvk._replace(kind=kind.list_kind): kind.published.list_name}
                printer.add(kind.published.schemas(printer))

        def reference(wanted: GroupVersionKind | str) -> Tree | None:
            if isinstance(wanted, str):
                return printer.reference(wanted)
            if wanted in own:
                return printer.reference(own[wanted])
            schema = self._definitions.schema(wanted)
            return printer.reference(schema.name) if schema else None

        operations = Operations(reference, v3=v3)
        paths: Tree = {}
        for kind in kinds:
            paths |= operations.paths(kind)
        if any(not kind.custom for kind in kinds):
            printer.reference(f"{META}WatchEvent")
        return dict(sorted(paths.items()))


def _facts(kind: Kind) -> str:
    """What is published of a kind follows from this."""
    own = kind.published.digest if kind.published is not None else ""
    return f"{kind.gvk} {kind.verbs} {kind.subresources}{own}"


def wants_protobuf(request: Request, media: tuple[str, ...]) -> bool:
    """Whether the client names one of these media types before anything that JSON would do for."""
    for clause in clauses(request.headers.get("accept", "")):
        if clause.matches(JSON):
            return False
        if f"{clause.type}/{clause.subtype}" in media:
            return True
    return False


def check_accept(request: Request) -> None:
    """Raises 406 unless the client takes JSON."""
    accept = request.headers.get("accept", "")
    if accept and not any(clause.matches(JSON) for clause in clauses(accept)):
        raise errors.not_acceptable(f"only the following media types are accepted: {JSON}")
