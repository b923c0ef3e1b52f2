"""``fakekube demo topology``: a gang that stays in one rack."""

from fakekube.cli.demos.groups import GroupStory, job, nodes
from fakekube.client.resources import JOBS

RACK = "topology.kubernetes.io/rack"
IN_A_RACK = f"{{schedulingPolicy: {{gang: {{}}}}, schedulingConstraints: {{topology: [{{key: {RACK}}}]}}}}"


class Demo(GroupStory):
    """Two gangs that each want a rack for themselves."""

    def _racks(self, prefix: str) -> set[str]:
        return {row[2].split("-")[0] for row in self.pods(prefix, status="Running")}

    async def tell(self) -> None:
        """One fits where it is, the other waits until it does."""
        await self.say(
            "Four nodes with two GPUs each: two in the rack east, two in the rack west. A Job of one pod runs somewhere.")
        await self.create_nodes(*(
            nodes(f"{rack}-0", f"{rack}-1", gpus=2, labels={RACK: rack}) for rack in ("east", "west")))
        await self.create(job("single", 1, seconds=60))
        await self.until(lambda: self.pods("single", status="Running"))
        [taken] = self._racks("single")
        await self.say(
            f"It is in {taken}. Now a gang of four, whose pods talk so much that they have to be in one rack: "
            f"schedulingConstraints name the label {RACK}.")
        await self.create(job("train", 4, seconds=30, scheduling=IN_A_RACK))
        await self.until(lambda: len(self.pods("train", status="Running")) == 4)
        [other] = self._racks("train")
        await self.say(
            f"Seven GPUs were free, but only {other} had four. The scheduler tried the whole gang in each rack, and took one "
            "where all fit.")
        await self.create(job("next", 4, seconds=20, scheduling=IN_A_RACK))
        await self.until(lambda: self.rows(name="next", status="Unschedulable"))
        await self.say(f"Another gang of four, and three GPUs in {taken}: it waits. {await self.reason('next')}")
        await self.until(lambda: len(self.pods("next", status="Running")) == 4)
        [second] = self._racks("next")
        await self.say(f"train is done, and next has {second} for itself, though single still runs in {taken}.")
        for name in ("next", "single"):
            await self.until_condition(JOBS, name, "Complete")
        await self.say(
            "All Jobs are Complete. Without the label on any node, no gang with that constraint would have started: a node "
            "without it is in no rack.")
