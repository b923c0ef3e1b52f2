"""``fakekube demo cronjob``: a Job each minute, one that is still running, a suspension, and the
end of history.
"""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cli.demos.stage import Story
from fakekube.client.resources import CRON_JOBS, JOBS, PODS, Resource
from fakekube.runtime.demo import Row

MANIFEST = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: default}
spec:
  schedule: "*/1 * * * *"
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: 2
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: "busybox:1.36"}]
"""


def job_row(job: Tree) -> tuple[str, ...]:
    """Name, and how it stands."""
    shown = next((name for name in ("Complete", "Failed") if meta.is_condition_true(job, name)), "Active")
    return meta.name_of(job), shown, "Job"


class Demo(Story):
    """Started by the minute, held back while one runs, suspended, and tidied up."""

    header = ("OBJECT", "STATUS", "KIND")
    told: ClassVar[Mapping[str, str]] = {
        "SuccessfulCreate": "made", "SawCompletedJob": "the CronJob sees that it is done",
        "JobAlreadyActive": "not started, for one still runs", "SuccessfulDelete": "the CronJob tidies up",
    }

    def __init__(self) -> None:
        super().__init__()
        self._runs = 0

    def outcome(self, pod: Tree, attempt: int, container: str) -> Tree:
        """The second run takes longer than a minute."""
        self._runs += 1
        return {"run-duration": "90s" if self._runs == 2 else "10s"}

    def follows(self) -> Mapping[Resource, Row]:
        """Jobs, and their pods."""
        return {JOBS: job_row, PODS: lambda pod: (meta.name_of(pod), (pod.get("status") or {}).get("phase", "Pending"), "Pod")}

    def _complete(self) -> int:
        return len(self.rows(kind="Job", status="Complete"))

    def _newest(self) -> str:
        return max(row[0] for row in self.rows(kind="Job"))

    async def tell(self) -> None:
        """Five minutes of a schedule."""
        await self.say("A CronJob for every minute. It forbids two runs at a time, and keeps the last two that succeeded.")
        await self.create(MANIFEST)
        await self.until(lambda: self._complete() >= 1)
        first = self._newest()
        await self.say("The first run began with the minute and is done. The second one takes ninety seconds ...")
        await self.until(lambda: self._complete() >= 2)
        await self.say(
            "... so that a minute passed without a new one: concurrencyPolicy Forbid. The run that was missed comes now.")
        await self.cluster.client.patch(CRON_JOBS, "report", "default", {"spec": {"suspend": True}})
        await self.until(lambda: not self.rows(kind="Job", status="Active") and self._newest() != first)
        newest = self._newest()
        await self.say("We suspend it. For two and a half minutes nothing is started.")
        await self.pass_seconds(150)
        await self.say(f"The newest Job is still {newest}, and of those that succeeded two are kept. We resume it.")
        await self.cluster.client.patch(CRON_JOBS, "report", "default", {"spec": {"suspend": False}})
        await self.until(lambda: self._newest() != newest and not self.rows(kind="Job", status="Active"))
        await self.until(lambda: len(self.rows(kind="Job")) == 2)
        await self.say("One run was started for the minutes that were missed, not three. The oldest one had to go for it.")
