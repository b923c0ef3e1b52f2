"""``fakekube demo jobset``: Jobs that start, fail and end together."""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Row, Story, pod_row
from fakekube.client.resources import JOBS, PODS, Resource

JOBSETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")
ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
MANIFEST = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train, namespace: default}
spec:
  failurePolicy: {maxRestarts: 3}
  successPolicy: {operator: All, targetReplicatedJobs: [worker]}
  replicatedJobs:
    - name: driver
      template: &job
        spec:
          backoffLimit: 0
          completions: 1
          parallelism: 1
          template:
            spec:
              restartPolicy: Never
              containers: [{name: main, image: "busybox:1.36"}]
    - name: worker
      replicas: 2
      dependsOn: [{name: driver, status: Ready}]
      template: *job
"""


class Demo(Story):
    """Workers wait for their driver, one of them fails, all are made anew, and the set is completed
    without a driver that never ends.
    """

    extra = ("fakekube_controllers.jobset:addon",)
    header = ("OBJECT", "STATUS", "READY", "NODE")
    told: ClassVar[Mapping[str, str]] = {
        "SuccessfulCreate": "a Job makes its pod", "Scheduled": "the scheduler picks a node",
        "RestartJobSetFailurePolicyAction": "the JobSet starts anew", "AllJobsCompleted": "the JobSet is done",
    }

    def outcome(self, pod: Tree, attempt: int, container: str) -> Tree:
        """The driver serves on and on; in the first run the second worker fails."""
        name = meta.name_of(pod)
        if name.startswith("train-driver"):
            return {"run-duration": "1h"}
        fails = name.startswith("train-worker-1") and meta.labels_of(pod)[ATTEMPT] == "0"
        return {"run-duration": "6s" if fails else "12s", "exit-code": "1" if fails else "0"}

    def follows(self) -> Mapping[Resource, Row]:
        """The JobSet and its pods."""
        return {JOBSETS: jobset_row, PODS: pod_row}

    async def tell(self) -> None:
        """From the create to the completed set."""
        await self.say(
            "A JobSet with a driver and two workers. Workers depend on the driver, and the set may start anew three times.")
        await self.create(MANIFEST)
        await self.until(lambda: len(self.rows(status="Running")) == 3)
        await self.say(
            "The workers were made once the driver was ready. train has a headless Service of its name: train-driver-0-0.train "
            "is an address.")
        await self.until(lambda: self.rows(status="Failed"))
        await self.say("A worker has failed, and with it its Job. Without a rule the failurePolicy starts the whole set anew.")
        await self.until_condition(JOBSETS, "train", "Completed")
        found = await self.cluster.client.get(JOBSETS, "train", "default")
        run, state = found["status"]["restarts"] + 1, found["status"]["terminalState"]
        await self.say(f"Both workers have succeeded in run {run}: the set is {state}, and did not wait for the driver.")
        await self.until(lambda: not [row for row in self.table.rows.values() if row[0].startswith("train-driver")])
        left = (await self.cluster.client.list(JOBS, "default")).items
        names = ", ".join(sorted(map(meta.name_of, left)))
        await self.say(f"The driver's Job is deleted. What is left are the Jobs that have ended: {names}.")


def jobset_row(jobset: Tree) -> tuple[str, ...]:
    """Name, how it is, and how often it was started anew."""
    status = jobset.get("status") or {}
    starting = meta.is_condition_true(jobset, "RestartingJobSet")
    shown = status.get("terminalState") or ("Restarting" if starting else "Running")
    return meta.name_of(jobset), shown, f"restarts {status.get('restarts', 0)}", "(JobSet)"
