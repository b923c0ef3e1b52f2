"""What the webhooks of Kueue, JobSet and LeaderWorkerSet are declared as: one line for each."""

import json
from pathlib import Path
from typing import Any

from fakekube.composition.cluster import Cluster
from fakekube_controllers import jobset, kueue, leaderworkerset, ray

ALL = (
    "batch/job", "pod", "deployment", "statefulset", "jobset.x-k8s.io/jobset", "leaderworkerset.x-k8s.io/leaderworkerset",
    "ray.io/rayjob", "ray.io/raycluster")
EXPECTED = Path(__file__).parent / "declarations.txt"


async def declarations() -> list[str]:
    """The configurations that a cluster with all of them has."""
    extra = [jobset.addon(), leaderworkerset.addon(), ray.addon(), kueue.addon({"integrations": {"frameworks": [*ALL]}})]
    lines = []
    async with Cluster(nodes=0, clock="manual", extra=extra) as cluster:
        await cluster.settle()
        for plural in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
            found = await cluster.client.list(await cluster.client.resource(plural))
            lines += [line for each in found.items for line in _told(each)]
    return lines


def _told(configuration: dict[str, Any]) -> list[str]:
    metadata = configuration["metadata"]
    about = {name: metadata[name] for name in ("name", "labels", "annotations") if name in metadata}
    return [json.dumps(about), *(json.dumps(each, sort_keys=True) for each in configuration["webhooks"])]


async def test_webhooks_are_declared_as_upstream_ships_them() -> None:
    """Given a cluster with all integrations, when the configurations of webhooks are listed, then
    each is for these resources, operations and namespaces, and fails as it is said.
    """
    assert await declarations() == EXPECTED.read_text().splitlines()
