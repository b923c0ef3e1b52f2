"""A manager and its workers, each with a queue ``q``, and what tests do to them."""

from typing import Any

from fakekube import Cluster
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, PODS, SECRETS
from fakekube.composition.fleet import Fleet
from fakekube_controllers.kueue import names

NS = "default"
MANAGER, WORKERS = "manager", ("worker1", "worker2")


async def put_queue(fleet: Fleet, member: str, quota: str, checks: tuple[str, ...] = ()) -> None:
    """A queue ``q`` with so much cpu."""
    await put_queue_in(fleet[member], quota, checks)


async def put_queue_in(cluster: Cluster, quota: str, checks: tuple[str, ...] = ()) -> None:
    """The same in any cluster."""
    client = cluster.client
    await client.create(names.RESOURCE_FLAVORS, {"metadata": {"name": "f"}})
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": quota}]}]
    spec: Tree = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}
    if checks:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": check} for check in checks]}
    await client.create(names.CLUSTER_QUEUES, {"metadata": {"name": "cq"}, "spec": spec})
    await client.create(names.LOCAL_QUEUES, {"metadata": {"name": "q", "namespace": NS}, "spec": {"clusterQueue": "cq"}})


async def set_up(
    fleet: Fleet, quotas: tuple[str, ...] = ("2", "2"), checks: tuple[str, ...] = (), *, used: tuple[str, ...] = WORKERS,
    listed: int | None = None,
) -> None:
    """A manager with much quota, and workers with what is said; MultiKueue between them.

    ``listed``: so many of the workers are in the configuration, all of them unless it is said.
    """
    client, used = fleet[MANAGER].client, used[:len(quotas)]
    for name, quota in zip(used, quotas, strict=True):
        await put_queue(fleet, name, quota)
        config = {"metadata": {"name": name, "namespace": "kueue-system"}, "stringData": {"kubeconfig": fleet.kubeconfig(name)}}
        await client.create(SECRETS, config, "kueue-system")
        source = {"kubeConfig": {"location": name, "locationType": "Secret"}}
        await client.create(names.MULTIKUEUE_CLUSTERS, {"metadata": {"name": name}, "spec": {"clusterSource": source}})
    await client.create(names.MULTIKUEUE_CONFIGS, {"metadata": {"name": "c"}, "spec": {"clusters": list(used[:listed])}})
    parameters = {"apiGroup": names.GROUP, "kind": "MultiKueueConfig", "name": "c"}
    await client.create(names.ADMISSION_CHECKS, {
        "metadata": {"name": "mk"}, "spec": {"controllerName": names.MULTIKUEUE_CONTROLLER_NAME, "parameters": parameters}})
    await fleet.settle()
    await put_queue(fleet, MANAGER, "9", ("mk", *checks))
    await fleet.advance("2s")


def job(name: str = "j", cpu: str = "1", **fields: Any) -> Tree:
    """A Job in the queue, whose pods run for ten minutes."""
    container = {"name": "c", "image": "a", "resources": {"requests": {"cpu": cpu}}}
    template = {
        "metadata": {"annotations": {"fakekube.dev/run-duration": "10m"}},
        "spec": {"restartPolicy": "Never", "containers": [container]}}
    metadata = {"name": name, "namespace": NS, "labels": {names.QUEUE_LABEL: "q"}}
    annotations = fields.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": {"template": template, **fields}}


async def workloads(fleet: Fleet, member: str) -> list[Tree]:
    """All of a member."""
    return list((await fleet[member].client.list(names.WORKLOADS, NS)).items)


async def jobs(fleet: Fleet, member: str) -> list[Tree]:
    """All Jobs of a member."""
    return list((await fleet[member].client.list(JOBS, NS)).items)


async def pods(fleet: Fleet, member: str) -> list[Tree]:
    """All pods of a member."""
    return list((await fleet[member].client.list(PODS, NS)).items)


def check_of(workload: Tree) -> tuple[str, str]:
    """State and message of the check of MultiKueue."""
    [check] = [each for each in workload["status"].get("admissionChecks", ()) if each["name"] == "mk"]
    return check["state"], check["message"]


def condition(workload: Tree, type_: str) -> tuple[str, str, str]:
    """Status, reason and message of a condition; nothing for one that is not there."""
    for each in workload.get("status", {}).get("conditions", ()):
        if each["type"] == type_:
            return each["status"], each["reason"], each["message"]
    return "", "", ""
