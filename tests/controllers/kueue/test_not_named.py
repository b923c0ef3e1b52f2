"""A cluster that does not name Kueue has nothing of it, and pays for nothing of it."""

import subprocess
import sys

import pytest

SCRIPT = """
import asyncio, sys
from fakekube.client.resources import JOBS
from fakekube.composition.cluster import Cluster

QUEUED = {"kueue.x-k8s.io/queue-name": "q"}

async def main():
    async with Cluster(nodes=1, clock="manual", controllers=sys.argv[1]) as cluster:
        client = cluster.client
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
        metadata = {"name": "j", "namespace": "default", "labels": QUEUED}
        await client.create(JOBS, {"metadata": metadata, "spec": {"template": template}})
        await cluster.advance("5m")
        job = await client.get(JOBS, "j", "default")
        print("job", job["status"].get("succeeded"), job["spec"]["suspend"])
        print("loaded", sorted(
            name for name in sys.modules
            if name.split(".")[:2] == ["fakekube_controllers", "kueue"] or name == "fakekube.webhooks.client"))
        print("interceptors", len(cluster.apiserver.interceptors))
        for plural in (
            "customresourcedefinitions", "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "apiservices",
            "namespaces",
        ):
            found = (await client.list(await client.resource(plural))).items
            print(plural, [each["metadata"]["name"] for each in found if "kueue" in str(each)])
        print("kinds", [each.plural for each in await client.resources() if "kueue" in each.group])

asyncio.run(main())
"""


def seen(controllers: str) -> dict[str, str]:
    """What a process of its own sees, by what it looks at."""
    command = [sys.executable, "-c", SCRIPT, controllers]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(line.partition(" ")[::2] for line in printed.splitlines())


@pytest.mark.parametrize("controllers", ["*", "job,scheduler,kubelet"])
def test_nothing_is_there_of_a_kueue_that_is_not_named(controllers: str) -> None:
    """Given a cluster that does not name Kueue, when a Job with the label of a queue runs, then it
    runs at once; no module of Kueue was imported, no client of webhooks was made, nothing stands
    before requests, and there is no definition, webhook, API or namespace of Kueue.
    """
    assert seen(controllers) == {
        "job": "1 False", "loaded": "[]", "interceptors": "0", "kinds": "[]",
        **dict.fromkeys(
            ("customresourcedefinitions", "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "apiservices",
             "namespaces"), "[]")}


def test_it_is_seen_where_it_is_named() -> None:
    """Given a cluster that names Kueue, when the same is looked at, then all of it is there: what
    the other test does not find can be found.
    """
    found = seen("*,kueue")
    assert found.pop("job") == "None True"
    assert found.pop("interceptors") == "0"
    assert all(value != "[]" for value in found.values()), found
