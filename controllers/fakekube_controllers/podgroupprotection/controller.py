"""Takes the finalizer ``scheduling.k8s.io/podgroup-protection`` off PodGroups that are to go once
no pod of theirs is left.

Admission puts it on, where workload-aware scheduling is on. Upstream:
podgroup_protection_controller.go.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import PODS, Resource
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube_controllers.podgroupprotection import has_groups

FINALIZER = "scheduling.k8s.io/podgroup-protection"
POD_GROUPS = "podgroups.scheduling.k8s.io"
INDEX = "active pods of a group"


class PodGroupProtection:
    """A component for the manager: of which version the groups are is asked of the server first."""

    async def start(self, ctx: Context) -> None:
        """Register with the caches and start to work, where there are such groups at all."""
        if not has_groups(ctx):
            return
        try:
            groups: Resource = await ctx.client.resource(POD_GROUPS)
        except KeyError:
            return
        self.client, self.resource, self.groups = ctx.client, groups, ctx.lister(groups)
        self.pods = ctx.lister(PODS)
        self.pods.add_index(INDEX, _group_of_active)
        self.queue = ctx.queue("podgroupprotection")
        ctx.add_handler(groups, self._group_seen, lambda _, new: self._group_seen(new))
        ctx.add_handler(PODS, self._pod_seen, lambda _, new: self._pod_seen(new), self._pod_gone)
        Worker(ctx, self.queue, self._sync).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    def _group_seen(self, group: Tree) -> None:
        if meta.is_deleting(group) and FINALIZER in meta.finalizers_of(group):
            self.queue.add(meta.key_of(group))

    def _pod_seen(self, pod: Tree) -> None:
        if pods.is_finished(pod):
            self._pod_gone(pod)

    def _pod_gone(self, pod: Tree) -> None:
        if name := _group_name(pod):
            self.queue.add(ObjectKey(meta.namespace_of(pod), name))

    async def _sync(self, key: ObjectKey) -> None:
        group = self.groups.get(key.namespace, key.name)
        if group is None or not meta.is_deleting(group) or FINALIZER not in meta.finalizers_of(group):
            return
        if self.pods.by_index(INDEX, str(key)):
            return
        await self.client.update(self.resource, meta.without_finalizer(group, FINALIZER))


def _group_name(pod: Tree) -> str:
    name: str = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName", "")
    return name


def _group_of_active(pod: Tree) -> list[str]:
    name = _group_name(pod)
    return [f"{meta.namespace_of(pod)}/{name}"] if name and not pods.is_finished(pod) else []
