"""What kubectl shows of Kueue's kinds: the columns that their definitions say, with values."""

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from fakekube import Cluster
from fakekube.client.resources import JOBS, Resource
from fakekube_controllers.kueue import names

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Tree

NS = "default"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
GROUP_VERSIONS = ("v1beta2", "v1beta1")
AGE = ("Age", "date", 0, "2m")
"""Of every kind without columns of its own, and of those that name it."""


class Shown(NamedTuple):
    """A kind, and of every row but its name: column, type, priority and what is in the cell."""

    resource: Resource
    rows: dict[str, list[tuple[str, str, int, Any]]]


def workload(reserved: str | None, admitted: str | None, finished: str | None) -> list[tuple[str, str, int, Any]]:
    return [
        ("Queue", "string", 0, "q"), ("Reserved in", "string", 0, reserved), ("Admitted", "string", 0, admitted),
        ("Finished", "string", 0, finished), AGE]


SHOWN = (
    Shown(names.ADMISSION_CHECKS, {"check": [AGE]}),
    Shown(names.CLUSTER_QUEUES, {"cq": [
        ("Cohort", "string", 0, "all"), ("Strategy", "string", 1, "BestEffortFIFO"), ("Pending Workloads", "integer", 0, 1),
        ("Admitted Workloads", "integer", 1, 1)]}),
    Shown(names.COHORTS, {"all": [AGE]}),
    Shown(names.LOCAL_QUEUES, {"q": [
        ("ClusterQueue", "string", 0, "cq"), ("Pending Workloads", "integer", 0, 1), ("Admitted Workloads", "integer", 0, 1)]}),
    Shown(names.MULTIKUEUE_CLUSTERS, {"worker": [("Connected", "string", 0, "False"), AGE]}),
    Shown(names.MULTIKUEUE_CONFIGS, {"workers": [AGE]}),
    Shown(names.PROVISIONING_REQUEST_CONFIGS, {"prov": [AGE]}),
    Shown(names.RESOURCE_FLAVORS, {"f": [AGE]}),
    Shown(names.TOPOLOGIES, {"t": [AGE]}),
    Shown(names.WORKLOADS, {
        "ended": workload("cq", "True", "True"), "runs": workload("cq", "True", None), "waits": workload(None, None, None)}),
    Shown(names.WORKLOAD_PRIORITY_CLASSES, {"high": [("Value", "integer", 0, 1000)]}))


async def set_up(cluster: Cluster) -> None:
    """An object of every kind; of three Jobs one has ended, one runs and one waits."""
    client = cluster.client

    async def create(resource: Resource, name: str, **body: Any) -> None:
        await client.create(resource, {"metadata": {"name": name}, **body}, NS if resource.namespaced else "")

    quota = {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1"}]}
    await create(names.TOPOLOGIES, "t", spec={"levels": [{"nodeLabel": "kubernetes.io/hostname"}]})
    await create(names.RESOURCE_FLAVORS, "f", spec={})
    await create(names.COHORTS, "all", spec={})
    await create(names.CLUSTER_QUEUES, "cq", spec={
        "cohortName": "all", "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [quota]}]})
    await create(names.LOCAL_QUEUES, "q", spec={"clusterQueue": "cq"})
    await create(names.WORKLOAD_PRIORITY_CLASSES, "high", value=1000)
    await create(names.PROVISIONING_REQUEST_CONFIGS, "prov", spec={"provisioningClassName": "c"})
    await create(names.ADMISSION_CHECKS, "check", spec={"controllerName": "example.com/c"})
    await create(names.MULTIKUEUE_CLUSTERS, "worker", spec={
        "clusterSource": {"kubeConfig": {"location": "nowhere", "locationType": "Secret"}}})
    await create(names.MULTIKUEUE_CONFIGS, "workers", spec={"clusters": ["worker"]})
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    for name in ("ended", "runs", "waits"):
        template: Tree = {
            "metadata": {"annotations": {"fakekube.dev/run-duration": "30s" if name == "ended" else "1h"}},
            "spec": {"restartPolicy": "Never", "containers": [container]}}
        metadata = {"name": name, "labels": {names.QUEUE_LABEL: "q"}}
        await client.create(JOBS, {"metadata": metadata, "spec": {"template": template}}, NS)
    await cluster.advance("2m")


@pytest.mark.parametrize("version", GROUP_VERSIONS)
async def test_the_columns_of_every_kind(version: str) -> None:
    """Given an object of each of the eleven kinds, when they are listed as tables, then each has
    the columns of its definition, with what is in the object.
    """
    async with Cluster(clock="manual", controllers="*,kueue", nodes=1) as cluster:
        await set_up(cluster)
        for resource, rows in SHOWN:
            path = resource.path(NS if resource.namespaced else "", "").replace("v1beta2", version)
            answer = await cluster.client.request("GET", path, accept=TABLE)
            table = json.loads(answer.body)
            assert table["kind"] == "Table", resource
            columns = [(each["name"], each["type"], each["priority"]) for each in table["columnDefinitions"]]
            found = {
                row["cells"][0]: [(*column, cell) for column, cell in zip(columns, row["cells"], strict=True)][1:]
                for row in table["rows"]}
            if resource == names.WORKLOADS:  # their names end in a hash of a uid
                found = {name.split("-")[1]: row for name, row in found.items()}
            assert found == rows, resource.plural
            assert columns[0] == ("Name", "string", 0), resource


def test_every_kind_is_looked_at() -> None:
    """Given the kinds that Kueue has, then the table above names all of them."""
    every = {each for each in vars(names).values() if isinstance(each, Resource) and each.group == names.GROUP}
    assert {each.resource for each in SHOWN} == every
    assert len(every) == 11
