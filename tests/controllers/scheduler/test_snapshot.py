"""Snapshots: what a cycle sees, what it tries, and what it costs others."""

import random

import pytest

from fakekube_controllers.scheduler.cache import Cache
from fakekube_controllers.scheduler.framework.snapshot import CHUNK, NodeMap, Snapshot
from fakekube_controllers.scheduler.framework.types import NodeInfo, pod_info


def node(name, images=()):
    return {"metadata": {"name": name}, "spec": {}, "status": {"allocatable": {"cpu": "4", "pods": "9"}, "images": list(images)}}


def pod(name, **spec):
    return {"metadata": {"name": name, "uid": name, "namespace": "d"}, "spec": {"containers": [], **spec}}


def info(name):
    made = NodeInfo(name)
    made.set_node(node(name))
    return made


@pytest.mark.parametrize("seed", range(6))
def test_a_map_with_changes_is_a_dict_with_changes(seed):
    """Given maps of nodes, each made of some earlier one by nodes that come, change and go / then
    each has what a dict has, in its order but for what came back, and tells what differs from any
    other.
    """
    rng = random.Random(seed)
    maps, dicts = [NodeMap()], [{}]
    for _ in range(60):
        at = rng.choice([len(maps) - 1, rng.randrange(len(maps))])
        names = [f"n{rng.randrange(4 * CHUNK)}" for _ in range(rng.choice([1, 1, 2, 40]))]
        changes = {name: info(name) if rng.random() < 0.7 else None for name in names}
        maps.append(maps[at].with_changes(changes))
        dicts.append({name: each for name, each in {**dicts[at], **changes}.items() if each is not None})
    for one, plain in zip(maps, dicts, strict=True):
        assert dict(one) == plain
        assert len(one) == len(plain)
        other = rng.randrange(len(maps))
        differs = {name: plain.get(name) for name in {**plain, **dicts[other]} if plain.get(name) is not dicts[other].get(name)}
        assert dict(one.changes_since(maps[other])) == differs


def test_the_order_is_that_in_which_nodes_were_added():
    """Given nodes that were added, changed and removed / then they stand in the order in which they
    came.
    """
    nodes = NodeMap(info(name) for name in "cab")
    nodes = nodes.with_changes({"a": info("a"), "d": info("d")}).with_changes({"c": None})
    assert list(nodes) == ["a", "b", "d"]


def test_many_nodes_that_go_leave_no_holes():
    """Given nodes that come and go under new names / then a map stays as small as what it holds."""
    nodes = NodeMap([info("stays")])
    for number in range(20 * CHUNK):
        nodes = nodes.with_changes({f"n{number}": info(f"n{number}")}).with_changes({f"n{number}": None})
    assert list(nodes) == ["stays"]
    assert len(nodes._chunks) <= 3


def test_a_cycle_s_assumptions_are_its_own():
    """Given a snapshot and a copy / when a pod is assumed on one / then the other, the cache and
    the next snapshot know nothing of it / when it is forgotten / then nothing is left of it.
    """
    cache = Cache()
    cache.set_node(node("n"))
    first = cache.snapshot()
    trial = first.copy()
    trial.assume_pod(pod_info(pod("p")), "n")
    assert [list(each.nodes["n"].pods) for each in (trial, first, cache.snapshot())] == [["p"], [], []]
    trial.forget_pod("p", "n")
    trial.forget_pod("nobody", "n")
    assert trial.nodes["n"].pods == {}
    with pytest.raises(KeyError):
        trial.assume_pod(pod_info(pod("p")), "m")


def test_a_snapshot_stays_what_it_was():
    """Given a snapshot / when the cluster changes / then only the next one shows it, and shares the
    nodes that did not change.
    """
    cache = Cache()
    for name in ("a", "b"):
        cache.set_node(node(name))
    before = cache.snapshot()
    cache.add_pod(pod("p", nodeName="a"), "a")
    after = cache.snapshot()
    assert (list(before.nodes["a"].pods), list(after.nodes["a"].pods)) == ([], ["p"])
    assert before.nodes["b"] is after.nodes["b"]


ANTI = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}}
LIKES = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}}]}}
CLAIM = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}


def test_nodes_with_certain_pods_are_known():
    """Given pods with affinity, anti-affinity and a claim / then the snapshot names their nodes,
    also those of pods that a cycle assumes / when they go / then it names them no more.
    """
    def seen(snapshot):
        return ([each.name for each in snapshot.nodes_with_affinity()],
                [each.name for each in snapshot.nodes_with_required_anti_affinity()], snapshot.is_claim_used("d", "c"))

    cache = Cache()
    for name in ("a", "b"):
        cache.set_node(node(name))
    empty = cache.snapshot()
    cache.add_pod(pod("likes", affinity=LIKES), "a")
    cache.add_pod(pod("claims", **CLAIM), "a")
    full = cache.snapshot()
    trial = full.copy()
    trial.assume_pod(pod_info(pod("anti", affinity=ANTI)), "b")
    assert [seen(each) for each in (empty, full, trial)] == [
        ([], [], False), (["a"], [], True), (["a", "b"], ["b"], True)]
    assert seen(Snapshot(full.all_nodes)) == seen(full)
    cache.remove_pod("likes")
    cache.remove_pod("claims")
    assert seen(cache.snapshot()) == ([], [], False)


def test_a_placement_restricts_what_is_to_choose_from():
    """Given a snapshot restricted to some nodes / then only these, in the order that was given, are
    its nodes; all are still there.
    """
    cache = Cache()
    for name in ("a", "b", "c"):
        cache.set_node(node(name))
    restricted = cache.snapshot().restricted_to({"c": None, "a": None, "gone": None})
    assert (list(restricted.nodes), list(restricted.all_nodes)) == (["c", "a"], ["a", "b", "c"])


def test_images_are_counted_over_the_nodes():
    """Given nodes with images / then each image has the size that its first node named, and the
    number of nodes that have it / when one loses it, and one goes / then nothing is left of it.
    """
    cache, image = Cache(), {"names": ["i", "i@x"], "sizeBytes": 5}
    cache.set_node(node("a", [image]))
    cache.set_node(node("b", [{**image, "sizeBytes": 7}]))
    before = cache.snapshot()
    cache.set_node(node("a"))
    after = cache.snapshot()
    cache.remove_node("b")
    assert [each.image_states.get("i") for each in (before, after, cache.snapshot())] == [(5, 2), (5, 1), None]
