"""The files of a container, as far as commands have made any: enough for ``kubectl cp``, ``cat``
and redirections.

Nothing is there at the beginning, and a restart begins again. Left out: owners, modes, links;
snapshots do not hold them.
"""

import io
import posixpath
from collections.abc import Iterator

DEV_NULL = "/dev/null"


class Files:
    """Contents by absolute path. Directories are what paths have in front of their names."""

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}
        self._directories: dict[str, None] = {"/": None, "/tmp": None}  # noqa: S108 (a path inside a container)

    def write(self, path: str, content: bytes, *, append: bool = False) -> None:
        """Write a file."""
        path = absolute(path)
        if path == DEV_NULL:
            return
        self._contents[path] = (self._contents.get(path, b"") if append else b"") + content

    def read(self, path: str) -> bytes | None:
        """A file's content, or None."""
        path = absolute(path)
        return b"" if path == DEV_NULL else self._contents.get(path)

    def make_directory(self, path: str) -> None:
        """Make a directory, and those above it."""
        path = absolute(path)
        while path not in self._directories:
            self._directories[path] = None
            path = posixpath.dirname(path)

    def is_directory(self, path: str) -> bool:
        """Whether a directory is there."""
        path = absolute(path)
        return path in self._directories or any(name.startswith(f"{path.rstrip('/')}/") for name in self._contents)

    def remove(self, path: str) -> bool:
        """Remove a file, or a directory with what is in it; whether there was any."""
        path = absolute(path)
        gone = [*self._below(self._contents, path), *self._below(self._directories, path)]
        for name in gone:
            self._contents.pop(name, None)
            self._directories.pop(name, None)
        return bool(gone)

    def names(self, path: str) -> list[str]:
        """The names in a directory, sorted."""
        prefix = absolute(path).rstrip("/") + "/"
        every = [*self._contents, *self._directories]
        return sorted({name.removeprefix(prefix).split("/")[0] for name in every if name.startswith(prefix) and name != prefix})

    def pack(self, path: str) -> bytes | None:
        """A file or directory as a tar archive, or None when it is not there."""
        import tarfile

        whole, archive = absolute(path), io.BytesIO()
        found = sorted(self._below(self._contents, whole))
        if not found and not self.is_directory(whole):
            return None
        with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name in found:
                entry = tarfile.TarInfo(posixpath.join(path, posixpath.relpath(name, whole)) if name != whole else path)
                entry.name, entry.size = entry.name.lstrip("/"), len(self._contents[name])
                tar.addfile(entry, io.BytesIO(self._contents[name]))
        return archive.getvalue()

    def unpack(self, archive: bytes, directory: str) -> None:
        """Put what is in a tar archive into a directory. Raises ValueError for what is no archive.
        """
        import tarfile

        try:
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                for entry in tar:
                    path = posixpath.join(absolute(directory), entry.name.lstrip("/"))
                    if entry.isdir():
                        self.make_directory(path)
                    elif content := tar.extractfile(entry):
                        self.write(path, content.read())
        except tarfile.TarError as error:
            raise ValueError(str(error)) from error

    def _below(self, paths: dict[str, bytes] | dict[str, None], path: str) -> Iterator[str]:
        return (name for name in list(paths) if name == path or name.startswith(f"{path.rstrip('/')}/"))


def absolute(path: str) -> str:
    """A path from the root, without detours."""
    return posixpath.normpath(posixpath.join("/", path)).replace("//", "/")
