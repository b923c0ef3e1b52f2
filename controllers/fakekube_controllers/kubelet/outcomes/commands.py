"""What a container's command would do, as far as it matters to a scheduler or a controller: how long, and how it ends.

Understood are ``sleep N``, ``echo TEXT``, ``exit N``, ``true`` and ``false``, alone or as a small script of ``sh -c``;
anything else says nothing, and the cluster's default decides. This is no shell.
"""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from fakekube.util import durations
from fakekube.util.memory import memoized

SHELLS = ("sh", "bash", "ash", "/bin/sh", "/bin/bash", "/bin/ash")


class Script(NamedTuple):
    """What became of a command. ``run_seconds`` is None when it runs until it is stopped."""

    run_seconds: float | None
    exit_code: int
    output: tuple[tuple[float, str], ...]  # seconds after the start, and a line


def read(words: Sequence[str]) -> Script | None:
    """The command as a Script, or None when it says nothing that is understood."""
    if len(words) >= 3 and words[0] in SHELLS and words[1] in ("-c", "-ec", "-xc", "-exc"):
        return _read_script(words[2])
    return _run([list(words)]) if words else None


@memoized(1024)
def _read_script(text: str) -> Script | None:
    statements: list[list[str]] = []
    for part in re.split(r";|&&|\n", text):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            return None
        if words:
            statements.append(words)
    return _run(statements)


def _run(statements: list[list[str]]) -> Script | None:
    elapsed, code, output = 0.0, 0, list[tuple[float, str]]()
    for words in statements:
        name, rest = words[0].rsplit("/", 1)[-1], words[1:]
        if name == "echo":
            output.append((elapsed, " ".join(rest)))
            code = 0
        elif name == "sleep" and len(rest) == 1:
            if rest[0] in ("infinity", "inf"):
                return Script(None, 0, tuple(output))
            try:
                elapsed += durations.seconds_of(rest[0])
            except ValueError:
                return None
            code = 0
        elif name == "exit" and len(rest) <= 1 and (not rest or rest[0].isdecimal()):
            return Script(elapsed, int(rest[0]) % 256 if rest else code, tuple(output))
        elif name in ("true", "false") and not rest:
            code = int(name == "false")
        elif name == "set":
            continue
        else:
            return None
    return Script(elapsed, code, tuple(output))
