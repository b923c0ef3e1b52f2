"""Bytes to a server, and its answer as it came."""

import asyncio
import json
from typing import Any, NamedTuple

from fakekube.apimachinery.http import Request, Response


class Answer(NamedTuple):
    """One answer, its header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> str:
        """That of the Status in the body."""
        status: dict[str, Any] = json.loads(self.body)
        assert (status["kind"], status["code"]) == ("Status", self.status)
        return str(status["message"])


class Recorder:
    """A handler that says yes, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def handle(self, request: Request) -> Response:
        """An empty object."""
        self.asked.append(request)
        return Response(body=b"{}")


async def read_answer(reader: asyncio.StreamReader, method: str = "GET") -> Answer:
    """The next answer of a connection."""
    async with asyncio.timeout(10):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = 0 if method == "HEAD" else int(headers.get("content-length", "0"))
        if "content-length" not in headers and headers.get("connection") == "close":
            return Answer(int(first.split(" ")[1]), headers, await reader.read())
        return Answer(int(first.split(" ")[1]), headers, await reader.readexactly(size))


async def ask(host: str, port: int, data: bytes) -> Answer:
    """Send bytes over a connection of their own; the first answer."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(data)
        return await read_answer(reader, data.partition(b" ")[0].decode())
    finally:
        writer.close()


def request_bytes(
    method: str = "GET", target: str = "/x", *, host: str = "localhost", body: bytes = b"", **headers: str,
) -> bytes:
    """A request of HTTP/1.1; underscores of header names are hyphens."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body
