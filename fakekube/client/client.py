"""One client for every resource: JSON trees in and out, errors as APIError, any transport.

Upstream: client-go's dynamic client. Left out: typed clientsets (see ``typed.py``), protobuf,
client-side throttling and retries (the work queues retry). Trees from a cache are shared and
read-only; trees from this client belong to the caller, and trees given to it stay the caller's,
since the server gets bytes.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, overload

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Response, Sink, Stream, UserInfo
from fakekube.apimachinery.types import Json, Tree
from fakekube.client import parameters
from fakekube.client.discovery import Discovery
from fakekube.client.parameters import PATCH_CONTENT_TYPES, PatchType
from fakekube.client.resources import PODS, SERVICE_ACCOUNTS, Resource
from fakekube.client.rest import JSON, Query, RESTClient
from fakekube.client.transport import Transport, TransportError
from fakekube.client.watch import Watch


class ListResult(NamedTuple):
    """A list: its items, the version it was taken at, and a token when there is more."""

    items: list[Tree]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


def _list_result(tree: Tree, resource: Resource) -> "ListResult":
    metadata = tree.get("metadata") or {}
    items: Any = tree.get("items") or []
    for item in items:
        if "kind" not in item:  # built-in lists leave it to the list's own kind
            item["apiVersion"], item["kind"] = resource.api_version, resource.kind
    version, continue_token = metadata.get("resourceVersion", ""), metadata.get("continue", "")
    return ListResult(items, version, continue_token, metadata.get("remainingItemCount"))


class Client:
    """Reads and writes objects as one user with one user agent.

    The server takes the field manager from the user agent's part before ``/``, unless a call names
    one. ``namespace`` is where objects are looked for when a call names none; lists and watches
    then span all namespaces. Whatever it returns, the objects of a watch included, is the caller's
    own, to be changed at will. Every method raises APIError for an answer of 400 and above,
    TransportError for none.
    """

    def __init__(
        self, transport: Transport, *, user_agent: str = "fakekube", user: UserInfo | None = None,
        namespace: str = "default",
    ) -> None:
        self.namespace = namespace
        self._rest = RESTClient(transport, user_agent=user_agent, user=user)
        self._discovery = Discovery(self._rest)

    def with_options(
        self, *, user_agent: str | None = None, user: UserInfo | None = None, namespace: str | None = None,
    ) -> "Client":
        """Another client on the same transport; what is None stays as it is here."""
        rest = self._rest
        return Client(
            rest.transport, user_agent=rest.user_agent if user_agent is None else user_agent, user=user or rest.user,
            namespace=self.namespace if namespace is None else namespace,
        )

    @property
    def transport(self) -> Transport:
        """What carries the requests."""
        return self._rest.transport

    async def close(self) -> None:
        """Close the transport, and with it every client that shares it."""
        await self._rest.transport.close()

    async def request(
        self, method: str, path: str, *, query: Query | None = None, body: bytes = b"", content_type: str = JSON,
        accept: str = "",
    ) -> Response:
        """Any request, for paths that are not objects: a log, ``/metrics``, a discovery
        document.
        """
        return await self._rest.request(
            method, path, query=query, body=body, content_type=content_type, accept=accept)

    def _path(self, resource: Resource, namespace: str, name: str, subresource: str = "") -> str:
        return resource.path(namespace or self.namespace, name, subresource)

    async def _write(
        self, method: str, path: str, query: Query | None, body: Json, content_type: str = JSON, *, read_answer: bool,
        shared: bool,
    ) -> Tree:
        if read_answer:
            return await self._rest.tree(method, path, query, body, content_type, shared=shared)
        await self._rest.send(method, path, query, body, content_type)
        return {}

    @overload
    async def get(
        self, resource: Resource, name: str, namespace: str = "", *, missing_ok: Literal[False] = False,
        subresource: str = "", resource_version: str = "",
    ) -> Tree: ...

    @overload
    async def get(
        self, resource: Resource, name: str, namespace: str = "", *, missing_ok: Literal[True], subresource: str = "",
        resource_version: str = "",
    ) -> Tree | None: ...

    async def get(
        self, resource: Resource, name: str, namespace: str = "", *, missing_ok: bool = False, subresource: str = "",
        resource_version: str = "",
    ) -> Tree | None:
        """One object. When it is not there: APIError 404, or None with ``missing_ok``."""
        query = {"resourceVersion": [resource_version]} if resource_version else None
        path = self._path(resource, namespace, name, subresource)
        return await (self._rest.find(path, query) if missing_ok else self._rest.tree("GET", path, query))

    async def list(
        self, resource: Resource, namespace: str = "", *, label_selector: str = "", field_selector: str = "",
        limit: int = 0, continue_token: str = "", resource_version: str = "", resource_version_match: str = "",
    ) -> ListResult:
        """The objects of one namespace, or of all when ``namespace`` is empty.

        Each item has apiVersion and kind.
        """
        query = parameters.list_options(
            label_selector, field_selector, limit, continue_token, resource_version, resource_version_match)
        tree = await self._rest.tree("GET", resource.path(namespace), query)
        try:
            return _list_result(tree, resource)
        except (TypeError, AttributeError) as error:  # of a server behind ours, which may send anything
            raise TransportError(f"{resource}: the answer is no list") from error

    async def create(
        self, resource: Resource, obj: Tree, namespace: str = "", *, subresource: str = "", name: str = "",
        field_manager: str = "", field_validation: str = "", dry_run: bool = False, read_answer: bool = True,
        shared: bool = False,
    ) -> Tree:
        """Create an object; its namespace is the argument, or else its own.

        Its apiVersion and kind may be left out.

        With ``name`` and ``subresource``: post to what is below an object: ``binding``,
        ``eviction``, ``token``. Without ``read_answer`` the answer is not parsed, and an empty tree
        comes back. With ``shared`` the answer may be one that others have, too: it is read-only,
        and in the server's process not parsed.
        """
        obj = parameters.with_type(resource, obj)
        path = self._path(resource, namespace or meta.namespace_of(obj), name, subresource)
        query = parameters.write_options(field_manager, field_validation, dry_run)
        return await self._write("POST", path, query, obj, read_answer=read_answer, shared=shared)

    async def update(
        self, resource: Resource, obj: Tree, *, subresource: str = "", field_manager: str = "",
        field_validation: str = "", dry_run: bool = False, shared: bool = False,
    ) -> Tree:
        """Replace an object.

        With a resourceVersion in it: APIError 409 when it was changed meanwhile. ``shared`` is as
        in ``create``.
        """
        obj = parameters.with_type(resource, obj)
        path = self._path(resource, meta.namespace_of(obj), meta.name_of(obj), subresource)
        query = parameters.write_options(field_manager, field_validation, dry_run)
        return await self._rest.tree("PUT", path, query, obj, shared=shared)

    async def update_status(
        self, resource: Resource, obj: Tree, *, field_manager: str = "", dry_run: bool = False,
    ) -> Tree:
        """Replace an object's status; the rest of ``obj`` is ignored by the server."""
        return await self.update(resource, obj, subresource="status", field_manager=field_manager, dry_run=dry_run)

    async def patch(
        self, resource: Resource, name: str, namespace: str = "", body: Json = None, *,
        type: PatchType = "merge",  # noqa: A002 - the word that everybody knows it by
        subresource: str = "", field_manager: str = "", field_validation: str = "", force: bool = False,
        dry_run: bool = False, read_answer: bool = True, shared: bool = False,
    ) -> Tree:
        """Change an object by a patch of one of four types.

        ``apply`` (server-side apply) creates what is missing, and ``force`` takes fields from other
        managers instead of raising APIError 409; its field manager is the user agent's, unless one
        is named. Without ``read_answer`` the answer is not parsed, and an empty tree comes back;
        ``shared`` is as in ``create``.
        """
        if type == "apply":
            field_manager = field_manager or self._rest.user_agent.partition("/")[0]
            if isinstance(body, dict):
                body = parameters.with_type(resource, body)
        query = parameters.write_options(field_manager, field_validation, dry_run, force=force)
        path = self._path(resource, namespace, name, subresource)
        return await self._write(
            "PATCH", path, query, body, PATCH_CONTENT_TYPES[type], read_answer=read_answer, shared=shared)

    async def delete(
        self, resource: Resource, name: str, namespace: str = "", *, propagation_policy: str = "", uid: str = "",
        resource_version: str = "", grace_period_seconds: int | None = None, missing_ok: bool = False,
        dry_run: bool = False,
    ) -> Tree | None:
        """Delete an object; returns the answer: a Status, or the object while something keeps it.

        ``propagation_policy``: Background, Foreground, Orphan. ``uid`` and ``resource_version`` are
        preconditions: APIError 409 when they do not hold. With ``missing_ok`` None stands for a
        404.
        """
        body = parameters.delete_options(propagation_policy, uid, resource_version, grace_period_seconds, dry_run)
        try:
            return await self._rest.tree("DELETE", self._path(resource, namespace, name), None, body)
        except APIError as error:
            if missing_ok and error.code == 404:
                return None
            raise

    async def delete_collection(
        self, resource: Resource, namespace: str = "", *, label_selector: str = "", field_selector: str = "",
        propagation_policy: str = "", grace_period_seconds: int | None = None, dry_run: bool = False,
    ) -> Tree:
        """Delete every object of a namespace that the selectors match."""
        path = resource.path(namespace or self.namespace)
        body = parameters.delete_options(propagation_policy, "", "", grace_period_seconds, dry_run)
        return await self._rest.tree("DELETE", path, parameters.selectors(label_selector, field_selector), body)

    async def apply(self, obj: Tree, *, force: bool = True, field_manager: str = "") -> Tree:
        """Server-side apply of a manifest of any kind."""
        resource = await self.for_object(obj)
        return await self.patch(
            resource, meta.name_of(obj), meta.namespace_of(obj), obj, type="apply", force=force,
            field_manager=field_manager,
        )

    async def bind(self, pod: str, namespace: str, node: str, *, uid: str = "") -> None:
        """Put a pod on a node."""
        metadata = {"name": pod, "namespace": namespace} | ({"uid": uid} if uid else {})
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        await self._rest.send("POST", PODS.path(namespace, pod, "binding"), None, {
            "apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target})

    async def evict(self, pod: str, namespace: str, *, grace_period_seconds: int | None = None) -> Tree:
        """Ask for a pod to go; APIError 429 while a disruption budget forbids it."""
        options = parameters.delete_options("", "", "", grace_period_seconds, dry_run=False)
        return await self._rest.tree("POST", PODS.path(namespace, pod, "eviction"), None, {
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace},
        } | ({"deleteOptions": options} if options else {}))

    async def create_token(self, service_account: str, namespace: str, spec: Tree | None = None) -> Tree:
        """A TokenRequest whose status holds a token for a service account."""
        return await self._rest.tree("POST", SERVICE_ACCOUNTS.path(namespace, service_account, "token"), None, {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec or {}})

    async def open_watch(
        self, resource: Resource, sink: Sink, namespace: str = "", *, label_selector: str = "",
        field_selector: str = "", resource_version: str = "", allow_bookmarks: bool = False,
        timeout_seconds: int | None = None, send_initial_events: bool = False,
    ) -> Stream:
        """Start a watch that pushes frames to ``sink``.

        A frame's tree is ``{"type": ..., "object": ...}``, and shared. Returns the stream, to be
        stopped. Raises APIError when the server refuses.
        """
        query = parameters.watch_options(
            label_selector, field_selector, resource_version, allow_bookmarks, timeout_seconds, send_initial_events)
        response = await self._rest.request("GET", resource.path(namespace), query=query)
        if response.stream is None:
            raise TransportError(f"{resource}: the answer to a watch is no stream")
        response.stream.start(sink)
        return response.stream

    async def watch(
        self, resource: Resource, namespace: str = "", *, label_selector: str = "", field_selector: str = "",
        resource_version: str = "", allow_bookmarks: bool = False, timeout_seconds: int | None = None,
        send_initial_events: bool = False,
    ) -> Watch:
        """A watch to iterate over.

        Use it as ``async with await client.watch(PODS) as events: async for event in events``.
        """
        watch = Watch()
        watch.stream = await self.open_watch(
            resource, watch, namespace, label_selector=label_selector, field_selector=field_selector,
            resource_version=resource_version, allow_bookmarks=allow_bookmarks, timeout_seconds=timeout_seconds,
            send_initial_events=send_initial_events,
        )
        return watch

    @property
    def stale_versions(self) -> tuple[str, ...]:
        """The group versions of aggregated API servers that were away when ``resources`` was asked
        last.
        """
        return self._discovery.stale

    async def resource(self, name: str) -> Resource:
        """A resource by its plural, singular, short name, kind or ``plural.group``.

        KeyError when there is none.
        """
        return await self._discovery.resource(name)

    async def resources(self, *, verbs: Iterable[str] = ()) -> Sequence[Resource]:
        """Every resource that the server serves with all of ``verbs``.

        Each is in the preferred version of its group.
        """
        return await self._discovery.all(verbs)

    async def for_kind(self, gvk: GroupVersionKind) -> Resource:
        """The resource of a kind; an empty version means the preferred one.

        KeyError when it is not served.
        """
        return await self._discovery.for_kind(gvk)

    async def for_object(self, obj: Tree) -> Resource:
        """The resource of a manifest, by its apiVersion and kind.

        KeyError when it is not served.
        """
        return await self._discovery.for_object(obj)

    def forget_resources(self) -> None:
        """Ask the server anew for its resources next time.

        Upstream: CachedDiscoveryInterface.Invalidate.
        """
        self._discovery.forget()
