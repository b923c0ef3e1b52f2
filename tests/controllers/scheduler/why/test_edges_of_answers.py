"""What is said of pods that are on their way, and of plugins that fail or name nodes: each part
alone.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube_controllers.scheduler.framework import changes
from fakekube_controllers.scheduler.framework.handle import NominatingInfo
from fakekube_controllers.scheduler.framework.status import SKIP, error, unresolvable, unschedulable
from fakekube_controllers.scheduler.framework.types import NodeInfo, pod_info
from fakekube_controllers.scheduler.why import room, smallest, trial
from fakekube_controllers.scheduler.why.answers import Answers
from fakekube_controllers.scheduler.why.gangs import GangRoom
from fakekube_controllers.scheduler.why.room import Rejected, Room
from tests.controllers.scheduler.contexts import framework
from tests.controllers.scheduler.groups.test_algorithm import leaf
from tests.controllers.scheduler.groups.trees import pod_group, queued
from tests.controllers.scheduler.plugins.cases import node, pod, snapshot

GOING = {"deletionTimestamp": "x"}


class World:
    """A scheduler that knows what it is told."""

    def __init__(self, *nodes: Any, waiting: Any = None, assumed: bool = False, entity: Any = None, states: Any = None) -> None:
        self.answers: Any = None
        self.entity, self.nominated = entity, ""
        made: Any = object.__new__(Answers)
        self.answers = made
        queue = SimpleNamespace(
            entity=lambda _: self.entity, is_active=lambda _: True, backs_off_until=lambda _: None)
        shared = SimpleNamespace(
            waiting_pods={"n/p": waiting} if waiting else {}, groups=states, snapshot=None,
            nominator=SimpleNamespace(node_of=lambda _: self.nominated))
        made._queue, made._ctx = queue, None
        made._scheduler = SimpleNamespace(
            profiles={"": "profile"}, shared=shared, queue=queue,
            cache=SimpleNamespace(is_assumed_pod=lambda _: assumed, snapshot=lambda: snapshot(*nodes)),
            failures=SimpleNamespace(diagnoses=SimpleNamespace(of=lambda _: ())))

    def said(self, of: Any) -> Any:
        """State and text of the answer about a pod."""
        found = self.answers.pod(of)
        assert found.about == "pod/n/p"
        return found.state, found.message


@pytest.mark.parametrize(("told", "expected"), [
    ({"waiting": SimpleNamespace(node_name="n1", pending_plugins=["One", "Two"])},
     ("WaitingForPermit", "has node n1, and waits for One, Two to permit it")),
    ({"assumed": True}, ("Binding", "has a node, and is being bound to it")),
    ({}, ("InFlight", "is being tried, or not known to the scheduler yet")),
])
def test_a_pod_on_its_way_is_said_to_be(told: Any, expected: Any) -> None:
    """Given a pod that waits for a Permit plugin, is being bound, or is being tried / then that is
    what is said of it.
    """
    assert World(**told).said(pod()) == expected


def going(name: str) -> Any:
    made = pod(name)
    made["metadata"] |= GOING
    return made


@pytest.mark.parametrize(("pods", "text"), [
    ([], ""), ([pod("stays")], ""), ([going("a"), pod("stays")], ", where a is going"),
    ([going("a"), going("b")], ", where a, b are going")])
def test_a_pod_that_waits_for_others_to_go_says_for_whom(pods: Any, text: str) -> None:
    """Given a pod that is nominated for a node, alone or with its group / then it waits for room
    there, and for those that are going.
    """
    world = World(node("n1", *pods))
    assert world.answers._nominated("n/p") is None
    world.nominated = "n1"
    assert world.answers._nominated("n/p") == f"waits for room on node n1{text}"
    assert World(node("n2")).answers._nominated("n/p") is None
    group = SimpleNamespace(changes=("change",), state="Unschedulable", alternatives=())
    world.answers._group = lambda _: group
    found = world.answers._member("pod/n/p", pod(), SimpleNamespace(name="g"))
    assert (found.state, found.message, found.because, found.changes) == (
        "WaitingForPreemption", f"waits for room on node n1{text}", (group,), ("change",))
    world.answers._room = lambda *_: ((), (), ())
    own = queued(pod_info(pod()))
    assert world.answers._of_its_own("pod/n/p", "profile", own)[:3] == (
        "pod/n/p", "WaitingForPreemption", f"waits for room on node n1{text}")


def test_a_node_that_is_gone_is_waited_for_without_a_word() -> None:
    """Given a pod that is nominated for a node that is gone / then nobody is going there."""
    world = World()
    world.nominated = "n1"
    assert world.answers._nominated("n/p") == "waits for room on node n1"


@pytest.mark.parametrize(("attempts", "text"), [
    (0, "has not been tried yet"), (1, "was tried once"), (2, "was tried 2 times")])
def test_what_is_active_is_about_to_be_tried(attempts: int, text: str) -> None:
    """Given a pod that is to be tried next / then that is said, with how often it was."""
    own = queued(pod_info(pod()))
    own.attempts = attempts
    assert World().answers._standing(own) == ("Active", f"{text}, and is about to be")


class Speaks:
    """PreFilter and Filter that say, or raise, what they are told."""

    name = "Speaks"
    pre: Any = None
    own: Any = None

    def __init__(self, *_: Any) -> None:
        return

    def pre_filter(self, *_: Any) -> Any:
        """What it is told."""
        if isinstance(self.pre, Exception):
            raise self.pre
        return self.pre

    def filter(self, *_: Any) -> Any:
        """What it is told."""
        if isinstance(self.own, Exception):
            raise self.own
        return self.own

    def events_to_register(self) -> Any:
        """None."""
        return []


def speaking(pre: Any = None, own: Any = None) -> Any:
    """A profile with such a plugin."""
    return framework(type("Speaks", (Speaks,), {"pre": pre, "own": own}))


@pytest.mark.parametrize(("pre", "own", "reasons"), [
    (None, None, []), (SKIP, unschedulable("unasked"), []), (["n1"], None, []),
    (["n2"], None, [("Speaks", "node(s) didn't satisfy plugin(s) [Speaks]")]), (None, ValueError("oops"), [
        ("Speaks", "ValueError('oops')")]),
    (None, unschedulable("no"), [("Speaks", "no")]), (None, error("bad"), [("Speaks", "bad")])])
def test_what_plugins_have_against_a_node(pre: Any, own: Any, reasons: Any) -> None:
    """Given plugins that name nodes, reject one, or fail / then all that is said, and that nobody
    knows what would help.
    """
    made, nodes = Room(speaking(pre, own)), snapshot(node("n1"))
    prepared: Any = made.prepare(pod_info(pod()), nodes)
    found = made.reasons(prepared, pod_info(pod()), nodes.all_nodes["n1"])
    assert [((reason.plugin, reason.message), is_known) for reason, is_known in found] == [(each, False) for each in reasons]


@pytest.mark.parametrize(("pre", "reason"), [
    (ValueError("oops"), ("PreFilter", "ValueError('oops')")), (unschedulable("nowhere"), ("Speaks", "nowhere")),
    (error("bad"), ("PreFilter", 'running PreFilter plugin "Speaks": bad'))])
def test_what_keeps_a_pod_from_every_node(pre: Any, reason: Any) -> None:
    """Given a plugin that rejects a pod before any node is looked at, or fails / then that stands
    for every node, and no node has the least missing.
    """
    made, nodes = Room(speaking(pre)), snapshot(node("n1"))
    found = made.prepare(pod_info(pod()), nodes)
    assert isinstance(found, Rejected)
    assert ((found.reason.plugin, found.reason.message), found.is_known) == (reason, False)
    [place] = made.places(pod_info(pod()), nodes)
    assert (place.name, [(each.plugin, each.message) for each in place.reasons]) == ("every node", [reason])
    assert made.least(pod_info(pod()), nodes) is None


def test_pods_that_are_to_come_to_a_node_count() -> None:
    """Given a node with room for a pod, for which another one of more priority is nominated / then
    that is what speaks against it.
    """
    profile, nodes = framework(), snapshot(node("n1", cpu="1"))
    other = pod_info(pod("o", priority=5, requests={"cpu": "1"}))
    profile.nominator.add_nominated_pod(other, NominatingInfo("n1"))
    made, info = Room(profile), pod_info(pod(requests={"cpu": "1"}))
    prepared: Any = made.prepare(info, nodes)
    [(reason, is_known)] = made.reasons(prepared, info, nodes.all_nodes["n1"])
    assert (reason.plugin, reason.message, is_known) == (
        "NodeResourcesFit", "Insufficient cpu, with the pods that are nominated for it", False)


def test_only_so_many_nodes_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given nodes that lack something, whatever they are given / when that was tried often enough /
    then nothing is proposed; no node, or changes after which PreFilter rejects, neither.
    """
    monkeypatch.setattr(room, "MAX_TRIED", 2)
    made, nodes, info = Room(framework()), snapshot(node("n1"), node("n2")), pod_info(pod(requests={"cpu": "9"}))
    assert made.least(info, nodes) is not None
    tried: list[str] = []

    def still(_: Any, __: Any, where: NodeInfo, wanted: Any) -> Any:
        tried.append(where.name)
        return [changes.set_label(f"node/{where.name}", "a", "b")]

    monkeypatch.setattr(made, "_still_wanted", still)
    assert made.least(info, nodes) is None
    assert len(tried) == 2
    assert made.least(info, snapshot()) is None
    rejecting = Room(speaking(unresolvable("never")))
    assert rejecting._still_wanted(info, nodes, nodes.all_nodes["n1"], []) is None


def test_what_will_do_is_halved() -> None:
    """Given changes that will do / when some are not needed, or half as much is enough / then the
    least of them is proposed.
    """
    nodes = snapshot(node("n1"), node("n2"))
    asked: Any = [changes.add_resource("node/n1", "cpu", 8000), changes.set_label("node/n2", "a", "b")]

    def fits(changed: Any) -> bool:
        return bool(changed.all_nodes["n1"].allocatable["cpu"] >= 5500)

    [found] = smallest.shrunk(nodes, asked, fits) or ()
    assert (found.target, found.details["resource"], found.details["amount"]) == ("node/n1", "cpu", "2")
    assert smallest.shrunk(nodes, asked[1:], fits) is None


def test_nodes_that_are_gone_have_no_shape() -> None:
    """Given nodes of which one has pods only, and two are alike / then there are two shapes."""
    gone = NodeInfo("gone")
    nodes = snapshot(gone, node("n1"), node("n2"), node("n3", cpu="8"))
    assert [each[0].name for each in smallest._shapes(nodes)] == ["n1", "n3"]


def test_labels_are_taken_off_in_a_trial() -> None:
    """Given a node with a label / when a change takes it off, or adds a node like that / then it is
    so in a trial, and the node is as it was; a label that is not there is no matter.
    """
    nodes = snapshot(node("n1", labels={"a": "b", "kubernetes.io/hostname": "n1"}))
    wanted = [changes.remove_label("node/n1", "a"), changes.remove_label("node/n1", "none")]
    changed: Any = trial.changed(nodes, wanted)
    assert changed.all_nodes["n1"].node["metadata"]["labels"] == {"kubernetes.io/hostname": "n1"}
    assert nodes.all_nodes["n1"].node["metadata"]["labels"]["a"] == "b"
    more: Any = trial.changed(nodes, [changes.add_node("node like n1", 2, {"like": "n1"})])
    assert [each.name for each in more.all_nodes.infos()] == ["n1", "new-1", "new-2"]
    assert more.all_nodes["new-1"].node["metadata"]["labels"]["a"] == "b"


def test_a_gang_for_which_no_node_would_do_lacks_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a gang with a group without pods, and pods that no node can have / then no nodes are
    proposed; where one can, it is for as many pods as there are.
    """
    first, second = leaf(pod_group("one", 1), 0), leaf(pod_group("two", 1), 2)
    made: Any = object.__new__(GangRoom)
    made._root = SimpleNamespace(leaves=lambda: [first, second], children=[], group={"spec": {}})
    made._snapshot, made._algorithm = snapshot(node("n1")), SimpleNamespace(framework=framework())
    monkeypatch.setattr(smallest, "bare_node", lambda *_: None)
    assert (made._bare_nodes(), made._bare_node()) == ((), None)
    monkeypatch.setattr(smallest, "bare_node", lambda *_: "bare")
    monkeypatch.setattr(smallest, "as_few_kinds", lambda _, kinds: kinds)
    assert (made._bare_nodes(), made._bare_node()) == ([("bare", 2)], "bare")
    made._run, made._bare_node = lambda _: {}, lambda: None
    assert made._counted() == ()
