"""``fakekube demo gang``: Jobs that start whole or not at all."""

from fakekube.apimachinery import meta
from fakekube.cli.demos.groups import GroupStory, job, nodes
from fakekube.client.resources import JOBS

GANG = "{schedulingPolicy: {gang: {}}}"


class Demo(GroupStory):
    """Two Jobs that do not fit at once, one in between, and one that is made larger."""

    async def tell(self) -> None:
        """Wait, start whole, grow."""
        await self.say(
            "Two nodes with two GPUs each, and two training Jobs of three pods, each of which needs a GPU and the two others. "
            "Scheduled pod by pod, each might hold two GPUs and wait for the third for ever. spec.scheduling says that each is a "
            "gang.")
        await self.create_nodes(nodes("node-0", "node-1", gpus=2))
        await self.create(job("alpha", 3, seconds=30, scheduling=GANG))
        await self.until(lambda: len(self.pods("alpha", status="Running")) == 3)
        await self.say(
            "alpha runs. The Job controller has made a PodGroup for it, its pods name that in spec.schedulingGroup, and the "
            "scheduler placed them in one go. Now beta comes.")
        await self.create(job("beta", 3, seconds=30, scheduling=GANG))
        await self.until(lambda: self.rows(name="beta", status="Unschedulable"))
        await self.say(f"One GPU is free, and none of beta's pods takes it. The group says why: {await self.reason('beta')}")
        await self.create(job("gamma", 1, seconds=10))
        await self.until(lambda: self.pods("gamma", status="Running"))
        await self.say("gamma, a Job of one pod that says nothing of gangs, takes the GPU meanwhile: what waits holds nothing.")
        await self.until(lambda: len(self.pods("beta", status="Running")) == 3)
        await self.say("alpha is done, and beta has started, whole. It turns out that it needs a fourth pod.")
        grown = {"spec": {"parallelism": 4, "completions": 4}}
        await self.cluster.client.patch(JOBS, "beta", "default", body=grown)
        await self.until(lambda: len(self.pods("beta", status="Running")) == 4)
        size = (await self.group_of("beta"))["spec"]["schedulingPolicy"]["gang"]["minCount"]
        await self.say(f"It runs too. The size of the gang was left out, so it follows parallelism: minCount is {size}.")
        await self.until_condition(JOBS, "beta", "Complete")
        left = [meta.name_of(found) for found in (await self.cluster.client.list(JOBS, "default")).items]
        await self.say(f"All of them are Complete: {', '.join(sorted(left))}. Their groups go when the Jobs are deleted.")
