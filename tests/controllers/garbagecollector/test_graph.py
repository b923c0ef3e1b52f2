"""The graph of owners alone: what it wants looked at, and that it forgets."""

import pytest

from fakekube_controllers.garbagecollector.graph import Graph, affects_graph


class Heard:
    """A graph, and what it asked for."""

    def __init__(self):
        self.look, self.orphan, self.invalid_namespace = [], [], []
        self.graph = Graph(
            self.look.append, self.orphan.append, lambda node, ref: self.invalid_namespace.append((node.uid, ref.uid)))

    def see(self, uid, *owners, namespace="n", **metadata):
        refs = [{"apiVersion": "v1", "kind": "Thing", "name": owner, "uid": owner} | more for owner, more in owners]
        meta = {"uid": uid, "name": uid, "namespace": namespace, "ownerReferences": refs, **metadata}
        self.graph.observe({"metadata": meta}, "v1", "Thing")

    def taken(self):
        """What was asked to be looked at since the last time."""
        seen, self.look[:] = list(dict.fromkeys(self.look)), []
        return seen


@pytest.fixture
def heard():
    return Heard()


def owner(uid, **more):
    return uid, more


def test_an_owner_that_nobody_has_seen_is_looked_at(heard):
    """Given a dependent seen before its owner / then the owner is looked at / when it comes / then
    nothing more is.
    """
    heard.see("child", owner("parent"))
    assert heard.taken() == ["parent", "child"]
    heard.see("parent")
    assert heard.taken() == []


def test_a_dependent_of_an_owner_that_is_there_is_let_alone(heard):
    """Given an owner that was seen / when a dependent comes / then neither is looked at / given
    that the owner is on its way out / when one more comes / then the end of the owner will tell of
    it.
    """
    heard.see("parent")
    heard.see("child", owner("parent"))
    assert heard.taken() == []
    heard.see("parent", deletionTimestamp="2026-01-01T00:00:00Z")
    heard.see("late", owner("parent"))
    assert heard.taken() == []
    heard.graph.forget("parent")
    assert heard.taken() == ["child", "late"]


@pytest.mark.parametrize(("old", "new", "expected"), [
    ({"labels": {"a": "b"}}, {}, False), ({"finalizers": ["x/y"]}, {"finalizers": ["x/y"]}, False),
    ({"finalizers": ["x/y"]}, {}, False), ({}, {"ownerReferences": [{"uid": "u"}]}, True),
    ({"deletionTimestamp": "t"}, {"deletionTimestamp": "t"}, True),
])
def test_only_owners_and_ends_are_news(old, new, expected):
    """Given an object that changed / then the graph hears of it when its owners did, or when it is
    to go: finalizers say something only of what is on its way out.
    """
    assert affects_graph(old, new) == expected


def test_dependents_of_what_is_gone_are_looked_at_and_then_forgotten(heard):
    """Given an owner with a dependent / when the owner goes / then the dependent is looked at /
    when it goes too / then nothing is remembered.
    """
    heard.see("parent")
    heard.see("child", owner("parent"))
    heard.taken()
    heard.graph.forget("parent")
    assert heard.taken() == ["child"]
    heard.graph.forget("child")
    assert heard.graph.nodes == {}


def test_a_reference_that_comes_back_is_let_alone(heard):
    """Given an owner that waits for its dependents, and one that lost its reference to it / when
    somebody gives it back / then nothing is looked at, so that the two do not go on for ever.
    """
    heard.see("leaving", deletionTimestamp="2026-01-01T00:00:00Z")
    heard.see("staying")
    heard.see("child", owner("staying"))
    heard.taken()
    heard.see("child", owner("staying"), owner("leaving"))
    assert heard.taken() == []


def test_an_absent_owner_sends_the_look_on_to_its_dependents(heard):
    """Given an owner that a live read does not find / then those that name it are looked at."""
    heard.see("child", owner("parent"))
    heard.taken()
    heard.graph.absent("parent")
    assert heard.taken() == ["child"]


def test_an_orphaning_deletion_is_told_once(heard):
    """Given an owner being deleted with the orphan finalizer / when it is seen twice / then its
    dependents are freed once.
    """
    for _ in range(2):
        heard.see("parent", deletionTimestamp="now", finalizers=["orphan"])
    assert heard.orphan == ["parent"]


def test_what_blocks_is_known(heard):
    """Given two dependents / then the one with blockOwnerDeletion blocks."""
    heard.see("parent")
    heard.see("a", owner("parent", blockOwnerDeletion=True))
    heard.see("b", owner("parent"))
    assert [node.identity.uid for node in heard.graph.nodes["parent"].blocking_dependents] == ["a"]


def test_a_reference_into_another_namespace_is_stray(heard):
    """Given an owner of another namespace / when a dependent names it / then that is told, and the
    dependent looked at.
    """
    heard.see("parent", namespace="elsewhere")
    heard.see("child", owner("parent"))
    assert heard.invalid_namespace == [("child", "parent")]
    assert "child" in heard.taken()


def reference_to(name, uid="parent", kind="Thing"):
    return {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}


def test_an_owner_is_gone_once_its_end_was_told_and_while_somebody_names_it(heard):
    """Given an owner that was seen, with a dependent / then it is not gone / when its end is told /
    then it is, for references of its namespace that describe it as it was / when the dependent
    goes, too / then nothing is remembered.
    """
    heard.see("parent")
    heard.see("child", owner("parent"))
    assert not heard.graph.is_gone(reference_to("parent"), "n")
    heard.graph.forget("parent")
    assert heard.graph.is_gone(reference_to("parent"), "n")
    assert not heard.graph.is_gone(reference_to("parent"), "elsewhere")
    assert not heard.graph.is_gone(reference_to("parent"), "")
    assert not heard.graph.is_gone(reference_to("other"), "n")
    assert not heard.graph.is_gone(reference_to("parent", kind="Other"), "n")
    heard.graph.forget("child")
    assert not heard.graph.is_gone(reference_to("parent"), "n")
    assert heard.graph.nodes == {}


def test_an_owner_that_nobody_has_seen_is_not_gone(heard):
    """Given a dependent whose owner was never seen / then the owner is not gone: a live read has to
    say so / when the read finds nothing / then it is not either, since what a reference says of it
    may be wrong.
    """
    heard.see("child", owner("parent"))
    assert not heard.graph.is_gone(reference_to("parent"), "n")
    heard.graph.absent("parent")
    assert not heard.graph.is_gone(reference_to("parent"), "n")
