"""Queues and Jobs of the demonstrations, and how the table shows them."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import JOBS, PODS, Resource
from fakekube.runtime.demo import Demo, Row
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.names import WORKLOADS

HEADER = ("OBJECT", "STATUS", "SAYS", "KIND")
OPTIONS = MappingProxyType({"controllers": "*,kueue"})
TOLD = MappingProxyType({
    "QuotaReserved": "quota", "Preempted": "a Workload gives way", "Stopped": "a job is stopped",
    "FinishedWorkload": "a job is done"})
SAYS_LENGTH = 20
"""Of what a Workload says there is room for the end alone."""


def flavor(name: str = "default") -> Tree:
    """A ResourceFlavor without labels."""
    return _object("ResourceFlavor", name)


def cluster_queue(name: str, cpu: str, **spec: Any) -> Tree:
    """A ClusterQueue with so much cpu."""
    flavors = [{"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    return _object("ClusterQueue", name, spec={"namespaceSelector": {}, "resourceGroups": groups, **spec})


def local_queue(name: str, of: str) -> Tree:
    """A LocalQueue in ``default``."""
    return _object("LocalQueue", name, namespace="default", spec={"clusterQueue": of})


def _object(kind: str, name: str, *, namespace: str = "", **fields: Any) -> Tree:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": f"{names.GROUP}/{names.VERSION}", "kind": kind, "metadata": metadata, **fields}


def job(
    name: str, queue: str, cpu: str, *, pods: int = 1, seconds: int = 20, annotations: Mapping[str, str] | None = None,
    priority: str = "", **spec: Any,
) -> Tree:
    """A Job of so many pods of so much cpu, which run for ``seconds``."""
    labels = {names.QUEUE_LABEL: queue} | ({names.WORKLOAD_PRIORITY_CLASS_LABEL: priority} if priority else {})
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}
    template = {
        "metadata": {"annotations": {"fakekube.dev/run-duration": f"{seconds}s"}},
        "spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "labels": labels, "annotations": dict(annotations or {})},
        "spec": {"parallelism": pods, "completions": pods, "template": template, **spec}}


def job_row(obj: Tree) -> tuple[str, ...]:
    """Name, how it is, and how many of its pods run."""
    runs = "Suspended" if obj["spec"].get("suspend") else "Running"
    shown = "Complete" if meta.is_condition_true(obj, "Complete") else runs
    return meta.name_of(obj), shown, f"{(obj.get('status') or {}).get('active', 0)} active", "Job"


def workload_row(obj: Tree) -> tuple[str, ...]:
    """Name, how it is, and why it has no quota."""
    for condition in ("Finished", "Admitted"):
        if meta.is_condition_true(obj, condition):
            return meta.name_of(obj), condition, f"{_pods(obj)} pods", "Workload"
    found = meta.find_condition(obj, "QuotaReserved")
    message = (found or {}).get("message", "")
    return meta.name_of(obj), "Pending", message.rpartition(", ")[2][-SAYS_LENGTH:], "Workload"


def pod_row(obj: Tree) -> tuple[str, ...]:
    """Name, phase or that it is gated."""
    gates = [gate["name"].removeprefix(f"{names.GROUP}/") for gate in obj["spec"].get("schedulingGates") or ()]
    shown = "Terminating" if meta.is_deleting(obj) else (obj.get("status") or {}).get("phase", "Pending")
    return meta.name_of(obj), "Gated" if gates else shown, f"gate {gates[0]}" if gates else "", "Pod"


def _pods(workload: Tree) -> int:
    return sum(podset["count"] for podset in workload["spec"]["podSets"])


def follows(*resources: Resource) -> Mapping[Resource, Row]:
    """What the table shows."""
    rows = {JOBS: job_row, WORKLOADS: workload_row, PODS: pod_row}
    return {resource: rows[resource] for resource in resources}


def demo(tell: Any, about: str, *resources: Resource, told: Mapping[str, str] = TOLD, **fields: Any) -> Demo:
    """A demonstration with Kueue."""
    return Demo(
        tell, about, **{
            "header": HEADER, "follows": follows(*resources), "told": told, "options": OPTIONS, "nodes": 4, **fields})


async def create(stage: Any, objects: Iterable[Tree]) -> None:
    """Create objects in the first cluster."""
    await stage.cluster.load(list(objects))
