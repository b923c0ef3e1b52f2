"""The webhooks of an add-on, its conversions among them, on an HTTPS server, for clusters that are
not in this process.

Upstream: controller-runtime/pkg/webhook. Left out: certificates of others; a new one is made for
every run, with the extra ``tls``.
"""

import asyncio
import inspect
import ssl
from base64 import b64encode
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.composition import functionwebhooks
from fakekube.composition.options import OptionError
from fakekube.webhooks.callables import HOST, Callables, Function, conversion_url

if TYPE_CHECKING:
    from aiohttp import web

    from fakekube.client.client import Client
    from fakekube.runtime.addon import Conversion, FindComponent, Webhook


class WebhookServer:
    """Serves webhooks, and takes their configuration objects away when it ends; an async context
    manager.

    ``conversions`` are by the definition, ``find`` is for webhooks that ask components. ``host`` is
    an address of this machine that the cluster's API server reaches. Raises OptionError without the
    extra ``tls``, and for a webhook that is not well declared.
    """

    def __init__(
        self, client: "Client", hooks: "Iterable[Webhook]", conversions: "Mapping[str, Conversion]" = MappingProxyType({}), *,
        find: "FindComponent", host: str, port: int = 0,
    ) -> None:
        self._client, self._host, self._port = client, host, port
        self._callables = Callables()
        self._configurations = functionwebhooks.declared(self._callables, hooks, client, find)
        self._conversions = conversions
        self._runner: web.AppRunner | None = None
        self._base, self._bundle = "", ""

    async def __aenter__(self) -> Self:
        """Listen. Raises OSError."""
        if not self._configurations and not self._conversions:
            return self
        from aiohttp import web

        context, bundle = certificate(self._host)
        application = web.Application()
        application.router.add_post("/convert/{name}", self._convert)
        application.router.add_post("/{name:.+}", self._answer)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port, ssl_context=context)
        await site.start()
        self._base = f"https://{self._host}:{self._runner.addresses[0][1]}"
        self._bundle = b64encode(bundle).decode()
        return self

    def conversion(self, definition: str) -> Tree:
        """The ``clientConfig`` of the conversion webhook of a definition."""
        return self._config(conversion_url(definition))

    async def register(self) -> None:
        """Write the configurations. Raises APIError."""
        for configuration in self._configurations:
            for webhook in configuration["webhooks"]:
                webhook["clientConfig"] = self._config(webhook["clientConfig"]["url"])
            await self._client.apply(configuration)

    def _config(self, url: str) -> Tree:
        return {"url": f"{self._base}{urlsplit(url).path}", "caBundle": self._bundle}

    async def __aexit__(self, *_: object) -> None:
        """Take the configurations away, since nobody answers any more."""
        if self._runner is None:
            return
        for configuration in self._configurations:
            resource = functionwebhooks.resource_of(configuration)
            await self._client.delete(resource, meta.name_of(configuration), missing_ok=True)
        await self._runner.cleanup()

    async def _convert(self, request: "web.Request") -> "web.Response":
        from aiohttp import web

        function = self._conversions.get(request.match_info["name"])
        if function is None:
            raise web.HTTPNotFound
        try:
            review = orjson.loads(await request.read())
            head = {name: review[name] for name in ("apiVersion", "kind")}
            wanted, objects, uid = (review["request"][name] for name in ("desiredAPIVersion", "objects", "uid"))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise web.HTTPBadRequest(text="no ConversionReview") from error
        response: Tree = {"uid": uid}
        try:
            converted = [function(each, wanted) for each in objects]
        except (TypeError, AttributeError, LookupError, ValueError) as error:  # of an object of another shape
            response["result"] = {"status": "Failure", "message": f"{type(error).__name__}: {error}"}
        else:
            response |= {"convertedObjects": converted, "result": {"status": "Success"}}
        return web.json_response(body=orjson.dumps({**head, "response": response}))

    async def _answer(self, request: "web.Request") -> "web.Response":
        from aiohttp import web

        function = self._callables.find({"url": f"https://{HOST}{request.rel_url.raw_path}"})
        if function is None:
            raise web.HTTPNotFound
        try:
            review = orjson.loads(await request.read())
            head = {name: review[name] for name in ("apiVersion", "kind")}
            asked, response = _request_of(review["request"]), {"uid": review["request"]["uid"], "allowed": True}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise web.HTTPBadRequest(text="no AdmissionReview") from error
        await _ask(function, asked, response)
        return web.json_response(body=orjson.dumps({**head, "response": response}))


def certificate(*hosts: str) -> tuple[ssl.SSLContext, bytes]:
    """What a server needs to be these hosts, and the authority that says so, in PEM. Raises
    OptionError without the extra ``tls``.
    """
    try:
        import trustme
    except ImportError as error:
        raise OptionError("what a cluster asks needs the extra tls: pip install 'fakekube[tls]'") from error
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*hosts).configure_cert(context)
    return context, authority.cert_pem.bytes()


def _request_of(told: Mapping[str, Any]) -> AdmissionRequest:
    kind, user = told["kind"], told.get("userInfo") or {}
    extra = {key: tuple(values) for key, values in (user.get("extra") or {}).items()}
    return AdmissionRequest(
        uid=told["uid"], kind=GroupVersionKind(kind["group"], kind["version"], kind["kind"]),
        resource=told["resource"]["resource"], subresource=told.get("subResource", ""), name=told.get("name", ""),
        namespace=told.get("namespace", ""), operation=told["operation"],
        user=UserInfo(user.get("username", ""), tuple(user.get("groups") or ()), user.get("uid", ""), extra),
        dry_run=bool(told.get("dryRun")), options=told.get("options") or {}, shown=told.get("object"),
        shown_old=told.get("oldObject"))


async def _ask(function: Function, asked: AdmissionRequest, response: Tree) -> None:
    """Let a function decide, and put what it says into a response."""
    before = asked.object
    shown = orjson.dumps(before)
    try:
        if isinstance(function, functionwebhooks.Given) or inspect.iscoroutinefunction(function):
            pending = function(asked)
            if pending is not None:
                await pending
        else:
            await asyncio.to_thread(function, asked)
    except Denied as denial:
        told = {name: value for name in ("message", "code", "reason", "details") if (value := getattr(denial, name))}
        response |= {"allowed": False, "status": told}
    patch = _difference(orjson.loads(shown) or {}, asked.object or {})
    if patch and response["allowed"]:
        response |= {"patchType": "JSONPatch", "patch": b64encode(orjson.dumps(patch)).decode()}
    response |= {"warnings": asked.warnings} if asked.warnings else {}
    response |= {"auditAnnotations": asked.annotations} if asked.annotations else {}


def _difference(old: Tree, new: Tree) -> list[Tree]:
    """What a function changed, as one operation for each field of the object."""
    gone = [{"op": "remove", "path": f"/{name}"} for name in old if name not in new]
    return gone + [
        {"op": "replace" if name in old else "add", "path": f"/{name}", "value": value}
        for name, value in new.items() if name not in old or old[name] != value]
