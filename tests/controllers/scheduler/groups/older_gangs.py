"""A cluster with a scheduler and groups of pods, of any release, whose nodes the test makes."""

from typing import Any

from fakekube.client.resources import EVENTS, NODES, PODS, Resource
from fakekube.composition.cluster import Cluster
from tests.controllers.world import NAMESPACE, condition

PRIORITY_CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
VERSIONS = {"1.35": "v1alpha1", "1.36": "v1alpha2", "1.37": "v1beta1"}
CONTROLLERS = "scheduler,serviceaccount,podgroupprotection"


def cluster(version: str, *gates: str, **options: Any) -> Cluster:
    """Time moves when the test says so. Gates, but GenericWorkload, are those named."""
    return Cluster(
        nodes=0, clock="manual", controllers=CONTROLLERS, kubernetes_version=version,
        feature_gates=dict.fromkeys(["GenericWorkload", *gates], True),
        runtime_config=f"scheduling.k8s.io/{VERSIONS[version]}=true", **options)


class OlderGangs:
    """What tests do with groups and ask of them."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.client = cluster, cluster.client
        version = VERSIONS[cluster.options.kubernetes_version]
        self.WORKLOADS = Resource("scheduling.k8s.io", version, "workloads", "Workload")
        self.GROUPS = Resource("scheduling.k8s.io", version, "podgroups", "PodGroup")

    async def node(self, name: str = "n", cpu: str = "4", labels: dict[str, str] | None = None) -> None:
        """A node that is ready, with that capacity."""
        resources = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
        node = await self.client.create(NODES, {
            "metadata": {"name": name, "labels": labels or {}}, "status": {"capacity": resources, "allocatable": resources}})
        node["spec"]["taints"] = []
        await self.client.update(NODES, node)
        await self.cluster.settle()

    async def priority_class(self, name: str, value: int) -> None:
        """A priority class."""
        await self.client.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})

    async def group(self, name: str, minimum: int | None = None, **spec: Any) -> None:
        """A PodGroup; without ``minimum`` it is basic."""
        policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
        await self.client.create(self.GROUPS, {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"schedulingPolicy": policy, **spec}})
        await self.cluster.settle()

    async def workload(self, name: str, **groups: int | None) -> None:
        """A Workload of 1.35 with groups, by their minimum; None: basic."""
        await self.client.create(self.WORKLOADS, {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"podGroups": [
                {"name": each, "policy": {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}}
                for each, minimum in groups.items()]}})
        await self.cluster.settle()

    async def pod(self, name: str, group: str = "", *, cpu: str = "1", **spec: Any) -> None:
        """A pod, in a PodGroup when one is named."""
        if group:
            spec["schedulingGroup"] = {"podGroupName": group}
        container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
        await self.client.create(PODS, {
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}})
        await self.cluster.settle()

    async def members(self, workload: str, *names: str, group: str = "g", key: str | None = None, **spec: Any) -> None:
        """Pods of a group within a Workload of 1.35."""
        reference = {"name": workload, "podGroup": group} | ({} if key is None else {"podGroupReplicaKey": key})
        for name in names:
            await self.pod(name, workloadRef=reference, **spec)

    async def delete(self, *names: str) -> None:
        """Delete pods at once."""
        for name in names:
            await self.client.delete(PODS, name, NAMESPACE, grace_period_seconds=0)
        await self.cluster.settle()

    async def read(self, name: str) -> Any:
        """A pod."""
        return await self.client.get(PODS, name, NAMESPACE)

    async def bound(self) -> dict[str, str]:
        """The nodes of the pods that have one."""
        listed = (await self.client.list(PODS, NAMESPACE)).items
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in listed if pod["spec"].get("nodeName")}

    async def names(self) -> list[str]:
        """All pods that there are."""
        return [pod["metadata"]["name"] for pod in (await self.client.list(PODS, NAMESPACE)).items]

    async def why(self, name: str) -> str | None:
        """What a pod's condition says of why it has no node; None without such a condition."""
        found = condition(await self.read(name), "PodScheduled")
        return found["message"] if found and found["status"] == "False" else None

    async def reason(self, name: str) -> str | None:
        """The reason of the same condition."""
        return (condition(await self.read(name), "PodScheduled") or {}).get("reason")

    async def nominated(self, name: str) -> str | None:
        """The node that a pod is nominated for."""
        return (await self.read(name))["status"].get("nominatedNodeName")

    async def told(self, name: str) -> tuple[str, str, str, str] | None:
        """Type, status, reason and message of a PodGroup's only condition."""
        conditions = (await self.client.get(self.GROUPS, name, NAMESPACE))["status"].get("conditions") or []
        assert len(conditions) <= 1
        return next(((each["type"], each["status"], each["reason"], each["message"]) for each in conditions), None)

    async def events(self, name: str) -> list[str]:
        """The messages of the Events about an object."""
        listed = (await self.client.list(EVENTS, NAMESPACE)).items
        return [event["message"] for event in listed if event["involvedObject"]["name"] == name]
