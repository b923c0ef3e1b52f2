"""``fakekube demo borrow``: two teams lend each other what they do not use."""

from typing import Any

from fakekube.client.resources import JOBS
from fakekube.runtime.demo import Demo
from fakekube_controllers.kueue.demos import scenery
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, WORKLOADS

PREEMPTION = {"reclaimWithinCohort": "Any"}


async def _borrowed(stage: Any, queue: str) -> str:
    found = await stage.cluster.client.get(CLUSTER_QUEUES, queue)
    return str(found["status"]["flavorsReservation"][0]["resources"][0]["borrowed"])


async def tell(stage: Any) -> None:
    """One team borrows all of the other's quota; the other takes it back."""
    await stage.say("Two teams with two cpus each, in one cohort: what one does not use, the other may borrow.")
    await scenery.create(stage, [
        scenery.flavor(),
        *(scenery.cluster_queue(team, "2", cohortName="company", preemption=PREEMPTION) for team in ("red", "blue")),
        *(scenery.local_queue(team, team) for team in ("red", "blue")),
        *(scenery.job(f"red-{number}", "red", "1", seconds=60) for number in range(4))])
    await stage.until(lambda: len(stage.rows(kind="Workload", status="Admitted")) == 4)

    async def shown() -> bool:
        return await _borrowed(stage, "red") == "2"

    await stage.until_answer(shown)
    await stage.say("red has four Jobs, and all run: red has borrowed 2 cpus of blue's. Now blue needs its own.")
    await scenery.create(stage, [scenery.job("blue-0", "blue", "2", seconds=30)])
    await stage.until(lambda: ("blue-0", "Running", "1 active", "Job") in stage.rows(kind="Job"))
    await stage.say(
        "reclaimWithinCohort: two of red's Jobs are stopped, whatever their priority, and blue runs. What is red's own is safe.")
    await stage.until(lambda: len(stage.rows(kind="Job", status="Complete")) == 5)
    await stage.say("All five are done: the two that gave way ran when there was room again.")


def demo() -> Demo:
    """The demonstration."""
    return scenery.demo(tell, "Two teams lend each other quota, and take it back.", JOBS, WORKLOADS)
