"""Worker clusters: how they are reached, and what their status says."""

import base64
from typing import Any

import pytest
import yaml

from fakekube.apimachinery import conditions
from fakekube.client.resources import JOBS, SECRETS
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue.multikueue.remote import retry_after_seconds
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, MULTIKUEUE_CLUSTERS, MULTIKUEUE_CONFIGS
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER

pytestmark = pytest.mark.fakekube(controllers="*,kueue", nodes=0, fleet="manager,worker1,worker2")


async def put_secret(fleet: Fleet, name: str, text: str) -> None:
    """A Secret with a kubeconfig, new or changed."""
    data = {"kubeconfig": base64.b64encode(text.encode()).decode()}
    body = {"metadata": {"name": name, "namespace": "kueue-system"}, "data": data}
    client = fleet["manager"].client
    if await client.get(SECRETS, name, "kueue-system", missing_ok=True) is None:
        await client.create(SECRETS, body, "kueue-system")
    else:
        await client.patch(SECRETS, name, "kueue-system", {"data": body["data"]})


async def put_cluster(fleet: Fleet, name: str) -> None:
    """A MultiKueueCluster that reads the Secret of its name."""
    source = {"kubeConfig": {"location": name, "locationType": "Secret"}}
    await fleet["manager"].client.create(MULTIKUEUE_CLUSTERS, {"metadata": {"name": name}, "spec": {"clusterSource": source}})


async def active(fleet: Fleet, name: str, resource: Any = MULTIKUEUE_CLUSTERS) -> tuple[str, str, str]:
    """Status, reason and message of the condition Active."""
    await fleet.settle()
    found = (await fleet["manager"].client.get(resource, name)).get("status", {}).get("conditions")
    condition = conditions.find(found, "Active")
    assert condition is not None
    return condition["status"], condition["reason"], condition["message"]


@pytest.mark.spec("KUEUE-151")
async def test_a_check_is_as_usable_as_its_clusters(fake_fleet: Fleet) -> None:
    """Given a check of two clusters, when one after the other is there and connected, then it
    names those that are missing or inactive, and is active as soon as one can be used.
    """
    client = fake_fleet["manager"].client
    await client.create(MULTIKUEUE_CONFIGS, {"metadata": {"name": "c"}, "spec": {"clusters": ["worker1", "worker2"]}})
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "c"}
    await client.create(ADMISSION_CHECKS, {
        "metadata": {"name": "mk"}, "spec": {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}})
    assert await active(fake_fleet, "mk", ADMISSION_CHECKS) == (
        "False", "NoUsableClusters", "Missing clusters: [worker1 worker2]")
    await put_cluster(fake_fleet, "worker1")
    assert await active(fake_fleet, "worker1") == (
        "False", "BadKubeConfig", 'load client config failed: Secret "worker1" not found')
    assert await active(fake_fleet, "mk", ADMISSION_CHECKS) == (
        "False", "NoUsableClusters", "Missing clusters: [worker2], Inactive clusters: [worker1]")
    await put_secret(fake_fleet, "worker1", fake_fleet.kubeconfig("worker1"))
    assert await active(fake_fleet, "worker1") == ("True", "Active", "Connected")
    assert await active(fake_fleet, "mk", ADMISSION_CHECKS) == ("True", "SomeActiveClusters", "Missing clusters: [worker2]")
    await put_secret(fake_fleet, "worker2", fake_fleet.kubeconfig("worker2"))
    await put_cluster(fake_fleet, "worker2")
    assert await active(fake_fleet, "mk", ADMISSION_CHECKS) == ("True", "Active", "The admission check is active")


def changed(fleet: Fleet, **fields: Any) -> str:
    """A kubeconfig of a member with other fields of its cluster."""
    config = yaml.safe_load(fleet.kubeconfig("worker1"))
    config["clusters"][0]["cluster"] |= fields
    return yaml.safe_dump(config)


@pytest.mark.spec("KUEUE-151")
async def test_unsafe_kubeconfigs_are_refused(fake_fleet: Fleet) -> None:
    """Given kubeconfigs that are broken, skip TLS or name files, when one after the other is in the
    Secret, then each is refused in upstream's words, and a good one mends it.
    """
    await put_secret(fake_fleet, "worker1", "}")
    await put_cluster(fake_fleet, "worker1")
    status, reason, message = await active(fake_fleet, "worker1")
    assert (status, reason) == ("False", "InsecureKubeConfig")
    assert message.startswith("load client config failed: failed to parse kubeconfig(apiconfig): ")
    for fields, text in (
        ({"insecure-skip-tls-verify": True}, "insecure TLS verification is not allowed for cluster fakekube"),
        ({"certificate-authority": "/ca"},
         "certificate-authority file paths are not allowed, use certificate-authority-data for cluster fakekube"),
        ({"server": ""}, "server URL is required for cluster fakekube"),
        ({"server": "https://_"}, "untrusted server endpoint"),
    ):
        await put_secret(fake_fleet, "worker1", changed(fake_fleet, **fields))
        assert await active(fake_fleet, "worker1") == ("False", "InsecureKubeConfig", f"load client config failed: {text}")
    await put_secret(fake_fleet, "worker1", fake_fleet.kubeconfig("worker1"))
    assert await active(fake_fleet, "worker1") == ("True", "Active", "Connected")


@pytest.mark.fakekube(nodes=1)
async def test_a_kubeconfig_that_leads_back(fake_fleet: Fleet) -> None:
    """Given a kubeconfig that leads to the manager itself, when a Job is queued, then it is not
    sent anywhere, and its check goes on waiting; when it leads to a worker, the Job runs there.
    """
    await workers.set_up(fake_fleet, ("2",))
    good = await fake_fleet[MANAGER].client.get(SECRETS, "worker1", "kueue-system")
    await put_secret(fake_fleet, "worker1", fake_fleet.kubeconfig(MANAGER))
    await fake_fleet[MANAGER].client.create(JOBS, workers.job())
    await fake_fleet.advance("1m")
    [workload] = await workers.workloads(fake_fleet, MANAGER)
    assert workers.condition(workload, "Admitted")[0] != "True"
    assert len(await workers.jobs(fake_fleet, MANAGER)) == 1
    assert await workers.pods(fake_fleet, MANAGER) == []
    await put_secret(fake_fleet, "worker1", base64.b64decode(good["data"]["kubeconfig"]).decode())
    await fake_fleet.advance("2m")
    assert len(await workers.pods(fake_fleet, "worker1")) == 1


@pytest.mark.spec("KUEUE-151")
async def test_a_worker_without_the_kinds_or_away_is_tried_again(fake_fleet: Fleet) -> None:
    """Given a worker that cannot be reached, when it can be again, then it is connected at the next
    attempt.
    """
    fake_fleet.cut("worker1")
    await put_secret(fake_fleet, "worker1", fake_fleet.kubeconfig("worker1"))
    await put_cluster(fake_fleet, "worker1")
    status, reason, _ = await active(fake_fleet, "worker1")
    assert (status, reason) == ("False", "ClientConnectionFailed")
    fake_fleet.mend("worker1")
    await fake_fleet.advance("10s")
    assert await active(fake_fleet, "worker1") == ("True", "Active", "Connected")


def test_attempts_are_spaced_as_upstream() -> None:
    """Given failed attempts, when the next is planned, then the wait doubles from 5 s to 320 s."""
    assert [retry_after_seconds(count) for count in (0, 1, 2, 3, 7, 8, 100)] == [0, 5, 10, 20, 320, 320, 320]
