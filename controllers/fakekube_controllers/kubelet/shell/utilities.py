"""The commands that every container knows, as far as tests and people use them: they work on streams and on the files that
other commands made. Upstream: busybox, of which most is left out.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from fakekube.util import durations
from fakekube_controllers.kubelet.server.process import Process

if TYPE_CHECKING:
    from fakekube_controllers.kubelet.shell.shell import Shell

Write = Callable[[bytes], Awaitable[None]]


class Io:
    """Where one command reads and writes. ``given`` is what a pipe or a file has for it; None is the process's input."""

    def __init__(self, process: Process, out: Write, error: Write, given: bytes | None = None) -> None:
        self.process, self.out, self.error, self.given = process, out, error, given

    async def say(self, text: str) -> int:
        """Write a text; success."""
        await self.out(text.encode())
        return 0

    async def complain(self, text: str, code: int = 1) -> int:
        """Write a line to standard error; the code."""
        await self.error(f"{text}\n".encode())
        return code

    async def read_all(self) -> bytes:
        """All of the input."""
        return await self.process.read_all() if self.given is None else self.given


Builtin = Callable[["Shell", Sequence[str], Io], Awaitable[int]]


async def _echo(_: "Shell", words: Sequence[str], io: Io) -> int:
    end, escapes = "\n", False
    while words and words[0] in ("-n", "-e", "-ne", "-en"):
        end = "" if "n" in words[0] else end
        escapes = escapes or "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    return await io.say((_unescaped(text) if escapes else text) + end)


async def _printf(_: "Shell", words: Sequence[str], io: Io) -> int:
    text, rest = _unescaped(words[0]) if words else "", list(words[1:])
    pieces = text.replace("%d", "%s").split("%s")
    filled = pieces[0] + "".join((rest.pop(0) if rest else "") + piece for piece in pieces[1:])
    return await io.say(filled.replace("%%", "%"))


def _unescaped(text: str) -> str:
    for escape, meant in (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\\\", "\\")):
        text = text.replace(escape, meant)
    return text


async def _cat(shell: "Shell", words: Sequence[str], io: Io) -> int:
    code = 0
    for path in [word for word in words if word == "-" or not word.startswith("-")] or ["-"]:
        content = io.given if path == "-" else shell.process.files.read(path)
        if content is not None:
            await io.out(content)
        elif path != "-":
            code = await io.complain(f"cat: can't open '{path}': No such file or directory")
        else:
            while data := await shell.process.read():
                await io.out(data)
    return code


async def _sleep(shell: "Shell", words: Sequence[str], io: Io) -> int:
    try:
        seconds = durations.seconds_of(words[0] if words else "")
    except ValueError:
        return await io.complain(f"sleep: invalid number '{' '.join(words)}'")
    await shell.process.sleep(seconds)
    return 0


async def _test(shell: "Shell", words: Sequence[str], _: Io) -> int:
    words = [word for word in words if word != "]"]
    files = shell.process.files
    if words[:1] == ["!"]:
        return int(not await _test(shell, words[1:], _))
    match words:
        case ["-d", path]:
            holds = files.is_directory(path)
        case ["-f", path]:
            holds = files.read(path) is not None
        case ["-e", path]:
            holds = files.read(path) is not None or files.is_directory(path)
        case ["-z", text]:
            holds = not text
        case ["-n", text] | [text]:
            holds = bool(text)
        case [one, "=" | "==" | "-eq", other]:
            holds = one == other
        case [one, "!=" | "-ne", other]:
            holds = one != other
        case _:
            holds = False
    return int(not holds)


async def _tar(shell: "Shell", words: Sequence[str], io: Io) -> int:
    """What ``kubectl cp`` asks for: an archive from the input unpacked, or one of a path written to the output."""
    files, directory, paths = shell.process.files, "/", list[str]()
    flags = words[0].lstrip("-") if words else ""
    rest = iter([word for word in words[1:] if not word.startswith("--")])
    for word in rest:
        if word == "-C":
            directory = next(rest, "/")
        elif word != "-":
            paths.append(word)
    if "x" in flags:
        try:
            files.unpack(await io.read_all(), directory)
        except ValueError as error:
            return await io.complain(f"tar: {error}", 1)
        return 0
    for path in paths:
        archive = files.pack(path)
        if archive is None:
            return await io.complain(f"tar: {path}: No such file or directory", 1)
        await io.out(archive)
    return 0


async def _list(shell: "Shell", words: Sequence[str], io: Io) -> int:
    for path in [word for word in words if not word.startswith("-")] or ["/"]:
        if shell.process.files.read(path) is not None:
            await io.say(f"{path}\n")
        elif shell.process.files.is_directory(path):
            await io.say("".join(f"{name}\n" for name in shell.process.files.names(path)))
        else:
            return await io.complain(f"ls: {path}: No such file or directory")
    return 0


async def _make_directory(shell: "Shell", words: Sequence[str], _: Io) -> int:
    for path in words:
        if not path.startswith("-"):
            shell.process.files.make_directory(path)
    return 0


async def _remove(shell: "Shell", words: Sequence[str], io: Io) -> int:
    forced = any(word.startswith("-") and "f" in word for word in words)
    for path in words:
        if not path.startswith("-") and not shell.process.files.remove(path) and not forced:
            return await io.complain(f"rm: can't remove '{path}': No such file or directory")
    return 0


async def _touch(shell: "Shell", words: Sequence[str], _: Io) -> int:
    for path in words:
        shell.process.files.write(path, b"", append=True)
    return 0


async def _tee(shell: "Shell", words: Sequence[str], io: Io) -> int:
    content = await io.read_all()
    for path in words:
        if not path.startswith("-"):
            shell.process.files.write(path, content, append="-a" in words)
    await io.out(content)
    return 0


async def _environment(shell: "Shell", words: Sequence[str], io: Io) -> int:
    if words:
        value = shell.variables.get(words[0])
        return 1 if value is None else await io.say(f"{value}\n")
    return await io.say("".join(f"{name}={value}\n" for name, value in shell.variables.items() if name.isidentifier()))


async def _export(shell: "Shell", words: Sequence[str], _: Io) -> int:
    for word in words:
        name, given, value = word.partition("=")
        if given:
            shell.variables[name] = value
    return 0


async def _date(shell: "Shell", _: Sequence[str], io: Io) -> int:
    return await io.say(f"{shell.process.clock.now():%a %b %e %H:%M:%S UTC %Y}\n")


def _saying(text: Callable[["Shell"], str]) -> Builtin:
    async def say(shell: "Shell", _: Sequence[str], io: Io) -> int:
        return await io.say(f"{text(shell)}\n")

    return say


def _ending(code: int) -> Builtin:
    async def end(_: "Shell", __: Sequence[str], ___: Io) -> int:
        return code

    return end


COMMANDS: Mapping[str, Builtin] = MappingProxyType({
    "echo": _echo, "printf": _printf, "cat": _cat, "sleep": _sleep, "test": _test, "[": _test, "tar": _tar, "ls": _list,
    "mkdir": _make_directory, "rm": _remove, "touch": _touch, "tee": _tee, "env": _environment, "printenv": _environment,
    "export": _export, "date": _date, "true": _ending(0), ":": _ending(0), "set": _ending(0), "cd": _ending(0),
    "false": _ending(1), "pwd": _saying(lambda _: "/"), "whoami": _saying(lambda _: "root"),
    "hostname": _saying(lambda shell: shell.process.environment["HOSTNAME"]),
})
