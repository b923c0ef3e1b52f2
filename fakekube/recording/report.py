"""What would be played, and what came of it, as text for people and as JSON for programs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fakekube.apimachinery.types import Tree
from fakekube.recording.outcomes import Outcome, Played
from fakekube.recording.plan import Conversation, Step
from fakekube.recording.player import PREFIX

MOST_REASONS = 3
NOT_COUNTED = ("state", "forbidden")
"""Differences that are the cluster's and its user's, and say nothing of how it answers."""


class Found(NamedTuple):
    """The cluster that is played on: where it is, and what was found there."""

    url: str
    release: str
    namespaces: tuple[str, ...] = ()  # of others
    nodes: int = 0
    gates: tuple[str, ...] = ()  # feature gates that are on, as far as it tells
    groups: tuple[str, ...] = ()  # API groups that are served


def counted(number: int, noun: str) -> str:
    """So many of them: ``1 test``, ``2 tests``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def of_setups(conversations: Sequence[Conversation], found: Found) -> Iterator[str]:
    """Lines on what was otherwise where it was recorded."""
    releases = Counter(str(conversation.facts.get("release")) for conversation in conversations)
    for release, number in releases.items():
        if release != found.release:
            yield (f"{counted(number, 'test')} recorded on Kubernetes {release}, played on {found.release}: what these "
                   "releases do otherwise differs, too")
    extra = list(dict.fromkeys(each.test or "the recording" for each in conversations if each.facts.get("extra")))
    if extra:
        names = ", ".join(extra[:MOST_REASONS]) + (" ..." if len(extra) > MOST_REASONS else "")
        yield f"controllers of their own ran in the clusters of {counted(len(extra), 'test')}, which do not run there: {names}"


def of_plan(conversations: Sequence[Conversation], found: Found, *, alone: bool = False) -> Iterator[str]:
    """Lines on what would be done; ``alone`` says that what others notice is played."""
    steps = [step for conversation in conversations for step in conversation.steps]
    played = [step for step in steps if not step.reason]
    namespaces = sum(len(conversation.namespaces) for conversation in conversations)
    yield f"{found.url}: Kubernetes {found.release}, {counted(found.nodes, 'node')}"
    if any(conversation.idle for conversation in conversations):
        yield "it has no nodes: no pod runs there, and what follows from that does not count"
    if found.namespaces:
        names = ", ".join(found.namespaces[:MOST_REASONS]) + (" ..." if len(found.namespaces) > MOST_REASONS else "")
        end = ", and what is made would be noticed there" if alone else ", which are left alone"
        yield f"it is in use: {counted(len(found.namespaces), 'namespace')} of others ({names}){end}"
    yield (f"{len(played)} of {counted(len(steps), 'request')} of {counted(len(conversations), 'test')} are played, "
           f"in {counted(namespaces, 'namespace')} "
           f"{PREFIX}*, which are deleted at the end:")
    total: Counter[str] = Counter()
    for conversation in conversations:
        total.update(conversation.summary())
    for what, count in sorted(total.items()):
        yield f"  {count:5} {what}"
    if outside := [name for conversation in conversations for name in conversation.clusterwide]:
        yield f"and {len(outside)} objects without a namespace are made and deleted: {', '.join(sorted(set(outside)))}"
    yield from _by_reason("not played:", [(step, step.reason) for step in steps])
    yield from _by_reason("not compared:", [(step, step.uncompared) for step in steps])


def _by_reason(title: str, steps: Sequence[tuple[Step, str]]) -> Iterator[str]:
    """Lines on those of the steps that have a reason."""
    reasons: dict[str, Counter[str]] = {}
    for step, reason in steps:
        if reason:
            info = step.exchange.info
            what = f"{info.verb} {info.resource}" if info.is_resource else step.exchange.path
            reasons.setdefault(reason, Counter())[what] += 1
    if reasons:
        yield title
    for reason, counted in sorted(reasons.items()):
        shown = ", ".join(what for what, _ in counted.most_common(MOST_REASONS)) + (" ..." if len(counted) > MOST_REASONS else "")
        yield f"  {sum(counted.values()):5} {reason}: {shown}"


class Totals(NamedTuple):
    """How many requests were played, are equal, differ, and differ only in what does not count."""

    played: int
    equal: int
    differ: int
    uncounted: int
    failures: int

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs that counts, and all was played."""
        return not self.differ and not self.failures


def totals(plays: Sequence[Played]) -> Totals:
    """The sums of all conversations."""
    outcomes = [outcome for played in plays for outcome in played.outcomes]
    differ = sum(counts(outcome) for outcome in outcomes)
    equal = sum(not outcome.differences for outcome in outcomes)
    return Totals(len(outcomes), equal, differ, len(outcomes) - equal - differ, sum(bool(played.failure) for played in plays))


def counts(outcome: Outcome) -> bool:
    """Whether an answer differs in what a server is to be held to."""
    return any(each.kind not in NOT_COUNTED for each in outcome.differences)


def of_plays(plays: Sequence[Played], *, state: bool = False) -> Iterator[str]:
    """Lines on what differs; with ``state`` also on what does not count."""
    for played in plays:
        title = played.conversation.test or "the recording"
        shown = [outcome for outcome in played.outcomes if counts(outcome) or (state and outcome.differences)]
        if shown or played.failure or played.left:
            yield title
        for outcome in shown:
            yield f"  {outcome.step.exchange}"
            for each in outcome.differences:
                if state or each.kind not in NOT_COUNTED:
                    yield f"    {each}"
        if played.failure:
            yield f"  not played to its end: {played.failure}"
        if played.left:
            yield f"  still there: {', '.join(played.left)}"
    sums = totals(plays)
    rest = f", {sums.uncounted} only in what controllers write or users may" if sums.uncounted else ""
    asked = f"{counted(sums.played, 'request')} of {counted(len(plays), 'test')}"
    yield f"verify: {asked}: {sums.equal} equal, {sums.differ} differ{rest}"


def tree(plays: Sequence[Played], found: Found) -> Tree:
    """The same for programs."""
    return {
        "kind": "Verification", "apiVersion": "fakekube.dev/v1", "server": found.url, "release": found.release,
        "totals": totals(plays)._asdict(),
        "tests": [
            {"test": played.conversation.test, "failure": played.failure, "left": played.left,
             "requests": [
                 {"request": str(outcome.step.exchange), "differences": [each._asdict() for each in outcome.differences]}
                 for outcome in played.outcomes],
             "notPlayed": [
                 {"request": str(step.exchange), "reason": step.reason} for step in played.conversation.steps if step.reason],
             "notCompared": [
                 {"request": str(step.exchange), "reason": step.uncompared}
                 for step in played.conversation.steps if step.uncompared]}
            for played in plays]}
