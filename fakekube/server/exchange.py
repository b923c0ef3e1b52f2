"""One HTTP/1.1 exchange on a connection to a port: a request out, an answer back.

The package h11 reads and writes.

An answer of a known length, and one whose server has closed by now, is read whole; the rest of any
other is a stream, which lasts as long as its server writes. Upstream: Go's net/http, whose words
for what is no answer these are; they are looked for only when h11 has refused one.
"""

import h11

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import Frame, Sink, Stream
from fakekube.apimachinery.ports import BadAnswer, PortAnswer, PortRequest
from fakekube.apimachinery.streams import Dialled, StreamError

BROKEN = "net/http: HTTP/1.x transport connection broken: "
Event = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


async def exchange(connection: Dialled, request: PortRequest) -> PortAnswer:
    """Ask, and read the answer. Raises BadAnswer, and what the connection raises."""
    asked = _Exchange(connection)
    try:
        await asked.send(request)
        head = await asked.head()
    except h11.ProtocolError as error:
        raise BadAnswer(asked.complaint(error)) from error
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers.raw_items()]
    known = {name: value for name, value in head.headers if name in (b"content-length", b"transfer-encoding")}
    try:
        if b"content-length" in known and b"transfer-encoding" not in known:
            return PortAnswer(head.status_code, headers, await asked.rest_of_body())
        there = await asked.what_is_there()
    except h11.ProtocolError as error:
        raise BadAnswer(asked.complaint(error)) from error
    return PortAnswer(head.status_code, headers, *((there, None) if asked.ended else (b"", Rest(asked, there))))


class _Exchange:
    """A connection, and what h11 knows of it."""

    def __init__(self, connection: Dialled) -> None:
        self.connection, self._state = connection, h11.Connection(h11.CLIENT)
        self._head = b""  # as it came, for the words of what is wrong with it
        self._in_head = True
        self._closed = False  # by the other side, and all of it was read
        self.ended = False

    async def send(self, request: PortRequest) -> None:
        state = self._state
        headers = [(name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in request.headers]
        data = state.send(h11.Request(method=request.method, target=request.target, headers=headers)) or b""
        if request.body:
            data += state.send(h11.Data(data=request.body)) or b""
        await self.connection.send(data + (state.send(h11.EndOfMessage()) or b""))

    async def head(self) -> h11.Response:
        """The head of the answer; what goes before it (100 Continue) says nothing."""
        while not isinstance(event := await self._next(), h11.Response):
            pass
        self._in_head = False
        return event

    async def rest_of_body(self) -> bytes:
        """All of the body."""
        pieces = []
        while data := await self.piece():
            pieces.append(data)
        return b"".join(pieces)

    async def what_is_there(self) -> bytes:
        """All of the body if its server has closed by now, else what has come of it."""
        pieces = []
        await self.connection.rest()
        while not self.ended:
            event = self._state.next_event()
            if event is h11.NEED_DATA:
                if not (self.connection.waiting or self.connection.ended):
                    break
                await self._receive()
            else:
                pieces.append(self._data(event))
        return b"".join(pieces)

    async def piece(self) -> bytes:
        """Some of the body, as it comes; empty at the end."""
        data = b""
        while not data and not self.ended:
            data = self._data(await self._next())
        return data

    def _data(self, event: Event) -> bytes:
        self.ended = isinstance(event, h11.EndOfMessage)
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def _next(self) -> Event:
        while (event := self._state.next_event()) is h11.NEED_DATA:
            await self._receive()
        return event

    async def _receive(self) -> None:
        data = await self.connection.read()
        self._closed = not data
        if self._in_head:
            self._head += data
        self._state.receive_data(data)

    def complaint(self, error: h11.ProtocolError) -> str:
        """What Go says of it."""
        if not self._in_head:
            return "unexpected EOF" if self._closed else "invalid byte in chunk length"
        return _complaint(self._head.decode("latin-1")) or f"{BROKEN}{error}"


def _complaint(head: str) -> str:
    """Go's words for a head that is none; empty where Go would find nothing wrong with it."""
    if not head:
        return "EOF"
    first, *lines = [line.rstrip("\r") for line in head.split("\n")]
    protocol, _, rest = first.partition(" ")
    if not rest or not protocol.startswith("HTTP/"):
        return f"{BROKEN}malformed HTTP response {go_quote(first)}"
    code = rest.split(" ")[0]
    if not code.isdecimal() or len(code) != 3:
        return f"{BROKEN}malformed HTTP status code {go_quote(code)}"
    for line in lines[:-1]:  # the last one has no end
        name, colon, value = line.partition(":")
        if not line:
            break
        if not colon:
            return f"{BROKEN}malformed MIME header line: {line}"
        if name.lower() == "content-length" and not value.strip().isdecimal():
            return f"{BROKEN}bad Content-Length {go_quote(value.strip())}"
    else:
        return "unexpected EOF"
    return ""


class Rest(Stream):
    """The rest of a body, as it comes. ``first`` is there already."""

    def __init__(self, asked: _Exchange, first: bytes) -> None:
        self._asked, self._first = asked, first

    def start(self, sink: Sink) -> None:
        """Send what is there, and what comes until the server has nothing more to say."""
        if self._first:
            sink.send(Frame(self._first))
        self._asked.connection.background(self._pump(sink))

    async def _pump(self, sink: Sink) -> None:
        try:
            while data := await self._asked.piece():
                sink.send(Frame(data))
        except (h11.ProtocolError, StreamError, ConnectionError):
            pass  # the head has gone out long ago; all that is left is to end
        sink.end()
        self._asked.connection.hang_up()

    def stop(self) -> None:
        """The client has gone."""
        self._asked.connection.hang_up()
