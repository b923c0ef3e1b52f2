"""The APIServices that lead to other servers: who answers for which version of a group.

Each commit of an APIService is followed at once. Whether its server answers is asked when the
object, its service or the endpoints of that change, and every 30 seconds; what the server says of
what it serves is asked after that. Requests for its version go to the server as long as the object
says that it is available.
Upstream: kube-aggregator/pkg/apiserver/apiserver.go, apiservice_controller.go. Left out: more than
one attempt at a time.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fakekube.aggregator import merging, swagger
from fakekube.aggregator.availability import FAILED, Condition, condition_of
from fakekube.aggregator.documents import documents_of
from fakekube.aggregator.merging import Named
from fakekube.aggregator.remote import PassedStream, Remote, service_of
from fakekube.aggregator.servers import Servers
from fakekube.apimachinery import conditions
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Tree
from fakekube.apis.apiregistration.apiservice import is_available
from fakekube.apis.apiregistration.local import OWN_GROUP
from fakekube.endpoints.answers import text_answer
from fakekube.endpoints.openwatches import OpenWatches
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.registry.buckets import Buckets
from fakekube.registry.kind import Kind
from fakekube.registry.resources import ResourceRegistry
from fakekube.registry.strategy import Cluster
from fakekube.storage.memory import Event
from fakekube.util.activity import Activity
from fakekube.util.clock import Clock
from fakekube.util.tasks import Tasks
from fakekube.webhooks.transport import NoAnswer

if TYPE_CHECKING:
    from fakekube.storage.memory import Record
    from fakekube.util.timers import Timer

API_SERVICES = GroupResource("apiregistration.k8s.io", "apiservices")
SERVICES, ENDPOINT_SLICES = GroupResource("", "services"), GroupResource("discovery.k8s.io", "endpointslices")
LOOK_SECONDS = 30.0
FIRST_RETRY_SECONDS, MAX_DOUBLINGS = 0.005, 13
REQUEST_SECONDS = 60.0
"""By the wall's clock: what is no watch and no log has to be answered by then."""
UNAVAILABLE = "service unavailable\n"
JSON = "application/json"
LONG_RUNNING = ("watch", "proxy")
LONG_RUNNING_SUBRESOURCES = ("attach", "exec", "log", "portforward", "proxy")


class Aggregator:
    """Those of one server.

    ``tasks`` run what asks other servers, ``activity`` is held meanwhile. Nobody is asked before
    ``start``. Watches of their objects are noted in ``watches``.
    """

    def __init__(
        self, resources: ResourceRegistry, buckets: Buckets, cluster: Cluster, clock: Clock, *, servers: Servers,
        tasks: Tasks, activity: Activity, watches: OpenWatches,
    ) -> None:
        self._watches = watches
        self._resources, self._cluster, self._clock, self._servers = resources, cluster, clock, servers
        self._tasks, self._activity = tasks, activity
        self._sends_uid = cluster.gate("RemoteRequestHeaderUID")
        self._named: dict[str, Named] = {}  # all APIServices by name
        self._remotes: dict[tuple[str, str], Remote] = {}  # by group and version
        self._timers: dict[str, Timer] = {}
        self._is_running = False
        for resource in (SERVICES, ENDPOINT_SLICES):
            bucket = buckets.bucket(resource)
            bucket.subscribe(bucket.revision, "", self._place_changed)
        for record in buckets.bucket(API_SERVICES).records():
            self._set(record)

    # following

    def start(self) -> None:
        """Ask from now on."""
        self._is_running = True
        for remote in self._remotes.values():
            self._look(remote)

    def stop(self) -> None:
        """Ask no more, and end what still comes from other servers."""
        self._is_running = False
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for remote in self._remotes.values():
            remote.end()

    def changed(self, event: Event) -> None:
        """Follow a commit of an APIService."""
        if event.type == "DELETED":
            service = self._named.pop(event.record.name, None)
            if service is not None:
                self._forget(service)
        else:
            self._set(event.record)
        self._resources.note_change()

    def _set(self, record: "Record") -> None:
        tree = record.tree()
        spec = tree["spec"]
        service = self._named[record.name] = merging.named(spec)
        key = (service.group, service.version)
        present = self._remotes.get(key)
        if spec.get("service") is None or service.group == OWN_GROUP:  # which nobody takes from us
            self._forget(service)
            return
        wanted = service_of(spec)
        if present is None or present.service != wanted:
            self._forget(service)
            present = self._remotes[key] = Remote(*key, wanted, self._servers, sends_uid=self._sends_uid)
            self._look(present)
        present.is_available = is_available(tree)

    def _forget(self, service: Named) -> None:
        remote = self._remotes.pop((service.group, service.version), None)
        if remote is not None:
            self._set_timer(remote, None)
            remote.end()

    def _place_changed(self, event: Event) -> None:
        """Look again at servers whose service or endpoints changed."""
        record = event.record
        for remote in self._remotes.values():
            if remote.service.namespace == record.namespace and remote.service.name in (
                    record.name, record.labels.get("kubernetes.io/service-name")):
                self._look(remote)

    # asking whether a server answers, and what it serves

    def _look(self, remote: Remote) -> None:
        if not self._is_asked(remote):
            return
        if remote.is_checking:
            remote.is_stale = True
            return
        remote.is_checking = True
        self._tasks.spawn(self._ask(remote), f"apiservice {remote.name}")

    async def _ask(self, remote: Remote) -> None:
        with self._activity.busy():
            condition = await condition_of(remote, self._servers, self._cluster)
            if not self._is_asked(remote):
                return
            self._write(remote, condition)
            documents = await documents_of(remote) if remote.is_available else None
            if not self._is_asked(remote):
                return
            if documents != remote.documents:
                remote.documents = documents
                self._resources.note_change()
            remote.is_checking = False
            if remote.is_stale:
                remote.is_stale = False
                self._look(remote)
            else:
                self._look_later(remote, condition)

    def _is_asked(self, remote: Remote) -> bool:
        return self._is_running and not remote.is_gone

    def _look_later(self, remote: Remote, condition: Condition) -> None:
        delay = LOOK_SECONDS
        if condition.reason == FAILED:
            delay = min(delay, FIRST_RETRY_SECONDS * 2 ** min(remote.attempts, MAX_DOUBLINGS))
            remote.attempts += 1
        else:
            remote.attempts = 0
        self._set_timer(remote, self._clock.call_later(delay, self._look, remote, lazy=True))

    def _set_timer(self, remote: Remote, timer: "Timer | None") -> None:
        before = self._timers.pop(remote.name, None)
        if before is not None:
            before.cancel()
        if timer is not None:
            self._timers[remote.name] = timer

    def _write(self, remote: Remote, condition: Condition) -> None:
        """Have the APIService say so, if it does not yet."""
        found = self._cluster.lookup(*API_SERVICES, "", remote.name)
        if found is None:
            return
        present = [dict(each) for each in (found.get("status") or {}).get("conditions") or ()]
        old, now = conditions.find(present, "Available"), format_time(self._clock.time())
        wanted = {"type": "Available", **condition._asdict(), "lastTransitionTime": conditions.transition_time(
            old, condition.status, now)}
        if old != wanted:
            conditions.put(present, wanted)
            self._cluster.write_status(*API_SERVICES, "", remote.name, {"conditions": present}, now=now)

    # requests

    def remote_of(self, info: RequestInfo) -> Remote | None:
        """The server that answers a request; None where that is ours."""
        if info.is_resource:
            return self._remotes.get((info.group, info.version))
        path = info.path
        if path == "/api" or path.startswith("/api/"):
            return self._remotes.get(("", "v1"))
        parts = path.split("/", 4)
        if len(parts) > 3 and parts[1] == "apis":
            return self._remotes.get((parts[2], parts[3]))
        if path.startswith("/openapi/v3/"):
            return self._describing(path.removeprefix("/openapi/v3/"))
        return None

    def _describing(self, name: str) -> Remote | None:
        for remote in self._remotes.values():
            if name in self._entries(remote):
                return remote
        return None

    async def answer(self, remote: Remote, info: RequestInfo, request: Request) -> Response:
        """What another server answers to a request. Raises APIError."""
        if "upgrade" in request.headers.get("connection", "").lower() and not remote.is_handler:
            raise APIError(501, "NotImplemented", "upgrading a connection to an aggregated API server is not served")
        if not remote.is_available:
            return text_answer(UNAVAILABLE, 503)
        documents = remote.documents
        if documents is not None and documents.converted is not None and request.path.startswith("/openapi/"):
            return documents.converted.answer(request)
        try:
            remote.url("")
        except NoAnswer:
            return text_answer(UNAVAILABLE, 503)
        is_long = info.is_resource and (info.verb in LONG_RUNNING or info.subresource in LONG_RUNNING_SUBRESOURCES)
        streams = request.flag("watch") or request.flag("follow") or info.verb == "watch"
        with self._activity.busy():
            try:
                async with asyncio.timeout(None if is_long else REQUEST_SECONDS):
                    answer = await remote.pass_on(request, streams=streams)
            except NoAnswer as error:
                return text_answer(f"error trying to reach service: {error}\n", 503)
            except TimeoutError:
                text = "Timeout: request did not complete within the allotted timeout"
                raise APIError(504, "Timeout", text, {}) from None
        stream = answer.stream
        if info.verb == "watch" and isinstance(stream, PassedStream) and answer.content_type.startswith(JSON):
            return self._watches.opened(stream, info, request, answer)
        return answer

    # documents

    def has_group(self, group: str) -> bool:
        """Whether any APIService is for a version of a group."""
        return any(service.group == group for service in self._named.values())

    def group_list(self) -> Tree:
        """The document of ``/apis``."""
        return merging.group_list(self._named.values())

    def group_document(self, group: str) -> Tree:
        """The document of ``/apis/<group>``."""
        versions = merging.groups_of(each for each in self._named.values() if each.group == group)[group]
        return {"kind": "APIGroup", "apiVersion": "v1"} | merging.group(group, versions)

    def aggregated(self, kinds: tuple[Kind, ...]) -> Tree:
        """The aggregated document of ``/apis``; ``kinds`` are ours, the core group's excepted."""
        found = {self._named[remote.name]: remote for remote in self._remotes.values() if remote.group}
        return merging.aggregated(kinds, found)

    @property
    def paths(self) -> list[str]:
        """What ``/`` lists of other servers."""
        return [path for group, version in self._remotes if group for path in (f"/apis/{group}", f"/apis/{group}/{version}")]

    @property
    def v3(self) -> Mapping[str, str]:
        """Entries of ``/openapi/v3``: where documents are, by their names."""
        found: dict[str, str] = {}
        for remote in self._remotes.values():
            found |= self._entries(remote)
        return found

    def _entries(self, remote: Remote) -> Mapping[str, str]:
        """Those of one server, less what it says of versions that are ours."""
        documents, own = remote.documents, remote.document_name
        if documents is None:
            return {}
        if documents.converted is not None:
            return {own: f"/openapi/v3/{own}?hash={documents.converted.digest}"}
        return {name: url for name, url in documents.v3.items() if name == own or not self._is_ours(name)}

    def _is_ours(self, name: str) -> bool:
        """Whether a name in the index of OpenAPI v3 is that of a document of ours."""
        parts = name.split("/")
        if parts[0] != "apis" or len(parts) == 1:
            return True
        return self._resources.has_group(parts[1]) and (len(parts) == 2 or self._resources.has_version(parts[1], parts[2]))

    def has_v2(self) -> bool:
        """Whether another server has an OpenAPI v2 document."""
        return any(remote.documents is not None and remote.documents.v2 is not None for remote in self._remotes.values())

    def merged_v2(self, own: Callable[[], Tree]) -> Tree:
        """Our OpenAPI v2 document with what other servers say."""
        found = [remote.documents.v2 for _, remote in sorted(self._remotes.items()) if remote.documents is not None]
        return swagger.merged(own(), [each for each in found if each is not None])
