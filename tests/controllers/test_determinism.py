"""One seed, one history: every event of every resource, byte for byte, whatever Python's hashes
are.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import asyncio, hashlib, sys
from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster

JOB = {
    "metadata": {"name": "j", "namespace": "default"},
    "spec": {"parallelism": 4, "completions": 6, "completionMode": "Indexed", "backoffLimitPerIndex": 2, "template": {
        "metadata": {"annotations": {"fakekube.dev/exit-codes": "0"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i", "command": ["sleep", "3"]}]}}},
}


def outcome(pod, attempt, container):
    index = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
    return 1 if index == "2" and attempt == 0 else None


async def main():
    async with Cluster(nodes=2, clock=sys.argv[1], outcome=outcome, seed=int(sys.argv[2])) as cluster:
        history = []
        for resource in await cluster.client.resources(verbs=("list", "watch")):
            listed = await cluster.client.list(resource)
            for item in listed.items:
                history.append(f"{item['metadata']['resourceVersion']} {item}")
            watch = await cluster.client.watch(resource, resource_version=listed.resource_version)
            history.append(watch)
        await cluster.client.create(JOBS, JOB)

        async def complete():
            job = await cluster.client.get(JOBS, "j", "default")
            return any(c["type"] == "Complete" for c in job["status"].get("conditions", ()))

        await cluster.run_until(complete)
        await cluster.client.delete(JOBS, "j", "default", propagation_policy="Foreground")
        await cluster.settle()
        lines = [entry for entry in history if isinstance(entry, str)]
        for watch in history:
            if isinstance(watch, str):
                continue
            watch.stop()
            async with watch:
                async for event in watch:
                    lines.append(f"{event.object['metadata']['resourceVersion']} {event.type} {event.object}")
        lines.sort(key=lambda line: (int(line.split(" ", 1)[0]), line))
        print(len(lines), hashlib.sha256("\\n".join(lines).encode()).hexdigest())


asyncio.run(main())
"""


def history(hash_seed, seed=7, clock="auto"):
    """How many lines the history of a Job with a pod that fails has, and their digest."""
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'controllers'}"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, clock, str(seed)], env=environment, capture_output=True, text=True, timeout=100,
        check=False)
    assert done.returncode == 0, done.stderr
    count, digest = done.stdout.split()
    return int(count), digest


@pytest.mark.parametrize("clock", ["auto", "manual"])
def test_one_seed_gives_one_history_under_any_hash_seed(clock):
    """Given two nodes and an indexed Job of which one pod fails / when it is run in three processes
    with other hashes / then every object and every event is the same: type, resource, name, uid,
    revision, time.
    """
    first, second, third = (history(seed, clock=clock) for seed in ("0", "1", "4711"))
    assert first == second == third
    assert first[0] > 150


def test_another_seed_gives_another_history():
    """Given the same Job / when the seed is another / then names and uids are others."""
    assert history("0", seed=7)[1] != history("0", seed=8)[1]
