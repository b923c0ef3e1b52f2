"""``fakekube demo elastic``: a Job that changes its size while it runs (KEP-77)."""

from typing import Any

from fakekube.client.resources import JOBS, PODS
from fakekube.runtime.demo import Demo
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.demos import scenery
from fakekube_controllers.kueue.names import WORKLOADS


async def _scale(stage: Any, pods: int) -> None:
    await stage.cluster.client.patch(JOBS, "train", "default", {"spec": {"parallelism": pods}})


async def tell(stage: Any) -> None:
    """A Job grows by a slice, waits for the next, and shrinks."""
    await stage.say("A queue of four cpus, and a Job that may change its size: the annotation kueue.x-k8s.io/elastic-job.")
    await scenery.create(stage, [
        scenery.flavor(), scenery.cluster_queue("all", "4"), scenery.local_queue("team", "all"),
        scenery.job(
            "train", "team", "1", pods=2, seconds=3600, annotations={names.ELASTIC_JOB_ANNOTATION: "true"}, completions=9)])
    await stage.until(lambda: len(stage.rows(kind="Pod", status="Running")) == 2)
    await stage.say("Two pods run. The Job is to have four: new pods wait behind a gate until a second slice is admitted.")
    await _scale(stage, 4)
    await stage.until(lambda: len(stage.rows(kind="Pod", status="Running")) == 4)
    await stage.say(
        "The second Workload has taken the place of the first, which is Finished. The Job was never suspended. Now it is to "
        "have six, and there is quota for four.")
    await _scale(stage, 6)
    await stage.until(lambda: len(stage.rows(kind="Pod", status="Gated")) == 2 and stage.rows(kind="Workload", status="Pending"))
    await stage.say("The third slice waits, and with it the two new pods; the four others run on. We go back to three.")
    await _scale(stage, 3)
    await stage.until(lambda: len(stage.rows(kind="Pod", status="Running")) == 3 and not stage.rows(status="Gated"))
    await stage.say("The slice that waited was made smaller, and admitted at once: three pods run.")


def demo() -> Demo:
    """The demonstration."""
    return scenery.demo(
        tell, "A Job changes its size while it runs (KEP-77).", JOBS, WORKLOADS, PODS,
        told={"QuotaReserved": "quota", "WorkloadSliceReplaced": "a slice is replaced"})
