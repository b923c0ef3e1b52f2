"""Which pods are nominated for which nodes, and what is kept of that when pods change."""

from typing import Any

import pytest

from fakekube.util.clock import ManualClock
from fakekube_controllers.scheduler.framework.handle import NominatingInfo, NominatingMode
from fakekube_controllers.scheduler.framework.types import PodInfo, pod_info
from fakekube_controllers.scheduler.inflight import InFlight
from fakekube_controllers.scheduler.nominator import Nominator
from fakekube_controllers.scheduler.plugins.priority_sort import PrioritySort
from fakekube_controllers.scheduler.queue import ProfileQueueing, SchedulingQueue
from tests.controllers.scheduler.contexts import plugin
from tests.controllers.scheduler.plugins.cases import pod


def made(name: str = "p", nominated: str = "") -> PodInfo:
    tree = pod(name)
    return pod_info({**tree, "status": {"nominatedNodeName": nominated} if nominated else {}})


def nodes(nominator: Nominator) -> dict[str, list[str]]:
    found = {name: nominator.nominated_pods_for_node(name) for name in nominator.nodes()}
    return {name: [each.pod["metadata"]["name"] for each in pods] for name, pods in found.items()}


@pytest.mark.parametrize(("info", "nominated", "expected"), [
    (None, "", {}), (None, "a", {"a": ["p"]}), (NominatingInfo("b"), "a", {"b": ["p"]}), (NominatingInfo(""), "a", {}),
    (NominatingInfo("b", NominatingMode.NOOP), "a", {"a": ["p"]}), (NominatingInfo("b", NominatingMode.NOOP), "", {}),
])
def test_a_pod_is_nominated_by_what_is_said_or_by_its_status(info: Any, nominated: str, expected: dict[str, list[str]]) -> None:
    """Given a pod / then it is nominated for the node that is said, else for that of its status."""
    nominator = Nominator()
    nominator.add_nominated_pod(made(nominated=nominated), info)
    assert nodes(nominator) == expected
    assert nominator.node_of("n/p") == next(iter(expected), "")


def test_a_nomination_moves_and_ends() -> None:
    """Given nominated pods / when one is nominated anew, and both are forgotten / then each is on
    one node at most, and nothing is left.
    """
    nominator = Nominator()
    for name, node in (("p", "a"), ("q", "a"), ("p", "b")):
        nominator.add_nominated_pod(made(name), NominatingInfo(node))
    assert nodes(nominator) == {"a": ["q"], "b": ["p"]}
    for uid in ("n/p", "n/q", "n/p", "nobody"):
        nominator.delete_nominated_pod_if_exists(uid)
    assert (nodes(nominator), nominator.node_of("n/p"), list(nominator.nominated_pods_for_node("a"))) == ({}, "", [])


def test_a_pod_that_has_a_node_is_not_nominated() -> None:
    """Given what says which pods have no node yet / then only these are nominated."""
    nominator = Nominator(lambda uid: uid == "n/p")
    for name in "pq":
        nominator.add_nominated_pod(made(name), NominatingInfo("a"))
    assert nodes(nominator) == {"a": ["p"]}


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("", "", {"a": ["p"]}), ("", "b", {"b": ["p"]}), ("b", "", {}), ("b", "b", {"b": ["p"]}), ("b", "c", {"c": ["p"]})])
def test_an_update_keeps_what_only_the_nominator_knows(old: str, new: str, expected: dict[str, list[str]]) -> None:
    """Given a nomination that no status shows / when the pod is updated / then it is kept where
    neither state names a node, and else follows the status.
    """
    nominator = Nominator()
    nominator.add_nominated_pod(made(), NominatingInfo("a"))
    nominator.update_nominated_pod(made(nominated=old), made(nominated=new))
    assert nodes(nominator) == expected


def test_a_pod_that_was_made_again_takes_over() -> None:
    """Given a nominated pod / when another with its name takes its place / then it is nominated in
    its place.
    """
    nominator = Nominator()
    nominator.add_nominated_pod(made("p"), NominatingInfo("a"))
    nominator.update_nominated_pod(made("p"), made("q"))
    assert nodes(nominator) == {"a": ["q"]}
    assert nominator.node_of("n/p") == ""


def test_of_a_pod_in_flight_no_more_than_the_name_is_known() -> None:
    """Given two pods that are nominated for a node, when one is in flight, then it counts there as
    a pod of no priority that asks for nothing, and the other as it is.
    """
    nominator = Nominator(is_in_flight=lambda uid: uid == "n/p")
    for name in ("p", "q"):
        tree = pod(name, requests={"cpu": "1"}, priority=5, schedulingGroup={"podGroupName": "g"}, nodeSelector={"a": "b"})
        nominator.add_nominated_pod(pod_info(tree), NominatingInfo("a"))
    flying, waiting = nominator.nominated_pods_for_node("a")
    assert flying.pod == {"metadata": {"name": "p", "namespace": "n", "uid": "n/p"}, "spec": {
        "containers": [], "schedulingGroup": {"podGroupName": "g"}}}
    assert (flying.priority, flying.requests.get("cpu", 0), flying.uid) == (0, 0, "n/p")
    assert (waiting.priority, waiting.requests["cpu"], waiting.uid) == (5, 1000, "n/q")


def test_a_queue_tells_which_pods_are_in_flight() -> None:
    """Given a nominated pod in a queue, when it is popped and then done, then it is in flight in
    between, and the nominator of the queue knows.
    """
    in_flight = InFlight()
    nominator = Nominator(is_in_flight=in_flight.has)
    inner = SchedulingQueue(
        ManualClock(), plugin(PrioritySort), lambda: None, {"default-scheduler": ProfileQueueing((), {})}, nominator,
        in_flight=in_flight)
    tree = pod("p", requests={"cpu": "1"}, schedulerName="default-scheduler")
    inner.add({**tree, "status": {"nominatedNodeName": "a"}})

    def asks() -> list[int]:
        return [each.requests.get("cpu", 0) for each in nominator.nominated_pods_for_node("a")]

    before, _ = asks(), inner.pop()
    during, _ = asks(), inner.done("n/p")
    assert (before, during, asks()) == ([1000], [0], [1000])
