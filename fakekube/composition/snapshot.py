"""A whole cluster at one moment: to go back to, to continue from, and to compare.

In memory a snapshot shares every object with the cluster that it was taken of. As a file (a gzip of
JSON lines: a header, the storage, an end mark) it can be attached to a CI run; ``fakekube serve
--from FILE`` continues from it. It holds the objects, the retained history with its causes, the
time, the position of the random generator, and the state of components (what runs on nodes). It
does not hold Python objects: callbacks, and components of ``extra``.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Json, Tree
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.storage import saved
from fakekube.storage.memory import Storage
from fakekube.storage.saved import Damaged, FieldsOf, dump
from fakekube.util import files
from fakekube.util.clock import is_holdable

FORMAT, VERSION = "fakekube-snapshot", 1
MAY_DIFFER = ("clock", "controllers")
BEGIN = b'{"format":"%s"' % FORMAT.encode()
OF_THE_READER = (
    "allow_host", "allow_origin", "webhook_services", "cache_mutation_detector", "tls", "token_auth_file", "anonymous_auth",
    "audit_log", "faults", "record")
"""Options that no snapshot decides: who may reach a server is up to who starts it."""
END = b'{"end":'
BEGIN_BYTES = 1 << 16  # enough of the packed bytes for the beginning
COMPRESSION = 6
MOST_UNPACKED, MOST_RATIO = 64 << 20, 200
"""A file that unpacks to more bytes than the first is refused if that is more than so many times
its own: a snapshot of many equal pods unpacks to 30 times its bytes, a gzip of zeros to 1,000
times.
"""


class SnapshotError(Exception):
    """A file that is not a usable snapshot; the text says why."""


class Snapshot(NamedTuple):
    """A cluster at one moment. Treat it as read-only: ``storage`` belongs to the snapshot alone.

    ``time`` is Unix seconds, ``started`` when the cluster began, ``rng`` the position of its random
    generator, ``components`` the states of components by name.
    """

    options: ClusterOptions
    storage: Storage
    time: float
    started: str
    rng: list[int]
    components: Mapping[str, Json]

    @property
    def revision(self) -> int:
        """The storage's revision."""
        return self.storage.revision

    def options_with(self, values: Mapping[str, Any]) -> ClusterOptions:
        """The options of a cluster that goes on from here.

        Raises OptionError for what the snapshot decides.
        """
        for name in values:
            if name not in MAY_DIFFER + OF_THE_READER:
                raise OptionError(f"{name}: the snapshot decides that; only {' and '.join(MAY_DIFFER)} may differ from it")
        return replace(self.options, **{
            name: getattr(ClusterOptions.of(**{name: value}), name) for name, value in values.items()})

    def encode(self) -> bytes:
        """The contents of a file. The same state gives the same bytes."""
        return gzip.compress(b"".join(line + b"\n" for line in self._lines()), COMPRESSION, mtime=0)

    def write(self, path: "Path | str") -> None:
        """Write a file that ``read`` and ``fakekube serve --from`` take, in place of an older
        snapshot or an empty file.

        Raises OSError, NotReplaced for any other file.
        """
        write_file(Path(path), self.encode())

    def _lines(self) -> Iterator[bytes]:
        storage, count = self.storage, 0
        yield orjson.dumps({
            "format": FORMAT, "version": VERSION, "options": _plain(self.options), "time": self.time, "started": self.started,
            "revision": storage.revision, "compacted": storage.log.compacted, "begun": storage.log.begun, "rng": self.rng,
            "components": self.components,
        }, default=_remembered)
        for line in dump(storage):
            count += 1
            yield line
        yield END + b"%d}" % count


def _remembered(value: Any) -> Json:
    """The state of a component as JSON, encoded when the snapshot is written."""
    return value.__json__()


def _plain(options: ClusterOptions) -> Tree:
    result: Tree = asdict(replace(options, record=""))  # which may be no data
    result["start"] = options.start.isoformat() if options.start else None
    for name in OF_THE_READER:
        del result[name]
    return result


def read(path: "Path | str") -> Snapshot:
    """A snapshot from a file.

    Raises SnapshotError for a file that is none, is cut short or has another format; OSError.
    """
    return decode(Path(path).read_bytes(), str(path))


def decode(data: bytes, name: str = "the snapshot") -> Snapshot:
    """A snapshot from a file's contents; ``name`` is what errors call it. Raises SnapshotError."""
    lines = _unpacked(data, name)
    header = _header(lines[0] if lines else b"", name)
    if len(lines) < 2 or lines[-1] != END + b"%d}" % (len(lines) - 2):
        raise SnapshotError(f"{name} is cut short: its end is missing")
    try:
        start = header["options"].get("start")
        options = ClusterOptions.of(**{**header["options"], "start": datetime.fromisoformat(start) if start else None})
        storage = saved.load(
            iter(lines[1:-1]), revision=header["revision"], compacted=header["compacted"], begun=header["begun"],
            fields_of=_fields_of(options))
        if not is_holdable(float(header["time"])):
            raise ValueError("time")
        if not is_holdable(parse_time(header["started"])):
            raise ValueError("started")
        return Snapshot(
            options, storage, float(header["time"]), str(header["started"]), list(header["rng"]), dict(header["components"]))
    except (Damaged, OptionError) as error:
        raise SnapshotError(f"{name} is damaged: {error}") from error
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise SnapshotError(f"{name} is damaged: its header has no usable {error}") from error


def write_file(path: Path, data: bytes) -> None:
    """Write the contents of a snapshot's file.

    Raises OSError, NotReplaced for a file that is no snapshot.
    """
    found = files.beginning(path, BEGIN_BYTES)
    if found and not is_one(found):
        raise files.NotReplaced(f"{path} is no snapshot of fakekube, and is left as it is")
    files.write(path, data)


def is_one(data: bytes) -> bool:
    """Whether a file's contents begin as those of a snapshot, of whatever version, do."""
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            return file.read(len(BEGIN)) == BEGIN
    except (OSError, EOFError, zlib.error):
        return False


def _unpacked(data: bytes, name: str) -> list[bytes]:
    most = max(MOST_UNPACKED, MOST_RATIO * len(data))
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            text = file.read(most + 1)
    except EOFError:
        raise SnapshotError(f"{name} is cut short") from None
    except (OSError, zlib.error) as error:
        raise SnapshotError(f"{name} is no snapshot of fakekube: {error}") from error
    if len(text) > most:
        raise SnapshotError(f"{name} is no snapshot of fakekube: its {len(data)} bytes unpack to more than {most}")
    return text.split(b"\n")[:-1]


def _header(line: bytes, name: str) -> dict[str, Any]:
    try:
        header = orjson.loads(line)
    except orjson.JSONDecodeError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SnapshotError(f"{name} is no snapshot of fakekube")
    if header.get("version") != VERSION:
        raise SnapshotError(
            f"{name} has format {header.get('version')} of snapshots, and this fakekube reads format {VERSION}: "
            "read it with the release that wrote it")
    return header


def _fields_of(options: ClusterOptions) -> FieldsOf:
    from fakekube.composition.controlplane import selectable_fields

    fields: Callable[..., Any] = selectable_fields(options)
    return fields
