"""Which pods are nominated for which nodes, and what is kept of that when pods change."""

from typing import Any

import pytest

from fakekube_controllers.scheduler.framework.handle import NominatingInfo, NominatingMode
from fakekube_controllers.scheduler.framework.types import PodInfo, pod_info
from fakekube_controllers.scheduler.nominator import Nominator
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
