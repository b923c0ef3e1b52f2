"""``fakekube demo jobset``: Jobs that start, fail and end together.

Workers wait for their driver, one of them fails, all are made anew, and the set is completed
without a driver that never ends.
"""

from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, PODS
from fakekube.runtime import demo as demos
from fakekube_controllers.jobset import addon
from fakekube_controllers.jobset.names import JOBSETS, RESTART_ATTEMPT

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
TOLD = {
    "SuccessfulCreate": "a Job makes its pod", "Scheduled": "the scheduler picks a node",
    "RestartJobSetFailurePolicyAction": "the JobSet starts anew", "AllJobsCompleted": "the JobSet is done",
}


def outcome(pod: Tree, _attempt: int, _container: str) -> Tree:
    """The driver serves on and on; in the first run the second worker fails."""
    name = meta.name_of(pod)
    if name.startswith("train-driver"):
        return {"run-duration": "1h"}
    fails = name.startswith("train-worker-1") and meta.labels_of(pod)[RESTART_ATTEMPT] == "0"
    return {"run-duration": "6s" if fails else "12s", "exit-code": "1" if fails else "0"}


def jobset_row(jobset: Tree) -> tuple[str, ...]:
    """Name, how it is, and how often it was started anew."""
    status = jobset.get("status") or {}
    starting = meta.is_condition_true(jobset, "RestartingJobSet")
    shown = status.get("terminalState") or ("Restarting" if starting else "Running")
    return meta.name_of(jobset), shown, f"restarts {status.get('restarts', 0)}", "(JobSet)"


def pod_row(pod: Tree) -> tuple[str, ...]:
    """Name, phase, whether it is ready, and its node."""
    shown = "Terminating" if meta.is_deleting(pod) else (pod.get("status") or {}).get("phase", "Pending")
    ready = "yes" if meta.is_condition_true(pod, "Ready") else "no"
    return meta.name_of(pod), shown, ready, pod["spec"].get("nodeName", "")


async def tell(stage: Any) -> None:
    """From the create to the completed set."""
    client = stage.cluster.client
    await stage.say(
        "A JobSet with a driver and two workers. Workers depend on the driver, and the set may start anew three times.")
    await stage.create(MANIFEST)
    await stage.until(lambda: len(stage.rows(status="Running")) == 4 or stage.rows(ready="restarts 1"))  # the JobSet among them
    await stage.say(
        "The workers were made once the driver was ready. train has a headless Service of its name: train-driver-0-0.train "
        "is an address.")
    await stage.until(lambda: stage.rows(status="Failed") or stage.rows(ready="restarts 1"))
    await stage.say("A worker has failed, and with it its Job. Without a rule the failurePolicy starts the whole set anew.")
    await stage.until_condition(JOBSETS, "train", "Completed")
    status = (await client.get(JOBSETS, "train", "default"))["status"]
    await stage.say(
        f"Both workers have succeeded in run {status['restarts'] + 1}: the set is {status['terminalState']}, and did not wait "
        "for the driver.")
    await stage.until(lambda: not [row for row in stage.table.rows.values() if row[0].startswith("train-driver")])
    left = ", ".join(sorted(map(meta.name_of, (await client.list(JOBS, "default")).items)))
    await stage.say(f"The driver's Job is deleted. What is left are the Jobs that have ended: {left}.")


def demo() -> demos.Demo:
    """The demonstration."""
    return demos.Demo(
        tell, "Jobs that start, fail and end together. A JobSet looks at all of them.", (addon(),),
        ("OBJECT", "STATUS", "READY", "NODE"), {JOBSETS: jobset_row, PODS: pod_row}, TOLD, outcome)
