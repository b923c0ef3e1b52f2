"""What a command does when nobody has scripted it: an echo, and a few words of a shell.

``echo``, ``cat`` and their like do what they do (``utilities.py``); a shell runs scripts of such commands, or the lines that it
is sent; any other command writes its own words and succeeds, since nothing is installed here that could be missing. No
program runs.
"""

from fakekube_controllers.kubelet.server.process import Process
from fakekube_controllers.kubelet.shell import parser
from fakekube_controllers.kubelet.shell.parser import BadScript, Simple, Step
from fakekube_controllers.kubelet.shell.utilities import COMMANDS, Io

SHELLS = ("sh", "bash", "ash", "dash")
PROMPT = "/ # "
SYNTAX = 2


class _Exit(Exception):
    """``exit`` was said; the code."""


class Shell:
    """Runs commands for a process."""

    def __init__(self, process: Process) -> None:
        self.process: Process = process
        self.variables: dict[str, str] = process.environment
        self.code = 0

    async def run(self) -> int:
        """The process's command to its end: the exit code. Raises ConnectionError."""
        try:
            return await self._execute(list(self.process.command), Io(self.process, self.process.write, self.process.write_error))
        except _Exit as said:
            return int(said.args[0])

    async def _execute(self, words: list[str], io: Io) -> int:
        name = words[0].rsplit("/", 1)[-1]
        if name in SHELLS:
            return await self._shell(words, io)
        if name == "exit":
            raise _Exit(int(words[1]) % 256 if len(words) > 1 and words[1].isdecimal() else self.code)
        if name == "!" and len(words) > 1:
            return int(not await self._execute(words[1:], io))
        if name in ("exec", "command", "time", "nohup") and len(words) > 1:
            return await self._execute(words[1:], io)
        found = COMMANDS.get(name)
        if found is None:
            return await io.say(" ".join(words) + "\n")
        return await found(self, words[1:], io)

    async def _shell(self, words: list[str], io: Io) -> int:
        """A shell in a shell: it may exit without ending the one around it."""
        inner = Shell(self.process)
        inner.variables = dict(self.variables)
        flags = next((number for number, word in enumerate(words) if word.startswith("-") and "c" in word), 0)
        try:
            if flags and len(words) > flags + 1:
                arguments = words[flags + 2:]
                inner.variables |= {str(number): text for number, text in enumerate(arguments)}
                return await inner.interpret(words[flags + 1], io)
            if io.given is not None:
                return await inner.interpret(io.given.decode(errors="replace"), io)
            return await inner.interact(io)
        except _Exit as said:
            return int(said.args[0])

    async def interact(self, io: Io) -> int:
        """Run line by line what is sent, until the end of it."""
        while True:
            if self.process.tty:
                await io.say(PROMPT)
            line = await self.process.read_line()
            if not line:
                return self.code
            await self.interpret(line.decode(errors="replace"), io)

    async def interpret(self, text: str, io: Io) -> int:
        """Run a script: the code of its last command."""
        try:
            steps = parser.parse(text)
        except BadScript as error:
            self.code = await io.complain(f"sh: {error}", SYNTAX)
            return self.code
        for step in steps:
            if step.condition == ";" or (step.condition == "&&") == (self.code == 0):
                self.code = await self._pipeline(step, io)
                self.variables["?"] = str(self.code)
        return self.code

    async def _pipeline(self, step: Step, io: Io) -> int:
        given, code = io.given, 0
        for number, command in enumerate(step.commands):
            written = bytearray()

            async def collect(data: bytes, into: bytearray = written) -> None:
                into += data

            last = number == len(step.commands) - 1
            code = await self._simple(command, Io(self.process, io.out if last else collect, io.error, given))
            given = bytes(written)
        return code

    async def _simple(self, command: Simple, io: Io) -> int:
        words = [parser.expand(word, self.variables) for word in command.words]
        while words and (name := words[0].partition("=")[0]).isidentifier() and "=" in words[0]:
            self.variables[name] = words.pop(0).partition("=")[2]
        files: list[tuple[str, bytearray, bool]] = []
        for operator, word in command.redirections:
            target = parser.expand(word, self.variables) if word is not None else ""
            if operator == "<":
                io.given = self.process.files.read(target)
                if io.given is None:
                    return await io.complain(f"sh: can't open {target}: no such file")
            else:
                self._redirect(io, operator, target, files)
        code = await self._execute(words, io) if words else 0
        for path, content, append in files:
            self.process.files.write(path, bytes(content), append=append)
        return code

    def _redirect(self, io: Io, operator: str, target: str, files: list[tuple[str, bytearray, bool]]) -> None:
        if ">&" in operator:
            source, _, to = operator.partition(">&")
            if source == "2" and to == "1":
                io.error = io.out
            elif source in ("", "1") and to == "2":
                io.out = io.error
            return
        content = bytearray()
        files.append((target, content, operator.endswith(">>")))

        async def keep(data: bytes) -> None:
            content.extend(data)

        if operator.startswith("2"):
            io.error = keep
        else:
            io.out = keep
            io.error = keep if operator == "&>" else io.error
