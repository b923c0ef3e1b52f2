"""Servers in processes of their own: ours, and a bare aiohttp handler to compare with; and wrk to
load them.
"""

import http.client
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

BARE = """
import asyncio, sys
from aiohttp import web
port, length, loop = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
body = b"x" * length
async def answer(request):
    return web.Response(body=body, content_type="application/json")
async def main():
    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()
if loop == "uvloop":
    import uvloop
    uvloop.run(main())
else:
    asyncio.run(main())
"""


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def has_uvloop() -> bool:
    """Whether the faster loop can be measured too."""
    from importlib.util import find_spec

    return find_spec("uvloop") is not None


@contextmanager
def fakekube(loop: str = "asyncio", *options: str) -> "Iterator[tuple[int, subprocess.Popen[bytes]]]":
    """A cluster without nodes; its port and process.

    A clock that is scaled by 1 keeps to asyncio's own loop.
    """
    clock = "real" if loop == "uvloop" else "1"
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = [sys.executable, "-c", "from fakekube.cli import main; main()", "serve", "--port", str(port), "--nodes", "0",
                   "--clock", clock, "--kubeconfig", str(Path(folder) / "kubeconfig"), *options]
        with _running(command, port, "/readyz") as process:
            yield port, process


@contextmanager
def bare(length: int, loop: str = "asyncio") -> Iterator[int]:
    """aiohttp that answers so many bytes to everything; its port."""
    port = free_port()
    with _running([sys.executable, "-c", BARE, str(port), str(length), loop], port, "/"):
        yield port


@contextmanager
def _running(command: list[str], port: int, path: str) -> "Iterator[subprocess.Popen[bytes]]":
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while request(port, "GET", path)[0] != 200:
            assert process.poll() is None, command
            time.sleep(0.01)
        yield process
    finally:
        process.terminate()
        process.wait()


def request(port: int, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    """Status and body; 0 while nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body or None, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except OSError:
        return 0, b""
    finally:
        connection.close()


def wrk(
    port: int, path: str, *, body: bytes = b"", script: str = "", seconds: float = 2, connections: int = 16, tls: bool = False,
    headers: Mapping[str, str] | None = None, refusals: bool = False,
) -> float | None:
    """Requests a second under wrk, None where there is none.

    ``script`` is Lua that makes the requests; a ``body`` is posted as JSON. ``refusals`` says that
    answers may be such.
    """
    if shutil.which("wrk") is None:
        return None
    if body:
        text = body.decode().replace("\\", "\\\\").replace("'", "\\'")
        script = f"wrk.method = 'POST'\nwrk.body = '{text}'\nwrk.headers['Content-Type'] = 'application/json'\n"
    options = [word for name, value in (headers or {}).items() for word in ("-H", f"{name}: {value}")]
    with tempfile.TemporaryDirectory() as folder:
        if script:
            file = Path(folder) / "script.lua"
            file.write_text(script)
            options += ["-s", str(file)]
        url = f"{'https' if tls else 'http'}://127.0.0.1:{port}{path}"
        printed = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *options, url], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Requests/sec:\s+([\d.]+)", printed)
    assert found, printed
    assert refusals or "Non-2xx" not in printed, printed
    return float(found[1])
