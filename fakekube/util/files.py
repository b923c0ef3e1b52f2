"""Files that others may read, or own: written whole or not at all, through links, with the mode and
owner that they had.

Upstream: k8s.io/client-go/tools/clientcmd (``lockFile``, ``WriteToFile``). Left out: hard links,
which part when a file is replaced.
"""

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

LOCK_SUFFIX = ".lock"  # client-go's
LOCK_SECONDS = 2.0
LOOK_SECONDS = 0.02
PRIVATE = 0o600


class NotReplaced(FileExistsError):
    """What stands in a file's place is not ours to replace; the text is one sentence that says what
    it is.
    """


def read(path: Path, limit_bytes: int) -> bytes | None:
    """What a file holds, or None where there is none.

    Raises NotReplaced for a device, a directory, a pipe, or more than ``limit_bytes``; OSError.
    """
    found = _regular(path)
    if found is None:
        return None
    if found.st_size > limit_bytes:
        raise NotReplaced(f"{path} has {found.st_size:,} bytes, which nothing of ours has, and is left as it is")
    return path.read_bytes()


def beginning(path: Path, size_bytes: int) -> bytes:
    """The first bytes of a file; none where there is none. Raises NotReplaced as ``read``; OSError.
    """
    if _regular(path) is None:
        return b""
    with path.open("rb") as file:
        return file.read(size_bytes)


def _regular(path: Path) -> os.stat_result | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise NotReplaced(f"{path} is no regular file, and is left as it is")
    return found


def write(path: Path, data: bytes) -> None:
    """Replace a file, or make one that its owner alone can read; a reader sees the old contents or
    the new.

    A link stays, and the file that it leads to is replaced. Mode and owner stay as they were.
    Raises NotReplaced for what is no regular file; OSError.
    """
    target = Path(os.path.realpath(path))
    before = _regular(target)
    try:
        handle, half = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    except OSError as error:
        error.filename = str(path)  # whoever asked knows no other
        raise
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if before is not None:
                with contextlib.suppress(PermissionError):  # only root gives files away
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
            os.fchmod(file.fileno(), PRIVATE if before is None else stat.S_IMODE(before.st_mode))
        Path(half).replace(target)
    finally:
        Path(half).unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file; a link stays, and the file that it leads to goes. Raises OSError."""
    Path(os.path.realpath(path)).unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep others who lock as client-go does from writing a file meanwhile.

    Raises OSError when somebody else keeps the lock for two seconds.
    """
    lock = path.with_name(path.name + LOCK_SUFFIX)
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL, 0))
            break
        except FileExistsError:
            if time.monotonic() > end:
                raise OSError(
                    f"{lock} is there: somebody writes {path}, or has died while writing; "
                    "remove it if nobody does") from None
            time.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
