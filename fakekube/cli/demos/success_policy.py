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
        "Killing": "a worker is stopped", "Completed": "the Job is done",
    }

    def outcome(self, pod: Tree, attempt: int, container: str) -> Tree:
        """The leader, index 0, takes fifteen seconds; workers would run for ever."""
        return {"run-duration": "15s" if meta.annotations_of(pod).get(INDEX) == "0" else "forever"}

    async def tell(self) -> None:
        """One leader and three workers."""
        await self.say(
            "An Indexed Job of four pods: index 0 leads, the others work for it until they are stopped. Its successPolicy says "
            "that it has succeeded as soon as index 0 has.")
        await self.create(MANIFEST)
        await self.until(lambda: len(self.table.rows) == 4 and not self.rows(status="Pending"))
        await self.say("All four run. The leader takes fifteen seconds.")
        await self.until_condition(JOBS, "training", "SuccessCriteriaMet")
        await self.say(
            "The leader has succeeded: the Job has the condition SuccessCriteriaMet. What then happens: the Job controller "
            "deletes the workers, and the Job is not Complete before they have stopped.")
        await self.until_condition(JOBS, "training", "Complete")
        await self.until(lambda: not self.rows(status="Terminating") and not self.rows(status="Running"))
        status = (await self.cluster.client.get(JOBS, "training", "default"))["status"]
        await self.say(
            f"The workers are gone, and the Job is Complete: succeeded {status.get('succeeded')} of 4, failed "
            f"{status.get('failed', 0)}, completed indexes {status.get('completedIndexes')!r}. Of its pods only the leader's is "
            "left, for its logs.")
