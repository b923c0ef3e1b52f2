"""The same requests to a real control plane and to ours, one after the other: ``python -m
benchmarks.reference COMMAND``.

COMMAND serves kube-apiserver with etcd when it is called with ``serve --port N --kubeconfig FILE
--controllers LIST``, as ``fakekube serve`` is. It answers over TLS, as it always does, and ours
without. The wall's time says what a client waits for, and CPU time, of all processes that serve,
what the machine gives for it: where other work shares the machine, only the second can be relied
on.
"""

import argparse
import http.client
import shlex
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from benchmarks import pods
from benchmarks.load import resident_bytes
from benchmarks.servers import free_port, wrk
from benchmarks.startup import cpu_seconds

CONTROLLERS = "namespace,serviceaccount"
PODS = "/api/v1/namespaces/default/pods"
FULL = "/api/v1/namespaces/full"
MAPS = "/api/v1/namespaces/default/configmaps"
LIST_SIZE = 1000
WATCHERS = 100
SECONDS = 4
AIMS = {"start to first answer": 9, "memory, 1,000 pods": 6, "GET of a pod": 5, "POST of a pod": 8, "LIST of 1,000 pods": 10}
WATCHING = """
import socket, ssl, sys, threading, time
port, count, token = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
context = ssl._create_unverified_context()
seen, last, lock = [0] * count, [0.0], threading.Lock()
def watch(number):
    sock = socket.create_connection(("127.0.0.1", port))
    if token:
        sock = context.wrap_socket(sock)
    sock.sendall(b"GET /api/v1/namespaces/default/configmaps?watch=true&labelSelector=bench HTTP/1.1\\r\\nHost: localhost\\r\\n"
                 b"Authorization: Bearer %b\\r\\n\\r\\n" % token.encode() if token else
                 b"GET /api/v1/namespaces/default/configmaps?watch=true&labelSelector=bench HTTP/1.1\\r\\n"
                 b"Host: localhost\\r\\n\\r\\n")
    assert sock.recv(65536).startswith(b"HTTP/1.1 200")
    ready.release()
    while data := sock.recv(1 << 20):
        seen[number] += data.count(b'{"type":"MODIFIED"')
        last[0] = time.perf_counter()
ready = threading.Semaphore(0)
for number in range(count):
    threading.Thread(target=watch, args=(number,), daemon=True).start()
for _ in range(count):
    ready.acquire()
print("ready", flush=True)
started = time.perf_counter()
sys.stdin.readline()
while time.perf_counter() - last[0] < 1:
    time.sleep(0.1)
print(sum(seen) / (last[0] - started), flush=True)
"""
CHANGING = """
local n = 0
request = function()
  n = n + 1
  return wrk.format("PATCH", "%s/m-" .. (n %% 16), {["Content-Type"] = "application/merge-patch+json"%s},
                    '{"data":{"number":"' .. n .. '"}}')
end
"""


@dataclass
class Server:
    """One that runs: where, with which token (none: without TLS), and in which processes."""

    port: int
    token: str
    pids: list[int]
    start_seconds: float = 0.0
    start_cpu_seconds: float = 0.0

    def ask(self, method: str, path: str, body: bytes = b"") -> int:
        """The status of one request; 0 while nobody listens."""
        context = ssl._create_unverified_context()
        connection = (http.client.HTTPSConnection("127.0.0.1", self.port, context=context) if self.token
                      else http.client.HTTPConnection("127.0.0.1", self.port))
        try:
            connection.request(method, path, body or None, self.headers | ({"Content-Type": "application/json"} if body else {}))
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def cpu(self) -> float:
        return sum(cpu_seconds(pid) for pid in self.pids)

    @property
    def memory(self) -> float:
        return sum(resident_bytes(str(pid)) for pid in self.pids)


@contextmanager
def serving(command: list[str], *, tls: bool) -> Iterator[Server]:
    """Start a server and wait for its first answer, then for what pods need."""
    with tempfile.TemporaryDirectory() as folder:
        port, kubeconfig = free_port(), Path(folder) / "config"
        started = time.perf_counter()
        process = subprocess.Popen(
            [*command, "serve", "--port", str(port), "--controllers", CONTROLLERS, "--kubeconfig", str(kubeconfig)],
            stdout=subprocess.DEVNULL)
        server = Server(port, "unknown yet" if tls else "", [])
        try:
            while server.ask("GET", "/readyz") not in (200, 401):  # the token is not known yet
                assert process.poll() is None, command
                time.sleep(0.005)
            server.start_seconds = time.perf_counter() - started
            server.pids = [pid for pid in (process.pid, *_children(process.pid)) if _is_server(pid, process.pid)]
            server.start_cpu_seconds = server.cpu
            while tls and not kubeconfig.exists():
                time.sleep(0.1)
            if tls:
                server.token = str(yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"])
            while server.ask("GET", "/api/v1/namespaces/default/serviceaccounts/default") != 200:
                time.sleep(0.1)
            yield server
        finally:
            process.terminate()
            process.wait()


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def _is_server(pid: int, parent: int) -> bool:
    """Not the script that started others, and no controller manager."""
    if pid == parent:
        return not _children(parent)
    return Path(f"/proc/{pid}/comm").read_text().strip() in ("etcd", "kube-apiserver")


def measure(server: Server) -> Iterator[tuple[str, float, str, float]]:
    """Name, value, unit and microseconds of CPU time a request (0: not told)."""
    yield "start to first answer", server.start_seconds * 1000, "ms", server.start_cpu_seconds * 1e6
    yield "memory, idle", server.memory / 1e6, "MB", 0.0
    assert server.ask("POST", PODS, pods.body(0)) == 201
    server.ask("POST", "/api/v1/namespaces", b'{"metadata":{"name":"full"}}')
    while server.ask("GET", f"{FULL}/serviceaccounts/default") != 200:
        time.sleep(0.1)
    for number in range(LIST_SIZE):
        assert server.ask("POST", f"{FULL}/pods", pods.short(number)) == 201
    yield f"memory, {LIST_SIZE:,} pods", server.memory / 1e6, "MB", 0.0
    for name, path, body, connections in (
        ("GET of a pod", f"{PODS}/pod-000000", b"", 16), (f"LIST of {LIST_SIZE:,} pods", f"{FULL}/pods", b"", 4),
        ("POST of a pod", PODS, pods.generated(), 16),
    ):
        before = server.cpu
        rate = wrk(server.port, path, body=body, seconds=SECONDS, connections=connections, tls=bool(server.token),
                   headers=server.headers) or 0.0
        yield name, rate, "/s", (server.cpu - before) / (rate * SECONDS) * 1e6 if rate else 0.0
    yield from _fan_out(server)


def _fan_out(server: Server) -> Iterator[tuple[str, float, str, float]]:
    for number in range(16):
        body = b'{"metadata":{"name":"m-%d","labels":{"bench":"yes"}},"data":{"text":"%b"}}' % (number, b"x" * 200)
        assert server.ask("POST", MAPS, body) == 201
    header = f', ["Authorization"] = "Bearer {server.token}"' if server.token else ""
    with subprocess.Popen(
        [sys.executable, "-c", WATCHING, str(server.port), str(WATCHERS), server.token],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        wrk(server.port, "/", seconds=SECONDS, script=CHANGING % (MAPS, header), tls=bool(server.token), refusals=True)
        process.stdin.write("\n")
        process.stdin.flush()
        yield f"events to {WATCHERS} watchers, 16 writers", float(process.stdout.readline()), "/s", 0.0


def main() -> None:
    """Measure both and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reference", description=__doc__)
    parser.add_argument("command", help="what serves the real control plane, with its arguments")
    args = parser.parse_args()
    assert shutil.which("wrk") is not None, "needs wrk: apt-get install wrk"
    with serving([sys.executable, "-c", "from fakekube.cli import main; main()"], tls=False) as server:
        ours = list(measure(server))
    with serving(shlex.split(args.command), tls=True) as server:
        theirs = list(measure(server))
    print(f"{'':<36} {'ours':>12} {'theirs':>12} {'times better':>13} {'aim':>4} {'CPU each, us':>22} {'times less':>11}")
    for (name, value, unit, cpu), (_, other, _, other_cpu) in zip(ours, theirs, strict=True):
        better = value / other if unit == "/s" else other / value
        spent = f"{cpu:,.0f} / {other_cpu:,.0f}" if cpu else ""
        less = f"{other_cpu / cpu:.1f}x" if cpu else ""
        print(f"{name:<36} {value:>9,.0f} {unit:<2} {other:>9,.0f} {unit:<2} {better:>12.1f}x {AIMS.get(name, ''):>4} "
              f"{spent:>22} {less:>11}".rstrip())


if __name__ == "__main__":
    main()
