"""What a container's command would do, as far as it matters to a scheduler or a controller: how
long it runs, how it ends.

Understood are ``sleep N``, ``echo TEXT``, ``exit N``, ``true`` and ``false``, alone or as a small
script of ``sh -c``. Any other command has no known effect, and the cluster's default decides. This
is no shell: nothing runs, and no time passes.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from types import MappingProxyType
from typing import NamedTuple

from fakekube.util import durations
from fakekube.util.memory import memoized

SHELLS = ("sh", "bash", "ash", "/bin/sh", "/bin/bash", "/bin/ash")


class Effect(NamedTuple):
    """What a command does. ``run_seconds`` is None when it runs until it is stopped."""

    run_seconds: float | None
    exit_code: int
    output: tuple[tuple[float, str], ...]  # seconds after the start, and a line


def effect_of(words: Sequence[str]) -> Effect | None:
    """What a command does, given as its words; None when that is not known."""
    if len(words) >= 3 and words[0] in SHELLS and words[1] in ("-c", "-ec", "-xc", "-exc"):
        return _effect_of_script(words[2])
    return _effect_of([list(words)]) if words else None


@memoized(1024, longest=4096)
def _effect_of_script(text: str) -> Effect | None:
    statements: list[list[str]] = []
    for part in re.split(r";|&&|\n", text):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            return None
        if words:
            statements.append(words)
    return _effect_of(statements)


@dataclass(slots=True)
class _Progress:
    """How far a script has come."""

    seconds: float = 0.0
    code: int = 0  # of the last statement
    output: list[tuple[float, str]] = field(default_factory=list)


class _Then(Enum):
    """What comes after a statement."""

    NEXT = auto()
    END = auto()
    FOREVER = auto()
    UNKNOWN = auto()


def _effect_of(statements: list[list[str]]) -> Effect | None:
    progress = _Progress()
    for words in statements:
        statement = _STATEMENTS.get(words[0].rsplit("/", 1)[-1])
        then = _Then.UNKNOWN if statement is None else statement(progress, words[1:])
        if then is _Then.UNKNOWN:
            return None
        if then is _Then.FOREVER:
            return Effect(None, 0, tuple(progress.output))
        if then is _Then.END:
            break
    return Effect(progress.seconds, progress.code, tuple(progress.output))


def _echo(progress: _Progress, arguments: list[str]) -> _Then:
    progress.output.append((progress.seconds, " ".join(arguments)))
    progress.code = 0
    return _Then.NEXT


def _sleep(progress: _Progress, arguments: list[str]) -> _Then:
    if len(arguments) != 1:
        return _Then.UNKNOWN
    if arguments[0] in ("infinity", "inf"):
        return _Then.FOREVER
    try:
        progress.seconds += durations.seconds_of(arguments[0])
    except ValueError:
        return _Then.UNKNOWN
    progress.code = 0
    return _Then.NEXT


def _exit(progress: _Progress, arguments: list[str]) -> _Then:
    if len(arguments) > 1 or (arguments and not arguments[0].isdecimal()):
        return _Then.UNKNOWN
    if arguments:
        progress.code = int(arguments[0]) % 256
    return _Then.END


def _set(_: _Progress, __: list[str]) -> _Then:
    return _Then.NEXT


def _ending(code: int) -> Callable[[_Progress, list[str]], _Then]:
    def end(progress: _Progress, arguments: list[str]) -> _Then:
        if arguments:
            return _Then.UNKNOWN
        progress.code = code
        return _Then.NEXT

    return end


_STATEMENTS: Mapping[str, Callable[[_Progress, list[str]], _Then]] = MappingProxyType({
    "echo": _echo, "sleep": _sleep, "exit": _exit, "set": _set, "true": _ending(0), "false": _ending(1),
})
