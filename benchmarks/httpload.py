"""A load of creates over HTTP: several connections, each of which waits for its answers.

``python -m benchmarks.httpload``.

It runs in a process of its own: the server's CPU time is what is wanted.
"""

import selectors
import socket
import subprocess
import sys

from benchmarks import shapes

CONNECTIONS = 16
HEAD = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"


def run(port: int, path: str, first: int, count: int) -> None:
    """Post so many pods from a number on, and return once all were accepted."""
    subprocess.run([sys.executable, "-m", "benchmarks.httpload", str(port), path, str(first), str(count)], check=True)


def post(port: int, path: str, first: int, count: int) -> None:
    """The same in this process."""
    requests = []
    for number in range(first, first + count):
        body = shapes.body(number)
        requests.append(HEAD % (path.encode(), len(body), body))
    left = iter(requests)
    waiting = selectors.DefaultSelector()
    for _ in range(CONNECTIONS):
        connection = socket.create_connection(("127.0.0.1", port))
        waiting.register(connection, selectors.EVENT_READ, bytearray())
        connection.sendall(next(left))
    answered = 0
    while answered < count:
        for key, _ in waiting.select():
            connection, received = key.fileobj, key.data
            assert isinstance(connection, socket.socket)
            received += connection.recv(1 << 16)
            if not _is_whole(received):
                continue
            assert received.startswith(b"HTTP/1.1 201"), bytes(received)
            received.clear()
            answered += 1
            request = next(left, None)
            if request is not None:
                connection.sendall(request)
    for key in list(waiting.get_map().values()):
        assert isinstance(key.fileobj, socket.socket)
        key.fileobj.close()


def _is_whole(received: bytearray) -> bool:
    """Whether an answer is complete."""
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return False
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return len(body) >= int(length)


if __name__ == "__main__":
    post(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
