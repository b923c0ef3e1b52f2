"""A failure of a seed told to people: what differs from the calm run, and what was written, by
whom, when, and because of what.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fakekube.testing import explain

if TYPE_CHECKING:
    from fakekube.exploration.runner import Found
    from fakekube.testing.claims import Broken
    from fakekube.testing.history import Change, History
    from fakekube.util.choices import Deviation

MOST_WRITES = 40
WRITES_BEFORE = 3
MOST_DEVIATIONS = 25
MOST_FIELDS = 3


def told(
    found: "Found", command: str, histories: "Sequence[History]", broken: "Broken | None" = None,
) -> Iterator[str]:
    """Lines of the story; ``histories`` are those of the run that ``found`` ends with, ``broken``
    says by which claim that failed.
    """
    count = len(found.deviations)
    yield f"the calm run passes, seed {found.seed} fails: shrunk from {found.before} deviations to {count} in {found.runs} runs"
    if not count:
        yield "it fails without any: what differs is that each component has caches of its own"
    if broken is not None:
        yield f"what was claimed: {broken.claim}"
        yield f"  but {broken.text}"
    change = broken.change if broken is not None else None
    if histories:
        yield "what happened, and because of what (> is what differs from the calm run):"
        for history in histories:
            for line in _lines(history, found.deviations, change):
                yield f"  {line}"
    else:
        yield "what differs from the calm run:"
        for one in found.deviations[:MOST_DEVIATIONS]:
            yield f"  > {one}"
    yield "to have it again:"
    yield f"  {command}"


def _lines(history: "History", deviations: "Sequence[Deviation]", decisive: "Change | None") -> Iterator[str]:
    """Writes and deviations, each deviation after what was written before it; the write that was
    decisive is followed by a word on that.
    """
    shown, waiting = list(deviations[:MOST_DEVIATIONS]), len(deviations) - MOST_DEVIATIONS
    for change in _writes(history, shown, decisive):
        while shown and (shown[0].revision or 0) < change.revision:
            yield _deviation(history, shown.pop(0))
        yield from explain.lines(history, change, MOST_FIELDS)
        if decisive is not None and _is_same(change, decisive):
            yield "    ^ here it was no longer as claimed"
    for one in shown:
        yield _deviation(history, one)
    if waiting > 0:
        yield f"> and {waiting} more deviations"


def _is_same(one: "Change", other: "Change") -> bool:
    """Of two fleets' members, too, as one is in the history of one alone."""
    return one.revision == other.revision and one.event.record.uid == other.event.record.uid


def _writes(history: "History", deviations: "Sequence[Deviation]", decisive: "Change | None") -> "list[Change]":
    """Writes from a little before the first deviation on; the decisive one is always among them."""
    writes = explain.last_writes(history, len(history.changes))
    first = min((one.revision for one in deviations if one.revision is not None), default=0)
    before = [change for change in writes if change.revision <= first][-WRITES_BEFORE:]
    told = [*before, *(change for change in writes if change.revision > first)]
    late = [change for change in told[MOST_WRITES:] if decisive is not None and _is_same(change, decisive)]
    return [*told[:MOST_WRITES], *late]


def _deviation(history: "History", one: "Deviation") -> str:
    return f"> {explain.offset(history, one.time)} {one}" if one.time is not None else f"> {one}"
