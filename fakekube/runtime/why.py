"""Why an object waits, and the smallest change that would let it go on.

Components answer for the kinds that they look after (``Context.why``); ``Cluster.why`` asks them,
and tells besides what objects say of themselves. An answer is data: it is computed when it is asked
for, has a JSON form, and a text for people. Upstream has nothing of the kind.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from fakekube.apimachinery.types import Json, ReadOnlyTree, Tree

NO_DETAILS: Mapping[str, Json] = MappingProxyType({})
MAX_NAMES = 3  # in a text; JSON has all


class Change(NamedTuple):
    """Something that is to be done.

    ``action`` is one word for programs (``AddResource``), ``target`` what it is done to
    (``node/n1``), ``details`` are its amounts and names, ``text`` says it to people.
    """

    action: str
    target: str
    text: str
    details: Mapping[str, Json] = NO_DETAILS

    def tree(self) -> Tree:
        """As JSON."""
        return {"action": self.action, "target": self.target, **self.details, "text": self.text}


Changes = tuple[Change, ...]


class Reason(NamedTuple):
    """What one plugin, or one condition, has against it; ``changes`` are what it lacks.

    ``node_count`` is the number of nodes for which it was said, 0 where that means nothing.
    """

    plugin: str
    message: str
    changes: Changes = ()
    node_count: int = 0

    def tree(self) -> Tree:
        """As JSON."""
        tree: Tree = {"plugin": self.plugin, "message": self.message}
        if self.node_count:
            tree["nodeCount"] = self.node_count
        if self.changes:
            tree["changes"] = [each.tree() for each in self.changes]
        return tree


class Place(NamedTuple):
    """A node, or a placement of a group, and all that speaks against it; nothing: it would do."""

    name: str
    reasons: tuple[Reason, ...]

    def tree(self) -> Tree:
        """As JSON."""
        return {"name": self.name, "reasons": [each.tree() for each in self.reasons]}


class Attempt(NamedTuple):
    """An attempt that failed: its number (0: counted with its group), when it was, and what was
    said then.
    """

    number: int
    time: str
    reason: str
    message: str
    reasons: tuple[Reason, ...] = ()

    def tree(self) -> Tree:
        """As JSON."""
        return {"number": self.number, "time": self.time, "reason": self.reason, "message": self.message,
                "reasons": [each.tree() for each in self.reasons]}


class Answer(NamedTuple):
    """Why an object (``pod/default/web-0``) waits.

    ``state`` is one word for programs, ``message`` says it to people. ``attempts`` are the latest
    ones, the last at the end. ``reasons`` and ``places`` are as they are now. ``changes`` together
    are the smallest change that would do, as far as one is known; each of ``alternatives`` would do
    as well. ``because`` are the answers for objects that this one waits for, and for those that it
    has made.
    """

    about: str
    state: str
    message: str
    reasons: tuple[Reason, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    places: tuple[Place, ...] = ()
    changes: Changes = ()
    alternatives: tuple[Changes, ...] = ()
    because: "tuple[Answer, ...]" = ()

    def tree(self) -> Tree:
        """As JSON; lists that are empty are left out."""
        lists: dict[str, Json] = {
            "reasons": [each.tree() for each in self.reasons],
            "attempts": [each.tree() for each in self.attempts], "places": [each.tree() for each in self.places],
            "changes": [each.tree() for each in self.changes],
            "alternatives": [[each.tree() for each in changes] for changes in self.alternatives],
            "because": [each.tree() for each in self.because]}
        return {"object": self.about, "state": self.state, "message": self.message,
                **{name: listed for name, listed in lists.items() if listed}}

    def lines(self) -> Iterator[str]:
        """As people read it."""
        yield f"{self.about} {self.message}"
        yield from (f"  {each.plugin}: {each.message}" for each in self.reasons)
        for attempt in self.attempts[-1:]:
            number = f"attempt {attempt.number}" if attempt.number else "attempt"
            yield f"  {number} at {attempt.time}: {attempt.message}"
        yield from (f"  {line}" for line in _place_lines(self.places))
        if self.changes:
            yield f"  it would go on with: {texts(self.changes)}"
        for changes in self.alternatives:
            yield f"  or with: {texts(changes)}"
        for answer in self.because:
            yield from (f"  {line}" for line in answer.lines())

    def __str__(self) -> str:
        return "\n".join(self.lines())


Why = Callable[[ReadOnlyTree], Answer | None]
"""Answers for an object of one kind, given as it is now; None: there is nothing to say."""


def texts(changes: Iterable[Change]) -> str:
    """Several changes in one text."""
    return "; ".join(change.text for change in changes)


def names(listed: list[str]) -> str:
    """The first of several names, and how many more there are."""
    more = len(listed) - MAX_NAMES
    return ", ".join(listed) if more <= 0 else f"{', '.join(listed[:MAX_NAMES])} and {more} more"


def _place_lines(places: Iterable[Place]) -> Iterator[str]:
    """A line for all places of which the same is said."""
    alike: dict[str, list[str]] = {}
    for place in places:
        said = "; ".join(f"{each.plugin}: {each.message}" for each in place.reasons) or "would do"
        alike.setdefault(said, []).append(place.name)
    for said, listed in alike.items():
        yield f"{names(listed)}: {said}"
