"""What the hooks of a strategy do that overrides none, and the context that they get."""

from typing import Any

import pytest

from fakekube.apimachinery.field_errors import FieldError, invalid
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import AlwaysAllow, Authorization
from fakekube.registry.attributes import Attributes
from fakekube.registry.strategy import Strategy, WriteContext, shared_parts, unshare
from fakekube.util.rng import Rng
from fakekube.util.turns import UNITS
from tests.registry.test_kinds import JOB


class Quiet:
    """A cluster with nothing in it."""

    release = "1.36"
    authorization = Authorization(AlwaysAllow())

    def gate(self, name: str) -> bool:
        return False

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> Tree | None:
        return None

    def select(self, group: str, resource: str, namespace: str) -> list[Tree]:
        return []

    def write_status(self, group: str, resource: str, namespace: str, name: str, status: Tree, *, now: str) -> None:
        raise AssertionError


def context(**more: Any) -> WriteContext:
    return WriteContext(Quiet(), Rng(0), "2026-01-01T00:00:00Z", UserInfo("ann"), **more)


def test_what_a_write_is_that_says_nothing() -> None:
    """Given a context, then it is of a create by nobody's manager, stores what comes of it, and
    says nothing.
    """
    made = context()
    assert (made.operation, made.subresource, made.dry_run, made.patched, made.field_manager, made.of_collection) == (
        "CREATE",
        "",
        False,
        False,
        "unknown",
        False,
    )
    assert (made.options, made.warnings, made.audit_annotations, made.minor) == ({}, [], {}, 36)
    made.warn("a")
    made.warn("a")
    made.annotate("k", "first")
    made.annotate("k", "second")
    assert (made.warnings, made.audit_annotations) == (["a", "a"], {"k": "first"})
    assert (context().warnings, context().audit_annotations) == ([], {})
    assert context() != context()


def test_what_admission_is_told_that_nobody_was_asked() -> None:
    """Given a write as admission sees it, then nobody outside was asked, a second round is made
    once it is wanted, and is the same from then on; two writes are two.
    """

    def write() -> Attributes:
        return Attributes(JOB, "n", "a", "CREATE", "", {}, None, {}, made)

    made, other = context(), context()
    attrs = write()
    assert (attrs.reinvocation, attrs.converted) == (None, None)
    state = attrs.reinvocable()
    assert (state.wanted, state.again, state.states) == (False, False, {})
    assert attrs.reinvocable() is state is attrs.reinvocation
    assert write().reinvocable() != state
    assert (write() == write(), made == other) == (False, False)


async def test_work_is_done_at_once_or_in_turns() -> None:
    """Given work that fits into a turn and work that does not, when it is finished, then each gives
    what it returns or raises, the long one with later turns, after which the first is fresh.
    """
    made = context()
    first = made.turn
    assert made.turn is first
    assert await made.finish(lambda: made.turn is first)
    tries: list[object] = []

    def long() -> str:
        tries.append(made.turn)
        for _ in range(3):
            made.turn.spend(UNITS)
        return "done"

    assert await made.finish(long) == "done"
    assert (tries[0] is first, tries[1] is first, len(tries)) == (True, False, 2)
    assert made.turn not in tries

    def failing() -> str:
        long()
        raise KeyError("why")

    with pytest.raises(KeyError, match="why"):
        await made.finish(failing)
    assert made.turn not in tries
    assert await made.finish_in_turns(lambda: made.turn.left) == UNITS


class Filling(Strategy):
    """Fills in a field of the spec in place."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        obj.setdefault("spec", {}).setdefault("filled", True)
        obj["metadata"]["seen"] = True

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        return [invalid("spec", obj.get("spec"), "no")]


@pytest.mark.parametrize("patched", [True, False])
def test_what_an_object_shares_with_the_old_one_is_not_changed_in_place(patched: bool) -> None:
    """Given an object that shares parts with the stored one, when defaults are filled in, on an
    update and on a status, then the stored one stays as it was, and managed fields are shared.
    """
    entries: list[Tree] = [{"manager": "m"}]
    for hook in ("default_update", "default_status"):
        old: Tree = {"metadata": {"name": "a", "managedFields": entries}, "spec": {}, "status": {"x": []}, "list": [[]]}
        obj = dict(old) if patched else {**old, "metadata": dict(old["metadata"])}
        if not patched and hook == "default_update":
            obj["spec"] = {}
        getattr(Filling(), hook)(obj, old, context(patched=patched))
        assert obj["spec"] == {"filled": True}
        assert old == {"metadata": {"name": "a", "managedFields": entries}, "spec": {}, "status": {"x": []}, "list": [[]]}
        assert obj["metadata"]["managedFields"] is entries
        assert obj["metadata"]["seen"]
        if patched or hook == "default_status":
            assert all(obj[name] is not old[name] for name in ("spec", "status", "list"))
            assert obj["list"][0] is not old["list"][0]


def test_parts_that_are_shared_are_objects_and_lists_that_are_the_same() -> None:
    """Given an object and the old one, then what they share are those objects and lists that are
    one, and no texts and numbers, and nothing that is equal only.
    """
    old: Tree = {"a": {"x": 1}, "b": [1], "c": "text", "d": {"y": 1}, "e": 5}
    obj: Tree = {"a": old["a"], "b": old["b"], "c": old["c"], "d": {"y": 1}, "e": 5, "f": {}}
    assert shared_parts(obj, old) == {"a": {"x": 1}, "b": [1]}
    own: Tree = {"metadata": {"name": "a"}, "spec": {"x": [1]}, "text": "t"}
    before = dict(own)
    unshare(own)
    assert own == before
    assert own["metadata"] is not before["metadata"]
    assert own["spec"]["x"] is not before["spec"]["x"]


def test_what_hooks_say_that_nobody_overrides() -> None:
    """Given a strategy that overrides a validation or nothing, when its hooks are called, then they
    change nothing, find what that validation finds, and keep nobody.
    """
    plain, filling, made = Strategy(), Filling(), context()
    obj: Tree = {"metadata": {"name": "a"}, "spec": {"x": 1}}
    of_metadata = [invalid("metadata.name", "a", "bad")]
    assert plain.validate_create(obj, of_metadata, made) == of_metadata
    assert plain.validate_create(obj, [], made) == plain.validate(obj, made) == plain.validate_update(obj, obj, made) == []
    assert filling.validate_create(obj, of_metadata, made) == of_metadata + filling.validate(obj, made)
    assert filling.validate_update(obj, {}, made) == filling.validate(obj, made)
    assert (plain.validate_status_update(obj, obj, made), plain.warnings(obj, None, made)) == ([], [])
    assert (plain.check_graceful_delete(obj, 5, made), plain.why_kept("a"), plain.holds_deletion(obj)) == (None, "", False)
    assert not plain.deletes_by_itself
    seen: list[Tree] = []
    canonical = type("Canonical", (Strategy,), {"canonicalize": lambda _, obj: seen.append(obj)})()
    canonical.canonicalize_changed(obj, {})
    assert seen == [obj]


def test_a_status_takes_nothing_but_status_and_metadata() -> None:
    """Given an object that was sent to the status endpoint, when it is prepared, then all but its
    status and metadata is that of the stored one, and what that has not is gone.
    """
    old: Tree = {"kind": "K", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"x": 1}, "data": {}, "status": {"old": 1}}
    obj: Tree = {
        "kind": "Other",
        "apiVersion": "v2",
        "metadata": {"name": "a", "labels": {}},
        "spec": {"x": 2},
        "more": 1,
        "status": {"new": 1},
    }
    Strategy().prepare_for_status_update(obj, old, context())
    assert obj == {
        "kind": "K",
        "apiVersion": "v1",
        "metadata": {"name": "a", "labels": {}},
        "spec": {"x": 1},
        "data": {},
        "status": {"new": 1},
    }


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({}, False),
        ({"metadata": {}}, False),
        ({"status": {}}, False),
        ({"kind": "L"}, False),
        ({"apiVersion": "v2"}, False),
        ({"spec": {"x": 2}}, True),
        ({"spec": {"x": True}}, True),
        ({"data": {}}, True),
        ({"spec": {"x": 1}}, False),
        ({"spec": None}, True),
    ],
)
def test_what_counts_as_a_change_of_the_spec(change: Tree, counts: bool) -> None:
    """Given a change, then the generation rises with all but metadata, status and type; what is
    gone counts as what is new.
    """
    old: Tree = {"kind": "K", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"x": 1}, "status": {"y": 1}}
    new = {name: value for name, value in {**old, **change}.items() if value is not None}
    assert Strategy().spec_changed(new, old) is counts
