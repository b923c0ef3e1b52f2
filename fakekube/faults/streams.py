"""What goes wrong with a watch: it ends, breaks, expires, stands still, comes late, or has no
bookmarks.

The order of what is told of one object stays as it is: no control plane tells it otherwise. A
stream that stands still keeps what it has to say, and says it once it may; one that has kept too
much ends then, since a server does not wait for a slow watcher for ever.
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


MOST_HELD = 10_000
"""How many events may wait for one watcher."""

APART_SECONDS = 0.001


class FaultySink:
    """Stands between a watch and its receiver, once it is ``in_front_of`` one."""

    def __init__(self, stream: Divertible, response: Response, clock: Clock) -> None:
        self._stream, self._response, self._clock = stream, response, clock
        self._sink: Sink | None = None
        self._held: deque[tuple[float, Frame]] = deque()  # with the time from which it may be told
        self._is_over = False  # no more is held, and after what is held it ends
        self._standing: dict[object, None] = {}
        self._behind: dict[object, int] = {}
        self._late: dict[object, float] = {}
        self._without_bookmarks: dict[object, None] = {}
        self._strikes: list[tuple[object, int, Callable[[], None]]] = []
        self._timer: Timer | None = None
        self.timers: list[Timer] = []

    def in_front_of(self, sink: Sink) -> Sink:
        """Itself, before the receiver."""
        self._sink = sink
        return self

    # faults; ``by`` is whoever wants it

    def stand_still(self, by: object) -> None:
        """Tell nothing until ``go_on``."""
        self._standing[by] = None

    def be_behind(self, by: object, revision: int) -> None:
        """Tell nothing newer than a revision until ``go_on``."""
        self._behind[by] = revision

    def go_on(self, by: object) -> None:
        """Do nothing more of what ``by`` wanted, and tell what was held for it."""
        for wishes in (self._standing, self._behind, self._late, self._without_bookmarks):
            wishes.pop(by, None)
        self._strikes = [strike for strike in self._strikes if strike[0] is not by]
        self._flush()

    def be_late(self, by: object, seconds: float) -> None:
        """Tell each event so much later, until ``go_on``."""
        self._late[by] = seconds

    def drop_bookmarks(self, by: object) -> None:
        """Tell no bookmarks, but for the one that ends a list, until ``go_on``."""
        self._without_bookmarks[by] = None

    def strike_after(self, by: object, events: int, strike: Callable[[], None]) -> None:
        """Call ``strike`` once so many events were told; with 0 at once, or as soon as the watch
        has begun.
        """
        if events:
            self._strikes.append((by, events, strike))
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
        if self._is_over or (self._without_bookmarks and _is_bookmark(frame)):
            return
        if not (self._standing or self._held or self._late or self._behind):
            self._tell(frame)
        elif _is_error(frame):  # the last of a watch, which nothing that came before may outlive
            self._held.clear()
            self._tell(frame)
        elif len(self._held) >= MOST_HELD:
            self._is_over = True
        else:
            self._held.append((self._due(), frame))
            self._flush()

    def end(self) -> None:
        """No frame follows, and none that is held: the receiver resumes from what it was told."""
        self.close()
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.end()

    def _due(self) -> float:
        """When an event that comes now may be told; what is late comes one after the other, so that
        a receiver may act between two that were written at one instant.
        """
        now = self._clock.time()
        if not self._late:
            return now
        before = self._held[-1][0] + APART_SECONDS if self._held else 0.0
        return max(now + max(self._late.values()), before)

    def close(self) -> None:
        """The receiver is gone."""
        self._held.clear()
        self._is_over = True
        for timer in self.timers:
            timer.cancel()
        self.timers.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _pass_on(self, frame: Frame) -> None:
        if self._sink is not None:
            self._sink.send(frame)

    def _tell(self, frame: Frame) -> None:
        self._pass_on(frame)
        if self._strikes and not _is_bookmark(frame):
            left = [(by, events - 1, strike) for by, events, strike in self._strikes]
            self._strikes = [one for one in left if one[1]]
            for _, events, strike in left:
                if not events:
                    strike()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._held and not self._standing:
            due, frame = self._held[0]
            if self._behind and _revision(frame) > min(self._behind.values()):
                return
            if due > self._clock.time():
                self._timer = self._clock.call_at(due, self._flush)
                return
            self._held.popleft()
            self._tell(frame)
        if self._is_over and not self._held and self._sink is not None:
            self.end_now()


def _is_error(frame: Frame) -> bool:
    tree = frame.tree
    return isinstance(tree, dict) and tree.get("type") == "ERROR"


def _revision(frame: Frame) -> int:
    """The version that an event is of; 0 for one that names none."""
    tree = frame.tree
    metadata = tree["object"].get("metadata") if isinstance(tree, dict) else None
    return int((metadata or {}).get("resourceVersion") or 0)


def _is_bookmark(frame: Frame) -> bool:
    """Whether it is a bookmark, other than the one that ends a list: that always comes."""
    tree = frame.tree
    return isinstance(tree, dict) and tree.get("type") == "BOOKMARK" and not tree["object"]["metadata"].get("annotations")
