"""Clients outside of the event loop, and the real time that they get before virtual time moves on.

An operator in another thread or process watches objects over a socket. What it does when it was
told of a change takes it milliseconds of real time, in which virtual time would pass by days. So
before time moves, the driver asks here whether somebody outside may still be about to act, and
grants them real time until they have been quiet for ``grace_seconds``. Once they are quiet they
stay so until one of them does something or is told something.

Who counts: whoever has an open watch over a socket, or had one that the server ended a moment ago,
and may be about to open another; while somebody waits for time (``called``) also whoever sends
requests, and who was announced by ``expect``. What ends the quiet: an event that was sent to a
watch, the beginning of a watch, its end by the server, a write, and while somebody waits for time
any request. At other times reads do not count, since a test that polls would stop the time that it
waits for. The reads of the predicate that is waited for never count.

A client that is never quiet gets ``PATIENCE`` times that time, and from then on that time once
before each move, until it is quiet again. A machine that is so busy that we wake up late is late
for clients too: that time counts as nobody's, neither for those who are to be quiet, nor for those
who are to connect, nor for our patience. Upstream has no counterpart.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fakekube.util.clock import Clock
from fakekube.util.undisturbed import undisturbed
from fakekube.util.wallclock import RealClock

PATIENCE = 10
"""So many times that long they may keep time from moving, if they are never quiet."""

SLICE_SECONDS = 0.02
"""How often it is looked whether something happened, on the wall."""

MAX_CLIENTS = 100
"""So many clients without a watch are remembered, the latest."""


class OpenWatch:
    """A watch over a socket, from its beginning to its end."""

    __slots__ = ("_client", "_outside", "path")

    def __init__(self, outside: "ClientsOutside", client: "_Client", path: str) -> None:
        self._outside, self._client, self.path = outside, client, path
        client.watches[self] = None
        outside.open_watches += 1

    def tell(self) -> None:
        """An event was sent to the client."""
        self._outside.note()
        self._client.told_at = self._outside.acted_at

    def end(self) -> None:
        """The server ends the watch, which its client is to hear yet."""
        self._outside.note()
        self._outside.ended_at = self._outside.acted_at

    def close(self) -> None:
        """The watch is over; harmless when it was before."""
        if self._client.watches.pop(self, self) is None:
            self._outside.open_watches -= 1


class _Client:
    """One client, as its user agent and its address tell."""

    __slots__ = ("last", "last_at", "told_at", "watches")

    def __init__(self) -> None:
        self.watches: dict[OpenWatch, None] = {}
        self.last, self.last_at, self.told_at = "", 0.0, 0.0


class ClientsOutside:
    """All clients outside of one cluster. ``wall`` is the clock of real time."""

    def __init__(self, grace_seconds: float = 0.0, *, wall: Clock | None = None) -> None:
        self.grace_seconds = grace_seconds
        self.open_watches = 0
        self.listens = False  # whether anybody outside could be a client
        self.called = False  # whether somebody waits for time, so that requests are not theirs
        self.asking = False  # whether the predicate is being asked, so that reads may be its own
        self.processes: dict[int, None] = {}  # operators outside: who runs them says when they have begun
        self.writes = 0  # requests that are no reads, as they come and as they are answered
        self.acted_at = float("-inf")  # when something counted that ended the quiet
        self.ended_at = float("-inf")  # when the server ended a watch
        self._read_at = float("-inf")
        self._wall = wall or RealClock()
        self._clients: dict[tuple[str, str], _Client] = {}
        self._is_somebody_left: Callable[[], bool] | None = None
        self._expected_until = float("-inf")
        self._foreign_at = float("-inf")
        self._late_seconds = 0.0  # in all
        self._began: float | None = None  # since when time wants to move
        self._gave_up = self._was_never_quiet = False

    @contextmanager
    def asked(self) -> Iterator[None]:
        """A block in which a predicate is asked."""
        self.asking = True
        try:
            with undisturbed():
                yield
        finally:
            self.asking = False

    # what the server tells

    def request(self, agent: str, address: str, method: str, path: str) -> None:
        """A request came, or was answered."""
        is_read = method in ("GET", "HEAD", "OPTIONS")
        if is_read and self.asking:
            return
        client = self._client(agent, address)
        client.last, client.last_at = f"{method} {path}", self._time()
        if not is_read:
            self.writes += 1
            self.note()
        self._read_at = client.last_at
        if self.called:
            self._foreign_at = client.last_at

    def watch(self, agent: str, address: str, path: str) -> OpenWatch:
        """A watch begins: told of what happens to it by whoever serves it."""
        opened = OpenWatch(self, self._client(agent, address), path)
        self.note()
        return opened

    def note(self) -> None:
        """Something happened that somebody outside may answer to."""
        self.acted_at = self._time()

    def expect(self, seconds: float, is_somebody_left: Callable[[], bool]) -> None:
        """Somebody may connect who has not yet: time waits for so long, or for the first watch.

        ``is_somebody_left`` says whether they still may; as long as they may, and later, requests
        of the last moments are taken for theirs.
        """
        self._is_somebody_left = is_somebody_left
        self._expected_until = self._time() + seconds

    # what the driver asks

    def wait(self, grace_seconds: float | None = None) -> bool:
        """Whether time has to wait for somebody outside."""
        if not self.open_watches and self._is_somebody_left is None and not self.called and self.ended_at == float("-inf"):
            return False
        return self._left(self.grace_seconds if grace_seconds is None else grace_seconds) > 0

    async def grant(self, grace_seconds: float | None = None) -> None:
        """Give them a slice of real time."""
        begun = self._wall.time()
        left = self._left(self.grace_seconds if grace_seconds is None else grace_seconds)
        slice_seconds = min(SLICE_SECONDS, max(left, 0.001))
        await self._wall.sleep(slice_seconds)
        self._late_seconds += max(0.0, self._wall.time() - begun - slice_seconds)

    def call(self) -> None:
        """Somebody begins to wait for time."""
        self.called = True
        self.moved()

    def end_call(self) -> None:
        """They have stopped waiting."""
        self.called = False

    def moved(self) -> None:
        """Time moves: who is not quiet from now on is waited for anew."""
        self._began, self._gave_up = None, False

    def _time(self) -> float:
        """The wall's time less what everybody lost because the machine was busy."""
        return self._wall.time() - self._late_seconds

    def _left(self, grace_seconds: float) -> float:
        """How long somebody has to be waited for yet, in seconds of the wall, if nothing happens.
        """
        if not grace_seconds or self._gave_up:
            return 0.0
        now = self._time()
        left = self._unconnected(now)
        if left > 0:
            return left
        if self.open_watches or self._sends_requests(now, grace_seconds) or now - self.ended_at < grace_seconds:
            since = max(self.acted_at, self._read_at) if self.called else self.acted_at
            left = since + grace_seconds - now
        if left <= 0:
            self._began, self._was_never_quiet = None, False
            return 0.0
        return 0.0 if self._is_out_of_patience(grace_seconds, now) else left

    def _is_out_of_patience(self, grace_seconds: float, now: float) -> bool:
        if self._began is None:
            self._began = now
        times = 1 if self._was_never_quiet else PATIENCE
        if now - self._began > times * grace_seconds:
            self._gave_up = self._was_never_quiet = True
        return self._gave_up

    def _unconnected(self, now: float) -> float:
        """How long those who are expected to connect are waited for yet."""
        if now >= self._expected_until or not self.called:
            return 0.0
        left = self._is_somebody_left
        if self.open_watches or left is None or not left():
            self._expected_until = now
            return 0.0
        return self._expected_until - now

    def _sends_requests(self, now: float, grace_seconds: float) -> bool:
        if not self.called:
            return False
        left = self._is_somebody_left
        return now - self._foreign_at < 2 * grace_seconds or (left is not None and left())

    # what people are told

    def explain(self) -> Iterator[str]:
        """Lines on who is connected, what they watch and what they did last."""
        if not self.listens:
            return
        now = self._time()
        connected = [(name, client) for name, client in self._clients.items() if client.watches]
        if not connected:
            yield "no client outside has an open watch: if one is to come, wait for it first"
        for (agent, address), client in connected:
            paths = ", ".join(dict.fromkeys(watch.path for watch in client.watches))
            yield (f"client outside: {agent or 'without a user agent'} at {address} watches {paths}; "
                   f"{_ago('was last told of a change', client.told_at, now)}, "
                   f"{_ago(f'last request {client.last}', client.last_at, now)}")
        for (agent, address), client in self._clients.items():
            if not client.watches and now - client.last_at < PATIENCE * self.grace_seconds:
                yield (f"client outside: {agent or 'without a user agent'} at {address} watches nothing; "
                       f"{_ago(f'last request {client.last}', client.last_at, now)}")

    def _client(self, agent: str, address: str) -> _Client:
        key = agent, address
        client = self._clients.get(key)
        if client is None:
            client = self._clients[key] = _Client()
            if len(self._clients) > MAX_CLIENTS:
                idle = next((name for name, one in self._clients.items() if not one.watches and name != key), None)
                if idle is not None:
                    del self._clients[idle]
        return client


def _ago(what: str, at: float, now: float) -> str:
    return f"{what} {now - at:.1f} s ago" if at else f"{what}: never"
