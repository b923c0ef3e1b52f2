"""What answers on the ports of pods where no callback does: a small page, over HTTP.

No server runs in a container, yet who follows a first lesson (a Deployment of nginx, a Service,
``kubectl port-forward``) expects one to answer. So a port that a container declares, or on which
the server in its image is known to listen, serves a page that says which pod answered. What is sent
there and is no HTTP comes back, as on any other port.
"""

import html
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kubelet.outcomes import servers

if TYPE_CHECKING:
    import h11

    from fakekube_controllers.kubelet.server.process import Connection

METHODS = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"PATCH ", b"DELETE ", b"OPTIONS ", b"TRACE ")


def container_on(pod: ReadOnlyTree, port: int) -> ReadOnlyTree | None:
    """The container whose server would listen on a port over TCP; None where none would."""
    spec = pod["spec"]
    found: ReadOnlyTree
    for found in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        for declared in found.get("ports") or ():
            if declared["containerPort"] == port and declared.get("protocol", "TCP") == "TCP":
                return found
    for found in spec.get("containers") or ():
        if port in servers.http_ports(found):
            return found
    return None


async def serve(connection: "Connection", container: ReadOnlyTree) -> None:
    """Answer every request with the page, until the client ends; send back what is no HTTP."""
    data = await connection.read()
    while data and not data.startswith(METHODS) and any(method.startswith(data) for method in METHODS):
        more = await connection.read()
        if not more:
            break
        data += more
    if data.startswith(METHODS):
        await _serve_http(connection, container, data)
        return
    while data:
        await connection.write(data)
        data = await connection.read()


async def _serve_http(connection: "Connection", container: ReadOnlyTree, data: bytes) -> None:
    import h11

    state = h11.Connection(h11.SERVER)
    state.receive_data(data)
    request: h11.Request | None = None
    try:
        while True:
            event = state.next_event()
            if event is h11.NEED_DATA:
                state.receive_data(await connection.read())
            elif isinstance(event, h11.Request):
                request = event
                if state.they_are_waiting_for_100_continue:
                    await connection.write(state.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
            elif isinstance(event, h11.EndOfMessage) and request is not None:
                body = page(connection, container, request.target.decode("latin-1"))
                await _send(connection, state, 200, body, head=request.method == b"HEAD")
                if state.our_state is h11.MUST_CLOSE:
                    return
                state.start_next_cycle()
            elif isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
                return
    except h11.RemoteProtocolError as error:
        if state.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            await _send(connection, state, error.error_status_hint, f"{error}\n".encode(), head=False)


async def _send(connection: "Connection", state: "h11.Connection", status: int, body: bytes, *, head: bool) -> None:
    import h11

    kind = b"text/html; charset=utf-8" if status == 200 else b"text/plain; charset=utf-8"
    headers = [(b"Content-Type", kind), (b"Content-Length", b"%d" % len(body)), (b"Server", b"fakekube")]
    data = state.send(h11.Response(status_code=status, headers=headers)) or b""
    if not head:
        data += state.send(h11.Data(data=body)) or b""
    await connection.write(data + (state.send(h11.EndOfMessage()) or b""))


def page(connection: "Connection", container: ReadOnlyTree, target: str) -> bytes:
    """The page: which pod and container answered, on which port, for what."""
    name, namespace = meta.name_of(connection.pod), meta.namespace_of(connection.pod)
    image = str(container.get("image", ""))
    return f"""\
<!doctype html>
<title>{html.escape(name)}</title>
<h1>Hello from {html.escape(name)}</h1>
<p>Pod {html.escape(f"{namespace}/{name}")}, container {html.escape(str(container["name"]))} ({html.escape(image)}),
port {connection.port}, path {html.escape(target)}.</p>
<p>No container runs here: this page is fakekube's, and on_connect serves another.</p>
""".encode()
