"""What holds claims, volumes and their classes, and when their finalizers come and go."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, VOLUME_ATTRIBUTES_CLASSES
from fakekube.runtime.reconcile import Request
from fakekube_controllers.pvcprotection.controller import ClaimReconciler
from fakekube_controllers.pvprotection.controller import VolumeReconciler
from fakekube_controllers.vacprotection.controller import ClassReconciler, classes_of
from tests.controllers.scene import Scene

CLASS, CLAIM, VOLUME = "kubernetes.io/vac-protection", "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


def obj(name: str, *finalizers: str, deleting: bool = False, namespace: str = "", spec: Tree | None = None,
        status: Tree | None = None) -> Tree:
    metadata: Tree = {"name": name} | ({"finalizers": list(finalizers)} if finalizers else {})
    metadata |= ({"deletionTimestamp": "t"} if deleting else {}) | ({"namespace": namespace} if namespace else {})
    return {"metadata": metadata, "spec": spec or {}, "status": status or {}}


def wants(name: str) -> Tree:
    return obj("o", namespace="x", spec={"volumeAttributesClassName": name})


CHANGING = {"modifyVolumeStatus": {"targetVolumeAttributesClassName": "k"}}


@pytest.mark.parametrize(("found", "names"), [
    (obj("o"), []), ({}, []), (wants("k"), ["k"]), (obj("o", status={"currentVolumeAttributesClassName": "l"}), ["l"]),
    (obj("o", status=CHANGING), ["k"]), (obj("o", spec={"volumeAttributesClassName": "a"}, status={
        "currentVolumeAttributesClassName": "b", **CHANGING}), ["a", "b", "k"]),
    (obj("o", spec={"volumeAttributesClassName": "k"}, status={"currentVolumeAttributesClassName": "k", **CHANGING}), ["k"])])
def test_the_classes_that_something_is_tied_to(found: Tree, names: list[str]) -> None:
    """Given a volume or claim / then it is tied to the class that it wants, has and gets."""
    assert classes_of(found) == names


def pod(claim: str = "c", *, node: str = "n", namespace: str = "x", phase: str = "Running") -> Tree:
    spec = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]} | ({"nodeName": node} if node else {})
    return obj("p", namespace=namespace, spec=spec, status={"phase": phase})


GOING, BOUND = {"deleting": True}, {"phase": "Bound"}
Objects = list[tuple[Any, Tree]]


@pytest.mark.parametrize(("reconciler", "resource", "found", "others", "left"), [
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, obj("c", "x/y"), [], ["x/y", CLASS]),
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, obj("c", CLASS), [], None),
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, obj("c", CLASS, "x/y", deleting=True), [], ["x/y"]),
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, obj("c", "x/y", deleting=True), [], None),
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, obj("c", CLASS, deleting=True), [(PERSISTENT_VOLUMES, wants("c"))], None),
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, obj("c", CLASS, deleting=True), [(PERSISTENT_VOLUME_CLAIMS, wants("c"))], None),
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, obj("c", CLASS, deleting=True), [(PERSISTENT_VOLUMES, wants("d"))], []),
    (VolumeReconciler, PERSISTENT_VOLUMES, obj("c"), [], [VOLUME]),
    (VolumeReconciler, PERSISTENT_VOLUMES, obj("c", VOLUME), [], None),
    (VolumeReconciler, PERSISTENT_VOLUMES, obj("c", VOLUME, deleting=True), [], []),
    (VolumeReconciler, PERSISTENT_VOLUMES, obj("c", VOLUME, deleting=True, status=BOUND), [], None),
    (VolumeReconciler, PERSISTENT_VOLUMES, obj("c", "x/y", deleting=True), [], None),
    *((ClaimReconciler, PERSISTENT_VOLUME_CLAIMS, obj("c", *finalizers, namespace="x", deleting=deleting), pods, left)
      for finalizers, deleting, pods, left in (
        ((), False, [], [CLAIM]), ((CLAIM,), False, [], None), ((CLAIM, "x/y"), True, [], ["x/y"]), (("x/y",), True, [], None),
        ((CLAIM,), True, [(PODS, pod())], None), ((CLAIM,), True, [(PODS, pod(phase="Failed"))], None),
        ((CLAIM,), True, [(PODS, pod("d"))], []), ((CLAIM,), True, [(PODS, pod(node=""))], []),
        ((CLAIM,), True, [(PODS, pod(namespace="y"))], []))),
])
async def test_when_finalizers_come_and_go(reconciler: Any, resource: Any, found: Tree, others: Objects,
        left: list[str] | None) -> None:
    """Given something that stays, or is to go and is used or not / then it gets its finalizer, or
    loses it, and others stay; without a difference nothing is written.
    """
    scene = Scene([(resource, found), *others])
    await reconciler(cast("Any", scene)).reconcile(Request(found["metadata"].get("namespace", ""), "c"))
    written = [(verb, plural, sent["metadata"].get("finalizers", [])) for verb, plural, _, sent in scene.done]
    assert written == ([] if left is None else [("update", resource.plural, left)])
    scene.done.clear()
    await reconciler(cast("Any", scene)).reconcile(Request("", "none"))
    assert scene.done == []


@pytest.mark.parametrize(("reconciler", "resource", "others"), [
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, [(PERSISTENT_VOLUMES, wants("c"))]),
    (ClassReconciler, VOLUME_ATTRIBUTES_CLASSES, [(PERSISTENT_VOLUME_CLAIMS, wants("c"))]),
    (ClaimReconciler, PERSISTENT_VOLUME_CLAIMS, [(PODS, pod())])])
async def test_a_cache_that_lags_is_not_trusted(reconciler: Any, resource: Any, others: Objects) -> None:
    """Given a user of something that the cache does not show yet / then the server is asked, and
    the finalizer stays.
    """
    namespace = "x" if resource == PERSISTENT_VOLUME_CLAIMS else ""
    scene = Scene([(resource, obj("c", CLASS, CLAIM, deleting=True, namespace=namespace))])
    one = reconciler(cast("Any", scene))
    cached, scene_list = [name for name in ("pods", "volumes", "claims") if hasattr(one, name)], scene.list
    for name in cached:
        lister = getattr(one, name)
        if (name, reconciler) != ("claims", ClaimReconciler):
            lister._scene = Scene()

    async def answer(asked: Any, *where: Any, **more: Any) -> Any:
        scene.objects += [(each.plural, found) for each, found in others if each == asked]
        return await scene_list(asked, *where, **more)

    cast("Any", scene).list = answer
    await one.reconcile(Request(namespace, "c"))
    assert scene.done == []


def test_what_lets_go_is_heard() -> None:
    """Given classes and claims / when they come, and what may hold them changes or goes / then
    those that may have been let go of are looked at.
    """
    scene = Scene()
    ClassReconciler(cast("Any", scene)).setup(cast("Any", scene))
    of_classes, of_volumes = scene.handlers["volumeattributesclasses"], scene.handlers["persistentvolumes"]
    for found in (obj("a"), obj("b", CLASS), obj("c", deleting=True), obj("d", CLASS, deleting=True)):
        of_classes[0](found)
        of_classes[1](obj("x"), found)
    assert (scene.queued, of_classes[2]) == ([Request("", "a")] * 2 + [Request("", "d")] * 2, None)
    scene.queued.clear()
    of_volumes[1](wants("k"), wants("l"))
    of_volumes[1](wants("k"), wants("k"))
    of_volumes[2](wants("m"))
    assert (scene.queued, of_volumes[0]) == ([Request("", "k"), Request("", "m")], None)
    assert scene.handlers["persistentvolumeclaims"] == of_volumes
    scene = Scene()
    ClaimReconciler(cast("Any", scene)).setup(cast("Any", scene))
    of_claims, of_pods = scene.handlers["persistentvolumeclaims"], scene.handlers["pods"]
    for name, finalizers, deleting in (("a", (), False), ("b", (CLAIM,), False), ("c", (), True), ("d", (CLAIM,), True)):
        of_claims[0](obj(name, *finalizers, deleting=deleting, namespace="x"))
        of_claims[1](obj("x"), obj(name, *finalizers, deleting=deleting, namespace="x"))
    assert (scene.queued, of_claims[2]) == ([Request("x", "a")] * 2 + [Request("x", "d")] * 2, None)
    scene.queued.clear()
    for found in (pod(), pod("e", node=""), pod("f", phase="Succeeded")):
        of_pods[0](found)
        of_pods[1](pod(), found)
    of_pods[2](pod("g"))
    assert [key.name for key in scene.queued] == ["e", "e", "f", "f", "g"]
