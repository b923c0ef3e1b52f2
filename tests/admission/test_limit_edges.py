"""Limits, quotas, resizes and grown claims at their edges."""

from typing import Any

import pytest

from fakekube.admission.claim_resize import PersistentVolumeClaimResize
from fakekube.admission.limit_ranger import LimitRanger
from fakekube.admission.pod_resize import PodResizeValidator
from fakekube.admission.resource_quota import ResourceQuota
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from tests.admission.world import World, kind

PODS, CLAIMS = kind("", "v1", "pods"), kind("", "v1", "persistentvolumeclaims")


def pod(*containers: Tree, **spec: Any) -> Tree:
    return {"metadata": {"name": "p", "namespace": "t"}, "spec": {"containers": list(containers), **spec}}


def container(name: str = "a", **resources: Any) -> Tree:
    return {"name": name, "resources": resources}


def claim(size: str | None = None, **spec: Any) -> Tree:
    resources: Tree = {} if size is None else {"resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": "c"}, "spec": {**resources, **spec}, "status": {"phase": "Bound"}}


def limited(*limits: Tree) -> World:
    world = World()
    world.put("", "limitranges", {"metadata": {"name": "r", "namespace": "t"}, "spec": {"limits": list(limits)}})
    return world


def told(plugin: Any, attrs: Any) -> str:
    """The refusal, or nothing."""
    try:
        plugin.validate(attrs)
    except APIError as error:
        return error.message.partition(" is forbidden: ")[2]
    return ""


@pytest.mark.parametrize(("limit", "resources", "text"), [
    ({"min": {"cpu": "1"}}, {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, ""),
    ({"min": {"cpu": "1"}}, {"requests": {"cpu": "1"}, "limits": {"cpu": "999m"}},
     "minimum cpu usage per Container is 1, but limit is 999m"),
    ({"max": {"cpu": "1"}}, {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, ""),
    ({"max": {"cpu": "1"}}, {"requests": {"cpu": "1001m"}, "limits": {"cpu": "1"}},
     "maximum cpu usage per Container is 1, but request is 1001m"),
    ({"max": {"cpu": "1"}}, {"limits": {"cpu": "1001m"}}, "maximum cpu usage per Container is 1, but limit is 1001m"),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}, ""),
    ({"maxLimitRequestRatio": {"cpu": "1500m"}}, {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}, ""),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {"requests": {"cpu": "1"}, "limits": {"cpu": "2001m"}},
     "cpu max limit to request ratio per Container is 2, but provided ratio is 2.001000"),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {"requests": {"cpu": "0"}, "limits": {"cpu": "2"}},
     "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {"requests": {"cpu": "1"}},
     "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0"),
])
def test_a_container_at_the_edge(limit: Tree, resources: Tree, text: str) -> None:
    """Given a limit / when a container is exactly at it, and just beyond / then only beyond is
    refused; init containers are measured alike, and limits of another type do not count.
    """
    world = limited({"type": "Container", **limit}, {"type": "PersistentVolumeClaim", "max": {"cpu": "1m"}})
    assert told(LimitRanger(), world.attributes(PODS, pod(container(**resources)))) == text
    init = pod(initContainers=[container(**resources)])
    assert told(LimitRanger(), world.attributes(PODS, init)) == text


@pytest.mark.parametrize(("size", "text"), [
    ("1Gi", ""), ("2Gi", ""), (None, ("[minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified, "
     "maximum storage usage per PersistentVolumeClaim is 2Gi.  No request is specified]")),
    ("1023Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1023Mi"),
    ("2049Mi", "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 2049Mi"),
])
def test_a_claim_at_the_edge(size: str | None, text: str) -> None:
    """Given a least and a most of a claim / when it is at the edge or beyond / then only beyond is
    refused; limits of containers and of pods do not count.
    """
    of_others = [{"type": each, "max": {"storage": "1"}} for each in ("Container", "Pod")]
    world = limited(*of_others, {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}})
    assert told(LimitRanger(), world.attributes(CLAIMS, claim(size))) == text


def test_a_pod_as_a_whole_at_the_edge() -> None:
    """Given limits of pods / when the sum of its containers is at them or beyond / then only beyond
    is refused; overhead does not count.
    """
    world = limited({"type": "Pod", "min": {"cpu": "1"}, "max": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "2"}})
    half: Tree = {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}
    fits = pod(container(**half), container("b", **half), overhead={"cpu": "5"})
    assert told(LimitRanger(), world.attributes(PODS, fits)) == ""
    assert told(LimitRanger(), world.attributes(PODS, pod(container(**half)))) == (
        "minimum cpu usage per Pod is 1, but request is 500m")
    more = pod(container(**half), container("b", requests={"cpu": "500m"}, limits={"cpu": "1001m"}))
    assert told(LimitRanger(), world.attributes(PODS, more)) == (
        "[maximum cpu usage per Pod is 2, but limit is 2001m, "
        "cpu max limit to request ratio per Pod is 2, but provided ratio is 2.001000]")


def test_what_is_going_is_left_alone() -> None:
    """Given a pod that is being deleted, and a claim / when written / then limits neither fill nor
    refuse.
    """
    world = limited({"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "1m"}})
    old, new = pod(container()), pod(container(limits={"cpu": "5"}))
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    attrs = world.attributes(PODS, new, old, subresource="resize")
    LimitRanger().admit(attrs)
    assert told(LimitRanger(), attrs) == ""
    assert new == pod(container(limits={"cpu": "5"}))
    plain = claim("1Gi")
    LimitRanger().admit(world.attributes(CLAIMS, plain))
    assert plain == claim("1Gi")


def test_several_ranges_fill_one_after_the_other() -> None:
    """Given two ranges / when a pod says nothing / then the later limit of one range counts, the
    first range fills first, and the annotations of the pod stay beside what is told.
    """
    world = limited(
        {"type": "Container", "default": {"cpu": "1"}}, {"type": "Container", "default": {"cpu": "2"}},
        {"type": "Pod", "default": {"memory": "5"}})
    world.put("", "limitranges", {"metadata": {"name": "s", "namespace": "t"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "3", "memory": "1Gi"}, "defaultRequest": {"cpu": "1m"}}]}})
    world.put("", "limitranges", {"metadata": {"name": "x", "namespace": "other"}, "spec": {"limits": [
        {"type": "Container", "default": {"example.com/a": "1"}}]}})
    obj = pod(container())
    obj["metadata"]["annotations"] = {"kept": "yes"}
    LimitRanger().admit(world.attributes(PODS, obj))
    assert obj["spec"] == {"containers": [
        {"name": "a", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1m"}}}]}
    assert obj["metadata"]["annotations"] == {
        "kept": "yes",
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container a; memory limit for container a"}


def quoted(hard: Tree, used: Tree | None = None, **spec: Any) -> World:
    world = World()
    status = {"hard": hard, "used": dict.fromkeys(hard, "0") if used is None else used}
    world.put("", "resourcequotas", {"metadata": {"name": "q", "namespace": "t"}, "spec": {"hard": hard, **spec},
        "status": status})
    return world


def used(world: World) -> Tree:
    found: Tree = world.objects["", "resourcequotas", "t", "q"]["status"]
    return found


CPU: Tree = {"requests": {"cpu": "1"}}
HALF: Tree = {"requests": {"cpu": "500m"}}


@pytest.mark.parametrize(("hard", "had", "obj", "text"), [
    ({"requests.cpu": "2"}, {"requests.cpu": "1"}, pod(container(**CPU)), ""),
    ({"requests.cpu": "2"}, {"requests.cpu": "1001m"}, pod(container(**CPU)),
     "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1001m, limited: requests.cpu=2"),
    ({"pods": "1", "requests.cpu": "1"}, {"pods": "1", "requests.cpu": "1"}, pod(container(**HALF)),
     "exceeded quota: q, requested: pods=1,requests.cpu=500m, used: pods=1,requests.cpu=1, limited: pods=1,requests.cpu=1"),
    ({"pods": "1", "requests.cpu": "1"}, {"pods": "0", "requests.cpu": "1"}, pod(container(**HALF)),
     "exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=1, limited: requests.cpu=1"),
    ({"pods": "5", "requests.cpu": "1"}, {"pods": "0"}, pod(container(**HALF)),
     "status unknown for quota: q, resources: pods,requests.cpu"),
    ({"services": "0"}, None, pod(container(**HALF)), ""),
])
def test_a_quota_at_the_edge(hard: Tree, had: Tree | None, obj: Tree, text: str) -> None:
    """Given what is used already / when a pod fits exactly or not / then it is charged, or refused
    with what is too much alone, and nothing is charged.
    """
    world = quoted(hard, had)
    before = dict(used(world)["used"])
    assert told(ResourceQuota(), world.attributes(PODS, obj)) == text
    assert used(world)["hard"] == hard
    if text or "services" in hard:
        assert used(world)["used"] == before
    else:
        assert used(world)["used"] == {"requests.cpu": "2"}


def test_all_quotas_are_checked_before_any_is_charged() -> None:
    """Given one quota with room and one without / when a pod comes / then neither is charged; of
    another namespace none counts.
    """
    world = quoted({"pods": "5"})
    full = {"metadata": {"name": "r", "namespace": "t"}, "spec": {}, "status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}}
    world.put("", "resourcequotas", full)
    assert told(ResourceQuota(), world.attributes(PODS, pod(container()))) == (
        "exceeded quota: r, requested: pods=1, used: pods=0, limited: pods=0")
    assert used(world)["used"] == {"pods": "0"}
    assert told(ResourceQuota(), world.attributes(PODS, pod(container()), namespace="u")) == ""


@pytest.mark.parametrize(("new", "old", "charged"), [
    ({}, {}, "0"), ({"activeDeadlineSeconds": 5}, {}, "1"), ({"activeDeadlineSeconds": 5}, {"activeDeadlineSeconds": 9}, "0")])
def test_a_changed_pod_costs_when_its_deadline_comes(new: Tree, old: Tree, charged: str) -> None:
    """Given a quota of pods with a deadline / when a pod is changed / then it is charged where the
    deadline is new.
    """
    world = quoted({"pods": "5"}, scopes=["Terminating"])
    assert told(ResourceQuota(), world.attributes(PODS, pod(container(), **new), pod(container(), **old))) == ""
    assert used(world)["used"] == {"pods": charged}


def test_a_claim_grows_by_its_difference() -> None:
    """Given a quota of storage / when a claim grows and shrinks / then the difference is charged,
    and nothing where nothing is asked for.
    """
    world = quoted({"requests.storage": "3Gi"}, {"requests.storage": "1Gi"})
    assert told(ResourceQuota(), world.attributes(CLAIMS, claim("3Gi"), claim("1Gi"))) == ""
    assert used(world)["used"] == {"requests.storage": "3Gi"}
    assert told(ResourceQuota(), world.attributes(CLAIMS, claim("1Gi"), claim("1Gi"))) == ""
    assert used(world)["used"] == {"requests.storage": "3Gi"}


NOT_ALLOWED = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"


@pytest.mark.parametrize(("new", "old", "text"), [
    (claim("2Gi", storageClassName="fast"), claim("1Gi", storageClassName="fast"), ""),
    (claim("1Gi", storageClassName="slow"), claim("2Gi", storageClassName="slow"), ""),
    (claim("2Gi", storageClassName="slow"), claim("1Gi", storageClassName="slow"), NOT_ALLOWED),
    (claim("2Gi", storageClassName="fast"), claim("1Gi", storageClassName="slow"), NOT_ALLOWED),
    (claim("2Gi"), claim("1Gi"), NOT_ALLOWED),
    (claim("1Gi", storageClassName="fast"), claim(storageClassName="fast"), ""),
    ({**claim("2Gi", storageClassName="slow"), "metadata": {
        "name": "c", "annotations": {"volume.beta.kubernetes.io/storage-class": "fast"}}}, claim("1Gi", storageClassName="fast"),
        ""),
    (claim("2Gi"), {**claim("1Gi"), "status": {}}, "Only bound persistent volume claims can be expanded"),
])
def test_which_claims_grow(new: Tree, old: Tree, text: str) -> None:
    """Given classes that allow it and not / when claims grow, shrink or change class / then the
    refusal is upstream's.
    """
    world = World()
    world.put("storage.k8s.io", "storageclasses", {"metadata": {"name": "fast"}, "allowVolumeExpansion": True})
    world.put("storage.k8s.io", "storageclasses", {"metadata": {"name": "slow"}, "allowVolumeExpansion": False})
    assert told(PersistentVolumeClaimResize(), world.attributes(CLAIMS, new, old)) == text


@pytest.mark.parametrize(("gates", "spec", "generation", "text"), [
    (("InPlacePodVerticalScaling",), {"nodeName": "gone"}, 2, 'node "gone" not found'), ((), {"nodeName": "gone"}, 2, ""),
    (("InPlacePodVerticalScaling",), {}, 2, ""), (("InPlacePodVerticalScaling",), {"nodeName": "gone"}, 1, ""),
    (("InPlacePodVerticalScaling",), {"nodeName": "n"}, 2,
     "node didn't have enough allocatable resources: memory, requested: 1025, allocatable: 1024"),
])
def test_when_a_resize_is_held_against_the_node(gates: tuple[str, ...], spec: Tree, generation: int, text: str) -> None:
    """Given a resize / then the node counts under the gate, for a bound pod whose generation has
    changed; exactly what there is fits.
    """
    world = World(*gates)
    world.put("", "nodes", {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "memory": "1Ki"}}})
    new = pod(container(requests={"cpu": "1", "memory": "1025"}), **spec)
    old = pod(container(), **spec)
    new["metadata"]["generation"], old["metadata"]["generation"] = generation, 1
    assert told(PodResizeValidator(), world.attributes(PODS, new, old, subresource="resize")) == text
