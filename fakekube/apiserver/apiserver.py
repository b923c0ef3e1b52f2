"""The API server: every request passes through it, and no HTTP library is needed.

Read ``handle`` first: it is the whole path of a request. Upstream: apiserver/pkg/server and
kube-apiserver's control plane, and kube-aggregator's handler.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from fakekube.apimachinery import errors
from fakekube.apimachinery.causes import ACTING, CAUSE, Cause
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.times import format_time
from fakekube.apiserver.aggregation import Aggregation
from fakekube.apiserver.authorization import denial as denial_of
from fakekube.apiserver.authorization import impersonate
from fakekube.apiserver.customresources import DEFINITIONS, follow_definitions
from fakekube.apiserver.filters import Decorator, RequestLog, check_timeout
from fakekube.apiserver.install import special_routes
from fakekube.apiserver.localapiservices import LocalAPIServices
from fakekube.apiserver.metapaths import MetaPaths
from fakekube.apiserver.nodeproxy import NodeProxy, NoNodes
from fakekube.apiserver.routes import Routes
from fakekube.auth.authenticator import Authenticator, Credentials
from fakekube.auth.authorizer import AlwaysAllow, Authorization
from fakekube.auth.impersonation import Impersonation, any_impersonation
from fakekube.auth.tokens import Tokens
from fakekube.endpoints import requestinfo
from fakekube.endpoints.answers import NOSNIFF, error_answer, page_not_found
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Services
from fakekube.endpoints.warnings import add_warnings
from fakekube.registry.attributes import Admission
from fakekube.registry.buckets import Buckets
from fakekube.registry.firstobjects import FirstObjects, FirstObjectsWriter, UnaskedFirstObjects
from fakekube.registry.presence import StoredPresence
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.stores import Stores
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Bucket, Storage
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

if TYPE_CHECKING:
    from fakekube.aggregator.apiservices import Aggregator
    from fakekube.aggregator.servers import Servers
    from fakekube.apiserver.audit import AuditLog, Write
    from fakekube.webhooks.client import WebhookClient

log = logging.getLogger(__name__)

ExtraPath = Callable[[Request], Awaitable[Response]]
Serve = Callable[[RequestInfo, Request], Awaitable[Response]]
Interceptor = Callable[[RequestInfo, Request, Serve], Awaitable[Response]]
"""Who stands around the answer to a request that its sender may make: it asks ``serve`` for the
answer, or gives another one, or raises APIError. What it sees of a request is its own to change.
"""
MakeAuthorization = Callable[[Callable[[GroupResource], Bucket]], Authorization]
"""Who decides, made from what gives the bucket of a resource."""


def _open(_: Callable[[GroupResource], Bucket]) -> Authorization:
    return Authorization(AlwaysAllow())


def _audit_log(write: "Write", clock: Clock) -> "AuditLog":
    from fakekube.apiserver.audit import AuditLog

    return AuditLog(write, clock)


class APIServer:
    """A Handler. Make one a cluster.

    ``resources`` names what is served, ``storage`` holds the objects, ``first`` knows those that a
    resource has from the beginning, ``credentials`` whom the server knows besides service accounts.
    ``authorization`` allows everybody everything unless another one is given. ``buckets`` and
    ``cluster`` are the way in for the cluster's own parts. ``log`` keeps what was asked.
    ``extra_paths`` answer paths that Kubernetes does not have; ``metric_texts`` are asked for what
    ``/metrics`` says besides the server's own. ``audit`` takes audit events.
    """

    def __init__(
        self, resources: ResourceRegistry, storage: Storage, clock: Clock, rng: Rng, definitions: Definitions, *,
        release: str, gates: Callable[[str], bool], first: FirstObjects,
        credentials: Credentials | None = None, authorization: MakeAuthorization = _open,
        nodes: NodeProxy | None = None, audit: "Write | None" = None,
    ) -> None:
        self.clock, self.resources, self.storage = clock, resources, storage
        self.first_objects = FirstObjectsWriter(first, rng, format_time(clock.time()))
        self.buckets = Buckets(storage, resources, self.first_objects)
        self.unasked = UnaskedFirstObjects(self.first_objects, self.buckets.open_in)
        self.presence = StoredPresence(resources, self.buckets, first)
        self._webhooks: Callable[[], WebhookClient] | None = None
        definitions = definitions.of_cluster()
        self.stores = Stores(resources, self.buckets, definitions, release=release, gates=gates)
        self.cluster = self.stores.cluster
        self.cluster.authorization = authorization(self.buckets.bucket)
        authorizer = self.cluster.authorization.authorizer
        # None: nobody has to be asked
        self._authorizer = None if isinstance(authorizer, AlwaysAllow) else authorizer
        follow_definitions(
            resources, self.buckets, self.stores, definitions, clock, rng.fork("definitions"), self._webhook_client)
        LocalAPIServices(resources, self.buckets, clock, rng.fork("apiservices"))
        self.services = Services(resources, self.stores, clock, rng, definitions)
        self.nodes: NodeProxy = nodes or NoNodes()
        known = credentials or Credentials()
        self.tokens = Tokens(clock, rng.fork("tokens"), known.secret, self.cluster.lookup)
        self.authenticator = Authenticator(known, self.tokens, self.cluster.lookup, clock)
        self._impersonation = Impersonation(authorizer, constrained=gates("ConstrainedImpersonation"))
        special = special_routes(lambda: self.nodes, authorizer, self.tokens, self.authenticator)
        self.routes = Routes(self.services, special)
        self.log = RequestLog()
        self.metric_texts: list[Callable[[], str]] = []
        self._paths = MetaPaths(self.services, self.log, release, self.metric_texts, self.tokens)
        self.extra_paths: dict[str, ExtraPath] = {}
        self._decorator = Decorator(rng.fork("answers"))
        self._aggregation: Aggregation | None = None
        self._aggregator: Aggregator | None = None  # None: every path is ours
        self._audit = None if audit is None else _audit_log(audit, clock)
        self.interceptors: tuple[Interceptor, ...] = ()  # the first is the outermost

    def use_webhooks(self, client: "Callable[[], WebhookClient]") -> None:
        """Let webhooks that convert objects be called by this client."""
        self._webhooks = client

    def use_servers(self, servers: "Callable[[], Servers]", tasks: Tasks, activity: Activity) -> None:
        """Let APIServices lead to these servers; ``tasks`` run what asks how they are."""
        def make() -> "Aggregator":
            from fakekube.aggregator.apiservices import Aggregator

            return Aggregator(
                self.resources, self.buckets, self.cluster, self.clock, servers=servers(), tasks=tasks, activity=activity,
                watches=self.services.watches)

        def made(aggregator: "Aggregator") -> None:
            self._aggregator = self._paths.aggregator = aggregator
            self.resources.note_change()

        self._aggregation = Aggregation(self.buckets, make, made)

    def is_elsewhere(self, info: RequestInfo) -> bool:
        """Whether another server answers a request."""
        return self._aggregator is not None and self._aggregator.remote_of(info) is not None

    def start(self) -> None:
        """Let other servers be asked how they are."""
        if self._aggregation is not None:
            self._aggregation.start()

    def stop(self) -> None:
        """Ask no other server any more."""
        if self._aggregation is not None:
            self._aggregation.stop()

    def _webhook_client(self) -> "WebhookClient":
        assert self._webhooks is not None, "this server was given nothing that calls webhooks"
        return self._webhooks()

    def use_admission(self, admission: Admission) -> None:
        """Let this chain see every write from now on."""
        self.stores.admission = admission

    async def handle(self, request: Request) -> Response:
        """Answer one request. Raises nothing: errors are answers."""
        clock = self.clock
        started = clock.time()
        info: RequestInfo | None = None
        failure: APIError | None = None
        asked = None if self._audit is None else self._audit.received(request, self._decorator.audit_id(request))
        try:
            info = requestinfo.parse(request.method, request.path, request.query)
            request.user = self.authenticator.authenticate(request, info.warnings)
            if any_impersonation(request.headers):
                impersonate(self._impersonation, info, request)
            if "timeout" in request.query:
                check_timeout(request)
            if request.method != "GET":
                agent = request.headers.get("user-agent", "")
                CAUSE.set(Cause(started, request.method, request.path, request.user.name, agent, ACTING.get()))
            failure = None if self._authorizer is None else denial_of(self._authorizer, info, request)
            if failure is None:
                response = await (self._intercepted if self.interceptors else self._serve)(info, request)
            else:
                response = error_answer(request, failure, self.services)
                response.headers.append(NOSNIFF)
        except APIError as error:
            failure, response = error, error_answer(request, error, self.services)
        except Exception as error:
            log.exception("panic serving %s %s", request.method, request.path)
            failure = errors.internal(f"{type(error).__name__}: {error}")
            response = error_answer(request, failure, self.services)
        CAUSE.set(None)
        info = info or RequestInfo(request.path, request.method.lower())
        if info.warnings:
            add_warnings(response, info.warnings)
        self.log.add(started, info, request, response.status, clock.time() - started)
        if asked is None or self._audit is None:
            return self._decorator.decorate(request, response)
        self._audit.answered(asked, info, request, response, failure)
        return self._decorator.decorate(request, response, asked.audit_id)

    def _intercepted(self, info: RequestInfo, request: Request) -> Awaitable[Response]:
        serve: Serve = self._serve
        first, *others = self.interceptors
        for interceptor in reversed(others):
            serve = partial(_around, interceptor, serve)
        return first(info, request, serve)

    async def _serve(self, info: RequestInfo, request: Request) -> Response:
        if self._aggregator is not None:
            remote = self._aggregator.remote_of(info)
            if remote is not None:
                return await self._aggregator.answer(remote, info, request)
        if not info.is_resource:
            own = self.extra_paths.get(request.path)
            return self._paths.answer(request) if own is None else await own(request)
        if self.resources.pending:
            await self._objects_of(GroupResource(info.group, info.resource))
        found = self.routes.find(info, request)
        if found is None:
            return page_not_found()
        scope, endpoint = found
        response = await endpoint(scope, info, request)
        if self.resources.pending and request.method != "GET" and scope.kind.group_resource == DEFINITIONS:
            for resource in list(self.resources.pending):
                await self._objects_of(resource)
        return response

    async def _objects_of(self, resource: GroupResource) -> None:
        """Wait until objects are in the form in which they are to be read."""
        finish = self.resources.pending.get(resource)
        if finish is not None:
            await finish()


async def _around(interceptor: Interceptor, serve: Serve, info: RequestInfo, request: Request) -> Response:
    return await interceptor(info, request, serve)
