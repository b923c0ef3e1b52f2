"""Which pods a round removes and how, and when there is a round at all."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from fakekube_controllers.podgc.controller import PodGarbageCollector
from tests.controllers.scene import Scene

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


class Timer:
    def __init__(self, when: float, daemon: bool) -> None:
        self.when, self.daemon, self.cancelled = when, daemon, False

    def cancel(self) -> None:
        self.cancelled = True


class Rounds(Scene):
    """Pods and nodes, and the timers of rounds."""

    def __init__(self, *objects: tuple[Any, Tree], gates: tuple[str, ...] = ()) -> None:
        super().__init__(objects, gates=gates)
        self.timers, self.closing = list[Timer](), list[Callable[[], None]]()
        self.live: tuple[str, ...] = ()

    def lister(self, resource: Any) -> Any:
        found = super().lister(resource)
        found.add_index("node", lambda each: [each["spec"].get("nodeName", "")])
        return found

    def call_at(self, when: float, _: Any, key: str, *, daemon: bool) -> Timer:
        assert key == "round"
        self.timers.append(Timer(when, daemon))
        return self.timers[-1]

    def on_close(self, call: Callable[[], None]) -> None:
        self.closing.append(call)

    async def get(self, resource: Any, name: str, namespace: str = "", *, missing_ok: bool = False) -> Tree | None:
        return {"metadata": {"name": name}} if name in self.live else await super().get(resource, name, namespace,
            missing_ok=missing_ok)

    def pending(self) -> list[tuple[float, bool]]:
        return [(timer.when, timer.daemon) for timer in self.timers if not timer.cancelled]


def node(name: str = "n", *, ready: bool = True, taint: str = "") -> tuple[Any, Tree]:
    taints = {"taints": [{"key": taint, "effect": "NoExecute"}]} if taint else {}
    return NODES, {"metadata": {"name": name}, "spec": taints,
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]}}


OUT = node(ready=False, taint=OUT_OF_SERVICE)


def pod(name: str = "p", *, on: str = "n", phase: str = "Running", leaving: bool = False, grace: int = 30, at: int = 0,
        **status: Any) -> tuple[Any, Tree]:
    metadata: Tree = {"name": name, "namespace": "x", "uid": f"u{name}", "generation": 3,
                      "creationTimestamp": f"2026-01-01T00:00:{at:02}Z"}
    metadata |= {"deletionTimestamp": "t", "deletionGracePeriodSeconds": grace} if leaving else {}
    return PODS, {"metadata": metadata, "spec": {"nodeName": on} if on else {}, "status": {"phase": phase, **status}}


async def removed(scene: Rounds, *, threshold: int = 12500, rounds: tuple[float, ...] = (0.0,)) -> list[str]:
    """The names of pods that are deleted in rounds at these times."""
    one = PodGarbageCollector(cast("Any", scene), threshold)
    one.setup(cast("Any", scene))
    for plural, obj in scene.objects:
        if plural == "pods":
            one._pod_seen(obj)
    for scene.now in rounds:
        await one.reconcile("round")
    return [each[2] for each in scene.done if each[0] == "delete"]


@pytest.mark.parametrize(("objects", "names"), [
    ([node(), pod()], []), ([pod("p", on="", leaving=True), pod("q", on="")], ["p"]),
    ([pod("p", on="", leaving=True, phase="Failed", grace=0)], []), ([pod("p", on="", leaving=True, phase="Failed")], ["p"]),
    ([OUT, pod(leaving=True), pod("q")], ["p"]), ([OUT, pod(leaving=True, phase="Failed", grace=0)], []),
    ([node(taint=OUT_OF_SERVICE), pod(leaving=True)], []), ([node(ready=False), pod(leaving=True)], []),
    ([node(ready=False, taint="other"), pod(leaving=True)], []),
    ([node("m", ready=False, taint=OUT_OF_SERVICE), node(), pod(leaving=True)], []),
    ([OUT, pod("b", leaving=True, at=1), pod("a", leaving=True, at=2), pod("c", leaving=True, at=2)], ["b", "a", "c"])])
async def test_which_pods_a_round_removes(objects: list[Any], names: list[str]) -> None:
    """Given pods on their way out / then those without a node go, and those on nodes out of
    service, the oldest first; what only a finalizer keeps is let alone.
    """
    assert await removed(Rounds(*objects)) == names


@pytest.mark.parametrize(("threshold", "names"), [(3, []), (2, ["e"]), (1, ["e", "a"]), (0, []), (-1, [])])
async def test_finished_pods_beyond_the_threshold_go(threshold: int, names: list[str]) -> None:
    """Given finished pods / then those that were evicted go first, and then the oldest."""
    scene = Rounds(
        node(), pod("b", phase="Succeeded", at=2), pod("a", phase="Failed", at=1),
            pod("e", phase="Failed", reason="Evicted", at=3), pod("r"))
    assert await removed(scene, threshold=threshold) == names


@pytest.mark.parametrize(("rounds", "live", "back", "names"), [
    ((0.0, 20.0), (), False, []), ((0.0, 40.0), (), False, ["p", "q"]), ((0.0, 40.0), ("gone",), False, []),
    ((0.0, 39.9, 40.0), (), False, ["p", "q"])])
async def test_pods_of_lost_nodes(rounds: tuple[float, ...], live: tuple[str, ...], back: bool, names: list[str]) -> None:
    """Given pods of a node that is not there / then they go after forty seconds, unless the server
    has the node.
    """
    scene = Rounds(node(), pod("p", on="gone"), pod("q", on="gone", phase="Failed"), pod("r"))
    scene.live = live
    assert await removed(scene, rounds=rounds) == names


@pytest.mark.parametrize(("gates", "status"), [
    ((), {"phase": "Failed"}), (("PodObservedGenerationTracking",), {"phase": "Failed", "observedGeneration": 3})])
async def test_pods_that_have_not_ended_fail_first(gates: tuple[str, ...], status: Tree) -> None:
    """Given pods / then one that has not ended fails, with the reason where its node is gone, and
    is deleted at once.
    """
    scene = Rounds(pod("p", on="", leaving=True), gates=gates)
    await removed(scene)
    assert scene.done == [
        ("patch", "pods/status", "p", {"metadata": {"uid": "up"}, "status": status}),
        ("delete", "pods", "p", {"grace_period_seconds": 0})]
    scene = Rounds(pod("p", on="gone"), pod("q", on="gone", phase="Succeeded"), gates=gates)
    await removed(scene, rounds=(0.0, 40.0))
    assert [each[:3] for each in scene.done] == [("patch", "pods/status", "p"), ("delete", "pods", "p"), ("delete", "pods", "q")]
    [condition] = scene.done[0][3]["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"], condition["message"]) == (
        "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists")


@pytest.mark.parametrize(("code", "again"), [(404, []), (409, [(20.0, True)]), (500, [(20.0, True)])])
async def test_pods_that_cannot_be_removed_are_tried_again(code: int, again: list[Any]) -> None:
    """Given a pod that cannot be removed / then the others are, and there is another round that
    nobody waits for; one that is gone is all right.
    """
    scene = Rounds(pod("p", on="", leaving=True), pod("q", on="", leaving=True, phase="Failed"))
    scene.refuse["patch", "pods"] = APIError(code, "x", "no")
    assert await removed(scene) == ["q"]
    assert scene.pending() == again


def started(scene: Rounds, *, threshold: int = 1) -> PodGarbageCollector:
    one = PodGarbageCollector(cast("Any", scene), threshold)
    one.setup(cast("Any", scene))
    one._has_run = True
    assert scene.queued == ["round"]
    scene.queued.clear()
    return one


@pytest.mark.parametrize(("found", "objects", "planned", "checked"), [
    (pod(), [node()], False, False), (pod(on="gone"), [node()], False, True), (pod(on=""), [], False, False),
    (pod(on="", leaving=True), [], True, False), (pod(leaving=True), [node()], False, False),
    (pod(leaving=True), [OUT], True, False),
    (pod(phase="Failed"), [node()], False, False), (pod(on="gone", phase="Failed", leaving=True, grace=0), [], False, False),
    (pod(on="gone", phase="Failed", leaving=True), [], False, True)])
def test_which_pods_make_a_round(found: tuple[Any, Tree], objects: list[Any], planned: bool, checked: bool) -> None:
    """Given a pod that comes or changes / then a round is planned where it would be removed, and a
    check where its node seems to be missing.
    """
    scene = Rounds(*objects)
    started(scene)._pod_seen(found[1])
    assert (scene.pending(), scene.queued) == ([(20.0, False)] if planned else [], ["look"] if checked else [])


def test_too_many_finished_pods_make_a_round() -> None:
    """Given more finished pods than are kept / then a round is planned, once; pods that are gone do
    not count.
    """
    scene = Rounds(node())
    one = started(scene)
    one._pod_seen(pod("a", phase="Failed")[1])
    one._pod_gone(pod("a")[1])
    one._pod_gone(pod("a")[1])
    one._pod_seen(pod("b", phase="Failed")[1])
    assert scene.pending() == []
    scene.now = 25.0
    one._pod_seen(pod("c", phase="Failed")[1])
    one._pod_seen(pod("d", phase="Failed")[1])
    assert scene.pending() == [(40.0, False)]
    for call in scene.closing:
        call()
    assert scene.pending() == []


async def test_nodes_that_go_make_a_round() -> None:
    """Given a node with pods / when it goes or is out of service / then a round is planned; without
    pods none is, nor while none was made; a check plans one if the node is missing still.
    """
    for objects, planned in (([pod()], True), ([OUT, pod()], True), ([node(), pod()], False), ([], False)):
        scene = Rounds(*objects)
        started(scene)._node_changed(node()[1])
        assert scene.pending() == ([(20.0, False)] if planned else [])
    scene = Rounds(pod())
    one = started(scene)
    one._has_run = False
    one._node_changed(node()[1])
    assert scene.pending() == []
    one._has_run = True
    one._suspects["n"] = None
    await one.reconcile("look")
    assert (scene.pending(), one._suspects) == ([(20.0, False)], {})
    scene = Rounds(node())
    one = started(scene)
    one._suspects["n"] = None
    await one.reconcile("look")
    assert scene.pending() == []


def test_a_round_that_somebody_waits_for_comes_before_one_that_nobody_does() -> None:
    """Given a planned round / when another one is / then the first stays, unless nobody waits for
    it and somebody does for the other.
    """
    scene = Rounds()
    one = started(scene)
    one._plan_round(daemon=True)
    one._plan_round(daemon=True)
    assert scene.pending() == [(20.0, True)]
    one._plan_round()
    one._plan_round()
    one._plan_round(daemon=True)
    assert (scene.pending(), len(scene.timers)) == ([(20.0, False)], 2)
    scene.timers[-1].cancelled = True
    one._plan_round(daemon=True)
    assert scene.pending() == [(20.0, True)]
