"""Requests over HTTP: creates by the CPU time of the server; and reads, beside a bare aiohttp
handler that answers as much.
"""

from collections.abc import Iterator

from benchmarks import httpload, pods, shapes
from benchmarks.servers import bare, fakekube, has_uvloop, request, wrk
from benchmarks.startup import cpu_seconds
from benchmarks.table import Figure, decode_seconds, median

PODS = "/api/v1/namespaces/default/pods"
NO_CONTROLLERS = ("--controllers", "namespace,serviceaccount")
LIST_SIZE = 1000
POSTS, ROUNDS = 1_500, 3


def figures() -> Iterator[Figure]:
    """Rates need wrk: a client in Python would be what is measured."""
    loops = ("uvloop", "asyncio") if has_uvloop() else ("asyncio",)
    for loop in loops:
        yield _posts(loop)
    for loop in loops:
        with fakekube(loop, *NO_CONTROLLERS) as (port, _):
            assert request(port, "POST", PODS, pods.body(0))[0] == 201
            length = len(request(port, "GET", f"{PODS}/pod-000000")[1])
            ours = wrk(port, f"{PODS}/pod-000000")
            if ours is None:
                yield Figure("requests over HTTP: needs wrk", 0, "", note="apt-get install wrk")
                return
            with bare(length, loop) as other:
                theirs = wrk(other, "/") or 0.0
            yield Figure(f"bare aiohttp handler, {length} bytes, {loop}", theirs, "/s")
            yield Figure(f"GET of a pod, {loop}", ours, "/s")
            yield Figure(f"GET as a share of the bare handler, {loop}", ours / theirs, "x", 0.5, 0.8)
            lists, length = _list(port)
            yield Figure(f"LIST of {LIST_SIZE:,} pods, {length / 1e6:.1f} MB, {loop}", lists, "/s", 150, 350)


def _posts(loop: str) -> Figure:
    """CPU time of the server for the create of a pod that it never saw."""
    found = []
    bodies = [shapes.body(number) for number in range(shapes.SHAPES)]
    with fakekube(loop, *NO_CONTROLLERS) as (port, process):
        httpload.run(port, PODS, 0, shapes.SHAPES)  # imports and compiles
        for turn in range(ROUNDS):
            before, started = decode_seconds(50), cpu_seconds(process.pid)
            httpload.run(port, PODS, shapes.SHAPES + turn * POSTS, POSTS)
            seconds = cpu_seconds(process.pid) - started
            found.append((POSTS / seconds, (before + decode_seconds(50)) / 2))
    rate, decode = median(found)
    body = decode_seconds(50, bodies=bodies)
    aim, stretch = (220, 160) if loop == "uvloop" else (None, None)
    return Figure(
        f"POST over HTTP, never seen, {loop}, CPU of the server", 1e6 / rate, "us", aim, stretch, decode_seconds=decode,
        body_seconds=body)


def _list(port: int) -> tuple[float, int]:
    """Lists a second of a namespace that has just so many pods, and the bytes of one."""
    path = "/api/v1/namespaces/full/pods"
    request(port, "POST", "/api/v1/namespaces", b'{"metadata":{"name":"full"}}')
    for number in range(LIST_SIZE):
        status, text = request(port, "POST", path, pods.short(number))
        assert status == 201, text
    return wrk(port, path, connections=4) or 0.0, len(request(port, "GET", path)[1])
