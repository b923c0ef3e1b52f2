"""``fakekube demo pod-group``: plain pods that start together (KEP-976)."""

from typing import Any

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS
from fakekube.runtime.demo import Demo
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.demos import scenery
from fakekube_controllers.kueue.names import WORKLOADS


def _pod(name: str, *, code: int = 0) -> Tree:
    annotations = {
        names.POD_GROUP_TOTAL_COUNT_ANNOTATION: "3", "fakekube.dev/run-duration": "20s", "fakekube.dev/exit-code": str(code)}
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "default", "annotations": annotations,
            "labels": {names.QUEUE_LABEL: "team", names.POD_GROUP_NAME_LABEL: "crew"}},
        "spec": {"restartPolicy": "Never", "containers": [container]}}


async def tell(stage: Any) -> None:
    """A group waits for its last pod, loses one, and gets another in its place."""
    await stage.say(
        "Pods without a Job. Three of them call themselves a group: a label with its name, an annotation with its size.")
    await scenery.create(stage, [
        scenery.flavor(), scenery.cluster_queue("all", "4"), scenery.local_queue("team", "all"), _pod("a"), _pod("b")])
    await stage.until(lambda: len(stage.rows(status="Gated")) == 2)
    await stage.say("Two are there, and wait behind a gate: there is no Workload before the group is complete.")
    await scenery.create(stage, [_pod("c", code=1)])
    await stage.until(lambda: len(stage.rows(kind="Pod", status="Running")) == 3)
    await stage.say("The third came: one Workload for all, and all run. One of them is going to fail.")
    await stage.until(lambda: stage.rows(object="c", status="Failed"))
    await stage.say("c has failed. The group keeps its quota and waits for somebody in its place.")
    await scenery.create(stage, [_pod("d")])
    await stage.until(lambda: stage.rows(object="crew", status="Finished"))
    await stage.say("d was let through at once, since the group is admitted. Three have succeeded: the Workload is Finished.")


def demo() -> Demo:
    """The demonstration."""
    return scenery.demo(
        tell, "Plain pods start together (KEP-976).", WORKLOADS, PODS)
