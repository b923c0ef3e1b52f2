"""A recording that was read: what was asked and answered, in the order in which it was asked."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from fakekube.apimachinery.http import MetFault
from fakekube.apimachinery.types import Json, Tree
from fakekube.endpoints import requestinfo
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.recording import form, lines
from fakekube.recording.lines import RecordingError


class Told(NamedTuple):
    """An event of a stream, or a piece of text, and when it came."""

    time: float
    event: Json


@dataclass
class Exchange:
    """A request, its answer, and what was told if that is a stream.

    ``line`` has everything, by the names of ``lines.py``. ``ended_after`` is the number of the
    latest request when the stream ended, if it did.
    """

    line: Tree
    told: list[Told] = field(default_factory=list)
    ended_after: int | None = None

    @property
    def number(self) -> int:
        """Its place among the requests of its cluster."""
        return int(self.line["number"])

    @property
    def cluster(self) -> str:
        """The cluster that was asked."""
        return str(self.line["cluster"])

    @property
    def test(self) -> str:
        """The test that asked, if it is known."""
        return str(self.line.get("test", ""))

    @property
    def method(self) -> str:
        """GET, POST ..."""
        return str(self.line["method"])

    @property
    def path(self) -> str:
        """The path, without the query."""
        return str(self.line["path"])

    @property
    def query(self) -> dict[str, list[str]]:
        """The values of the query, by name."""
        found: dict[str, list[str]] = self.line.get("query") or {}
        return found

    @property
    def code(self) -> int:
        """The status of the answer."""
        return int(self.line["code"])

    @property
    def fault(self) -> MetFault | None:
        """What was made to go wrong with it."""
        line = self.line
        names = str(line.get("fault", ""))
        return MetFault(names, bool(line.get("served", True)), bool(line.get("told", True))) if names else None

    @property
    def is_watch(self) -> bool:
        """Whether the answer is a stream of changes."""
        return self.line.get("stream") == "watch"

    @property
    def answer(self) -> Json:
        """The answer as a tree, or a text; None where there is none, or bytes."""
        return lines.tree_of(self.line)

    @cached_property
    def info(self) -> RequestInfo:
        """What is asked, by its form."""
        return requestinfo.parse(self.method, self.path, self.query)

    @property
    def is_read(self) -> bool:
        """Whether it only looks."""
        return self.method in ("GET", "HEAD", "OPTIONS")

    def __str__(self) -> str:
        query = "&".join(f"{name}={value}" for name, values in self.query.items() for value in values)
        return f"{self.method} {self.path}{'?' if query else ''}{query}"


@dataclass
class Recording:
    """All clusters of a recording, by their names in it, and all exchanges."""

    clusters: dict[str, Tree] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)

    def conversations(self) -> Iterator[tuple[str, str, list[Exchange]]]:
        """What was asked of one cluster in one test: the test, the cluster, the exchanges."""
        found: dict[tuple[str, str], list[Exchange]] = {}
        for exchange in self.exchanges:
            found.setdefault((exchange.test, exchange.cluster), []).append(exchange)
        for (test, cluster), exchanges in found.items():
            yield test, cluster, exchanges


def read(path: Path) -> Recording:
    """The recording in a file. Raises RecordingError, OSError."""
    try:
        return parse(path.read_bytes().splitlines())
    except RecordingError as error:
        raise RecordingError(f"{path}: {error}") from None


def parse(texts: Iterable[bytes]) -> Recording:
    """The recording in lines. Raises RecordingError."""
    found = Recording()
    numbered: dict[tuple[str, int], Exchange] = {}
    waiting: dict[tuple[str, int], list[Tree]] = {}
    for count, text in enumerate(texts, 1):
        try:
            _take(orjson.loads(text), found, numbered, waiting)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise RecordingError(f"line {count} is none of a recording: {type(error).__name__}: {error}") from error
    if not found.clusters:
        raise RecordingError("there is no recording in it")
    order = list(found.clusters)
    found.exchanges = [
        numbered[key] for key in sorted(numbered, key=lambda key: (order.index(key[0]), key[1]))]
    for key, told in waiting.items():
        if key in numbered:
            _tell(numbered[key], told)
    return found


def _tell(exchange: Exchange, told: list[Tree]) -> None:
    """Give a stream what it told."""
    for line in told:
        if "fault" in line:
            exchange.line |= {name: line[name] for name in ("fault", "served", "told") if name in line}
        if line["type"] == "end":
            exchange.ended_after = int(line["latest"])
        else:
            exchange.told.append(Told(float(line["time"]), lines.tree_of(line, "event")))


def _take(
    line: Any, found: Recording, numbered: dict[tuple[str, int], Exchange], waiting: dict[tuple[str, int], list[Tree]],
) -> None:
    kind = line["type"]
    if kind == "cluster":
        if line["format"] != lines.FORMAT:
            raise RecordingError(f"its format is {line['format']!r}, and {lines.FORMAT!r} is read here")
        form.check(kind, line)
        found.clusters[line["cluster"]] = line
        return
    if line["cluster"] not in found.clusters:
        raise RecordingError(f"it speaks of a cluster {line['cluster']!r} that it does not begin with")
    form.check(kind, line)
    if kind == "setup":
        found.clusters[line["cluster"]]["registered"] = line["registered"]
        return
    key = line["cluster"], int(line["number"])
    if kind == "request":
        numbered[key] = Exchange(line)
    elif kind in ("event", "end"):
        waiting.setdefault(key, []).append(line)
