"""Builds the API server from its parts: kinds, storage, admission, users.

Upstream: cmd/kube-apiserver/app.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from fakekube.admission import chain
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apis.bootstrap import GATES, bootstrap_objects
from fakekube.apis.catalog import Catalog, catalog, definitions_of, metrics_kinds
from fakekube.apis.firstobjects import FirstObjects, ServerFacts
from fakekube.apis.gates import Gates
from fakekube.apiserver.apiserver import APIServer
from fakekube.apiserver.nodeproxy import NodeProxy
from fakekube.auth import modes
from fakekube.auth.rules import PolicyRule, rules_of
from fakekube.composition.identity import Identity
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.registry.compaction import Compaction
from fakekube.registry.expiry import Expiry
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.strategy import minor_of
from fakekube.schema.definitions import Definitions
from fakekube.storage.memory import Storage
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.memory import memoized
from fakekube.util.rng import Rng
from fakekube.util.tasks import Tasks

if TYPE_CHECKING:
    from fakekube.admission.policy.typechecking import TypeChecker
    from fakekube.admission.services import Services
    from fakekube.apimachinery.types import Tree
    from fakekube.client.client import Client
    from fakekube.composition.aggregatedservers import AggregatedServers, Registered
    from fakekube.composition.webhookposts import WebhookPosts
    from fakekube.registry.kind import Kind
    from fakekube.registry.strategy import Cluster
    from fakekube.runtime.addon import AddOn, FindComponent
    from fakekube.storage.saved import FieldsOf
    from fakekube.webhooks.callables import Callables
    from fakekube.webhooks.client import WebhookClient
    from fakekube.webhooks.services import ServiceResolver
    from fakekube.webhooks.transport import Transport


TRACKING_GATE = "LegacyServiceAccountTokenTracking"
EVENTS = GroupResource("", "events")

CHECK_TREES = "FAKEKUBE_CHECK_TREES"
"""An environment variable: the storage then checks at every use of a shared tree that it is
unchanged. For tests.
"""


class OutgoingCalls:
    """What calls to webhooks and to aggregated API servers need: something that sends them, the
    webhooks that are functions, the servers that are Handlers, and the activity of the cluster.

    One for the life of a cluster. ``tasks`` run what is no part of a request.
    """

    def __init__(self, activity: Activity | None = None, tasks: Tasks | None = None) -> None:
        self.activity = activity or Activity()
        self.tasks = Tasks() if tasks is None else tasks  # those that are empty are false
        self._posts: WebhookPosts | None = None
        self._servers: list[AggregatedServers] = []
        self._addons: dict[str, None] = {}

    def let_call(self, addons: "Iterable[AddOn]", client: "Client", find: "FindComponent") -> "list[Tree]":
        """Let the webhooks, conversions and APIs of add-ons be called, those of each once; the
        objects that stand for them.

        ``client`` is for webhooks that want one, ``find`` for webhooks and APIs that ask
        components. Raises as ``functionwebhooks.register``.
        """
        new = [addon for addon in addons if addon.name not in self._addons]
        self._addons.update((addon.name, None) for addon in new)
        found: list[Tree] = []
        if hooks := [hook for addon in new for hook in addon.webhooks]:
            from fakekube.composition import functionwebhooks

            found += functionwebhooks.declared(self.callables, hooks, client, find)
        for definition, conversion in (pair for addon in new for pair in addon.conversions.items()):
            self.callables.add_conversion(definition, conversion)
        return found + [
            self.registered.add(
                api.name, api.made_handler(find), ca_bundle=b"", group_priority=api.group_priority,
                version_priority=api.version_priority)
            for addon in new for api in addon.apis]

    @cached_property
    def callables(self) -> "Callables":
        """The webhooks that are functions."""
        from fakekube.webhooks.callables import Callables

        return Callables()

    @cached_property
    def registered(self) -> "Registered":
        """The aggregated API servers that somebody has named."""
        from fakekube.composition.aggregatedservers import Registered

        return Registered()

    def servers(self, resolver: "ServiceResolver", identity: Identity) -> "AggregatedServers":
        """What asks aggregated API servers."""
        from fakekube.composition.aggregatedservers import AggregatedServers

        made = AggregatedServers(self.registered, resolver, self.tasks, identity.front_proxy)
        self._servers.append(made)
        return made

    def transport(self) -> "Transport":
        """Sends POSTs; made when it is first asked for."""
        if self._posts is None:
            from fakekube.composition.webhookposts import WebhookPosts

            self._posts = WebhookPosts()
        return self._posts

    async def post(self, url: str, body: bytes, ca_bundle: bytes, timeout_seconds: float) -> tuple[int, bytes]:
        """The status and the body that a POST of JSON is answered with; it counts as activity.

        For what controllers ask (the scheduler's extenders). ``timeout_seconds`` are real ones.
        Raises OSError, whose text says why there is no answer, as Go words it.
        """
        from fakekube.webhooks.transport import NoAnswer, Post

        try:
            with self.activity.busy():
                async with asyncio.timeout(timeout_seconds):
                    answer = await self.transport().post(Post(url, {"Content-Type": "application/json"}, body, ca_bundle))
        except TimeoutError:
            raise OSError("context deadline exceeded (Client.Timeout exceeded while awaiting headers)") from None
        except NoAnswer as error:
            raise OSError(str(error)) from error
        return answer.status, answer.body

    async def close(self) -> None:
        """Close its connections; harmless when there are none."""
        if self._posts is not None:
            await self._posts.close()
        for servers in self._servers:
            await servers.close()


class ControlPlane(NamedTuple):
    """An API server, the state of its feature gates, what removes expired Events, what lets old
    states expire, what makes calls to webhooks, and whom the server knows.
    """

    apiserver: APIServer
    gates: Mapping[str, bool]
    expiry: Expiry
    compaction: Compaction
    webhooks: "Callable[[], WebhookClient]"
    calls: OutgoingCalls
    identity: Identity

    def start(self) -> None:
        """Let time work on what is stored, and other servers be asked."""
        self.apiserver.start()
        self.expiry.start()
        self.compaction.start()

    def stop(self) -> None:
        """Let everything stay as it is."""
        self.apiserver.stop()
        self.expiry.stop()
        self.compaction.stop()


def build_apiserver(
    options: ClusterOptions, clock: Clock, rng: Rng, *, identity: Identity, nodes: NodeProxy,
    service_accounts: Callable[[], bool], state: Storage | None = None, calls: "OutgoingCalls | None" = None,
    audit: "Callable[[bytes], None] | None" = None,
) -> ControlPlane:
    """An API server for these options, on the storage ``state`` or on a new one.

    ``identity`` says whose tokens and certificates it knows, ``calls`` carries what is sent to
    webhooks, ``audit`` takes audit events. A new storage has the objects that every cluster begins
    with. Raises OptionError for a release, gate, API or plugin that does not exist.
    """
    release = options.kubernetes_version
    try:
        gates, served = _served(
            release, tuple(options.feature_gates.items()), tuple(options.runtime_config.items()))
        chain.check_plugins(disabled=options.disable_admission_plugins, enabled=options.enable_admission_plugins)
        known = _definitions(release)
    except (ValueError, KeyError) as error:
        raise OptionError(str(error.args[0] if error.args else error)) from error
    calls = calls or OutgoingCalls()
    storage = state or Storage(check_trees=os.environ.get(CHECK_TREES) == "true")
    resources = ResourceRegistry(served.kinds)
    facts = ServerFacts(tracks_tokens=False) if state is not None else ServerFacts(
        gates.is_on(TRACKING_GATE), identity.client_authorities, options.advertise_address, identity.root_ca)
    first = FirstObjects(
        resources, with_namespace_defaults=state is None and service_accounts(),
        facts=facts._replace(gates=tuple(gate for gate in GATES if gates.get(gate))))
    apiserver = APIServer(
        resources, storage, clock, rng, known, release=release, gates=gates.is_on, first=first,
        credentials=identity.credentials, nodes=nodes, audit=audit,
        authorization=partial(
            modes.authorization, options.authorization_mode, minor=int(release.partition(".")[2]), node_rules=_node_rules))
    configuration = _admission_configuration(options)
    webhooks = _webhooks(options, apiserver.cluster, rng, calls)
    apiserver.use_webhooks(webhooks)
    apiserver.use_servers(
        lambda: calls.servers(_resolver(options, apiserver.cluster, rng.fork("aggregated")), identity),
        calls.tasks, calls.activity)
    apiserver.use_admission(chain.build_chain(
        disabled=options.disable_admission_plugins, enabled=options.enable_admission_plugins,
        service_accounts=service_accounts, services=lambda: _admission_services(apiserver, rng, webhooks, calls, configuration),
        warn_unmodelled=options.warn_unmodelled))
    if state is None:
        storage.begin(first.version)
    return ControlPlane(
        apiserver, gates, Expiry(apiserver.buckets.bucket(EVENTS), clock, int(options.event_ttl)),
        Compaction(storage, clock, options.compaction_seconds),
        webhooks, calls, identity)


def _admission_services(
    apiserver: APIServer, rng: Rng, webhooks: "Callable[[], WebhookClient]", calls: OutgoingCalls,
    configuration: "Mapping[str, Tree]",
) -> "Services":
    from fakekube.admission.services import Services

    services = apiserver.services
    return Services(
        resources=services.resources, buckets=apiserver.buckets, stores=services.stores, definitions=services.definitions,
        codec=services.codec, client=webhooks, callables=calls.callables, authorizer=apiserver.cluster.authorization.authorizer,
        rng=rng.fork("admission"), clock=apiserver.clock, activity=calls.activity, configuration=configuration)


def expression_warnings(apiserver: APIServer) -> "Callable[[Tree], list[Tree]]":
    """What checks the types of a policy's expressions; loaded with the first one."""
    @cache
    def checker() -> "TypeChecker":
        from fakekube.admission.policy.typechecking import TypeChecker

        services = apiserver.services
        return TypeChecker(services.resources, services.definitions, minor_of(apiserver.cluster))

    return lambda policy: checker().warnings(policy)


def _admission_configuration(options: ClusterOptions) -> "Mapping[str, Tree]":
    """What the file of the option says of each plugin. Raises OptionError."""
    if not options.admission_control_config_file:
        return {}
    from fakekube.composition import admissionconfiguration

    return admissionconfiguration.read(options.admission_control_config_file)


def _webhooks(
    options: ClusterOptions, objects: "Cluster", rng: Rng, calls: OutgoingCalls,
) -> "Callable[[], WebhookClient]":
    """What gives the client of webhooks, made when the first webhook is called."""
    @cache
    def client() -> "WebhookClient":
        from fakekube.webhooks.client import WebhookClient

        resolver = _resolver(options, objects, rng.fork("webhooks"))
        return WebhookClient(calls.transport(), resolver, calls.activity, callables=calls.callables)

    return client


def _resolver(options: ClusterOptions, objects: "Cluster", rng: Rng) -> "ServiceResolver":
    from fakekube.webhooks.services import ServiceResolver

    return ServiceResolver(options.webhook_services, objects, rng)


def _node_rules() -> Sequence[PolicyRule]:
    """What all kubelets may do, by the role of upstream's Node authorizer."""
    roles = bootstrap_objects(GroupResource("rbac.authorization.k8s.io", "clusterroles"))
    return next(rules_of(role) for role in roles if role["metadata"]["name"] == "system:node")


def serve_metrics(apiserver: APIServer) -> None:
    """Serve metrics.k8s.io from now on, as in a cluster with metrics-server."""
    apiserver.resources.install(*metrics_kinds())


def served_kinds(options: ClusterOptions) -> "tuple[Kind, ...]":
    """The built-in kinds that these options serve.

    Raises OptionError as ``build_apiserver`` does.
    """
    try:
        _, served = _served(
            options.kubernetes_version, tuple(options.feature_gates.items()), tuple(options.runtime_config.items()))
    except (ValueError, KeyError) as error:
        raise OptionError(str(error.args[0] if error.args else error)) from error
    return tuple(served.kinds)


def selectable_fields(options: ClusterOptions) -> "FieldsOf":
    """What can be selected of each resource that these options serve.

    Raises OptionError as ``build_apiserver`` does.
    """
    return {kind.group_resource: kind.selectable.values for kind in served_kinds(options) if kind.conversion is None}.get


# What follows from the release and the options alone never changes: clusters of one process share
# it, which is why the second one starts in a fraction of the first one's time. The definitions grow
# by what is compiled from them, no more.


@memoized(16)
def _served(
    release: str, feature_gates: tuple[tuple[str, bool], ...], runtime_config: tuple[tuple[str, bool], ...],
) -> tuple[Gates, Catalog]:
    gates = Gates(release, dict(feature_gates))
    return gates, catalog(release, gates, dict(runtime_config))


@memoized(4)
def _definitions(release: str) -> Definitions:
    return definitions_of(release)
