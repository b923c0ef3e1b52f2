"""What goes wrong with a watch: it ends, breaks, expires, stands still, comes late, or has no
bookmarks.

The order of what is told of one object stays as it is: no control plane tells it otherwise. A
stream that stands still keeps what it has to say, and says it once it may.
"""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Frame, Response, Sink
from fakekube.endpoints.openwatches import Divertible
from fakekube.util.clock import Clock

if TYPE_CHECKING:
    from fakekube.util.timers import Timer


class FaultySink:
    """Stands between a watch and its receiver, once it is ``in_front_of`` one."""

    def __init__(self, stream: Divertible, response: Response, clock: Clock) -> None:
        self._stream, self._response, self._clock = stream, response, clock
        self._sink: Sink | None = None
        self._held: deque[tuple[float, Frame]] = deque()  # with the time from which it may be told
        self._standing: dict[object, None] = {}
        self._late: dict[object, float] = {}
        self._strikes: list[tuple[int, Callable[[], None]]] = []
        self._timer: Timer | None = None
        self.drops_bookmarks = False

    def in_front_of(self, sink: Sink) -> Sink:
        """Itself, before the receiver."""
        self._sink = sink
        return self

    # faults; ``by`` is whoever wants it

    def stand_still(self, by: object) -> None:
        """Tell nothing until ``go_on``."""
        self._standing[by] = None

    def go_on(self, by: object) -> None:
        """Tell what was held."""
        self._standing.pop(by, None)
        self._flush()

    def be_late(self, by: object, seconds: float) -> None:
        """Tell each event so much later; 0 for no longer."""
        self._late[by] = seconds

    def strike_after(self, events: int, strike: Callable[[], None]) -> None:
        """Call ``strike`` once so many events were told; with 0 at once, or as soon as the watch
        has begun.
        """
        if events:
            self._strikes.append((events, strike))
        elif self._sink is not None:
            strike()
        else:
            self._clock.call_later(0.0, strike)

    def end_now(self) -> None:
        """End as a watch whose time is over."""
        self._stream.stop()
        self.end()

    def break_off(self) -> None:
        """End as a connection that is lost."""
        self._response.cut = 1
        self.end_now()

    def expire(self) -> None:
        """End as a watch whose version is gone."""
        status = errors.expired("too old resource version").status()
        self._pass_on(Frame(orjson.dumps({"type": "ERROR", "object": status}, option=orjson.OPT_APPEND_NEWLINE)))
        self.end_now()

    # the sink of the watch

    def send(self, frame: Frame) -> None:
        """Take one frame."""
        if self.drops_bookmarks and _is_bookmark(frame):
            return
        if self._standing or self._held or any(self._late.values()):
            self._held.append((self._clock.time() + max(self._late.values(), default=0.0), frame))
            self._flush()
        else:
            self._tell(frame)

    def end(self) -> None:
        """No frame follows, and none that is held: the receiver resumes from what it was told."""
        self.close()
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.end()

    def close(self) -> None:
        """The receiver is gone."""
        self._held.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _pass_on(self, frame: Frame) -> None:
        if self._sink is not None:
            self._sink.send(frame)

    def _tell(self, frame: Frame) -> None:
        self._pass_on(frame)
        if self._strikes and not _is_bookmark(frame):
            self._strikes = [(events - 1, strike) for events, strike in self._strikes]
            due = [strike for events, strike in self._strikes if not events]
            if due:
                self._strikes.clear()
                due[0]()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._held and not self._standing:
            due, frame = self._held[0]
            if due > self._clock.time():
                self._timer = self._clock.call_at(due, self._flush)
                return
            self._held.popleft()
            self._tell(frame)


def _is_bookmark(frame: Frame) -> bool:
    """Whether it is a bookmark, other than the one that ends a list: that always comes."""
    tree = frame.tree
    return isinstance(tree, dict) and tree.get("type") == "BOOKMARK" and not tree["object"]["metadata"].get("annotations")
