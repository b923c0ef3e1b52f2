"""Requests over HTTP, beside a bare aiohttp handler that answers as many bytes."""

from collections.abc import Iterator

from benchmarks import pods
from benchmarks.servers import bare, fakekube, has_uvloop, request, wrk
from benchmarks.table import Figure, steady

PODS = "/api/v1/namespaces/default/pods"
NO_CONTROLLERS = ("--controllers", "namespace,serviceaccount")
LIST_SIZE = 1000


def figures() -> Iterator[Figure]:
    """Nothing where there is no wrk: a client in Python would be what is measured."""
    for loop in ("asyncio", *(["uvloop"] if has_uvloop() else [])):
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
            must, aim = (3000, 5000) if loop == "asyncio" else (4500, 8000)
            posts, decode = steady(lambda port=port: wrk(port, PODS, body=pods.generated(), seconds=1)) or (0.0, None)
            yield Figure(f"POST of a pod, {loop}", posts, "/s", must, aim, decode_seconds=decode)
            lists, length = _list(port)
            yield Figure(f"LIST of {LIST_SIZE:,} pods, {length / 1e6:.1f} MB, {loop}", lists, "/s", 150, 350)


def _list(port: int) -> tuple[float, int]:
    """Lists a second of a namespace that has just so many pods, and the bytes of one."""
    path = "/api/v1/namespaces/full/pods"
    request(port, "POST", "/api/v1/namespaces", b'{"metadata":{"name":"full"}}')
    for number in range(LIST_SIZE):
        status, text = request(port, "POST", path, pods.short(number))
        assert status == 201, text
    return wrk(port, path, connections=4) or 0.0, len(request(port, "GET", path)[1])
