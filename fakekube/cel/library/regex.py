"""Parts of strings by regular expressions: ``'a1b2'.find('[0-9]')``, ``findAll``.

Expressions run on RE2. Upstream: apiserver/pkg/cel/library/regex.go with Go's regexp.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fakekube.cel import costs, errors, tree, types, values
from fakekube.cel.functions import Node, Sizes, function, member
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing
from fakekube.util import regex

MAX_SCANNED, SCANNED_A_TURN = 2**28, 2**23  # characters behind all parts together


def library() -> Library:
    """The functions of every release."""
    text, texts = types.STRING, types.list_of(types.STRING)
    searched: dict[str, Any] = {"cost": _cost, "estimate": _estimate}
    return Library("regex", (
        function("find", member("string_find_string", [text, text], text, find, **searched)),
        function(
            "findAll",
            member("string_find_all_string", [text, text], texts, find_all, pausing=True, **searched),
            member("string_find_all_string_int", [text, text, types.INT], texts, find_all, pausing=True, **searched),
        ),
    ), validators=(check_literals,))


def check_literals(parts: Sequence[tree.Expression]) -> Iterator[errors.Issue]:
    """Literal expressions are compiled when the text is. Raises ProgramError."""
    for node in parts:
        if isinstance(node, tree.Call) and node.function in ("find", "findAll") and node.arguments:
            pattern = node.arguments[0]
            if isinstance(pattern, tree.Literal) and isinstance(pattern.value, str):
                try:
                    regex.compiled(pattern.value)
                except regex.RegexError as error:
                    raise errors.ProgramError(str(error)) from None
    yield from ()


def find(text: str, pattern: str) -> str:
    """The first part that matches; empty if none does."""
    start, end = next(_compiled(pattern).spans(text), (0, 0))
    return text[start:end]


def find_all(text: str, pattern: str, limit: int = -1, *, pause: Callable[[], None] = lambda: None) -> list[str]:
    """The parts that match, so many at most; all for a negative limit.

    ``pause`` is called now and then. An empty part right behind another is none. Raises
    CostExceeded where there may be much to look at again for each of many parts: the cost is that
    of one look.
    """
    expression = _compiled(pattern)
    parts: list[str] = []
    end_before, scanned, next_pause = -1, 0, SCANNED_A_TURN
    for start, end in expression.spans(text) if limit else ():
        scanned += len(text) - start
        if scanned > MAX_SCANNED:
            raise errors.CostExceeded
        if scanned > next_pause:
            pause()
            next_pause = scanned + SCANNED_A_TURN
        if end > start or start != end_before:
            parts.append(text[start:end])
        end_before = end
        if len(parts) == limit:
            break
    return parts


def _compiled(pattern: str) -> regex.Expression:
    try:
        return regex.compiled(pattern)
    except regex.RegexError as error:
        raise errors.EvaluationError(f"Illegal regex: {error}") from None


def _cost(arguments: Sequence[Any], _result: Any) -> int:
    text = costs.scaled(1 + values.size(arguments[0]), costing.FACTOR)
    return text * costs.scaled(values.size(arguments[1]), costs.REGEX_LENGTH_FACTOR)


def _estimate(sizes: Sizes, receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate | None:
    if receiver is None:
        return None
    size = sizes.size(receiver)
    text = size.plus(costs.fixed_size(1)).cost(costing.FACTOR)
    expression = sizes.size(arguments[0]).cost(costs.REGEX_LENGTH_FACTOR)
    return costs.CallEstimate(text.times(expression), costs.SizeEstimate(0, size.max))
