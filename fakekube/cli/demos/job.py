"""``fakekube demo job``: a Job's whole life, with one failure in it."""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story
from fakekube.client.resources import JOBS

MANIFEST = """
apiVersion: batch/v1
kind: Job
metadata: {name: hello, namespace: default}
spec:
  completions: 3
  parallelism: 2
  backoffLimit: 4
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "busybox:1.36"}]
"""

RUNS = (("2s", "1"), ("14s", "0"))
"""How long the pods run and how they end: the first one fails soon, all others succeed."""


class Demo(Story):
    """Created, scheduled, run, failed once, retried, complete, deleted, collected."""

    told: ClassVar[Mapping[str, str]] = {
        "SuccessfulCreate": "the Job controller makes a pod", "Scheduled": "the scheduler picks a node",
        "Started": "the kubelet starts the container", "Completed": "the Job is done", "SuccessfulDelete": "a pod is deleted",
    }

    def __init__(self) -> None:
        super().__init__()
        self._first = ""

    def outcome(self, pod: Tree, attempt: int, container: str) -> Tree:
        """The first that is started fails, every other succeeds."""
        self._first = self._first or meta.uid_of(pod)
        duration, code = RUNS[0 if meta.uid_of(pod) == self._first else 1]
        return {"run-duration": duration, "exit-code": code}

    async def tell(self) -> None:
        """From the create to the moment when nothing is left."""
        await self.say("A cluster with two nodes is up. We create a Job: three completions, two at a time.")
        self.table.say("Its first container exits with 1: one failure, then a retry after ten seconds of back-off.")
        await self.create(MANIFEST)
        await self.until(lambda: self.rows(status="Failed"))
        await self.say("A pod has failed. The Job waits before it tries again: 10 s, then 20 s, 40 s ...")
        await self.until_condition(JOBS, "hello", "Complete")
        await self.say("Three pods have succeeded: the Job is Complete. Its pods stay, for their logs.")
        await self.cluster.client.delete(JOBS, "hello", "default", propagation_policy="Background")
        await self.say("We delete the Job. The garbage collector finds that the pods' owner is gone ...")
        await self.until(lambda: not self.table.rows)
        await self.say("... and takes them too. Nothing is left of hello.")
