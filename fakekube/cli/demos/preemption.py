"""``fakekube demo preemption``: a gang that matters more makes room for itself, by groups."""

from collections.abc import Mapping
from typing import ClassVar

from fakekube.cli.demos.groups import GroupStory, job, nodes
from fakekube.client.resources import JOBS

PRIORITIES = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: patient}
value: 10
"""
TOGETHER = "{schedulingPolicy: {gang: {}}, disruptionMode: {all: {}}}"
GANG = "{schedulingPolicy: {gang: {}}}"


class Demo(GroupStory):
    """Who goes, who is spared, and what becomes of them."""

    told: ClassVar[Mapping[str, str]] = {
        "Scheduled": "a pod gets a node", "Preempted": "a pod has to go", "Completed": "a Job is done",
    }

    async def tell(self) -> None:
        """From full nodes to the end of all Jobs."""
        await self.say(
            "Two nodes with two GPUs each, all in use: batch, a gang of two that can only be disrupted as a whole "
            "(disruptionMode: all), and singles, a Job of two pods that do not need each other. Both have a low priority.")
        await self.create_nodes(nodes("node-0", "node-1", gpus=2), PRIORITIES)
        await self.create(job("batch", 2, seconds=60, scheduling=TOGETHER, priority="patient"))
        await self.until(lambda: len(self.pods("batch", status="Running")) == 2)
        await self.create(job("singles", 2, seconds=120, priority="patient"))
        await self.until(lambda: len(self.pods("singles", status="Running")) == 2)
        await self.say("Now comes urgent, a gang of three with a high priority.")
        await self.create(job("urgent", 3, seconds=40, scheduling=GANG, priority="urgent"))
        await self.until(lambda: len(self.pods("urgent", status="Running")) == 3)
        spared = len(self.pods("singles", status="Running"))
        await self.say(
            "The scheduler asked first whether urgent would fit if all that matters less were gone. It would, so it looked whom "
            "it can spare, groups before single pods. batch did not fit beside urgent, and went with both of its pods, not "
            f"with one; of singles {spared} could stay.")
        await self.until(lambda: self.rows(name="batch", status="Scheduled") and self.pods("batch", status="Pending"))
        await self.say(
            "Their Jobs have made new pods, which wait. The group of batch says Scheduled all the same: the condition tells "
            "that it once was, see its name, PodGroupInitiallyScheduled.")
        await self.until_condition(JOBS, "urgent", "Complete")
        await self.until(lambda: len(self.pods("batch", status="Running")) == 2)
        await self.say("urgent is done. batch runs again, whole.")
        for name in ("batch", "singles"):
            await self.until_condition(JOBS, name, "Complete")
        failed = (await self.cluster.client.get(JOBS, "batch", "default"))["status"].get("failed", 0)
        await self.say(
            f"In the end every Job is Complete. For batch the {failed} pods that had to go count as failed; a podFailurePolicy "
            "that ignores the condition DisruptionTarget would not count them.")
