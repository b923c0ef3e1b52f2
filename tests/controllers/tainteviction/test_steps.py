"""When a pod leaves a tainted node, what is written and said then, and what is looked at."""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.tainteviction.controller import TaintEvictionReconciler
from tests.controllers.scene import Scene

NOW, KEY = 1000.0, Request("x", "p")


class Waiting(Scene):
    """A scene with a queue that notes for how long a key is put off."""

    def __init__(self, *objects: tuple[Any, Tree]) -> None:
        super().__init__(objects, now=NOW)
        self.later: list[float] = []

    def informer(self, resource: Any) -> Any:
        return self.lister(resource)

    def add_after(self, _: Any, seconds: float) -> None:
        self.later.append(seconds)


def taint(key: str = "k", effect: str = "NoExecute") -> Tree:
    return {"key": key, "effect": effect}


def node(*taints: Tree) -> tuple[Any, Tree]:
    return NODES, {"metadata": {"name": "n"}, "spec": {"taints": list(taints)} if taints else {}}


def tolerates(key: str = "k", seconds: int | None = None) -> Tree:
    return {"key": key, "operator": "Exists", **({"tolerationSeconds": seconds} if seconds is not None else {})}


def pod(*tolerations: Tree, on: str = "n", deleting: bool = False, **status: Any) -> tuple[Any, Tree]:
    metadata: Tree = {"name": "p", "namespace": "x", "uid": "u",
        "generation": 4} | ({"deletionTimestamp": "t"} if deleting else {})
    return PODS, {"metadata": metadata, "status": status, "spec": {"nodeName": on, "tolerations": list(tolerations)}}


def controller(scene: Waiting) -> TaintEvictionReconciler:
    one = TaintEvictionReconciler(cast("Any", scene))
    one.queue = cast("Any", scene)
    return one


def told(text: str) -> tuple[str, ...]:
    return "event", "p", "Normal", "TaintManagerEviction", f"{text} Pod x/p"


TARGET = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
          "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": "1970-01-01T00:16:40Z"}
GONE = ("delete", "pods", "p", {"uid": "u"})


@pytest.mark.parametrize(("found", "taints", "seconds"), [
    (pod(), [taint()], 0), (pod(), [], None), (pod(), [taint(effect="NoSchedule")], None), (pod(tolerates()), [taint()], None),
    (pod(tolerates(seconds=7)), [taint()], 7), (pod(tolerates(seconds=0)), [taint()], 0),
    (pod(tolerates(seconds=-3)), [taint()], 0),
    (pod(tolerates(seconds=7), tolerates()), [taint()], 7), (pod(tolerates(), tolerates(seconds=7)), [taint()], None),
    (pod(tolerates(seconds=9), tolerates("l", 5)), [taint(), taint("l")], 5),
    (pod(tolerates(seconds=9)), [taint(), taint("l")], 0),
    (pod(tolerates(seconds=9), tolerates("l")), [taint(), taint("l")], 9), (pod(tolerates(seconds=2**63 - 1)), [taint()], None),
    (pod(on="other"), [taint()], None)])
async def test_for_how_long_a_pod_may_stay(found: tuple[Any, Tree], taints: list[Tree], seconds: float | None) -> None:
    """Given tolerations and taints / then the pod stays for the shortest time that is used, for
    ever, or not at all.
    """
    scene = Waiting(found, node(*taints))
    await controller(scene).reconcile(KEY)
    assert (scene.later, bool(scene.done)) == ([seconds] if seconds else [], seconds == 0)


@pytest.mark.parametrize(("status", "conditions", "generation"), [
    ({}, [TARGET], {}), ({"conditions": [{"type": "x"}]}, [{"type": "x"}, TARGET], {}),
    ({"observedGeneration": 3}, [{**TARGET, "observedGeneration": 4}], {"observedGeneration": 3})])
async def test_a_pod_goes_with_its_reason(status: Tree, conditions: list[Tree], generation: Tree) -> None:
    """Given a pod that may not stay / then it is told, marked as disrupted, and deleted."""
    scene = Waiting(pod(**status), node(taint()))
    await controller(scene).reconcile(KEY)
    assert [each[0] for each in scene.done] == ["event", "update", "delete"]
    assert (scene.done[0], scene.done[2]) == (told("Marking for deletion"), GONE)
    assert scene.done[1][:3] == ("update", "pods/status", "p")
    assert scene.done[1][3]["status"] == {"conditions": conditions, **generation}


async def test_a_pod_that_is_marked_or_goes_already() -> None:
    """Given a pod that is marked / then it is not marked again; one that goes is let alone, and one
    that is gone meanwhile is all right.
    """
    scene = Waiting(pod(conditions=[TARGET]), node(taint()))
    await controller(scene).reconcile(KEY)
    assert scene.done == [told("Marking for deletion"), GONE]
    scene = Waiting(pod(deleting=True), node(taint()))
    await controller(scene).reconcile(KEY)
    await controller(scene).reconcile(Request("x", "none"))
    assert scene.done == []
    for code, raised in ((404, False), (409, True)):
        scene = Waiting(pod(), node(taint()))
        scene.refuse["delete", "pods"] = APIError(code, "x", "no")
        if raised:
            with pytest.raises(APIError, match="no"):
                await controller(scene).reconcile(KEY)
        else:
            await controller(scene).reconcile(KEY)


async def test_the_time_of_a_toleration_runs_once() -> None:
    """Given a pod that is tolerated for a while / when it is looked at again, and tolerates other
    times / then they run from when it was first seen; a taint that goes calls the deletion off.
    """
    scene = Waiting(pod(tolerates(seconds=60)), node(taint()))
    one = controller(scene)
    await one.reconcile(KEY)
    scene.now += 20
    await one.reconcile(KEY)
    scene.objects[0] = ("pods", pod(tolerates(seconds=90))[1])
    await one.reconcile(KEY)
    assert (scene.later, scene.done) == ([60, 40, 70], [])
    scene.objects[1] = ("nodes", node()[1])
    await one.reconcile(KEY)
    await one.reconcile(KEY)
    assert scene.done == [told("Cancelling deletion of")]
    scene.objects[1] = ("nodes", node(taint())[1])
    await one.reconcile(KEY)
    assert scene.later == [60, 40, 70, 90]
    scene.now += 90
    await one.reconcile(KEY)
    assert scene.done[1] == told("Marking for deletion")
    one._pod_gone(pod()[1])
    assert len(scene.done) == 4


def test_what_is_looked_at() -> None:
    """Given pods and nodes / when a node gets other taints that drive away, or a pod comes to one
    or tolerates something else / then these pods are looked at; one that is gone is called off.
    """
    scene = Waiting(pod(), node(taint()))
    one = controller(scene)
    one.pods.add_index("node", lambda each: [each["spec"]["nodeName"]])
    one.setup(cast("Any", scene))
    of_nodes, of_pods = scene.handlers["nodes"], scene.handlers["pods"]

    def queued(handler: Any, *objects: tuple[Any, Tree]) -> int:
        scene.queued.clear()
        handler(*(each[1] for each in objects))
        assert scene.queued in ([], [KEY])
        return len(scene.queued)

    assert (queued(of_nodes[0], node(taint())), queued(of_nodes[0], node())) == (1, 0)
    assert (queued(of_nodes[1], node(), node(taint())), queued(of_nodes[1], node(taint()), node())) == (1, 1)
    assert queued(of_nodes[1], node(taint()), node(taint(), taint("x", "NoSchedule"))) == 0
    assert (queued(of_pods[0], pod()), queued(of_pods[0], pod(on="other")), queued(of_pods[0], pod(on=""))) == (1, 0, 0)
    assert (queued(of_pods[1], pod(), pod()), queued(of_pods[1], pod(on=""), pod())) == (0, 1)
    assert queued(of_pods[1], pod(), pod(tolerates())) == 1
    scene.objects[1] = ("nodes", node()[1])
    assert queued(of_pods[0], pod()) == 0
    assert (len(of_nodes), of_nodes[2], len(of_pods)) == (3, None, 3)
    assert queued(of_pods[2], pod()) == 0
