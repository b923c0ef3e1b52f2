"""Jobs with workload-aware scheduling: the cluster, and what tests ask about groups."""

from dataclasses import replace

from fakekube.client.resources import EVENTS, Resource
from tests.controllers.world import CONTROLLERS, NAMESPACE, World, manual_cluster

GATES = {"GenericWorkload": True, "WorkloadWithJob": True}
INDEXED = {"parallelism": 4, "completions": 4, "completionMode": "Indexed"}


class GroupWorld(World):
    """A cluster of 1.37, or of 1.36, in which Jobs get groups."""

    def __init__(self, cluster):
        super().__init__(cluster)
        version = "v1alpha2" if cluster.options.kubernetes_version == "1.36" else "v1beta1"
        self.WORKLOADS = Resource("scheduling.k8s.io", version, "workloads", "Workload")
        self.POD_GROUPS = Resource("scheduling.k8s.io", version, "podgroups", "PodGroup")

    async def workloads(self):
        return [*(await self.client.list(self.WORKLOADS, NAMESPACE)).items]

    async def groups(self):
        return [*(await self.client.list(self.POD_GROUPS, NAMESPACE)).items]

    async def both(self):
        """The only Workload and the only PodGroup."""
        [workload], [group] = await self.workloads(), await self.groups()
        return workload, group

    async def group_names(self):
        """Of each active pod, the name of its group, or None."""
        return [(pod["spec"].get("schedulingGroup") or {}).get("podGroupName") for pod in await self.active()]

    async def events(self):
        """Type, reason and message of each Event, in order."""
        listed = (await self.client.list(EVENTS, NAMESPACE)).items
        listed = sorted(listed, key=lambda event: int(event["metadata"]["resourceVersion"]))
        return [(event["type"], event["reason"], event["message"]) for event in listed]

    async def reasons(self):
        return [reason for _, reason, _ in await self.events()]

    async def switch(self, **gates):
        """The same objects under other gates, as after a restart of every server and controller."""
        taken = self.cluster.snapshot()
        options = replace(taken.options, feature_gates={**taken.options.feature_gates, **gates})
        await self.cluster.restore(taken._replace(options=options))
        self.client = self.cluster.client
        await self.advance(2)


class Outage:
    """While it holds, whoever creates something at a path that ends so finds nobody there."""

    def __init__(self, cluster, *paths):
        self.paths = paths
        self._handle, cluster.apiserver.handle = cluster.apiserver.handle, self.handle

    async def handle(self, request):
        if request.method == "POST" and request.path.endswith(self.paths):
            request = replace(request, path="/nowhere")
        return await self._handle(request)

    def ends(self, *paths):
        """Some of the paths, or all of them, work again."""
        self.paths = tuple(path for path in self.paths if paths and path not in paths)


def cluster_with_groups(release="1.37", controllers=f"{CONTROLLERS},podgroup-protection-controller,cronjob", **gates):
    """A cluster in which a Job's scheduling objects are made."""
    version = {"1.37": "v1beta1", "1.36": "v1alpha2"}[release]
    return manual_cluster(
        controllers, kubernetes_version=release, feature_gates={**GATES, **gates},
        runtime_config={f"scheduling.k8s.io/{version}": True})
