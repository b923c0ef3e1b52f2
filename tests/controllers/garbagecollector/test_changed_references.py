"""Owner references that are taken out, put in, and changed."""

from typing import Any

from fakekube_controllers.garbagecollector.graph import Graph


def graph() -> tuple[Graph, list[str]]:
    """One without objects, and what it wants looked at."""
    looked: list[str] = []
    return Graph(looked.append, lambda _: None, lambda *_: None), looked


def see(made: Graph, uid: str, *owners: str, **metadata: Any) -> None:
    refs = [{"apiVersion": "v1", "kind": "Thing", "name": owner, "uid": owner} for owner in owners]
    made.observe({"metadata": {"uid": uid, "name": uid, "namespace": "n", "ownerReferences": refs, **metadata}}, "v1", "Thing")


def dependents(made: Graph, uid: str) -> list[str]:
    return [*made.nodes[uid].dependents]


def test_a_former_owner_has_no_dependent() -> None:
    """Given an object with two owners / when a reference is taken out / then that owner has no
    dependent, and its end concerns nobody; the other's does.
    """
    made, looked = graph()
    for uid in ("a", "b"):
        see(made, uid)
    see(made, "child", "a", "b")
    assert (dependents(made, "a"), dependents(made, "b")) == (["child"], ["child"])
    see(made, "child", "b")
    assert (dependents(made, "a"), dependents(made, "b")) == ([], ["child"])
    looked.clear()
    made.forget("a")
    assert looked == []
    made.forget("b")
    assert looked == ["child"]


def test_an_owner_that_nobody_has_seen_is_forgotten_with_its_last_dependent() -> None:
    """Given dependents of an owner that nobody has seen / when the last of them names another /
    then nothing of it is left.
    """
    made, _ = graph()
    see(made, "one", "ghost")
    see(made, "two", "ghost")
    see(made, "one", "other")
    assert dependents(made, "ghost") == ["two"]
    see(made, "two")
    assert "ghost" not in made.nodes
    assert dependents(made, "other") == ["one"]


def test_owners_that_wait_are_looked_at_when_references_change() -> None:
    """Given an owner that waits for its dependents / when one of them stops or begins to name it /
    then the owner is looked at.
    """
    made, looked = graph()
    see(made, "owner", finalizers=["foregroundDeletion"], deletionTimestamp="t")
    see(made, "child", "owner")
    looked.clear()
    see(made, "child")
    assert looked == ["owner"]
    looked.clear()
    see(made, "child", "owner")
    assert looked[-1] == "owner"
    looked.clear()
    see(made, "child", "owner", labels={"a": "b"})
    assert looked == []
