"""The commands that every container knows: they work on streams, and on the files that other
commands made.

Each does what tests and people use of it. Upstream: busybox, of which most is left out.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from fakekube.util import durations
from fakekube_controllers.kubelet.shell.session import Io, Session, Utility


async def _echo(_: Session, words: Sequence[str], io: Io) -> int:
    end, escapes = "\n", False
    while words and words[0] in ("-n", "-e", "-ne", "-en"):
        end = "" if "n" in words[0] else end
        escapes = escapes or "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    return await io.write((_unescaped(text) if escapes else text) + end)


async def _printf(_: Session, words: Sequence[str], io: Io) -> int:
    text, rest = _unescaped(words[0]) if words else "", list(words[1:])
    pieces = text.replace("%d", "%s").split("%s")
    filled = pieces[0] + "".join((rest.pop(0) if rest else "") + piece for piece in pieces[1:])
    return await io.write(filled.replace("%%", "%"))


def _unescaped(text: str) -> str:
    for escape, meant in (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\\\", "\\")):
        text = text.replace(escape, meant)
    return text


async def _cat(session: Session, words: Sequence[str], io: Io) -> int:
    code = 0
    for path in [word for word in words if word == "-" or not word.startswith("-")] or ["-"]:
        content = io.piped if path == "-" else session.files.read(path)
        if content is not None:
            await io.stdout(content)
        elif path != "-":
            code = await io.fail(f"cat: can't open '{path}': No such file or directory")
        else:
            while data := await io.stdin.read():
                await io.stdout(data)
    return code


async def _sleep(session: Session, words: Sequence[str], io: Io) -> int:
    try:
        seconds = durations.seconds_of(words[0] if words else "")
    except ValueError:
        return await io.fail(f"sleep: invalid number '{' '.join(words)}'")
    await session.clock.sleep(seconds)
    return 0


async def _test(session: Session, words: Sequence[str], _: Io) -> int:
    words = [word for word in words if word != "]"]
    files = session.files
    if words[:1] == ["!"]:
        return int(not await _test(session, words[1:], _))
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


async def _tar(session: Session, words: Sequence[str], io: Io) -> int:
    """What ``kubectl cp`` asks for: an archive from the input unpacked, or one of a path written to
    the output.
    """
    files, directory, paths = session.files, "/", list[str]()
    words = [word for word in words if not word.startswith("--")]
    flags = words[0].lstrip("-") if words else ""
    rest = iter(words[1:])
    for word in rest:
        if word == "-C":
            directory = next(rest, "/")
        elif word != "-":
            paths.append(word)
    if "x" in flags:
        try:
            files.unpack(await io.read_all(), directory)
        except ValueError as error:
            return await io.fail(f"tar: {error}", 1)
        return 0
    for path in paths:
        archive = files.pack(path)
        if archive is None:
            return await io.fail(f"tar: {path}: No such file or directory", 1)
        await io.stdout(archive)
    return 0


async def _list(session: Session, words: Sequence[str], io: Io) -> int:
    for path in [word for word in words if not word.startswith("-")] or ["/"]:
        if session.files.read(path) is not None:
            await io.write(f"{path}\n")
        elif session.files.is_directory(path):
            await io.write("".join(f"{name}\n" for name in session.files.names(path)))
        else:
            return await io.fail(f"ls: {path}: No such file or directory")
    return 0


async def _make_directory(session: Session, words: Sequence[str], _: Io) -> int:
    for path in words:
        if not path.startswith("-"):
            session.files.make_directory(path)
    return 0


async def _remove(session: Session, words: Sequence[str], io: Io) -> int:
    forced = any(word.startswith("-") and "f" in word for word in words)
    for path in words:
        if not path.startswith("-") and not session.files.remove(path) and not forced:
            return await io.fail(f"rm: can't remove '{path}': No such file or directory")
    return 0


async def _touch(session: Session, words: Sequence[str], _: Io) -> int:
    for path in words:
        session.files.write(path, b"", append=True)
    return 0


async def _tee(session: Session, words: Sequence[str], io: Io) -> int:
    content = await io.read_all()
    for path in words:
        if not path.startswith("-"):
            session.files.write(path, content, append="-a" in words)
    await io.stdout(content)
    return 0


async def _environment(session: Session, words: Sequence[str], io: Io) -> int:
    if words:
        value = session.variables.get(words[0])
        return 1 if value is None else await io.write(f"{value}\n")
    return await io.write("".join(f"{name}={value}\n" for name, value in session.variables.items() if name.isidentifier()))


async def _export(session: Session, words: Sequence[str], _: Io) -> int:
    for word in words:
        name, given, value = word.partition("=")
        if given:
            session.variables[name] = value
    return 0


async def _date(session: Session, _: Sequence[str], io: Io) -> int:
    return await io.write(f"{session.clock.now():%a %b %e %H:%M:%S UTC %Y}\n")


def _writing(text: Callable[[Session], str]) -> Utility:
    async def write(session: Session, _: Sequence[str], io: Io) -> int:
        return await io.write(f"{text(session)}\n")

    return write


def _ending(code: int) -> Utility:
    async def end(_: Session, __: Sequence[str], ___: Io) -> int:
        return code

    return end


UTILITIES: Mapping[str, Utility] = MappingProxyType({
    "echo": _echo, "printf": _printf, "cat": _cat, "sleep": _sleep, "test": _test, "[": _test, "tar": _tar, "ls": _list,
    "mkdir": _make_directory, "rm": _remove, "touch": _touch, "tee": _tee, "env": _environment, "printenv": _environment,
    "export": _export, "date": _date, "true": _ending(0), ":": _ending(0), "set": _ending(0), "cd": _ending(0),
    "false": _ending(1), "pwd": _writing(lambda _: "/"), "whoami": _writing(lambda _: "root"),
    "hostname": _writing(lambda session: session.environment.get("HOSTNAME", "localhost")),
})
