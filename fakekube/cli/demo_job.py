"""``fakekube demo job``: a Job's life, told while it happens.

Everything shown comes from watches and Events, as any client would see it; the story only says what to look at.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import click

from fakekube.apimachinery import meta
from fakekube.cli.live import LiveTable
from fakekube.client.resources import EVENTS, JOBS, PODS
from fakekube.cluster import Cluster
from fakekube.options import ClusterOptions
from fakekube.util.tasks import Tasks

Tree = dict[str, Any]

MANIFEST: Tree = {
    "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hello", "namespace": "default"},
    "spec": {"completions": 3, "parallelism": 2, "backoffLimit": 4, "template": {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.36"}]},
    }},
}

RUNS = (("2s", "1"), ("14s", "0"))
"""How long the pods run and how they end: the first one fails soon, all others succeed."""

TOLD = {
    "SuccessfulCreate": "the Job controller makes a pod", "Scheduled": "the scheduler picks a node",
    "Started": "the kubelet starts the container", "Completed": "the Job is done", "SuccessfulDelete": "a pod is deleted",
}


def run(speed: float) -> None:
    """Show it, ``speed`` times as fast as the wall. Raises ClickException for a speed that is none."""
    if speed <= 0:
        raise click.ClickException("the speed must be above 0")
    asyncio.run(_run(ClusterOptions(nodes=2, clock=speed)))


async def _run(options: ClusterOptions) -> None:
    async with Cluster(options=options, outcome=Fate()) as cluster, _show(cluster) as table:
        story = Story(cluster, table)
        await story.tell()


class Fate:
    """Decides how containers fare: the first that is started fails, every other succeeds."""

    def __init__(self) -> None:
        self._first = ""

    def __call__(self, pod: Tree, attempt: int, container: str) -> Tree:
        """How this run ends, in the words of the annotations."""
        self._first = self._first or meta.uid_of(pod)
        duration, code = RUNS[0 if meta.uid_of(pod) == self._first else 1]
        return {"run-duration": duration, "exit-code": code}


class Story:
    """The steps, and what each waits to see."""

    def __init__(self, cluster: Cluster, table: LiveTable) -> None:
        self.cluster, self.client, self.table = cluster, cluster.client, table

    async def tell(self) -> None:
        """From the create to the moment when nothing is left."""
        self.table.say("A cluster with two nodes is up. We create a Job: three completions, two at a time.")
        self.table.say("Its first container exits with 1: one failure, then a retry after ten seconds of back-off.")
        job = await self.client.create(JOBS, MANIFEST)
        await self._until(lambda: self._failed() >= 1)
        self.table.say("A pod has failed. The Job waits before it tries again: 10 s, then 20 s, 40 s ...")
        await self._until(self._complete)
        self.table.say("Three pods have succeeded: the Job is Complete. Its pods stay, for their logs.")
        await self.client.delete(JOBS, "hello", "default", propagation_policy="Background")
        self.table.say("We delete the Job. The garbage collector finds that the pods' owner is gone ...")
        await self._until(lambda: not self.table.rows)
        self.table.say(f"... and takes them too. Nothing is left of {meta.name_of(job)}.")

    def _failed(self) -> int:
        return sum(row[1] == "Failed" for row in self.table.rows.values())

    async def _complete(self) -> bool:
        job = await self.client.get(JOBS, "hello", "default")
        return meta.is_condition_true(job, "Complete")

    async def _until(self, predicate: Callable[[], Any]) -> None:
        await self.cluster.run_until(predicate)


@asynccontextmanager
async def _show(cluster: Cluster) -> AsyncIterator[LiveTable]:
    """A table of the pods that follows a watch, and a line for every Event worth telling."""
    table = LiveTable(("POD", "STATUS", "NODE"), lambda: f"{cluster.clock.now():%H:%M:%S}")
    tasks = Tasks()
    tasks.spawn(_follow_pods(cluster, table), "demo pods")
    tasks.spawn(_follow_events(cluster, table), "demo events")
    try:
        yield table
    finally:
        await tasks.close()


async def _follow_pods(cluster: Cluster, table: LiveTable) -> None:
    async for event in await cluster.client.watch(PODS):
        pod = event.object
        if event.type == "DELETED":
            table.drop(meta.name_of(pod))
        elif event.type in ("ADDED", "MODIFIED"):
            status = "Terminating" if meta.is_deleting(pod) else pod["status"].get("phase", "Pending")
            table.put(meta.name_of(pod), (meta.name_of(pod), status, pod["spec"].get("nodeName", "")))


async def _follow_events(cluster: Cluster, table: LiveTable) -> None:
    async for event in await cluster.client.watch(EVENTS):
        if event.type == "ADDED" and event.object.get("reason") in TOLD:
            reason, message = event.object["reason"], event.object.get("message", "")
            table.note(f"{TOLD[reason]}: {message}")
