"""A shell: it runs scripts of the commands in ``utilities.py``, or the lines that it is sent.

A command that is not known writes its own words and succeeds, since nothing is installed here that
could be missing. No program runs. By itself:

    shell = Shell(Files(), {"HOSTNAME": "web-0"}, clock)
    result = await shell.run("echo hello >/tmp/a; cat /tmp/a | tee /tmp/b")

``parser.py`` says which part of the language is understood. Upstream: busybox ash, of which most is
left out.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.shell import parser
from fakekube_controllers.kubelet.shell.files import Files
from fakekube_controllers.kubelet.shell.parser import BadScript, Simple, Step
from fakekube_controllers.kubelet.shell.session import Io, NoInput, Result, Session
from fakekube_controllers.kubelet.shell.utilities import UTILITIES

PROMPT = "/ # "
SYNTAX_ERROR = 2  # an exit code
SPECIAL = frozenset({":", "exec", "export", "set"})  # what is assigned before another command is for it alone


class _Exit(Exception):
    """``exit`` was called."""

    def __init__(self, code: int) -> None:
        self.code = code


class Shell:
    """Runs commands in one container: ``files`` are the container's, ``environment`` its variables.
    """

    def __init__(self, files: Files, environment: Mapping[str, str], clock: Clock) -> None:
        self._session = Session(files, environment, clock)
        self._code = 0  # of the last command

    async def run(self, script: str, stdin: bytes = b"") -> Result:
        """Run a script to its end: what it wrote, and its exit code."""
        stdout, stderr = bytearray(), bytearray()
        code = await self.execute(["sh", "-c", script], Io(NoInput(), _append_to(stdout), _append_to(stderr), stdin))
        return Result(stdout.decode(errors="replace"), stderr.decode(errors="replace"), code)

    async def execute(self, words: Sequence[str], io: Io) -> int:
        """Run one command, its name and arguments, to its end: the exit code. Raises
        ConnectionError when who reads has gone.
        """
        try:
            return await self._execute(words, io)
        except _Exit as exited:
            return exited.code

    async def _execute(self, words: Sequence[str], io: Io) -> int:
        name, arguments = words[0].rsplit("/", 1)[-1], words[1:]
        builtin = _BUILTINS.get(name)
        if builtin is not None and len(arguments) >= builtin.least_arguments:
            return await builtin.run(self, arguments, io)
        utility = UTILITIES.get(name)
        if utility is None:
            return await io.write(" ".join(words) + "\n")
        return await utility(self._session, arguments, io)

    # the commands that only a shell can have

    async def _shell(self, arguments: Sequence[str], io: Io) -> int:
        """``sh``, a shell within the shell: it may exit without ending this one."""
        inner = Shell(self._session.files, self._session.environment, self._session.clock)
        inner._session = self._session.child()
        flag = next((number for number, word in enumerate(arguments) if word.startswith("-") and "c" in word), len(arguments))
        try:
            if flag + 1 < len(arguments):
                parameters = arguments[flag + 2:]
                inner._session.variables |= {str(number): text for number, text in enumerate(parameters)}
                return await inner._interpret(arguments[flag + 1], io)
            if io.piped is not None:
                return await inner._interpret(io.piped.decode(errors="replace"), io)
            return await inner._interact(io)
        except _Exit as exited:
            return exited.code

    async def _exit(self, arguments: Sequence[str], _: Io) -> int:
        raise _Exit(int(arguments[0]) % 256 if arguments and arguments[0].isdecimal() else self._code)

    async def _negate(self, arguments: Sequence[str], io: Io) -> int:
        """``!``"""
        return int(not await self._execute(arguments, io))

    # scripts

    async def _interact(self, io: Io) -> int:
        """Run line by line what is sent, until the end of it."""
        while True:
            if io.stdin.tty:
                await io.write(PROMPT)
            line = await io.stdin.read_line()
            if not line:
                return self._code
            await self._interpret(line.decode(errors="replace"), io)

    async def _interpret(self, text: str, io: Io) -> int:
        """Run a script: the code of its last command."""
        try:
            steps = parser.parse(text)
        except BadScript as error:
            self._code = await io.fail(f"sh: {error}", SYNTAX_ERROR)
            return self._code
        for step in steps:
            if step.condition == ";" or (step.condition == "&&") == (self._code == 0):
                self._code = await self._pipeline(step, io)
                self._session.variables["?"] = str(self._code)
        return self._code

    async def _pipeline(self, step: Step, io: Io) -> int:
        piped, code = io.piped, 0
        for number, command in enumerate(step.commands):
            written = bytearray()
            last = number == len(step.commands) - 1
            code = await self._simple(command, Io(io.stdin, io.stdout if last else _append_to(written), io.stderr, piped))
            piped = bytes(written)
        return code

    async def _simple(self, command: Simple, io: Io) -> int:
        variables, files = self._session.variables, self._session.files
        words = [parser.expand(word, variables) for word in command.words]
        assigned: dict[str, str] = {}
        while words and (name := words[0].partition("=")[0]).isidentifier() and "=" in words[0]:
            assigned[name] = words.pop(0).partition("=")[2]
        before = {name: variables[name] for name in assigned if name in variables}
        variables |= assigned
        outputs: list[_Output] = []
        for operator, word in command.redirections:
            target = parser.expand(word, variables) if word is not None else ""
            if operator == "<":
                io.piped = files.read(target)
                if io.piped is None:
                    return await io.fail(f"sh: can't open {target}: no such file")
            elif ">&" in operator:
                _join(io, operator)
            else:
                outputs.append(_redirect(io, operator, target))
        code = await self._execute(words, io) if words else 0
        if words and words[0] not in SPECIAL:
            for name in assigned:
                variables.pop(name, None)
            variables |= before
        for output in outputs:
            files.write(output.path, bytes(output.content), append=output.append)
        return code


class _Output(NamedTuple):
    """What a redirection collects for a file, which is written when the command has ended."""

    path: str
    content: bytearray
    append: bool


def _join(io: Io, operator: str) -> None:
    """``2>&1``, ``>&2``: let one output go where another goes."""
    source, _, to = operator.partition(">&")
    if source == "2" and to == "1":
        io.stderr = io.stdout
    elif source in ("", "1") and to == "2":
        io.stdout = io.stderr


def _redirect(io: Io, operator: str, path: str) -> _Output:
    """``>``, ``2>>``, ``&>``: let an output go to a file."""
    output = _Output(path, bytearray(), operator.endswith(">>"))
    write = _append_to(output.content)
    if operator.startswith("2"):
        io.stderr = write
    else:
        io.stdout = write
        io.stderr = write if operator == "&>" else io.stderr
    return output


def _append_to(content: bytearray) -> Callable[[bytes], Awaitable[None]]:
    async def append(data: bytes) -> None:
        content.extend(data)

    return append


class _Builtin(NamedTuple):
    """A command of the shell itself. With fewer arguments than ``least_arguments`` it is a command
    that is not known.
    """

    run: Callable[[Shell, Sequence[str], Io], Awaitable[int]]
    least_arguments: int = 0


_SHELL, _WRAPPER = _Builtin(Shell._shell), _Builtin(Shell._execute, 1)

_BUILTINS: Mapping[str, _Builtin] = MappingProxyType({
    "sh": _SHELL, "bash": _SHELL, "ash": _SHELL, "dash": _SHELL, "exit": _Builtin(Shell._exit), "!": _Builtin(Shell._negate, 1),
    "exec": _WRAPPER, "command": _WRAPPER, "time": _WRAPPER, "nohup": _WRAPPER,
})
