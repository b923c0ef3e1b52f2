"""Prints a digest of everything that happened with a seed, to the byte: ``python -m
tests.exploration.history_of_seed 17``.
"""

import asyncio
import hashlib
import sys
from heapq import merge

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, DEPLOYMENTS, JOBS
from tests.exploration import operators

POD = {"containers": [{"name": "main", "image": "web"}]}


async def digest(schedule):
    """Of the event log of a Job, a Deployment and an operator; and the deviations in words."""
    made = hashlib.sha256()
    async with Cluster(nodes=2, schedule=schedule, extra=[operators.two_children]) as cluster:
        client = cluster.client
        await client.create(JOBS, {"metadata": {"name": "job", "namespace": "default"}, "spec": {
            "completions": 4, "parallelism": 2, "template": {"spec": {**POD, "restartPolicy": "Never"}}}})
        await client.create(DEPLOYMENTS, {"metadata": {"name": "web", "namespace": "default"}, "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": POD}}})
        await client.create(CONFIG_MAPS, {"metadata": {"name": "web", "namespace": "default"}})
        await cluster.advance("30s")
        await cluster.settle()
        tracks = [[(event.revision, bucket.resource, event) for event in bucket.history()]
                  for bucket in cluster.apiserver.storage.buckets]
        for revision, resource, event in merge(*tracks, key=lambda entry: entry[0]):
            made.update(repr((revision, str(resource), event.type, event.record.data, event.cause)).encode())
        choices = cluster.driver.transit.choices
        made.update("\n".join(map(str, choices.deviations)).encode())
        return made.hexdigest(), len(choices.deviations)


if __name__ == "__main__":
    print(*asyncio.run(digest(sys.argv[1])))
