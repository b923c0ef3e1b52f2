"""A page of another site in a real browser: it tries all that a page can, and neither reads nor
writes.

The page's site, and a name that its owner rebinds to the cluster's address, are made by a proxy: it
answers for the one, and passes on what is asked of the other, as a browser sends it after DNS
rebinding. The cluster's own address goes past the proxy.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from .victim import SECRET, serve

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
PAGE = Path(__file__).with_name("page.html").read_text()
REPORT_SECONDS = 90
SITE, REBOUND = "evil.example", "rebound.example"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


class Site:
    """A proxy that is the site of ``page``, and that leads REBOUND to ``cluster`` but for the page
    itself.
    """

    def __init__(self, target: str, cluster: tuple[str, int]) -> None:
        self.page = PAGE.replace("TARGET", target).replace("SECRET", SECRET)
        self.cluster = cluster
        self._tasks: list[asyncio.Task[Any]] = []
        self.report: asyncio.Future[dict[str, list[str]]] = asyncio.get_running_loop().create_future()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request of the browser, or one connection of its WebSockets."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.append(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._serve(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def close(self) -> None:
        """End what the browser has left open."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split(" ", 2)
        lines = [line for line in head.splitlines()[1:] if line]
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        path = "/" + target.partition("://")[2].partition("/")[2]
        if method == "CONNECT" and target.startswith(f"{REBOUND}:"):
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await self._pass_on(b"", reader, writer)
        elif path == "/page":
            self._answer(writer, self.page.encode())
        elif path == "/report":
            self._answer(writer, b"")
            if not self.report.done():
                self.report.set_result(json.loads(body))
        elif method != "CONNECT" and fields["host"].startswith(f"{REBOUND}:"):
            kept = [line for line in lines if not line.lower().startswith(("proxy-", "connection:"))]
            asked = "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""]).encode()
            await self._pass_on(asked + body, reader, writer)
        else:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def _answer(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
        writer.write(body)

    async def _pass_on(self, asked: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self.cluster)
        back.write(asked)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while data := await source.read(65536):
                    sink.write(data)

        copies = [asyncio.create_task(copy(there, writer)), asyncio.create_task(copy(reader, back))]
        try:
            await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in copies:
                task.cancel()
            await asyncio.wait(copies)
            back.close()
            with suppress(ConnectionError):
                await back.wait_closed()


@asynccontextmanager
async def browsing(url: str, proxy: int, profile: Path) -> AsyncIterator[None]:
    """A headless Chromium with this page, without what asks people before a page reaches this
    machine: not all browsers do.
    """
    assert CHROMIUM is not None
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
        f"--proxy-server=http://127.0.0.1:{proxy}",
        "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights",
        "--remote-debugging-port=0", url, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        await process.wait()


async def report_of(victim: Any, site: str, profile: Path) -> dict[str, list[str]]:
    """What a page of a site says that it got from a cluster; REBOUND asks the cluster under its own
    name.
    """
    address, port = victim.server.url.removeprefix("http://").split(":")
    target = f"http://{REBOUND}:{port}" if site == REBOUND else victim.server.url
    attacker = Site(target, (address, int(port)))
    async with await asyncio.start_server(attacker.serve, "127.0.0.1", 0) as proxy:
        place = f"{site}:{port}" if site == REBOUND else site
        async with browsing(f"http://{place}/page", proxy.sockets[0].getsockname()[1], profile), asyncio.timeout(REPORT_SECONDS):
            report = await attacker.report
        await attacker.close()
    await victim.cluster.settle()
    return report


@pytest.mark.parametrize("site", [SITE, REBOUND])
async def test_a_page_of_another_site_gets_nothing(site: str, tmp_path: Path) -> None:
    """Given a served cluster / when a page of another site, or one whose name was rebound, tries
    forms, fetch, images, frames and WebSockets / then it has read nothing, opened nothing and
    changed nothing, and no request came through.
    """
    async with serve() as victim:
        report = await report_of(victim, site, tmp_path)
        assert (report["read"], report["opened"], victim.changes) == ([], [], [])
        assert victim.answered == 0


@pytest.mark.parametrize("site", [SITE, REBOUND])
async def test_the_same_page_where_it_is_let_in(site: str, tmp_path: Path) -> None:
    """Given a cluster that lets in every origin and every name / when the same page tries the same
    / then it reads, opens and writes: the attempts are real.
    """
    async with serve(allow_origin="*", allow_host="*") as victim:
        report = await report_of(victim, site, tmp_path)
        assert {"fetch", "exec", "watch"} <= set(report["read"])
        assert {"exec", "watch", "port-forward"} <= set(report["opened"])
        assert victim.changes == ["objects", "clock", "commands"]
