"""A shell that is sent lines, and archives with directories."""

import io
import tarfile
from types import SimpleNamespace
from typing import Any

from fakekube.util.clock import ManualClock
from fakekube_controllers.kubelet.shell.files import Files
from fakekube_controllers.kubelet.shell.session import Io, NoInput
from fakekube_controllers.kubelet.shell.shell import Shell


def test_directories_of_an_archive_are_made() -> None:
    """Given an archive with an empty directory / when it is unpacked / then that is there."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        entry = tarfile.TarInfo("logs")
        entry.type = tarfile.DIRTYPE
        tar.addfile(entry)
    files = Files()
    files.unpack(archive.getvalue(), "/var")
    assert (files.is_directory("/var/logs"), files.is_directory("/var/other")) == (True, False)


async def test_a_shell_reads_lines_until_it_ends() -> None:
    """Given a shell that is sent lines / then it runs each, until it is to exit, or nothing comes;
    a command that exits without a shell ends with its code, and no input has nothing.
    """
    for lines, code, expected in (
            ([b"echo a\n", b"false\n"], 1, "a\n"),
            ([b"exit 3\n", b"echo b\n"], 3, ""), ([b"echo a; exit\n"], 0, "a\n"), ([], 0, "")):
        out = bytearray()
        shell = Shell(Files(), {}, ManualClock())
        assert await shell.execute(["sh"], _io(lines, out)) == code
        assert out.decode() == expected
    assert await Shell(Files(), {}, ManualClock()).execute(["exit", "300"], _io([], bytearray())) == 44
    assert [await NoInput().read(), await NoInput().read_line(), await NoInput().read_all()] == [b""] * 3


def _io(lines: list[bytes], out: bytearray) -> Io:
    async def read_line() -> bytes:
        return lines.pop(0) if lines else b""

    async def write(data: bytes) -> None:
        out.extend(data)

    stdin: Any = SimpleNamespace(tty=False, read_line=read_line)
    return Io(stdin, write, write)
