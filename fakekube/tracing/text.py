"""A trace as people read it: a tree from the first requests down.

What stands below something in the same column came of it. Of several that came of one, the one that
most came of goes on in the column, and the others branch off before it: so a long history is no
deeper than the logarithm of its length.
"""

from collections.abc import Iterator

from fakekube.apimachinery.meta import TIMES
from fakekube.tracing.steps import Causes, Request, Step, action_of
from fakekube.util.treediff import MISSING, shown

MAX_FIELDS, MAX_VALUE = 4, 60
OWN, OTHER = "●", "○"
ORIGINS = {
    "Server": "the server itself", "Request": "only the request is known", "Component": "it acted on no change that is known"}


def offset_text(seconds: float) -> str:
    """``+1h02m05s``."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    rest = f"{round(seconds - whole // 60 * 60, 6):g}"  # what is less is an error of floats
    text = f"{hours}h{minutes:02}m" if hours else f"{minutes}m" if minutes else ""
    return f"+{text}{rest}s"


def lines(causes: Causes) -> Iterator[str]:
    """The lines of a trace."""
    yield _title(causes)
    yield from _left_out(causes)
    yield ""
    yield from _Tree(causes).lines()
    yield ""
    yield f"{OWN} is a change of the object, {OTHER} one of another. What stands below in the same column came of it."
    yield "Times are since the cluster began."
    if any(step.origin == "Request" for step in causes.steps):
        yield "Where only the request is known, nobody said what led to it: a test, a person or a client over a network sent it."
    for component, who in _senders(causes).items():
        yield f"{component}: {who}"


def _title(causes: Causes) -> str:
    if causes.field:
        last = next(step for step in reversed(causes.steps) if step.is_own)
        is_now = "is gone" if causes.value is MISSING else f"is {shown(causes.value)}"
        return f"{causes.object}: {causes.field} {is_now} since {offset_text(last.time - causes.started)}, because:"
    changes = "1 change, and what led to it" if causes.changes == 1 else f"{causes.changes:,} changes, and what led to them"
    return f"{causes.object}: {changes}"


def _left_out(causes: Causes) -> Iterator[str]:
    if not causes.field and causes.last and causes.changes > causes.last:
        told = "Told is the last one" if causes.last == 1 else f"Told are the last {causes.last:,}"
        yield f"{told} of them (--last), with what led there."
    if causes.is_cut:
        yield f"It had more, which are not retained any more: what is retained begins after #{causes.begins}."
    if causes.predecessors:
        others = "another object" if causes.predecessors == 1 else f"{causes.predecessors:,} others"
        yield f"Before it {others} had its name, whose changes are left out."


def _senders(causes: Causes) -> dict[str, str]:
    """By component, with which user agent and as whom it sent its first request."""
    senders: dict[str, str] = {}
    for step in causes.steps:
        if step.request is not None and step.component:
            senders.setdefault(step.component, _who(step.request))
    return senders


def _who(request: Request) -> str:
    return f"{request.user_agent} as {request.user}"


class _Tree:
    """The steps, each below the one that led to it."""

    def __init__(self, causes: Causes) -> None:
        self._started, self._senders = causes.started, _senders(causes)
        self._roots = [step for step in causes.steps if not step.led_by]
        self._effects: dict[int, list[Step]] = {}
        weights = {step.revision: 1 for step in causes.steps}
        for step in reversed(causes.steps):  # a cause is older than what came of it
            if step.led_by:
                weights[step.led_by] += weights[step.revision]
                self._effects.setdefault(step.led_by, []).append(step)
        for effects in self._effects.values():
            # the heaviest goes on in the column, and so is last; else in the order of versions
            heaviest = max(effects, key=lambda step: (weights[step.revision], step.revision))
            effects.sort(key=lambda step: (step is heaviest, step.revision))
        self._width = max(len(self._when(step)) for step in causes.steps) + 2

    def lines(self) -> Iterator[str]:
        for number, root in enumerate(self._roots):
            if number:
                yield ""
            yield from self._column(root, "", "")

    def _column(self, top: Step, first: str, prefix: str) -> Iterator[str]:
        """A step and what came of it; ``first`` is what stands before the step's own line."""
        at: Step | None = top
        while at is not None:
            effects = self._effects.get(at.revision, [])
            yield from self._step(at, first, f"{prefix}│ " if effects else f"{prefix}  ")
            for branch in effects[:-1]:
                yield from self._column(branch, f"{prefix}├─", f"{prefix}│ ")
            at, first = effects[-1] if effects else None, prefix
            if at is not None and at.left_out:  # then nothing else came of the one before
                left_out = f"… {at.left_out:,} changes, each of which led to the next, are left out here"
                yield f"{'':{self._width}}{prefix}{left_out}"

    def _when(self, step: Step) -> str:
        return f"{offset_text(step.time - self._started)} #{step.revision}"

    def _step(self, step: Step, first: str, edge: str) -> Iterator[str]:
        sign = OWN if step.is_own else OTHER
        yield f"{self._when(step):<{self._width}}{first}{sign} {_told(step, self._senders)}"
        below = f"{'':{self._width}}{edge}    "
        fields = [field for field in step.fields if field.path.rpartition(".")[2] not in TIMES]
        for field in fields[:MAX_FIELDS]:
            yield f"{below}{field.path}: {shown(field.old, MAX_VALUE)} -> {shown(field.new, MAX_VALUE)}"
        if len(fields) > MAX_FIELDS:
            yield f"{below}and {len(fields) - MAX_FIELDS} fields more"
        if step.fault:
            yield f"{below}it met the fault {step.fault}"


def _told(step: Step, senders: dict[str, str]) -> str:
    """Who did what, and what is known of why."""
    text = action_of(step)
    if step.request is not None:
        who = _who(step.request)
        if step.component:
            sender = "" if senders[step.component] == who else f" ({who})"
            who = f"{step.component}{f' at {step.key}' if step.key else ''}{sender}"
        text = f"{who}: {text}"
        if step.type == "DELETED":
            text += ", with which it was gone"
        elif step.type == "ADDED" and step.request.verb != "create":
            text += ", which made it"
    if step.origin == "Forgotten":
        return f"{text}; it acted on #{step.acted_on}, which is not retained here"
    return f"{text}; {ORIGINS[step.origin]}" if step.origin else text
