"""A user's aiohttp application under test, with pytest-aiohttp's fixtures, beside a cluster of the
same event loop.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from kubernetes_asyncio import client, config
from pytest_aiohttp.plugin import AiohttpClient, AiohttpServer

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, JOBS
from fakekube.runtime import controller

RUNNER: web.AppKey[client.BatchV1Api] = web.AppKey("runner", client.BatchV1Api)


async def start_run(request: web.Request) -> web.Response:
    made = await request.app[RUNNER].create_namespaced_job("default", {
        "metadata": {"name": request.match_info["name"]}, "spec": {"template": {
            "metadata": {"annotations": {"fakekube.dev/run-duration": "10m"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}})
    return web.json_response({"name": made.metadata.name}, status=201)


async def show_run(request: web.Request) -> web.Response:
    job = await request.app[RUNNER].read_namespaced_job(request.match_info["name"], "default")
    return web.json_response({"succeeded": job.status.succeeded or 0})


def application(kubeconfig: Path) -> web.Application:
    """What is under test: it starts Jobs for who asks, with the asyncio client that it uses in
    production.
    """
    async def connect(app: web.Application) -> AsyncIterator[None]:
        settings = client.Configuration()
        await config.load_kube_config(str(kubeconfig), client_configuration=settings)
        async with client.ApiClient(settings) as api:
            app[RUNNER] = client.BatchV1Api(api)
            yield

    app = web.Application()
    app.cleanup_ctx.append(connect)
    app.add_routes([web.post("/runs/{name}", start_run), web.get("/runs/{name}", show_run)])
    return app


async def test_an_application_reaches_a_cluster_of_its_own_loop(
        fake_cluster: Cluster, aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    """Given an aiohttp application that talks to a cluster over HTTP, and a cluster served by the
    test's own loop, when the application is asked for a run of ten minutes, then the Job completes
    as time is moved, and the application says so.
    """
    server = await fake_cluster.serve()
    server.write_kubeconfig(tmp_path / "kubeconfig")
    http = await aiohttp_client(application(tmp_path / "kubeconfig"))
    async with http.post("/runs/long") as answer:
        assert (answer.status, await answer.json()) == (201, {"name": "long"})
    before = fake_cluster.clock.now()

    async def done() -> bool:
        async with http.get("/runs/long") as answer:
            return bool(await answer.json() == {"succeeded": 1})

    await fake_cluster.run_until(done)
    assert (fake_cluster.clock.now() - before).total_seconds() >= 600
    assert (await fake_cluster.client.get(JOBS, "long", "default"))["status"]["succeeded"] == 1


class Reporter:
    """A controller that tells a web service of each ConfigMap that names one."""

    def __init__(self, ctx: Any) -> None:
        self.maps = ctx.lister(CONFIG_MAPS)

    async def reconcile(self, request: tuple[str, str]) -> None:
        found = self.maps.get(*request)
        if found is not None and "url" in found.get("data", {}):
            async with aiohttp.ClientSession() as http, http.post(found["data"]["url"], json={"name": request[1]}):
                pass


@pytest.mark.fakekube(extra=[controller("reporter").for_(CONFIG_MAPS).complete(Reporter)])
async def test_a_controller_of_the_cluster_reaches_an_application(
        fake_cluster: Cluster, aiohttp_server: AiohttpServer) -> None:
    """Given an application on a port, and a controller in the cluster that calls it, when the
    cluster has settled, then the call has come: virtual time has waited for it.
    """
    called: list[Any] = []

    async def note(request: web.Request) -> web.Response:
        called.append(await request.json())
        return web.Response()

    app = web.Application()
    app.add_routes([web.post("/notes", note)])
    server = await aiohttp_server(app)
    await fake_cluster.client.create(CONFIG_MAPS, {
        "metadata": {"name": "told", "namespace": "default"}, "data": {"url": str(server.make_url("/notes"))}})
    await fake_cluster.settle()
    assert called == [{"name": "told"}]
