"""``fakekube demo queue``: three Jobs, and quota for two."""

from typing import Any

from fakekube.client.resources import JOBS
from fakekube.runtime.demo import Demo
from fakekube_controllers.kueue.demos import scenery
from fakekube_controllers.kueue.names import WORKLOADS

CLASS = {
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"}, "value": 100}


async def tell(stage: Any) -> None:
    """Jobs wait for quota, in their order; a higher priority does not."""
    await stage.say("A ClusterQueue with two cpus, a LocalQueue of a team, and three Jobs of one cpu each.")
    preemption = {"withinClusterQueue": "LowerPriority"}
    await scenery.create(stage, [
        scenery.flavor(), scenery.cluster_queue("all", "2", preemption=preemption), scenery.local_queue("team", "all"), CLASS,
        *(scenery.job(f"job-{number}", "team", "1") for number in range(3))])
    await stage.until(lambda: len(stage.rows(kind="Workload", status="Admitted")) == 2 and stage.rows(
        kind="Workload", status="Pending"))
    await stage.say(
        "Kueue has suspended all three and made a Workload of each. Two are admitted, and their Jobs run; the third says what "
        "it lacks.")
    await stage.until(lambda: len(stage.rows(kind="Job", status="Complete")) == 2 and stage.rows(kind="Job", status="Running"))
    await stage.say("Two are done, and the third runs. Now one comes that needs both cpus and is urgent.")
    await scenery.create(stage, [scenery.job("urgent", "team", "2", priority="urgent")])
    await stage.until(lambda: ("urgent", "Running", "1 active", "Job") in stage.rows(kind="Job"))
    await stage.say("The other Job gave way: it is suspended, its pod is deleted, and its Workload waits for quota again.")
    await stage.until(lambda: len(stage.rows(kind="Job", status="Complete")) == 4)
    await stage.say("All four are done, one after the other.")


def demo() -> Demo:
    """The demonstration."""
    return scenery.demo(tell, "Jobs wait in a queue, and an urgent one does not.", JOBS, WORKLOADS)
