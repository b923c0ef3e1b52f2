"""One client for everything: trees in, trees out, errors as APIError, over whatever transport it is given.

Upstream: client-go's dynamic client. Left out: typed clientsets, protobuf, client-side throttling and retries (the work
queues retry). What a cache hands out is shared and read-only; what this client returns belongs to the caller, and what it is
given stays the caller's: the server gets bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import Request, Response, Sink, Stream, UserInfo
from fakekube.apimachinery.types import Json, Tree
from fakekube.client import discovery, parameters
from fakekube.client.parameters import Query
from fakekube.client.resources import Resource
from fakekube.client.transport import Transport, TransportError
from fakekube.client.watch import Watch

PatchType = Literal["merge", "json", "strategic", "apply"]

PATCH_CONTENT_TYPES: Mapping[PatchType, str] = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}

JSON = "application/json"


class ListResult(NamedTuple):
    """A list: its items, the version it was taken at, and a token when there is more."""

    items: list[Tree]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


class Client:
    """Talks to an API server as one user with one user agent.

    The server takes the field manager from the user agent's part before ``/``, unless a call names one. ``namespace``
    is where objects are looked for when a call names none; lists and watches then span all namespaces.
    Whatever it returns, the objects of a watch included, is the caller's own, to be changed at will.
    """

    def __init__(
        self, transport: Transport, *, user_agent: str = "fakekube", user: UserInfo | None = None,
        namespace: str = "default",
    ) -> None:
        self.transport, self.user_agent, self.user, self.namespace = transport, user_agent, user, namespace
        self._headers = {"user-agent": user_agent, "accept": JSON}
        self._json_headers = self._headers | {"content-type": JSON}
        self._discovery = discovery.Discovery(self)

    def with_options(
        self, *, user_agent: str | None = None, user: UserInfo | None = None, namespace: str | None = None,
    ) -> "Client":
        """Another client on the same transport; what is None stays as it is here."""
        return Client(
            self.transport, user_agent=self.user_agent if user_agent is None else user_agent, user=user or self.user,
            namespace=self.namespace if namespace is None else namespace,
        )

    async def close(self) -> None:
        """Close the transport, and with it every client that shares it."""
        await self.transport.close()

    async def request(
        self, method: str, path: str, *, query: Query | None = None, body: bytes = b"", content_type: str = JSON,
        accept: str = "",
    ) -> Response:
        """Any request at all. Raises APIError for an answer of 400 and above, TransportError for none."""
        return _accepted(await self.transport.request(self._made(method, path, query, body, content_type, accept)))

    async def send(
        self, method: str, path: str, body: Json, *, query: Query | None = None, content_type: str = JSON,
    ) -> Response:
        """A request with a tree for its body, for who does not need the answer's: that is not even parsed.

        Raises as ``request`` does.
        """
        made = self._made(method, path, query, orjson.dumps(body), content_type, canonical=True)
        return _accepted(await self.transport.request(made))

    def _made(
        self, method: str, path: str, query: Query | None, body: bytes, content_type: str, accept: str = "", *,
        canonical: bool = False,
    ) -> Request:
        headers = self._headers
        if body:
            headers = self._json_headers if content_type == JSON else {**headers, "content-type": content_type}
        if accept:
            headers = {**headers, "accept": accept}
        return Request(method, path, query or {}, headers, body, self.user, canonical=canonical)

    async def _tree(
        self, method: str, path: str, query: Query | None = None, body: Json = None, content_type: str = JSON,
    ) -> Tree:
        encoded = b"" if body is None else orjson.dumps(body)
        response = await self.transport.request(self._made(method, path, query, encoded, content_type, canonical=True))
        result: Tree = orjson.loads(_accepted(response).body)
        return result

    def _path(self, resource: Resource, namespace: str, name: str, subresource: str = "") -> str:
        return resource.path(namespace or self.namespace, name, subresource)

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
        query = {"resourceVersion": [resource_version]} if resource_version else {}
        path = resource.path(namespace or self.namespace, name, subresource)
        response = await self.transport.request(Request("GET", path, query, self._headers, b"", self.user, canonical=True))
        if response.status == 404 and missing_ok:
            return None
        result: Tree = orjson.loads(_accepted(response).body)
        return result

    async def list(
        self, resource: Resource, namespace: str = "", *, label_selector: str = "", field_selector: str = "",
        limit: int = 0, continue_token: str = "", resource_version: str = "", resource_version_match: str = "",
    ) -> ListResult:
        """The objects of one namespace, or of all when ``namespace`` is empty; items carry apiVersion and kind."""
        query = parameters.selectors(label_selector, field_selector)
        if limit:
            query["limit"] = [str(limit)]
        if continue_token:
            query["continue"] = [continue_token]
        if resource_version:
            query["resourceVersion"] = [resource_version]
        if resource_version_match:
            query["resourceVersionMatch"] = [resource_version_match]
        tree = await self._tree("GET", resource.path(namespace), query)
        metadata = tree.get("metadata") or {}
        items: Any = tree.get("items") or []
        for item in items:
            if "kind" not in item:  # built-in lists leave it to the list's own kind
                item["apiVersion"], item["kind"] = resource.api_version, resource.kind
        version, continue_token = metadata.get("resourceVersion", ""), metadata.get("continue", "")
        return ListResult(items, version, continue_token, metadata.get("remainingItemCount"))

    async def create(
        self, resource: Resource, obj: Tree, namespace: str = "", *, subresource: str = "", name: str = "",
        field_manager: str = "", field_validation: str = "", dry_run: bool = False,
    ) -> Tree:
        """Create an object; its namespace is the argument, or else its own. Apiversion and kind may be left out.

        With ``name`` and ``subresource``: post to what is below an object: ``binding``, ``eviction``, ``token``.
        """
        if "kind" not in obj:
            obj = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
        path = self._path(resource, namespace or meta.namespace_of(obj), name, subresource)
        return await self._tree("POST", path, parameters.write_options(field_manager, field_validation, dry_run), obj)

    async def update(
        self, resource: Resource, obj: Tree, *, subresource: str = "", field_manager: str = "",
        field_validation: str = "", dry_run: bool = False,
    ) -> Tree:
        """Replace an object. With a resourceVersion in it: APIError 409 when it was changed meanwhile."""
        if "kind" not in obj:
            obj = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
        path = self._path(resource, meta.namespace_of(obj), meta.name_of(obj), subresource)
        return await self._tree("PUT", path, parameters.write_options(field_manager, field_validation, dry_run), obj)

    async def update_status(
        self, resource: Resource, obj: Tree, *, field_manager: str = "", dry_run: bool = False,
    ) -> Tree:
        """Replace an object's status; the rest of ``obj`` is ignored by the server."""
        return await self.update(resource, obj, subresource="status", field_manager=field_manager, dry_run=dry_run)

    async def patch(
        self, resource: Resource, name: str, namespace: str = "", body: Json = None, *,
        type: PatchType = "merge",  # noqa: A002 - the word that everybody knows it by
        subresource: str = "", field_manager: str = "", field_validation: str = "", force: bool = False,
        dry_run: bool = False,
    ) -> Tree:
        """Change an object by a patch of one of four types.

        ``apply`` (server-side apply) creates what is missing, and ``force`` takes fields from other managers instead of
        raising APIError 409; its field manager is the user agent's, unless one is named.
        """
        if type == "apply":
            field_manager = field_manager or self.user_agent.partition("/")[0]
            if isinstance(body, dict) and "kind" not in body:
                body = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        query = parameters.write_options(field_manager, field_validation, dry_run)
        if force:
            query = (query or {}) | {"force": ["true"]}
        path = self._path(resource, namespace, name, subresource)
        return await self._tree("PATCH", path, query, body, PATCH_CONTENT_TYPES[type])

    async def delete(
        self, resource: Resource, name: str, namespace: str = "", *, propagation_policy: str = "", uid: str = "",
        resource_version: str = "", grace_period_seconds: int | None = None, missing_ok: bool = False,
        dry_run: bool = False,
    ) -> Tree | None:
        """Delete an object; returns the answer: a Status, or the object while something keeps it.

        ``propagation_policy``: Background, Foreground, Orphan. ``uid`` and ``resource_version`` are preconditions:
        APIError 409 when they do not hold. With ``missing_ok`` None stands for a 404.
        """
        body = parameters.delete_options(propagation_policy, uid, resource_version, grace_period_seconds, dry_run)
        try:
            return await self._tree("DELETE", self._path(resource, namespace, name), None, body)
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
        return await self._tree("DELETE", path, parameters.selectors(label_selector, field_selector), body)

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
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
        await self.send("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/binding", binding)

    async def evict(self, pod: str, namespace: str, *, grace_period_seconds: int | None = None) -> Tree:
        """Ask for a pod to go; APIError 429 while a disruption budget forbids it."""
        options = parameters.delete_options("", "", "", grace_period_seconds, dry_run=False)
        return await self._tree("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", None, {
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace},
        } | ({"deleteOptions": options} if options else {}))

    async def create_token(self, service_account: str, namespace: str, spec: Tree | None = None) -> Tree:
        """A TokenRequest whose status holds a token for a service account."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec or {}}
        return await self._tree("POST", path, None, body)

    async def open_watch(
        self, resource: Resource, sink: Sink, namespace: str = "", *, label_selector: str = "",
        field_selector: str = "", resource_version: str = "", allow_bookmarks: bool = False,
        timeout_seconds: int | None = None, send_initial_events: bool = False,
    ) -> Stream:
        """Start a watch that pushes frames to ``sink``; a frame's tree is ``{"type": ..., "object": ...}``, shared.

        Returns the stream, to be stopped. Raises APIError when the server refuses.
        """
        query = parameters.selectors(label_selector, field_selector) | {"watch": ["true"]}
        if resource_version:
            query["resourceVersion"] = [resource_version]
        if allow_bookmarks or send_initial_events:
            query["allowWatchBookmarks"] = ["true"]
        if timeout_seconds is not None:
            query["timeoutSeconds"] = [str(timeout_seconds)]
        if send_initial_events:
            query |= {"sendInitialEvents": ["true"], "resourceVersionMatch": ["NotOlderThan"]}
        response = await self.request("GET", resource.path(namespace), query=query)
        if response.stream is None:
            raise TransportError(f"{resource}: the answer to a watch is no stream")
        response.stream.start(sink)
        return response.stream

    async def watch(
        self, resource: Resource, namespace: str = "", *, label_selector: str = "", field_selector: str = "",
        resource_version: str = "", allow_bookmarks: bool = False, timeout_seconds: int | None = None,
        send_initial_events: bool = False,
    ) -> Watch:
        """A watch to iterate over: ``async with await client.watch(PODS) as events: async for event in events``."""
        watch = Watch()
        watch.stream = await self.open_watch(
            resource, watch, namespace, label_selector=label_selector, field_selector=field_selector,
            resource_version=resource_version, allow_bookmarks=allow_bookmarks, timeout_seconds=timeout_seconds,
            send_initial_events=send_initial_events,
        )
        return watch

    async def resource(self, name: str) -> Resource:
        """A resource by its plural, singular, short name, kind or ``plural.group``. KeyError when there is none."""
        return await self._discovery.resource(name)

    async def resources(self, *, verbs: Iterable[str] = ()) -> Sequence[Resource]:
        """Every resource that the server serves with all of ``verbs``, in the preferred version of its group."""
        return await self._discovery.all(verbs)

    async def for_kind(self, gvk: GroupVersionKind) -> Resource:
        """The resource of a kind; an empty version means the preferred one. KeyError when it is not served."""
        return await self._discovery.for_kind(gvk)

    async def for_object(self, obj: Tree) -> Resource:
        """The resource of a manifest, by its apiVersion and kind. KeyError when it is not served."""
        return await self._discovery.for_object(obj)


def _accepted(response: Response) -> Response:
    """The answer. Raises APIError for one of 400 and above."""
    if response.status >= 400:
        raise parameters.error_of(response)
    return response
