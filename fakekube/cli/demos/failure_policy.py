"""``fakekube demo failure-policy``: which failures are worth another try."""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.cli.demos.stage import Story
from fakekube.client.resources import JOBS, PODS

MANIFEST = """
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: default}}
spec:
  backoffLimit: 6
  podFailurePolicy:
    rules:
      - action: FailJob
        onExitCodes: {{containerName: main, operator: In, values: [42]}}
      - action: Ignore
        onPodConditions: [{{type: DisruptionTarget}}]
  template:
    metadata:
      annotations: {{fakekube.dev/run-duration: {seconds}s, fakekube.dev/exit-codes: "{codes}"}}
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: "busybox:1.36"}}]
"""


class Demo(Story):
    """An ordinary failure is retried, a hopeless one ends the Job at once, an eviction does not
    count.
    """

    told: ClassVar[Mapping[str, str]] = {
        "SuccessfulCreate": "the Job controller makes a pod", "Started": "the kubelet starts the container",
        "Completed": "the Job is done", "PodFailurePolicy": "the Job is given up",
    }

    async def tell(self) -> None:
        """Three Jobs under one policy."""
        await self.say(
            "Three Jobs with the same podFailurePolicy: exit code 42 fails the Job, a disruption is ignored, and any other "
            "failure counts against a backoffLimit of 6.")
        await self.create(MANIFEST.format(name="flaky", seconds=5, codes="1,0"))
        await self.until(lambda: self.rows(status="Failed"))
        await self.say("flaky has exited with 1: no rule matches, so that it counts as one failure and is tried again.")
        await self.until_condition(JOBS, "flaky", "Complete")
        await self.create(MANIFEST.format(name="hopeless", seconds=5, codes="42"))
        await self.until_condition(JOBS, "hopeless", "Failed")
        await self.say("hopeless has exited with 42: FailJob. Six tries were left, and none is wasted.")
        await self.create(MANIFEST.format(name="disturbed", seconds=60, codes="0"))
        running = await self.until(lambda: [row for row in self.rows(status="Running") if row[0].startswith("disturbed")])
        await self.cluster.client.evict(running[0][0], "default")
        await self.say("The pod of disturbed runs, and is evicted through the API, as by kubectl drain.")
        await self.until_condition(JOBS, "disturbed", "Complete")
        job = await self.cluster.client.get(JOBS, "disturbed", "default")
        failed = job["status"].get("failed", 0)
        await self.say(f"disturbed is Complete by another pod; failures that it was charged with: {failed}.")
        left = (await self.cluster.client.list(PODS, "default")).items
        await self.say(f"{len(left)} pods are left to look at, those of hopeless among them.")
