"""Lists of completion indexes as texts: ``1,3-5,7``.

Upstream: the end of pkg/apis/batch/validation/validation.go.
"""

from fakekube.apimachinery import strconv
from fakekube.apimachinery.field_errors import go_quote


class IndexesError(ValueError):
    """A text that is no list of indexes; the message is upstream's."""


def intervals(text: str, completions: int) -> list[tuple[int, int]]:
    """First and last index of each part, in order, all below ``completions``. Raises IndexesError.
    """
    result: list[tuple[int, int]] = []
    if not text:
        return result
    for part in text.split(","):
        first, last = _interval(part, completions)
        if result and result[-1][1] >= first:
            raise IndexesError(f"non-increasing order, previous: {result[-1][1]}, current: {first}")
        result.append((first, last))
    return result


def count(text: str, completions: int) -> int:
    """How many indexes a list holds. Raises IndexesError."""
    return sum(last - first + 1 for first, last in intervals(text, completions))


def first_overlap(completed: str, failed: str, completions: int) -> int | None:
    """The first index in both lists.

    Parts that are no indexes are left alone: another check tells of them.
    """
    others = _readable(failed, completions)
    for first, last in _readable(completed, completions):
        for other_first, other_last in others:
            if first <= other_last and other_first <= last:
                return max(first, other_first)
    return None


def _readable(text: str, completions: int) -> list[tuple[int, int]]:
    result = []
    for part in text.split(",") if text else []:
        try:
            result.append(_interval(part, completions))
        except IndexesError:
            continue
    return result


def _interval(part: str, completions: int) -> tuple[int, int]:
    limits = part.split("-")
    if len(limits) > 2:
        raise IndexesError(
            f"the fragment {go_quote(part)} violates the requirement that an index interval can have at most two parts "
            "separated by '-'")
    first = _index(limits[0], completions)
    if len(limits) == 1:
        return first, first
    last = _index(limits[1], completions)
    if first >= last:
        raise IndexesError(f"non-increasing order, previous: {first}, current: {last}")
    return first, last


def _index(text: str, completions: int) -> int:
    index = strconv.whole(text)
    if index is None:
        raise IndexesError(f"cannot convert string to integer for index: {go_quote(text)}")
    if index >= completions:
        raise IndexesError(f"too large index: {go_quote(text)}")
    return index
