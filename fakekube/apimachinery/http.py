"""A request and an answer, free of any HTTP library.

``APIServer`` is a Handler; ``server/`` puts aiohttp in front of any Handler and
``client/inprocess.py`` calls any Handler directly, so both see the same bytes. Upstream's
counterpart is net/http; what is left out is everything that a Kubernetes API server never looks at.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from fakekube.apimachinery.streams import CommandSession, PortSession
    from fakekube.apimachinery.types import Tree
    from fakekube.util.clock import Clock


MAX_BODY_BYTES = 3 * 1024 * 1024
"""A Handler refuses a longer body, so that nobody needs to read more than one byte beyond."""


class UserInfo(NamedTuple):
    """Who asks. Upstream: apiserver/pkg/authentication/user."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    def tree(self) -> "Tree":
        """As reviews, policies, webhooks and the audit log have it: what is empty is absent.

        Upstream: UserInfo of authentication/v1.
        """
        tree: Tree = {"username": self.name} if self.name else {}
        if self.uid:
            tree["uid"] = self.uid
        if self.groups:
            tree["groups"] = list(self.groups)
        if self.extra:
            tree["extra"] = {key: list(self.extra[key]) for key in sorted(self.extra)}
        return tree


class MetFault(NamedTuple):
    """What was made to go wrong with a request, by the names of faults.

    ``served``: the server did what was asked. ``told``: what is answered is what it answers then,
    whether its sender gets to see it or not.
    """

    names: str
    served: bool = True
    told: bool = True


@dataclass(slots=True, eq=False)
class Request:
    """One call: header names in lower case, the path without its query, both percent-decoded, the
    body as sent.

    ``canonical`` says that the caller encoded the body from a tree, so that no object in it gives a
    key twice. ``patience`` is the clock by which the caller waits, for timeouts that the caller
    asks for; None is the cluster's. A caller on the network waits by the wall's, however fast the
    cluster's time runs. ``certificate`` is the one (DER) that the client showed, signed by an
    authority that the front knows. ``exposed`` says that the request came by an address that other
    machines reach. ``replica`` is for a read that a replica answers which lags: the version that it
    has, at the time. ``fault`` is what was made to go wrong with it, once that is known.
    """

    method: str
    path: str
    query: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: UserInfo | None = None  # set by authentication, or by a caller in the same process
    peer: str = ""
    patience: "Clock | None" = None
    canonical: bool = False
    certificate: bytes = b""
    exposed: bool = False
    replica: Callable[[], int] | None = None
    fault: MetFault | None = None

    def param(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else default

    def flag(self, name: str) -> bool:
        """A boolean parameter as upstream reads it: anything but ``false`` and ``0`` is true once
        it is given.
        """
        values = self.query.get(name)
        return values is not None and values[0] not in ("false", "0")

    def accepts_gzip(self) -> bool:
        """Whether a client says that it takes gzip."""
        return any(token.strip() == "gzip" for token in self.headers.get("accept-encoding", "").split(","))


class Frame:
    """One piece of a streamed body, made once and shared by all who receive it.

    ``data`` is the piece as JSON, ``chunk`` the same in HTTP/1.1 chunked form, ``tree`` for
    receivers in the same process: decoded at most once, never to be changed. What nobody looks at
    is never made: bytes where no socket listens, a tree where nobody in the process does.
    ``make_data`` and ``make_tree`` may be given in place of either; ``make_data`` makes one line of
    JSON.
    """

    __slots__ = ("_chunk", "_data", "_make_data", "_make_tree", "_tree")

    def __init__(
        self, data: bytes | None = None, *, make_data: Callable[[], bytes] | None = None,
        make_tree: Callable[[], object] | None = None,
    ) -> None:
        self._data, self._make_data, self._make_tree = data, make_data, make_tree
        self._chunk: bytes | None = None
        self._tree: object | None = None

    @property
    def is_json(self) -> bool:
        """Whether it is one line of JSON for certain, whatever others may be."""
        return self._make_data is not None

    @property
    def data(self) -> bytes:
        """The bytes of the piece."""
        data = self._data
        if data is None:
            assert self._make_data is not None, "a frame has bytes, or what makes them"
            data = self._data = self._make_data()
        return data

    @property
    def chunk(self) -> bytes:
        """The frame between its length and a line end, as Transfer-Encoding chunked wants it."""
        if self._chunk is None:
            self._chunk = b"%x\r\n%b\r\n" % (len(self.data), self.data)
        return self._chunk

    @property
    def tree(self) -> object:
        """The decoded frame, shared by every receiver in this process."""
        if self._tree is None:
            import orjson

            self._tree = self._make_tree() if self._make_tree is not None else orjson.loads(self.data)
        return self._tree


class Sink(Protocol):
    """Where a Stream puts its frames. Neither method may block, await or raise."""

    def send(self, frame: Frame) -> None:
        """Take one frame."""

    def end(self) -> None:
        """No frame follows; called at most once, and not after the receiver stopped the stream."""


class Stream(Protocol):
    """A body that comes in pieces. Pieces are pushed: a slow receiver is cut, never waited for."""

    def start(self, sink: Sink) -> None:
        """Send what is due, then everything that happens until ``stop``."""

    def stop(self) -> None:
        """The receiver is gone. May be called more than once."""


Headers = list[tuple[str, str]]
"""Names as they go on the wire; Warning may repeat."""


class Response:
    """An answer; either ``body`` or ``stream`` counts.

    With status 101 neither does: ``session`` is what the connection is for from then on.
    ``is_watch`` says that the stream tells of changes of objects. ``cut``: the connection breaks
    after so many bytes of the body, with 0 before the head, and where a stream has begun, with its
    end; None, as nearly always: it does not. ``tree`` gives what ``body`` says, shared and
    read-only, where that is known without parsing.
    """

    __slots__ = ("_completion", "_headers", "body", "content_type", "cut", "is_watch", "session", "status", "stream", "tree")

    def __init__(
        self, status: int = 200, body: bytes = b"", content_type: str = "application/json", headers: Headers | None = None,
        stream: Stream | None = None, session: "CommandSession | PortSession | None" = None, is_watch: bool = False,
        cut: int | None = None,
    ) -> None:
        self.status, self.body, self.content_type, self.is_watch = status, body, content_type, is_watch
        self._headers: Headers = [] if headers is None else headers
        self.stream, self.session, self.cut = stream, session, cut
        self.tree: Callable[[], Tree] | None = None
        self._completion: Callable[[Headers], Headers] | None = None

    @property
    def headers(self) -> Headers:
        """All headers but those of the body."""
        completion = self._completion
        if completion is not None:
            self._completion = None
            self._headers = completion(self._headers)
        return self._headers

    @headers.setter
    def headers(self, headers: Headers) -> None:
        self._completion, self._headers = None, headers

    @property
    def own_headers(self) -> Headers:
        """Those that whoever answered has set, without what completes them once somebody looks."""
        return self._headers

    def complete_headers(self, completion: Callable[[Headers], Headers]) -> None:
        """Make all headers of those that are there once somebody looks: in the same process few do.
        """
        self._headers, self._completion = self.headers, completion


class Handler(Protocol):
    """Anything that answers requests: the API server, or a layer around it."""

    async def handle(self, request: Request) -> Response:
        """Answer one request. Raises nothing: errors are answers."""
