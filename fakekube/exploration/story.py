"""A failure of a seed told to people: what differs from the calm run, and what was written, by
whom, when, and because of what.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fakekube.testing import explain

if TYPE_CHECKING:
    from fakekube.exploration.runner import Found
    from fakekube.testing.history import Change, History
    from fakekube.util.choices import Deviation

MOST_WRITES = 40
WRITES_BEFORE = 3
MOST_DEVIATIONS = 25
MOST_FIELDS = 3


def told(found: "Found", command: str, histories: "Sequence[History]") -> Iterator[str]:
    """Lines of the story; ``histories`` are those of the run that ``found`` ends with."""
    count = len(found.deviations)
    yield f"the calm run passes, seed {found.seed} fails: shrunk from {found.before} deviations to {count} in {found.runs} runs"
    if not count:
        yield "it fails without any: what differs is that each component has caches of its own"
    if histories:
        yield "what happened, and because of what (> is what differs from the calm run):"
        for history in histories:
            for line in _lines(history, found.deviations):
                yield f"  {line}"
    else:
        yield "what differs from the calm run:"
        for one in found.deviations[:MOST_DEVIATIONS]:
            yield f"  > {one}"
    yield "to have it again:"
    yield f"  {command}"


def _lines(history: "History", deviations: "Sequence[Deviation]") -> Iterator[str]:
    """Writes and deviations, each deviation after what was written before it."""
    shown, waiting = list(deviations[:MOST_DEVIATIONS]), len(deviations) - MOST_DEVIATIONS
    for change in _writes(history, shown):
        while shown and (shown[0].revision or 0) < change.revision:
            yield _deviation(history, shown.pop(0))
        yield from explain.lines(history, change, MOST_FIELDS)
    for one in shown:
        yield _deviation(history, one)
    if waiting > 0:
        yield f"> and {waiting} more deviations"


def _writes(history: "History", deviations: "Sequence[Deviation]") -> "list[Change]":
    """Writes from a little before the first deviation on."""
    writes = explain.last_writes(history, len(history.changes))
    first = min((one.revision for one in deviations if one.revision is not None), default=0)
    before = [change for change in writes if change.revision <= first][-WRITES_BEFORE:]
    return [*before, *(change for change in writes if change.revision > first)][:MOST_WRITES]


def _deviation(history: "History", one: "Deviation") -> str:
    return f"> {explain.offset(history, one.time)} {one}" if one.time is not None else f"> {one}"
