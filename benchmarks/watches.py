"""Many watchers over HTTP: how soon they are open, and how many events a second reach them all
together.

The watchers are bare sockets that count; one process of its own holds them, or they would be what
is measured.
"""

import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.http import NO_CONTROLLERS
from benchmarks.servers import fakekube, has_uvloop, request
from benchmarks.table import Figure

WATCHERS = """
import selectors, socket, sys, time
port, count, events = (int(word) for word in sys.argv[1:4])
selector = selectors.DefaultSelector()
started = time.perf_counter()
for _ in range(count):
    sock = socket.create_connection(("127.0.0.1", port))
    sock.sendall(b"GET /api/v1/namespaces/default/configmaps?watch=true&labelSelector=bench HTTP/1.1\\r\\n"
                 b"Host: localhost\\r\\n\\r\\n")
    sock.setblocking(False)
    selector.register(sock, selectors.EVENT_READ, [False])
answered = 0
while answered < count:
    for key, _ in selector.select():
        if not key.data[0]:
            assert key.fileobj.recv(65536).startswith(b"HTTP/1.1 200")
            key.data[0] = True
            answered += 1
print(time.perf_counter() - started, flush=True)
seen, wanted = 0, count * events
first = None
while seen < wanted:
    for key, _ in selector.select():
        seen += key.fileobj.recv(1 << 20).count(b'{"type":')
        first = first or time.perf_counter()
print(time.perf_counter() - first, flush=True)
"""
WRITERS = 16
MAPS = "/api/v1/namespaces/default/configmaps"
BODY = (b'{"metadata":{"name":"m","labels":{"bench":"yes"}},"data":{"text":"' + b"x" * 200 + b'"}}')


def figures() -> Iterator[Figure]:
    """With the faster loop where there is one, as ``fakekube serve`` has it."""
    loop = "uvloop" if has_uvloop() else "asyncio"
    for count, events, must, aim in ((100, 2000, 60_000, 140_000), (1000, 150, 35_000, 80_000)):
        with fakekube(loop, *NO_CONTROLLERS) as (port, _):
            opened, seconds = _fan_out(port, count, events)
        if count == 1000:
            yield Figure(f"{count:,} watches open, {loop}", opened, "s", 1)
        yield Figure(f"events to {count:,} watchers, {loop}", count * events / seconds, "/s", must, aim)


def _fan_out(port: int, count: int, events: int) -> tuple[float, float]:
    """Seconds until all are open, and seconds until every event has reached every watcher."""
    with subprocess.Popen(
        [sys.executable, "-c", WATCHERS, str(port), str(count), str(events)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        opened = float(process.stdout.readline())
        _write(port, events)
        seconds = float(process.stdout.readline())
    return opened, seconds


def _write(port: int, events: int) -> None:
    """One object, changed so often, by several clients at once, each of which waits for its
    answers.
    """
    assert request(port, "POST", MAPS, BODY)[0] == 201
    left = iter(range(events - 1))
    waiting = selectors.DefaultSelector()
    for _ in range(WRITERS):
        connection = socket.create_connection(("127.0.0.1", port))
        waiting.register(connection, selectors.EVENT_READ)
        _patch(connection, next(left))
    open_connections = WRITERS
    while open_connections:
        for key, _ in waiting.select():
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            data = connection.recv(1 << 16)
            assert data.startswith(b"HTTP/1.1 200") or not data.startswith(b"HTTP"), data
            number = next(left, None)
            if number is not None:
                _patch(connection, number)
            else:
                waiting.unregister(connection)
                connection.close()
                open_connections -= 1


def _patch(connection: socket.socket, number: int) -> None:
    body = b'{"data":{"number":"%d"}}' % number
    connection.sendall(
        b"PATCH %b/m HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/merge-patch+json\r\nContent-Length: %d\r\n\r\n%b"
        % (MAPS.encode(), len(body), body))
