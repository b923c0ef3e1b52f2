"""Jobs of kinds that only the configuration names, on other clusters."""

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.multikueue.external import regular_plural
from tests.controllers.kueue.multikueue import workers
from tests.controllers.kueue.multikueue.workers import MANAGER, NS, check_of, condition

PROXIES = Resource("example.com", "v1", "proxies", "Proxy")
DEFINITION: Tree = {"metadata": {"name": "proxies.example.com"}, "spec": {
    "group": "example.com", "scope": "Namespaced", "names": {"plural": "proxies", "singular": "proxy", "kind": "Proxy"},
    "versions": [{
        "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
NOT_MANAGED = (
    'The owner is not managed by Kueue: Expecting .spec.managedBy to be "kueue.x-k8s.io/multikueue" not "", '
    'Previously: "Pending"')


async def queue(fleet: Fleet, managed_by: str) -> None:
    """A Proxy on the manager, and the Workload that its own controller would make."""
    client = fleet[MANAGER].client
    proxy = await client.create(PROXIES, {
        "metadata": {"name": "p", "namespace": NS}, "spec": {"managedBy": managed_by, "port": 1}})
    owner = {
        "apiVersion": PROXIES.api_version, "kind": "Proxy", "name": "p", "uid": proxy["metadata"]["uid"], "controller": True}
    template = {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "a", "resources": {"requests": {"cpu": "1"}}}]}}
    await client.create(names.WORKLOADS, {
        "metadata": {"name": "proxy-p", "namespace": NS, "ownerReferences": [owner]},
        "spec": {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": template}]}})
    await fleet.advance("5s")


async def set_up(fleet: Fleet) -> None:
    """Every member serves the kind, which none did when Kueue started."""
    for member in (MANAGER, *workers.WORKERS):
        await fleet[member].client.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
    await fleet.settle()
    await workers.set_up(fleet, ("2", "0"))


def fleet_of(framework: str) -> pytest.MarkDecorator:
    """Three clusters whose manager is told of a kind."""
    return pytest.mark.fakekube(
        controllers="*,kueue", nodes=1, fleet="manager,worker1,worker2",
        kueue={"multiKueue": {"externalFrameworks": [{"name": framework}]}})


@fleet_of("Proxy.v1.example.com")
async def test_a_job_of_an_external_kind_runs_on_a_worker(fake_fleet: Fleet) -> None:
    """Given a configuration that names a kind, when a job of it is queued that MultiKueue manages,
    then the worker with room has a copy without that field, which names its Workload; the copy's
    status comes back, and it goes with the Workload.
    """
    await set_up(fake_fleet)
    await queue(fake_fleet, names.MULTIKUEUE_CONTROLLER_NAME)
    worker, manager = fake_fleet["worker1"].client, fake_fleet[MANAGER].client
    copy = await worker.get(PROXIES, "p", NS)
    assert copy["spec"] == {"port": 1}
    assert copy["metadata"]["labels"][names.MULTIKUEUE_ORIGIN_LABEL] == "multikueue"
    assert await fake_fleet["worker2"].client.get(PROXIES, "p", NS, missing_ok=True) is None
    [workload] = await workers.workloads(fake_fleet, MANAGER)
    assert check_of(workload) == ("Ready", 'The workload was admitted on "worker1"')
    await worker.patch(PROXIES, "p", NS, {"status": {"served": 7}}, subresource="status")
    await fake_fleet.advance("5s")
    assert (await manager.get(PROXIES, "p", NS))["status"] == {"served": 7}
    await manager.delete(names.WORKLOADS, "proxy-p", NS)
    await fake_fleet.advance("5s")
    assert await worker.get(PROXIES, "p", NS, missing_ok=True) is None


@fleet_of("Proxy.v1.example.com")
async def test_a_job_of_an_external_kind_that_is_managed_here_is_rejected(fake_fleet: Fleet) -> None:
    """Given the same, when a job is queued that MultiKueue does not manage, then its check says so,
    and no worker hears of it.
    """
    await set_up(fake_fleet)
    await queue(fake_fleet, "")
    [workload] = await workers.workloads(fake_fleet, MANAGER)
    assert check_of(workload) == ("Rejected", NOT_MANAGED)
    assert await workers.workloads(fake_fleet, "worker1") == []
    assert condition(workload, "Admitted")[0] != "True"


@pytest.mark.parametrize(("kind", "plural"), [("Web", "webs"), ("Proxy", "proxies"), ("Ingress", "ingresses")])
def test_a_kind_has_the_regular_plural(kind: str, plural: str) -> None:
    """Given a kind of which nothing else is known, then its resource is the regular plural."""
    assert regular_plural(kind) == plural
