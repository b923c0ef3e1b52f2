"""API servers of other people, for tests: fish of wardle.dev, over HTTPS or as a Handler."""

import asyncio
import gzip
import json
import ssl
from typing import Any

import trustme
from aiohttp import web

from fakekube.apimachinery.http import Frame, Request, Response, Sink

GROUP, VERSION, NAME = "wardle.dev", "v1", "v1.wardle.dev"
PATH = "/apis/wardle.dev/v1"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
FISCHER = {"apiVersion": "wardle.dev/v1", "kind": "Fischer", "metadata": {"name": "anna", "namespace": "default"}}
RESOURCES = {
    "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "wardle.dev/v1", "resources": [
        {"name": "fischers", "singularName": "fischer", "namespaced": True, "kind": "Fischer",
         "verbs": ["get", "list", "watch"], "shortNames": ["fi"]},
        {"name": "fischers/status", "singularName": "", "namespaced": True, "kind": "Fischer", "verbs": ["get"]}]}
LIST = {"apiVersion": "wardle.dev/v1", "kind": "FischerList", "metadata": {"resourceVersion": "5"}, "items": [FISCHER]}
V2 = {
    "swagger": "2.0", "info": {"title": "fish", "version": "1"}, "definitions": {
        "dev.wardle.Fischer": {"type": "object", "description": "A fisher.", "properties": {
            "of": {"$ref": "#/definitions/dev.wardle.Other"}}},
        "dev.wardle.Other": {"type": "object"}, "of.another.path": {"type": "object"}},
    "paths": {
        f"{PATH}/fischers": {"get": {"responses": {"200": {
            "description": "OK", "schema": {"$ref": "#/definitions/dev.wardle.Fischer"}}}}},
        "/other": {"get": {"responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/of.another.path"}}}}}}}
V3 = {"paths": {"apis/wardle.dev/v1": {"serverRelativeURL": "/openapi/v3/apis/wardle.dev/v1?hash=FISH"}}}
V3_DOCUMENT = {"openapi": "3.0.0", "info": {"title": "fish", "version": "1"}, "paths": {}}
DOCUMENTS: dict[str, Any] = {
    PATH: RESOURCES, f"{PATH}/fischers": LIST, f"{PATH}/namespaces/default/fischers": LIST,
    f"{PATH}/namespaces/default/fischers/anna": FISCHER, "/openapi/v2": V2, "/openapi/v3": V3,
    "/openapi/v3/apis/wardle.dev/v1": V3_DOCUMENT}


class FishStream:
    """A watch that a test feeds."""

    def __init__(self) -> None:
        self.sink: Sink | None = None
        self.is_stopped = False

    def start(self, sink: Sink) -> None:
        self.sink = sink

    def stop(self) -> None:
        self.is_stopped = True

    def tell(self, type_: str) -> None:
        assert self.sink
        self.sink.send(Frame(json.dumps({"type": type_, "object": FISCHER}).encode() + b"\n"))


class Fish:
    """A Handler. ``documents`` are answered to GETs; ``asked`` are the requests that came."""

    def __init__(self, documents: dict[str, Any] = DOCUMENTS) -> None:
        self.documents = dict(documents)
        self.asked: list[Request] = []
        self.stream = FishStream()

    async def handle(self, request: Request) -> Response:
        self.asked.append(request)
        if request.flag("watch"):
            return Response(stream=self.stream, is_watch=True)
        if request.path == f"{PATH}/echo":
            return Response(201, request.body, headers=[("X-Own", "1"), ("Access-Control-Allow-Origin", "*")])
        found = self.documents.get(request.path)
        if found is None:
            return Response(404, b"nope", "text/plain")
        return Response(200, found if isinstance(found, bytes) else json.dumps(found).encode())


class FishServer:
    """The same on a port, over TLS unless ``plain``; an async context manager.

    ``asked`` are method, path with query, headers and body of each request. ``stuck`` are paths
    that get no answer. ``asks_certificate`` of an authority (PEM) that signs for clients.
    """

    def __init__(
        self, *, plain: bool = False, port: int = 0, names: tuple[str, ...] = ("fish.sea.svc", "127.0.0.1"),
        asks_certificate: str = "",
    ) -> None:
        self.documents, self.stuck = dict(DOCUMENTS), set[str]()
        self.asked: list[tuple[str, str, list[tuple[str, str]], bytes]] = []
        self.certificates: list[dict[str, Any]] = []
        self.port, self._context = port, None
        authority = trustme.CA()
        self.ca_bundle = authority.cert_pem.bytes()
        if not plain:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(*names).configure_cert(self._context)
            if asks_certificate:
                self._context.load_verify_locations(cadata=asks_certificate)
                self._context.verify_mode = ssl.CERT_REQUIRED

    @property
    def url(self) -> str:
        return f"http{'s' if self._context else ''}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> "FishServer":
        application = web.Application()
        application.router.add_route("*", "/{rest:.*}", self._answer)
        self._runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._context).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.method, request.path_qs, list(request.headers.items()), await request.read()))
        transport = request.transport
        if transport is not None and (shown := transport.get_extra_info("peercert")):
            self.certificates.append(shown)
        if request.path in self.stuck:
            await asyncio.Event().wait()
        if request.path == f"{PATH}/elsewhere":
            return web.Response(status=302, headers={"Location": f"{PATH}/fischers"})
        if request.path == f"{PATH}/compressed":
            return web.Response(body=gzip.compress(b"fish" * 1000), headers={"Content-Encoding": "gzip"})
        if request.path == f"{PATH}/cut" and transport is not None:
            transport.close()
        if request.path == f"{PATH}/echo":
            return web.Response(status=201, body=await request.read(), headers={"X-Own": "1"})
        if request.query.get("watch") and "ignored" not in request.query:
            answer = web.StreamResponse(headers={"Content-Type": "application/json"})
            await answer.prepare(request)
            for name in ("anna", "bert"):
                fish = FISCHER | {"metadata": {"name": name, "namespace": "default", "resourceVersion": "6"}}
                await answer.write(json.dumps({"type": "ADDED", "object": fish}).encode() + b"\n")
            await asyncio.Event().wait()
        found = self.documents.get(request.path)
        if found is None:
            return web.Response(status=404, text="nope")
        return web.Response(body=found if isinstance(found, bytes) else json.dumps(found).encode(),
                            content_type="application/json")
