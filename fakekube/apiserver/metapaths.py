"""Paths that name no resource: discovery, the version, health, metrics, the OpenAPI documents.

Upstream: apiserver/pkg/server/routes and pkg/endpoints/discovery.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.apiserver import version
from fakekube.apiserver.filters import RequestLog
from fakekube.auth.tokens import ISSUER, Tokens
from fakekube.endpoints import discovery, health, negotiation
from fakekube.endpoints.answers import encode, page_not_found, tree_answer
from fakekube.endpoints.negotiation import JSON, PRETTY, PROTOBUF, Form, clauses
from fakekube.endpoints.scope import Services
from fakekube.registry.kind import Kind

if TYPE_CHECKING:
    from fakekube.aggregator.apiservices import Aggregator
    from fakekube.endpoints.openapi.documents import OpenAPI

JWKS = "application/jwk-set+json"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
PUBLIC_HOUR = ("Cache-Control", "public, max-age=3600")


class MetaPaths:
    """Answers for the paths that are not resources.

    Documents are encoded once and kept while the kinds stay the same.
    """

    def __init__(
        self, services: Services, log: RequestLog, release: str, metric_texts: Sequence[Callable[[], str]],
        tokens: Tokens,
    ) -> None:
        self._services, self._log, self._release = services, log, release
        self._resources = services.resources
        self._metric_texts, self._tokens = metric_texts, tokens
        self._kept: dict[tuple[str, str, bool], tuple[bytes, str]] = {}
        self._generation = self._resources.generation
        self._openapi: OpenAPI | None = None
        self.aggregator: Aggregator | None = None  # what knows of other servers, where there are any
        self._fixed: dict[str, Callable[[Request], Response]] = {
            "": self._index, "index.html": self._index, "version": self._version, "metrics": self._metrics,
            ".well-known/openid-configuration": self._issuer, "openid/v1/jwks": self._keys,
        }

    def answer(self, request: Request) -> Response:
        """Answer a path that names no resource. Raises APIError."""
        path = request.path.strip("/") if request.path[:2] != "//" else request.path
        parts = path.split("/")
        if parts[0] in ("api", "apis"):
            return self._discovery(request, parts)
        if parts[0] in health.ENDPOINTS:
            return health.answer(request)
        if parts[0] == "openapi" and len(parts) > 1:
            return self._described(request)
        fixed = self._fixed.get(path)
        return fixed(request) if fixed else page_not_found()

    def _described(self, request: Request) -> Response:
        if self._openapi is None:
            from fakekube.endpoints.openapi.documents import OpenAPI

            services = self._services
            self._openapi = OpenAPI(services.definitions, self._resources, services.clock, self._release)
        self._openapi.others = self.aggregator
        return self._openapi.answer(request)

    # discovery

    def _discovery(self, request: Request, parts: list[str]) -> Response:
        kinds = self._resources.kinds
        if parts == ["api"]:
            check_gate(request)
        if parts == ["api"] or parts == ["apis"]:
            return self._groups(request, parts[0])
        group, rest = ("", parts[1:]) if parts[0] == "api" else (parts[1], parts[2:])
        merged = self.aggregator
        if group and not rest and merged is not None and merged.has_group(group):
            return self._document(request, lambda: merged.group_document(group))
        if not self._resources.has_group(group):
            return page_not_found()
        if not rest:
            return self._document(request, lambda: discovery.group_document(kinds, group))
        if not self._resources.has_version(group, rest[0]):
            if self._resources.is_custom(group):
                return page_not_found()
            raise errors.no_such_path()
        check_gate(request)
        hashes = self._services.cluster.gate("StorageVersionHash")
        return self._document(request, lambda: discovery.resource_list(kinds, group, rest[0], hashes=hashes))

    def _groups(self, request: Request, root: str) -> Response:
        """/api and /apis: the old document, or the aggregated one for who lists it in any place.

        The latter, and those of groups, are upstream's aggregator's, which looks at no method.
        """
        accept = request.headers.get("accept", "")
        for media in (JSON, PROTOBUF):
            if any(_is_aggregated(clause.params) for clause in clauses(accept) if clause.matches(media)):
                return self._aggregated(request, root, media)
        kinds = self._resources.kinds
        if root == "apis":
            merged = self.aggregator
            return self._document(request, lambda: discovery.group_list(kinds) if merged is None else merged.group_list())
        address = request.headers.get("host", "")
        form = negotiation.negotiate(request, table=False, transforms=False)
        return tree_answer(discovery.core_versions(kinds, address), form, 200, self._services)

    def _aggregated(self, request: Request, root: str, media: str) -> Response:
        is_core, merged = root == "api", self.aggregator
        make = discovery.aggregated if is_core or merged is None else merged.aggregated
        data, tag = self._encoded(f"aggregated {root}", Form(media), lambda: make(
            tuple(kind for kind in self._resources.kinds if (not kind.group) == is_core)))
        headers = [("ETag", tag), ("Vary", "Accept"), ("Cache-Control", "public")]
        if request.headers.get("if-none-match") == tag:
            return Response(304, content_type="", headers=headers)
        return Response(200, data, media + discovery.AGGREGATED, headers)

    def _document(self, request: Request, make: Callable[[], Tree]) -> Response:
        form = negotiation.negotiate(request, table=False, transforms=False)
        return Response(200, self._encoded(request.path.strip("/"), form, make)[0], form.media)

    def _encoded(self, key: str, form: Form, make: Callable[[], Tree]) -> tuple[bytes, str]:
        if self._generation != self._resources.generation:
            self._kept.clear()
            self._generation = self._resources.generation
        kept = self._kept.get((key, form.media, form.pretty))
        if kept is None:
            data = encode(make(), form, self._services)
            kept = self._kept[key, form.media, form.pretty] = (data, discovery.etag(data))
        return kept

    # the rest

    def _index(self, request: Request) -> Response:
        theirs = [] if self.aggregator is None else self.aggregator.paths
        return tree_answer({"paths": sorted(dict.fromkeys([*index_paths(self._resources.kinds), *theirs]))}, PRETTY)

    def _version(self, request: Request) -> Response:
        check_method(request)
        negotiation.check_route(request, (JSON,))
        return tree_answer(version.info(self._release), PRETTY)

    def _metrics(self, request: Request) -> Response:
        check_method(request)
        text = f"""\
# HELP apiserver_request_total Requests answered.
# TYPE apiserver_request_total counter
apiserver_request_total {self._log.total}
# HELP apiserver_resource_kinds Resources served.
# TYPE apiserver_resource_kinds gauge
apiserver_resource_kinds {len(self._resources.kinds)}
"""
        return Response(200, "".join([text, *(more() for more in self._metric_texts)]).encode(), METRICS)

    def _issuer(self, request: Request) -> Response:
        check_method(request)
        host, jwk = request.headers.get("host", ""), self._tokens.signer.jwk
        document = {
            "issuer": ISSUER, "jwks_uri": f"https://{host}/openid/v1/jwks" if host else f"{ISSUER}/openid/v1/jwks",
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [] if jwk is None else [jwk["alg"]]}
        return Response(200, encode(document, negotiation.PLAIN).rstrip(), JSON, [PUBLIC_HOUR])

    def _keys(self, request: Request) -> Response:
        check_method(request)
        jwk = self._tokens.signer.jwk
        return Response(200, encode({"keys": [] if jwk is None else [jwk]}, negotiation.PLAIN).rstrip(), JWKS, [PUBLIC_HOUR])


def _is_aggregated(params: object) -> bool:
    wanted = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
    return isinstance(params, dict) and all(params.get(name) == value for name, value in wanted.items())


def check_method(request: Request) -> None:
    """Raises 405 for anything but GET."""
    if request.method != "GET":
        raise errors.method_not_allowed()


def check_gate(request: Request) -> None:
    """The router's gate before a document. Raises 405 and 406."""
    check_method(request)
    negotiation.check_route(request)


def index_paths(kinds: tuple[Kind, ...]) -> list[str]:
    """What ``/`` lists, sorted."""
    paths = ["/.well-known/openid-configuration", "/api", "/apis", "/apis/", "/index.html", "/metrics", "/openapi/v2",
             "/openapi/v3", "/openapi/v3/", "/openid/v1/jwks", "/version"]
    for kind in kinds:
        paths += [f"/apis/{kind.group}", f"/apis/{kind.api_version}"] if kind.group else [f"/api/{kind.version}"]
    for name, checks in health.ENDPOINTS.items():
        paths += [f"/{name}", *(f"/{name}/{check}" for check in checks)]
    return sorted(dict.fromkeys(paths))


