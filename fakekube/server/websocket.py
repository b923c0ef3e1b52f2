"""A stream over WebSocket, one message per frame: for browsers that watch or follow a log.

Upstream: apimachinery/pkg/util/httpstream/wsstream (Reader) and apiserver's watch handler. What the
client sends is read and dropped. Sessions with channels are in ``upgraded.py``.
"""

import asyncio
from base64 import b64encode
from collections import deque

from aiohttp import WSCloseCode, web

from fakekube.apimachinery.http import Frame, Request, Response, Stream

MAX_WAITING_FRAMES = 10_000
"""A client that leaves more unread is cut."""
CLOSE_SECONDS = 1.0
"""How long a client is waited for that does not say goodbye in its turn."""


def wants_websocket(request: Request) -> bool:
    """Whether a request asks to change to WebSocket."""
    headers = request.headers
    return headers.get("upgrade", "").lower() == "websocket" and "upgrade" in headers.get("connection", "").lower()


class SocketSink:
    """A Sink that sends frames to one client."""

    def __init__(self) -> None:
        self.waiting: deque[Frame] = deque()
        self.ended = False
        self.news = asyncio.Event()

    def send(self, frame: Frame) -> None:
        """Take one frame."""
        if len(self.waiting) >= MAX_WAITING_FRAMES:
            self.end()
        elif not self.ended:
            self.waiting.append(frame)
            self.news.set()

    def end(self) -> None:
        """No frame follows."""
        self.ended = True
        self.news.set()


async def serve(
    incoming: web.BaseRequest, response: Response, stream: Stream, *, binary: bool, protocol: str,
    open_sinks: dict[SocketSink, None],
) -> web.WebSocketResponse:
    """Send the frames of a response's stream until it ends or the client disconnects.

    ``open_sinks`` holds those that a stop must end. Where the response is cut by then, the
    connection breaks without a goodbye.
    """
    socket = web.WebSocketResponse(autoping=True, protocols=(protocol,) if protocol else (), timeout=CLOSE_SECONDS)
    await socket.prepare(incoming)
    sink = SocketSink()
    open_sinks[sink] = None
    try:
        stream.start(sink)
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(_drop_what_comes(socket, sink))
            await _write(socket, sink, binary=binary, encoded=protocol.startswith("base64."))
            if response.cut is None:
                await socket.close(code=WSCloseCode.OK)
            elif incoming.transport is not None:
                incoming.transport.close()
            reading.cancel()
    except* ConnectionError:
        pass
    finally:
        open_sinks.pop(sink, None)
        stream.stop()
    return socket


async def _drop_what_comes(socket: web.WebSocketResponse, sink: SocketSink) -> None:
    async for _ in socket:
        pass
    sink.end()


async def _write(socket: web.WebSocketResponse, sink: SocketSink, *, binary: bool, encoded: bool) -> None:
    while not socket.closed:
        while sink.waiting:
            data = sink.waiting.popleft().data
            if encoded:
                await socket.send_str(b64encode(data).decode())
            elif binary:
                await socket.send_bytes(data)
            else:
                await socket.send_str(data.decode().removesuffix("\n"))
        if sink.ended:
            return
        sink.news.clear()
        await sink.news.wait()
