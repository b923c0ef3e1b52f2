"""What the cache knows of nodes, of pods of no Workload, and of the usage of Workloads."""

from typing import Any

import pytest

from fakekube.apimachinery.meta import ObjectKey
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.topology.assignments import HOSTNAME
from fakekube_controllers.kueue.topology.cache import TASCache
from fakekube_controllers.kueue.topology.nontasusage import belongs_to_non_tas_cache
from fakekube_controllers.kueue.workload.info import TopologyDomainRequests

USAGE = [TopologyDomainRequests(("a",), {"cpu": 1000}, 2)]


def node(name: str, *, ready: str = "True", cordoned: bool = False, **labels: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"pool": "p", "rack": "r", HOSTNAME: name, **labels}},
        "spec": {"unschedulable": cordoned},
        "status": {"allocatable": {"cpu": "4", "pods": "10"}, "conditions": [{"type": "Ready", "status": ready}]}}


def cache(*levels: str, flavors: tuple[str, ...] = ("f",), features: Features = Features()) -> TASCache:  # noqa: B008
    made = TASCache(features)
    made.add_topology({"metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": level} for level in levels]}})
    for flavor in flavors:
        made.add_flavor({"metadata": {"name": flavor}, "spec": {"topologyName": "t", "nodeLabels": {"pool": "p"}}})
    return made


def pod(node_name: str = "a", cpu: str = "1", **more: Any) -> dict[str, Any]:
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    return {
        "metadata": more, "spec": {"nodeName": node_name, "containers": containers}, "status": {"phase": "Running"}}


@pytest.mark.spec("KUEUE-172")
@pytest.mark.parametrize("unusable", [
    node("a", ready="False"), node("a", ready="Unknown"), node("a", cordoned=True), node("a", pool="other"),
    {"metadata": {"name": "a", "labels": {"pool": "p", HOSTNAME: "a"}}, "status": node("a")["status"]},
])
def test_nodes_that_do_not_count(unusable: dict[str, Any]) -> None:
    """Given a node that counts, when it is not ready, cordoned, or of other labels, then it has no
    room, until it is as it was.
    """
    made = cache("rack", HOSTNAME)
    for state, wanted in ((node("a"), ["a"]), (unusable, []), (node("a"), ["a"])):
        made.nodes.sync(state)
        assert [*made.snapshot()["f"].tree.leaves] == wanted
    made.nodes.delete("a")
    assert not made.snapshot()["f"].tree.leaves


def test_nodes_that_stay_keep_their_tree() -> None:
    """Given a snapshot, when a node tells what does not count, then the next one has the same
    domains; and others when its labels change.
    """
    made = cache("rack")
    made.nodes.sync(node("a"))
    tree = made.snapshot()["f"].tree
    made.nodes.sync({**node("a"), "metadata": {**node("a")["metadata"], "annotations": {"x": "y"}}})
    assert made.snapshot()["f"].tree is tree
    made.nodes.sync(node("a", rack="s"))
    assert [*made.snapshot()["f"].tree.leaves] == ["s"]


def test_domains_above_nodes_add_up() -> None:
    """Given two nodes of a rack, when racks are the lowest level, then it has that of both."""
    made = cache("rack")
    made.nodes.sync(node("a"))
    made.nodes.sync(node("b"))
    assert made.snapshot()["f"].remaining("r") == {"cpu": 8000, "pods": 20}


@pytest.mark.spec("KUEUE-172")
def test_other_pods_take_room() -> None:
    """Given a pod of no Workload on a node, when it changes and goes, then the room that it leaves
    is told and there.
    """
    made, key = cache(HOSTNAME), ObjectKey("x", "p")
    made.nodes.sync(node("a"))
    assert made.pods.update(key, pod()) == ""
    assert made.snapshot()["f"].remaining("a") == {"cpu": 3000, "pods": 9}
    assert made.pods.update(key, pod(cpu="2")) == ""
    assert made.pods.update(key, pod(cpu="500m")) == "a"
    assert made.snapshot()["f"].remaining("a") == {"cpu": 3500, "pods": 9}
    assert made.pods.update(key, pod("b")) == "a"
    assert made.snapshot()["f"].remaining("a") == {"cpu": 4000, "pods": 10}
    assert made.pods.delete(key) == "b"
    assert made.pods.delete(key) == ""


def test_pods_that_count_by_themselves() -> None:
    """Given pods, when they are counted, then those without a node, that are over, or that a
    Workload has put there are not.
    """
    annotations = {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}
    assert belongs_to_non_tas_cache(pod())
    assert not belongs_to_non_tas_cache(pod(""))
    assert not belongs_to_non_tas_cache(pod(annotations=annotations))
    assert not belongs_to_non_tas_cache({**pod(), "status": {"phase": "Succeeded"}})


def test_usage_of_a_workload_is_counted_once() -> None:
    """Given a Workload whose usage is counted, when it is counted again and taken away twice, then
    it was there once, and snapshots do not see what comes after them.
    """
    made = cache(HOSTNAME)
    made.nodes.sync(node("a"))
    flavor = made.get("f")
    assert flavor is not None
    for _ in range(2):
        flavor.add_usage(ObjectKey("x", "w"), USAGE)
    before = made.snapshot()["f"]
    for _ in range(2):
        flavor.remove_usage(ObjectKey("x", "w"))
    assert before.remaining("a") == {"cpu": 2000, "pods": 8}
    assert made.snapshot()["f"].remaining("a") == {"cpu": 4000, "pods": 10}


@pytest.mark.parametrize(("shared", "left"), [(True, 2000), (False, 4000)])
def test_flavors_that_share_nodes(shared: bool, left: int) -> None:
    """Given two flavors of the same nodes, when one takes some, then the other has less, with the
    gate for it.
    """
    made = cache(HOSTNAME, flavors=("f", "g", "h"), features=Features(TASHandleOverlappingFlavors=shared))
    made.nodes.sync(node("a"))
    for flavor in ("f", "h"):
        found = made.get(flavor)
        assert found is not None
        found.add_usage(ObjectKey("x", "w"), [TopologyDomainRequests(("a",), {"cpu": 1000}, 1)])
    assert made.snapshot()["g"].remaining("a")["cpu"] == left
    assert made.snapshot()["f"].remaining("a")["cpu"] == (left if shared else 3000)


def test_flavor_without_its_topology() -> None:
    """Given a flavor, when its Topology is not there, or gone, then the flavor is not known."""
    made = cache(HOSTNAME)
    made.delete_topology("t")
    assert made.get("f") is None
    made.add_topology({"metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": HOSTNAME}]}})
    assert [*made.flavors()] == ["f"]
    made.delete_flavor("f")
    assert not made.snapshot()
