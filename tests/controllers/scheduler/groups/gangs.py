"""A cluster with a scheduler that knows groups, nodes and groups made by hand, no kubelet."""

from typing import Any

from fakekube.client.resources import EVENTS, NODES, PODS, Resource
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, condition

POD_GROUPS = Resource("scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup")
COMPOSITE_POD_GROUPS = Resource("scheduling.k8s.io", "v1alpha3", "compositepodgroups", "CompositePodGroup")
PRIORITY_CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
CONTROLLERS = "scheduler,serviceaccount,podgroup-protection"


def cluster_of_gangs(controllers: str = CONTROLLERS, **options: Any) -> Cluster:
    """A cluster with all gates of workload-aware scheduling on, whose time stands."""
    return Cluster(nodes=0, clock="manual", controllers=controllers, feature_gates="workload-aware", **options)


class Gangs:
    """A cluster and what tests of groups do to it again and again."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.client = cluster, cluster.client

    async def node(self, name: str, cpu: int = 4, **labels: str) -> None:
        """A node with so many CPUs; its labels have the prefix ``example.com/``."""
        resources = {"cpu": str(cpu), "memory": "8Gi", "pods": "50"}
        marked = {f"example.com/{key}": value for key, value in labels.items()}
        made = await self.client.create(NODES, {
            "metadata": {"name": name, "labels": marked}, "status": {"capacity": resources, "allocatable": resources}})
        made["spec"]["taints"] = []
        await self.client.update(NODES, made)
        await self.cluster.settle()

    async def group(self, name: str, minimum: int | None = None, topology: str | None = None, **spec: Any) -> Any:
        """A PodGroup; without ``minimum`` its policy is basic."""
        policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
        return await self._group(POD_GROUPS, name, policy, topology, spec)

    async def composite(self, name: str, minimum: int | None = None, topology: str | None = None, **spec: Any) -> Any:
        """A CompositePodGroup; without ``minimum`` its policy is basic."""
        policy = {"basic": {}} if minimum is None else {"gang": {"minGroupCount": minimum}}
        return await self._group(COMPOSITE_POD_GROUPS, name, policy, topology, {"workloadRef": _workload_ref(), **spec})

    async def _group(self, resource: Resource, name: str, policy: Any, topology: str | None, spec: dict[str, Any]) -> Any:
        if topology:
            spec["schedulingConstraints"] = {"topology": [{"key": f"example.com/{topology}"}]}
        if "parent" in spec:
            spec = {"workloadRef": _workload_ref(), **spec, "parentCompositePodGroupName": spec.pop("parent")}
        made = await self.client.create(resource, {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"schedulingPolicy": policy, **spec}})
        await self.cluster.settle()
        return made

    async def pods(self, *names: str, group: str = "", cpu: int = 1, **spec: Any) -> None:
        """Pods of a group (of none without a name), all there before the scheduler looks."""
        for name in names:
            container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}
            belongs = {"schedulingGroup": {"podGroupName": group}} if group else {}
            await self.client.create(PODS, {
                "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **belongs, **spec}})
        await self.cluster.settle()

    async def priority_class(self, name: str, value: int, **fields: Any) -> None:
        """A PriorityClass."""
        await self.client.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value, **fields})
        await self.cluster.settle()

    async def delete(self, *names: str) -> None:
        """Delete pods at once."""
        for name in names:
            await self.client.delete(PODS, name, NAMESPACE, grace_period_seconds=0)
        await self.cluster.settle()

    async def advance(self, seconds: float = 30) -> None:
        """Let time pass, back-offs of gangs above all."""
        await self.cluster.advance(seconds)

    async def where(self, *names: str) -> list[str]:
        """The nodes of pods; empty for one that has none."""
        return [(await self.client.get(PODS, name, NAMESPACE))["spec"].get("nodeName") or "" for name in names]

    async def bound(self) -> list[str]:
        """The names of all pods with a node, sorted."""
        return sorted(pod["metadata"]["name"] for pod in (await self.client.list(PODS, NAMESPACE)).items
                      if pod["spec"].get("nodeName"))

    async def told(self, name: str) -> tuple[str, str] | None:
        """Reason and message of why a pod has no node; None where nothing says so."""
        found = condition(await self.client.get(PODS, name, NAMESPACE), "PodScheduled")
        return (found["reason"], found["message"]) if found and found["status"] == "False" else None

    async def pod(self, name: str) -> Any:
        """A pod."""
        return await self.client.get(PODS, name, NAMESPACE)

    async def status(self, name: str) -> tuple[str, str, str] | None:
        """Status, reason and message of a PodGroup's condition; None where it has none."""
        found = condition({"status": {}} | await self.client.get(POD_GROUPS, name, NAMESPACE), "PodGroupInitiallyScheduled")
        return (found["status"], found["reason"], found["message"]) if found else None

    async def set_minimum(self, name: str, minimum: int) -> None:
        """Change a gang's minCount."""
        await self.client.patch(
            POD_GROUPS, name, NAMESPACE, {"spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}}}, type="merge")
        await self.cluster.settle()

    async def lift_gates(self, *names: str) -> None:
        """Take the scheduling gates off pods."""
        for name in names:
            await self.client.patch(PODS, name, NAMESPACE, {"spec": {"schedulingGates": None}}, type="merge")
        await self.cluster.settle()

    async def events(self, reason: str) -> list[Any]:
        """The Events with a reason."""
        return [event for event in (await self.client.list(EVENTS, NAMESPACE)).items if event["reason"] == reason]


def _workload_ref() -> dict[str, str]:
    return {"workloadName": "w", "templateName": "t"}
