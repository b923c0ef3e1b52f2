"""How long requests take, and how late watches hear: what a seed draws of a network.

An interceptor: it lets requests wait before they are answered, which may be after another's commit,
and answers before they are sent. Events of a watch wait for themselves, in their order. Upstream
has no counterpart: its network is real.

Who writes faster than any client may is made to wait, too.
"""

from collections import deque
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.causes import CAUSE
from fakekube.apimachinery.http import Frame, Request, Response, Sink, Stream
from fakekube.apiserver.paces import Paces
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.util.transit import Transit

if TYPE_CHECKING:
    from fakekube.apiserver.apiserver import Serve
    from fakekube.util.timers import Timer


class Delays:
    """An Interceptor that asks ``transit`` how late things are."""

    def __init__(self, transit: Transit, paces: Paces) -> None:
        self._transit, self._paces = transit, paces

    async def __call__(self, info: RequestInfo, request: Request, serve: "Serve") -> Response:
        """The answer, late or not."""
        if not info.is_resource:
            return await serve(info, request)
        transit, in_process = self._transit, not request.peer
        if info.verb == "watch":
            response = await serve(info, request)
            if response.stream is not None and response.is_watch:
                group = f"the watch of {info.resource} by {_sender(request)}"
                if transit.choices.may_deviate(group):
                    response.stream = LateStream(response.stream, transit, group, in_process=in_process)
            return response
        if not transit.may_be_late(in_process=in_process):
            return await serve(info, request)
        who = _sender(request)
        if seconds := self._paces.seconds(info, who):
            await self._wait(seconds)
        if seconds := self._seconds("the server gets %s", info, who, f"requests of {who}"):
            await self._wait(seconds)
        response = await serve(info, request)
        if transit.may_be_late(in_process=in_process) and (
                seconds := self._seconds("the answer to %s comes", info, who, f"answers to {who}")):
            await self._wait(seconds)
        return response

    def _seconds(self, label: str, info: RequestInfo, who: str, group: str) -> float:
        choices = self._transit.choices
        return choices.delay(label % _words(info, who), group) if choices.may_deviate(group) else 0.0

    async def _wait(self, seconds: float) -> None:
        cause = CAUSE.get()
        CAUSE.set(None)  # what others write meanwhile in this context is not this request's
        await self._transit.sleep(seconds)
        if cause is not None:
            CAUSE.set(cause._replace(time=self._transit.clock.time()))


def _sender(request: Request) -> str:
    return request.headers.get("user-agent", "").partition("/")[0]


def _words(info: RequestInfo, who: str) -> str:
    """``update of pods/status default/web-0 by kubelet``."""
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    name = f"{info.namespace}/{info.name}" if info.namespace and info.name else info.namespace or info.name
    return f"{info.verb} of {resource} {name} by {who}" if name else f"{info.verb} of {resource} by {who}"


class LateStream:
    """A watch whose events come late, in their order; a Stream and a Sink.

    ``group`` names it: ``the watch of pods by kubelet``.
    """

    __slots__ = ("_group", "_in_process", "_label", "_last", "_sink", "_stream", "_timer", "_transit", "_waiting")

    def __init__(self, stream: Stream, transit: Transit, group: str, *, in_process: bool) -> None:
        self._stream, self._transit, self._in_process = stream, transit, in_process
        self._group, self._label = group, f"{group} hears of"
        self._sink: Sink | None = None
        self._waiting: deque[tuple[float, Frame | None]] = deque()  # None is the end
        self._timer: Timer | None = None
        self._last = 0.0

    def start(self, sink: Sink) -> None:
        """Send what is due, then everything that happens until ``stop``."""
        self._sink = sink
        self._stream.start(self)

    def stop(self) -> None:
        """The receiver is gone."""
        self._sink = None
        self._waiting.clear()
        self._disarm()
        self._stream.stop()

    def send(self, frame: Frame) -> None:
        """Pass a frame on, now or later."""
        sink = self._sink
        if sink is None:
            return
        seconds = self._seconds(frame)
        if not seconds and not self._waiting:
            sink.send(frame)
            return
        self._put(seconds, frame)

    def end(self) -> None:
        """End, after all that is late."""
        if self._waiting:
            self._put(0.0, None)
        elif self._sink is not None:
            self._sink.end()

    def _seconds(self, frame: Frame) -> float:
        transit = self._transit
        if transit.calm or not (self._in_process or transit.may_be_late(in_process=False)):
            return 0.0
        event: Any = frame.tree
        metadata = event["object"].get("metadata") or {}
        name = metadata.get("name")
        if not name:  # a bookmark, an error, a table
            return 0.0
        namespace = metadata.get("namespace")
        return transit.choices.delay(f"{self._label} {namespace}/{name}" if namespace else f"{self._label} {name}", self._group)

    def _put(self, seconds: float, frame: Frame | None) -> None:
        if self._timer is not None and self._timer.cancelled:  # time has jumped, and nobody comes any more
            self._disarm()
            self._pass_on(float("inf"))
        self._last = max(self._last, self._transit.clock.time() + seconds)
        self._waiting.append((self._last, frame))
        self._arm()

    def _arm(self) -> None:
        if self._timer is None and self._waiting:
            seconds = self._waiting[0][0] - self._transit.clock.time()
            self._timer = self._transit.call_later(max(0.0, seconds), self._arrive)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._transit.arrived()

    def _arrive(self) -> None:
        self._timer = None
        self._transit.arrived()
        self._pass_on(self._transit.clock.time())
        self._arm()

    def _pass_on(self, until: float) -> None:
        waiting = self._waiting
        while waiting and waiting[0][0] <= until:
            _, frame = waiting.popleft()
            sink = self._sink
            assert sink is not None, "nothing waits once it has stopped"
            if frame is None:
                sink.end()
            else:
                sink.send(frame)
