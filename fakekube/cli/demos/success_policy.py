"""``fakekube demo success-policy``: a Job that is done when its leader is."""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story
from fakekube.client.resources import JOBS

INDEX = "batch.kubernetes.io/job-completion-index"
MANIFEST = """
apiVersion: batch/v1
kind: Job
metadata: {name: training, namespace: default}
spec:
  completionMode: Indexed
  completions: 4
  parallelism: 4
  successPolicy:
    rules: [{succeededIndexes: "0"}]
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "busybox:1.36"}]
"""


class Demo(Story):
    """The leader succeeds, the workers are stopped, and the Job is Complete all the same."""

    told: ClassVar[Mapping[str, str]] = {
        "SuccessfulCreate": "the Job controller makes a pod", "Started": "the kubelet starts the container",
        "SuccessCriteriaMet": "the success policy is met", "Killing": "a worker is stopped", "Completed": "the Job is done",
    }

    def outcome(self, pod: Tree, attempt: int, container: str) -> Tree:
        """The leader, index 0, takes fifteen seconds; workers would run for ever."""
        return {"run-duration": "15s" if meta.annotations_of(pod).get(INDEX) == "0" else "forever"}

    async def tell(self) -> None:
        """One leader and three workers."""
        await self.say(
            "An Indexed Job of four pods: index 0 leads, the others serve it for ever. Its successPolicy says that it has "
            "succeeded as soon as index 0 has.")
        await self.create(MANIFEST)
        await self.until(lambda: len(self.table.rows) == 4 and not self.rows(status="Pending"))
        await self.say("All four run. The leader takes fifteen seconds.")
        await self.until_condition(JOBS, "training", "SuccessCriteriaMet")
        await self.say("The leader has succeeded: SuccessCriteriaMet. The Job is not Complete before its workers are gone.")
        await self.until_condition(JOBS, "training", "Complete")
        job = await self.cluster.client.get(JOBS, "training", "default")
        await self.say(f"The workers are stopped and the Job is Complete: succeeded {job['status'].get('succeeded')} of 4, "
                       f"completed indexes {job['status'].get('completedIndexes')!r}.")
