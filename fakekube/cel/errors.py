"""What goes wrong with an expression: it does not compile, it fails, it costs too much.

Nothing else is raised by an expression. The texts are those of cel-go.

Upstream: common/error.go, common/errors.go and common/types/err.go.
"""

from dataclasses import dataclass

from fakekube.cel import types
from fakekube.cel.types import Type

MAX_SNIPPET = 16384  # longer lines are not shown
MAX_REPORTED = 100


class CelError(Exception):
    """Whatever an expression may raise."""


class EvaluationError(CelError):
    """The value of the expression is an error, for example a division by zero.

    ``&&``, ``||`` and the macros made of them absorb it where CEL says so.
    """


class CostExceeded(CelError):
    """The evaluation was stopped because it had spent its cost limit; nothing absorbs it."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


@dataclass(frozen=True, slots=True)
class Issue:
    """One reason why a text does not compile; ``offset`` counts code points, -1 is nowhere."""

    message: str
    offset: int


class CompileError(CelError):
    """The text is no expression, or the type check refuses it.

    ``issues`` holds the reasons, ``str()`` their texts with the place in the source.
    """

    def __init__(self, text: str, issues: list[Issue], reported: int | None = None) -> None:
        self.text = text
        self.issues = tuple(issues)
        super().__init__(render(text, issues, reported))


class ProgramError(CelError):
    """The text compiles, but what is constant in it has no value; upstream makes no program.

    ``type`` is that of the expression.
    """

    def __init__(self, message: str, of: Type = types.DYN) -> None:
        super().__init__(message)
        self.type = of


def no_such_overload() -> EvaluationError:
    """No overload of the function takes values of these types."""
    return EvaluationError("no such overload")


def no_such_key(key: object) -> EvaluationError:
    """The map has no such key, the object no such field."""
    return EvaluationError(f"no such key: {key}")


def render(text: str, issues: list[Issue], reported: int | None = None) -> str:
    """The texts of the issues in order of their places, each with its line and a caret.

    ``reported`` is how many there were, if not all of them were kept.
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    located = sorted(((*_location(issue.offset, starts), issue.message) for issue in issues), key=lambda found: found[:2])
    shown = [_render_one(line, column, message, lines) for line, column, message in located[:MAX_REPORTED]]
    total = len(issues) if reported is None else reported
    if total > MAX_REPORTED:
        shown.append(f"{total - MAX_REPORTED} more errors were truncated")
    return "\n".join(shown)


def _location(offset: int, starts: list[int]) -> tuple[int, int]:
    """The line from 1 and the column from 0; -1 and -1 for nowhere."""
    if offset < 0:
        return -1, -1
    if len(starts) == 2 and starts[1] == 1:  # of a text with nothing in it
        return 1, -1
    low, high = 0, len(starts) - 1
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (middle, high) if starts[middle] <= offset else (low, middle)
    return low + 1, offset - starts[low]


def _render_one(line: int, column: int, message: str, lines: list[str]) -> str:
    head = f"ERROR: <input>:{line}:{column + 1}: {message}"
    if line < 1 or line > len(lines) or not any(lines) or len(lines[line - 1].encode()) > MAX_SNIPPET:
        return head
    snippet = lines[line - 1].replace("\t", " ")
    before = "".join("." if ord(character) < 128 else "\uff0e" for character in snippet[:column])
    caret = "^" if column >= len(snippet) or ord(snippet[column]) < 128 else "\uff3e"
    return f"{head}\n | {snippet}\n | {before}{caret}"
