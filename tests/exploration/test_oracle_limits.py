"""What oracles find, just above their limits, and not below: histories that are written down."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.exploration.oracles import OracleError, Who, findings, oracles_of

if TYPE_CHECKING:
    from fakekube.apiserver.filters import LogEntry
    from fakekube.testing.history import History

Tree = dict[str, Any]
ME = Who(("me",))
ORACLES = [
    "orphans", "stuck-finalizers", "restless", "idle-writes", "swinging-status", "overwritten", "acts-for-the-gone", "refused"]


class Story:
    """Changes of ConfigMaps that users have made; ``now`` is when it ended."""

    def __init__(self, now: float, controllers: str = "*") -> None:
        self.now, self.changes, self._trees = now, list[Any](), dict[str, Tree]()
        self.snapshot = SimpleNamespace(options=SimpleNamespace(controllers=controllers))
        self.requests: list[Any] = []

    def change(
        self, kind: str, name: str, time: float, who: str | None = "me", *, method: str = "PUT", seen: str | None = None,
        resource: str = "configmaps", metadata: Tree | None = None, **fields: Any,
    ) -> "Story":
        acting = None if seen is None else SimpleNamespace(revision=seen)
        cause = None if who is None else SimpleNamespace(
            user_agent=who, user=f"user of {who}", method=method, path=f"/{name}", acting=acting)
        tree = {"metadata": {"name": name, **(metadata or {})}, **fields}
        before = None if kind == "ADDED" else self._trees.get(name)
        self._trees[name] = tree
        self.changes.append(SimpleNamespace(
            type=kind, name=f"configmaps a/{name}", time=time, revision=len(self.changes) + 1, cause=cause, object=tree,
            before=before, resource=GroupResource("", resource), event=SimpleNamespace(record=SimpleNamespace(uid=name))))
        return self

    def ask(self, time: float = 0, **more: Any) -> "Story":
        entry: Tree = {
            "verb": "update", "code": 200, "group": "", "resource": "configmaps", "subresource": "", "dry_run": False,
            "user_agent": "me", "user": "u", "path": "/a", "time": time, "decision": "allow", "reason": "", "fault": ""}
        self.requests.append(SimpleNamespace(**{**entry, **more}))
        return self

    def change_at(self, revision: str) -> Any:
        return self.changes[int(revision) - 1] if revision.isdecimal() else None

    def told(self, oracle: str, who: Sequence[Who] = (ME,)) -> list[str]:
        return [each.text for each in findings(cast("History", self), cast("list[LogEntry]", self.requests), who, [oracle])]


OWNER = {"ownerReferences": [{"uid": "owner", "kind": "Shop", "name": "s"}]}


@pytest.mark.parametrize(("now", "controllers", "who", "told"), [
    (70.5, "*", "me", ["configmaps a/x is still there 60.5 s after its owner Shop s has gone"]),
    (70.0, "*", "me", []), (70.5, "*,-garbagecollector", "me", []), (70.5, "*", "you", []),
])
def test_orphans(now: float, controllers: str, who: str, told: list[str]) -> None:
    """Given an object whose owner has gone, when the garbage collector had a minute, then it is an
    orphan of who made it.
    """
    story = Story(now, controllers).change("ADDED", "owner", 1).change("ADDED", "x", 2, who, metadata=OWNER)
    assert story.told("orphans") == []
    story.change("DELETED", "owner", 10, "you")
    assert story.told("orphans") == told


def test_orphans_whose_owner_never_was() -> None:
    """Given an object of an owner that is in no history, when a minute has passed since its last
    change, then it is an orphan; one of whose owners is there is none, nor is what has no owner.
    """
    story = Story(62.5).change("ADDED", "x", 2, metadata=OWNER).change("ADDED", "y", 2)
    assert story.told("orphans") == ["configmaps a/x is still there 60.5 s after its owner Shop s has gone"]
    both = {"ownerReferences": [*OWNER["ownerReferences"], {"uid": "y", "kind": "Shop", "name": "y"}]}
    assert Story(90).change("ADDED", "x", 2, metadata=both).change("ADDED", "y", 2).told("orphans") == []
    gone = Story(90).change("ADDED", "y", 1).change("ADDED", "x", 2, metadata=both).change("DELETED", "y", 5)
    assert gone.told("orphans") == ["configmaps a/x is still there 85 s after its owner Shop s, Shop y has gone"]


GOING = {"finalizers": ["a/b"], "deletionTimestamp": "t"}


@pytest.mark.parametrize(("now", "seen", "work", "finalizer", "told"), [
    (70.5, "1", None, "a/b", True), (70.0, "1", None, "a/b", False), (70.5, None, None, "a/b", False),
    (3_671.5, "1", 71, "a/b", True), (3_671, "1", 71, "a/b", False), (70.5, "1", None, "orphan", False),
    (70.5, "1", None, "foregroundDeletion", False), (70.5, "1", None, "kubernetes.io/pvc-protection", False),
    (70.5, "1", None, "kubernetes.io/pv-protection", False),
])
def test_stuck_finalizers(now: float, seen: str | None, work: float | None, finalizer: str, told: bool) -> None:
    """Given a finalizer on an object that is to go, when a minute has passed, or an hour since its
    writer was at work, then it is stuck; one of whom nothing is heard may have ended, and the
    server's own are nobody's.
    """
    metadata = {"finalizers": [finalizer]}
    story = Story(now).change("ADDED", "x", 1, seen=seen, metadata=metadata)
    story.change("MODIFIED", "x", 10, "you", metadata={**metadata, "deletionTimestamp": "t"})
    if work is not None:
        story.change("ADDED", "y", work)
    waits = now - 10
    assert story.told("stuck-finalizers") == (
        [f"configmaps a/x waits {waits:g} s for somebody to take off its finalizer {finalizer}"] if told else [])


def test_whose_finalizer_is_stuck() -> None:
    """Given finalizers, when somebody else has put them on, they are off again, the object is not
    to go, or its writer outside has asked nothing since, then nobody is accused.
    """
    outside = Story(90).change("ADDED", "x", 1, metadata={"finalizers": ["a/b"]}).change("MODIFIED", "x", 10, "you",
        metadata=GOING)
    assert outside.told("stuck-finalizers") == []
    assert outside.ask(10).told("stuck-finalizers") == []
    assert outside.ask(11, user_agent="you").told("stuck-finalizers") == []
    assert outside.ask(11).told("stuck-finalizers") == [
        "configmaps a/x waits 80 s for somebody to take off its finalizer a/b"]
    assert outside.told("stuck-finalizers", [Who(("you",))]) == []
    held = Story(90).change("ADDED", "x", 1, seen="1", metadata={"finalizers": ["a/b"]})
    assert held.told("stuck-finalizers") == []
    off = held.change("MODIFIED", "x", 10, metadata={"deletionTimestamp": "t"})
    assert off.told("stuck-finalizers") == []
    put_on_twice = Story(90).change("ADDED", "x", 1, "you", metadata={"finalizers": ["a/b"]}).change(
        "MODIFIED", "x", 2, seen="1", metadata={"finalizers": ["a/b"]}).change("MODIFIED", "x", 10, "you", metadata=GOING)
    assert put_on_twice.told("stuck-finalizers") == []


def writes(count: int, step: float, start: float = 0.0, **more: Any) -> Story:
    story = Story(start + (count - 1) * step + more.pop("rest", 0.5)).change("ADDED", "x", start)
    for number in range(count):
        story.change("MODIFIED", "x", start + number * step, **more)
    return story


@pytest.mark.parametrize(("story", "told"), [
    (writes(21, 0.5), "configmaps a/x was written 21 times in 10 s, until the end, while nobody else wrote anything"),
    (writes(20, 0.5), ""), (writes(11, 1.0), ""), (writes(12, 0.95, rest=0.1), ("configmaps a/x was written 12 times in 10.45 s, "
     "until the end, while nobody else wrote anything")),
    (writes(21, 0.5, rest=1.0), ""), (writes(21, 0.5, who="you"), ""), (writes(21, 0.5, resource="leases"), ""),
    (writes(21, 0.5, resource="events"), ""), (writes(21, 0.5).change("MODIFIED", "y", 10.2, "you").change("MODIFIED", "x",
        10.3), ""),
    (writes(21, 0.5).change("MODIFIED", "y", 10.2, "you", resource="leases"),
     "configmaps a/x was written 21 times in 10 s, until the end, while nobody else wrote anything"), (Story(5), ""),
])
def test_who_is_restless(story: Story, told: str) -> None:
    """Given writes of one object, when they are more than ten, faster than one a second, for ten
    seconds and until the end, then their writer is restless.
    """
    assert story.told("restless") == ([told] if told else [])


def updates(count: int, step: float = 1.0, changed: int = 0, **more: Any) -> Story:
    story = Story(100).change("ADDED", "other", 0, "you")
    for number in range(changed):
        story.change("MODIFIED", "a", number)
    for number in range(count):
        story.ask(number * step, **more)
    return story


@pytest.mark.parametrize(("story", "told"), [
    (updates(11), "11 of 11 updates of /a by me changed nothing"), (updates(10), ""), (updates(11, 10.0), ""),
    (updates(11, 9.9), "11 of 11 updates of /a by me changed nothing"), (updates(14, changed=4), ""),
    (updates(15, changed=4), "11 of 15 updates of /a by me changed nothing"), (updates(11, verb="patch"), ""),
    (updates(11, code=409), ""), (updates(11, resource="leases"), ""), (updates(11, resource="secrets"), ""),
    (updates(11, group="apps"), ""), (updates(11, subresource="proxy"), ""), (updates(11, dry_run=True), ""),
    (updates(11, user_agent="you"), ""), (updates(11, subresource="status"), "11 of 11 updates of /a by me changed nothing"),
])
def test_idle_writes(story: Story, told: str) -> None:
    """Given updates of one object, when more than ten changed nothing, faster than by a resync,
    then they are idle; what is stored elsewhere, or not at all, does not count.
    """
    assert story.told("idle-writes") == ([told] if told else [])


def swings(*values: Any, step: float = 0.5, path: str = "a", who: str = "me") -> Story:
    story = Story(100).change("ADDED", "x", 0, status={path: values[0]})
    for number, value in enumerate(values[1:], 1):
        story.change("MODIFIED", "x", number * step, who, status={path: value})
    return story


SWINGS = 'status.a of configmaps a/x swings between "q" and "p" while nobody else wrote anything'


@pytest.mark.parametrize(("story", "told"), [
    (swings(*"pqpqp"), [SWINGS]), (swings(*"pqpq"), []), (swings(*"pqpqp", step=1.0), []),
    (swings(*"pqpqp", step=0.99), [SWINGS]), (swings(*"pqprpqp"), []), (swings(*"pqpqp", who="you"), []),
    (swings(*"pqpqp", path="lastProbeTime"), []), (swings(1, 2, 1, 2, 1), []), (swings(*"pqrqrqr"), [
        'status.a of configmaps a/x swings between "r" and "q" while nobody else wrote anything']),
])
def test_swinging_status(story: Story, told: list[str]) -> None:
    """Given a field of a status, when it goes four times between two values within three seconds,
    then it swings; a counter that grows, and times, do not.
    """
    assert list(dict.fromkeys(story.told("swinging-status")))[:1] == told


def overwrite(**more: Any) -> Story:
    other = more.pop("other", {})
    story = Story(9).change("ADDED", "x", 0, "maker", spec={"a": 1})
    story.change("MODIFIED", "x", 1, **{"who": "you", "spec": {"a": 2}, **other})
    return story.change("MODIFIED", "x", 2, **{"seen": "1", "spec": {"a": 1}, **more})


OVERWRITTEN = "spec.a of configmaps a/x, which {} had changed in #2, is as before after #3, whose writer had seen #1"


@pytest.mark.parametrize(("story", "told"), [
    (overwrite(), OVERWRITTEN.format("you")), (overwrite(other={"who": None}), OVERWRITTEN.format("the server")),
    (overwrite(seen="2"), ""), (overwrite(seen=""), ""), (overwrite(seen=None), ""), (overwrite(method="PATCH"), ""),
    (overwrite(spec={"a": 3}), ""), (overwrite(who="them"), ""), (overwrite(other={"who": "me"}), ""),
])
def test_what_is_overwritten(story: Story, told: str) -> None:
    """Given a change of somebody, when an update whose writer had not heard of it brings back what
    was before, then that is told; not of who had set the field before.
    """
    assert story.told("overwritten") == ([told] if told else [])


def test_who_sets_its_own_field_back() -> None:
    """Given a field that a writer has set itself, when somebody changes it and it sets it back,
    then that is its right.
    """
    story = Story(9).change("ADDED", "x", 0, "you", spec={"a": 0}).change("MODIFIED", "x", 1, spec={"a": 1})
    story.change("MODIFIED", "x", 2, "you", spec={"a": 2}).change("MODIFIED", "x", 3, seen="1", spec={"a": 1})
    assert story.told("overwritten") == []


@pytest.mark.parametrize(("seen", "more", "told"), [
    ("2", {}, True), ("3", {}, True), ("1", {}, False), ("x", {}, False), (None, {}, False), ("2", {"who": "you"}, False),
])
def test_who_acts_for_the_gone(seen: str | None, more: Tree, told: bool) -> None:
    """Given an owner that has gone, when something is made for it by who had seen that, then it is
    told.
    """
    story = Story(9).change("ADDED", "owner", 0).change("DELETED", "owner", 1).change("ADDED", "other", 2, "you")
    story.change("ADDED", "x", 3, **{"seen": seen, "metadata": OWNER, **more})
    assert story.told("acts-for-the-gone") == ([
        f"configmaps a/x was made for Shop s, which was gone since #2, by a writer that had seen #{seen}"] if told else [])
    changed = Story(9).change("ADDED", "owner", 0).change("DELETED", "owner", 1).change(
        "MODIFIED", "x", 3, seen="2", metadata=OWNER)
    assert changed.told("acts-for-the-gone") == []
    elsewhere = Story(9).change("ADDED", "owner", 0).change("DELETED", "owner", 1).change("ADDED", "y", 2,
        resource="pods").change(
        "ADDED", "x", 3, seen="3", metadata=OWNER)
    assert elsewhere.told("acts-for-the-gone") == []


def test_who_is_refused() -> None:
    """Given requests that were forbidden, when no fault did it, then each is told once."""
    story = Story(1).ask(decision="forbid").ask(decision="forbid", reason="no").ask(decision="forbid", fault="f").ask()
    story.ask(decision="forbid", user_agent="you")
    assert story.told("refused", [ME, ME]) == ["u may not update /a: no role allows it", "u may not update /a: no"]
    assert story.told("refused", [Who((), ("v",))]) == []
    assert len(story.told("refused", [Who((), ("u",))])) == 2
    assert len(story.told("refused", [Who(("m*",), ("?",))])) == 2
    found = findings(cast("History", story), cast("list[LogEntry]", story.requests), [ME], ["refused"])[0]
    assert (str(found), found.object) == ("refused: u may not update /a: no role allows it", "/a")


@pytest.mark.parametrize(("value", "names"), [
    ("all", ORACLES), (" orphans , refused,orphans", ["orphans", "refused"]), (["restless"], ["restless"]), (("all",), ORACLES),
])
def test_oracles_are_named(value: Any, names: list[str]) -> None:
    """Given an option, when it names oracles, then each is there once, in its order."""
    assert list(oracles_of(value)) == names


@pytest.mark.parametrize(("value", "name"), [("no", "'no'"), (True, "'True'"), ("all,orphans", "'all'")])
def test_what_names_no_oracle_is_told(value: Any, name: str) -> None:
    """Given an option that names none, when it is read, then it is said which there are."""
    with pytest.raises(OracleError) as refused:
        oracles_of(value)
    assert str(refused.value) == f"{name} is no oracle: known are {', '.join(ORACLES)}, and all for all of them"
