"""Which function answers which method on which path.

A path of the API has one of six forms (a collection, an object, a subresource; each with a
namespace or without). So the table is by group, version and resource, and the path's segments say
which form it is. Upstream builds a thousand routes from the same facts:
apiserver/pkg/endpoints/installer.go.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib import import_module
from typing import cast

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Request, Response
from fakekube.endpoints import negotiation, reading, write
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope, Services
from fakekube.registry.kind import Kind

Endpoint = Callable[[Scope, RequestInfo, Request], Awaitable[Response]]
Verbs = Mapping[str, tuple[str, Endpoint]]
"""By method: the verb that a kind must have for it, and what answers."""


def late(where: str, *first: object) -> Endpoint:
    """An endpoint by its module and name, ``endpoints.patching:patch``, imported when first used.

    It is called with ``first``, if there are any, and then with an endpoint's arguments.
    """
    module, _, name = where.partition(":")
    function: Callable[..., Awaitable[Response]] | None = None

    async def endpoint(scope: Scope, info: RequestInfo, request: Request) -> Response:
        nonlocal function
        if function is None:
            function = cast("Callable[..., Awaitable[Response]]", getattr(import_module(f"fakekube.{module}"), name))
        return await function(*first, scope, info, request)

    return endpoint


PATCH, DELETE = late("endpoints.patching:patch"), late("endpoints.delete:delete")
COLLECTION: Verbs = {
    "GET": ("list", reading.list_or_watch), "POST": ("create", write.create),
    "DELETE": ("deletecollection", late("endpoints.delete:delete_collection")),
}
OBJECT: Verbs = {
    "GET": ("get", reading.get), "PUT": ("update", write.update), "PATCH": ("patch", PATCH),
    "DELETE": ("delete", DELETE),
}
SUBRESOURCE: Verbs = {
    "GET": ("get", reading.get), "PUT": ("update", write.update), "PATCH": ("patch", PATCH),
    "POST": ("create", write.create), "DELETE": ("delete", DELETE),
}
WATCH: Mapping[str, Endpoint] = {"GET": reading.list_or_watch}

SpecialRoutes = Mapping[tuple[str, str, str], Endpoint]
"""What differs: by group, ``resource`` or ``resource/subresource``, and method;

``*`` and ``*/subresource`` are anybody's.
"""

Methods = dict[str, Endpoint]


class Route:
    """What a path leads to: its scope, and an endpoint for each method.

    ``tail`` says that more path may follow.
    """

    __slots__ = ("collection", "methods", "scope", "tail")

    def __init__(self, scope: Scope, methods: Methods, *, collection: bool = False, tail: bool = False) -> None:
        self.scope, self.methods, self.collection, self.tail = scope, methods, collection, tail


class ResourceRoutes:
    """The routes of one resource in one version."""

    __slots__ = ("collection", "everywhere", "kind", "named", "subresources", "watch")

    def __init__(self, services: Services, kind: Kind, special: SpecialRoutes) -> None:
        store = services.stores.store(kind)
        scope = Scope(services, kind, store)
        self.kind = kind

        def methods(table: Verbs, verbs: Iterable[str], subresource: str = "") -> Methods:
            verbs, result = tuple(verbs), Methods()
            own = (kind.group, f"{kind.plural}/{subresource}" if subresource else kind.plural)
            for method, (verb, endpoint) in table.items():
                if verb in verbs:
                    found = special.get((*own, method)) or special.get(("*", f"*/{subresource}", method))
                    result[method] = found or endpoint
            return result

        self.collection = Route(scope, methods(COLLECTION, kind.verbs), collection=True)
        self.named = Route(scope, methods(OBJECT, kind.verbs))
        reads = {"GET": self.collection.methods["GET"]} if "GET" in self.collection.methods else {}
        self.everywhere = Route(scope, reads, collection=True)
        self.watch = Route(scope, dict(WATCH) if "watch" in kind.verbs else {}, collection=True)
        self.subresources: dict[str, Route] = {}
        for sub in kind.subresources:
            table = methods(SUBRESOURCE, sub.verbs, sub.name)
            tail = sub.name == "proxy"
            if tail:  # what is behind it may take any method
                table |= dict.fromkeys(("HEAD", "OPTIONS"), table["GET"])
            self.subresources[sub.name] = Route(Scope(services, kind, store, sub), table, tail=tail)

    def route(self, info: RequestInfo) -> Route | None:
        """The route of a path below this resource;

        None when the path has a form that the kind has not.
        """
        parts = info.parts
        if self.kind.namespaced != info.namespaced:
            is_all = self.kind.namespaced and len(parts) == 1 and not info.namespace
            if not is_all:
                return None
            return self.watch if info.watch_path else self.everywhere
        if info.watch_path:
            return self.watch if len(parts) <= 2 else None
        if len(parts) == 1:
            return self.collection
        if len(parts) == 2:
            return self.named if self.named.methods else None
        found = self.subresources.get(parts[2])
        return found if found is not None and (len(parts) == 3 or found.tail) else None


class Routes:
    """The routes of all resources that are served, made when somebody first asks for a resource."""

    def __init__(self, services: Services, special: SpecialRoutes) -> None:
        self._services, self._special = services, special
        self._served = services.resources
        self._resources: dict[tuple[str, str, str], ResourceRoutes] = {}
        self._served.on_change(self._forget)

    def _forget(self, kind: Kind, _last: bool) -> None:
        self._resources.pop((kind.group, kind.version, kind.plural), None)

    def _resource(self, info: RequestInfo) -> ResourceRoutes | None:
        """The routes of a resource; None where nothing is served, in the words of no server.

        Raises 404 for what is not served in a group of built-in kinds.
        """
        key = (info.group, info.version, info.resource)
        found = self._resources.get(key)
        if found is None:
            if not self._served.has_group(info.group):
                return None
            kind = self._served.kind(*key)
            if kind is None:
                if self._served.is_custom(info.group):
                    return None
                raise errors.no_such_path()
            found = self._resources[key] = ResourceRoutes(self._services, kind, self._special)
        return found

    def find(self, info: RequestInfo, request: Request) -> tuple[Scope, Endpoint] | None:
        """What answers a request for a resource; None for a path that no server claims.

        Raises APIError as upstream's router does: 404 for a path without a route, 405 for a method
        without one, 415 for a patch in an unknown form, 406 for an answer that cannot be given in
        an acceptable one.
        """
        resource = self._resource(info)
        if resource is None:
            return None
        route, method = resource.route(info), request.method
        if route is None and resource.kind.custom and len(info.parts) < 3:
            return None
        if route is None:
            raise errors.not_found(resource.kind.group_resource, info.name) if resource.kind.custom else errors.no_such_path()
        endpoint = route.methods.get(method)
        if endpoint is None and resource.kind.custom:
            raise errors.method_not_supported(resource.kind.group_resource, info.verb)
        if endpoint is None:
            raise errors.method_not_allowed()
        if route.tail:
            return route.scope, endpoint
        if method == "PATCH":
            from fakekube.endpoints import patching

            patching.check_route(request, custom=resource.kind.custom)
        if not resource.kind.custom:
            streams = route.collection and method == "GET"
            negotiation.check_route(request, streams=streams)
        if resource.kind.deprecation:
            info.warnings.append(resource.kind.deprecation)
        return route.scope, endpoint
