"""The history of some Jobs, with every component at work: ``python -m tests.differential.histories
JOBS PODS NODES``.

Prints a line a commit: its revision, its type, the digest of its bytes, the object. The last line
is the digest of it all, as it has always been made.
"""

import asyncio
import hashlib
import sys

from fakekube.apimachinery import meta
from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}


async def run(jobs: int, pods: int, nodes: int) -> list[str]:
    """Lines of the whole history."""
    async with Cluster(nodes=nodes, clock="manual") as cluster:
        for number in range(jobs):
            await cluster.client.create(JOBS, {
                "metadata": {"name": f"j{number}", "namespace": "default"},
                "spec": {"completions": pods, "parallelism": pods, "template": TEMPLATE}})
        left = [f"j{number}" for number in range(jobs)]

        async def complete() -> bool:
            while left:
                if not meta.is_condition_true(await cluster.client.get(JOBS, left[-1], "default"), "Complete"):
                    return False
                left.pop()
            return True

        await cluster.run_until(complete)
        await cluster.settle()
        return history(cluster)


def history(cluster: Cluster) -> list[str]:
    """A line a commit, in order, then the digest of all."""
    events: list[tuple[int, str, str, bytes]] = []
    for bucket in cluster.apiserver.storage.buckets:
        for event in bucket.history():
            record = event.record
            name = f"{bucket.resource.resource} {record.namespace}/{record.name}"
            events.append((event.revision, event.type, name, bytes(record.data)))
    events.sort(key=lambda event: event[0])
    whole, lines = hashlib.sha256(), []
    for revision, type_, name, data in events:
        line = b"%d %s %s\n" % (revision, type_.encode(), data)
        whole.update(line)
        lines.append(f"{revision} {type_} {hashlib.sha256(line).hexdigest()[:16]} {name}")
    return [*lines, f"{whole.hexdigest()} {len(events)}"]


def main() -> None:
    """Print it."""
    jobs, pods, nodes = (int(word) for word in sys.argv[1:])
    sys.stdout.write("\n".join(asyncio.run(run(jobs, pods, nodes))) + "\n")


if __name__ == "__main__":
    main()
