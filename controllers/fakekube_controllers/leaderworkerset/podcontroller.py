"""What becomes of a group when a pod of it changes: its workers are made once the leader is there,
and all of it is made anew where one pod fails.

A pod that no kubelet has to end is deleted in two writes, its mark and its end. Upstream's watch
shows the mark first, and the group is made anew; here both may be seen at once, so that the marked
pod is kept for the reconcile that follows.
Upstream: pkg/controllers/pod_controller.go. Left out: Volcano's PodGroups.
"""

from datetime import timedelta

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import CONTROLLER_REVISIONS, NODES, PODS, SERVICES, STATEFUL_SETS
from fakekube.runtime import pods as pod_states
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.leaderworkerset import names, revisions, sets
from fakekube_controllers.leaderworkerset.controller import CREATE, DELETE
from fakekube_controllers.leaderworkerset.names import LEADER_WORKER_SETS

ON_POD_RESTART, AFTER_START = "RecreateGroupOnPodRestart", "RecreateGroupAfterStart"
AGAIN = timedelta(seconds=1)


class NotOfGroup(Exception):
    """A pod that does not say where it belongs, or a node that is in no domain."""


class GroupReconciler:
    """Reconciles one pod of a group."""

    def __init__(self, ctx: Context) -> None:
        self.client, self.recorder = ctx.client, ctx.recorder("leaderworkerset")
        self.pods, self.sets, self.owners = ctx.lister(PODS), ctx.lister(STATEFUL_SETS), ctx.lister(LEADER_WORKER_SETS)
        self.history, self.services, self.nodes = ctx.lister(CONTROLLER_REVISIONS), ctx.lister(SERVICES), ctx.lister(NODES)
        self._marked: dict[Request, Tree] = {}  # pods that are going and were not reconciled since
        self._ctx = ctx

    def setup(self, _queue: WorkQueue[Request]) -> None:
        """Watch which pods are marked for deletion."""
        self._ctx.add_handler(PODS, None, self._pod_changed)

    def _pod_changed(self, old: Tree, pod: Tree) -> None:
        if meta.is_deleting(pod) and not meta.is_deleting(old) and names.NAME in meta.labels_of(pod):
            self._marked[meta.key_of(pod)] = pod

    async def reconcile(self, request: Request) -> Result | None:
        """Make the group of a pod anew, or the workers of a leader. Raises APIError, NotOfGroup."""
        pod = self.pods.get(*request)
        marked = self._marked.pop(request, None)
        if marked is not None and (pod is None or meta.uid_of(pod) != meta.uid_of(marked)):
            await self._recreate_of_gone(marked)
            pod = self.pods.get(*request)
        if pod is None or names.NAME not in meta.labels_of(pod):
            return None
        if names.WORKER_INDEX not in meta.labels_of(pod):
            raise NotOfGroup(f"{names.WORKER_INDEX} label is unexpected missing")
        lws = self.owners.get(request.namespace, meta.labels_of(pod)[names.NAME])
        if lws is None or await self._recreate(pod, lws) or not names.is_leader(pod):
            return None
        if meta.annotations_of(pod).get(names.LEADER_NAME):
            text = f"leader pod {meta.key_of(pod)} contains mistake annotation '{names.LEADER_NAME}': "
            text += "requires Kubernetes ≥v1.27 or v1.26 with StatefulSetStartOrdinal feature"
            self.recorder.report(lws, "Warning", "FailedCreate", CREATE, text, related=pod)
            return None
        await self._create_service(pod, lws)
        if meta.is_deleting(pod) or names.size_of(lws) == 1:
            return None
        if lws["spec"].get("startupPolicy") == "LeaderReady" and not pod_states.is_ready(pod):
            return None
        return await self._create_workers(pod, lws)

    # anew

    async def _recreate_of_gone(self, pod: Tree) -> None:
        lws = self.owners.get(meta.namespace_of(pod), meta.labels_of(pod)[names.NAME])
        if lws is not None and names.WORKER_INDEX in meta.labels_of(pod):
            await self._recreate(pod, lws)

    async def _recreate(self, pod: Tree, lws: Tree) -> bool:
        """Delete the leader where the group must be made anew; whether it is going."""
        policy = names.template_of(lws).get("restartPolicy")
        if policy not in (ON_POD_RESTART, AFTER_START) or not (_has_restarted(pod) or meta.is_deleting(pod)):
            return False
        waits = policy == AFTER_START or names.RECREATE_AFTER_START in meta.annotations_of(lws)
        if waits and self._is_pending(pod, names.size_of(lws)):
            return False
        leader: Tree | None = pod
        if not names.is_leader(pod):
            leader = self._leader_of(pod)
        if leader is None:
            return False
        if meta.is_deleting(leader):
            return True
        await self.client.delete(PODS, meta.name_of(leader), meta.namespace_of(leader), propagation_policy="Foreground")
        group = meta.labels_of(leader).get(names.GROUP_INDEX, "")
        text = f"Worker pod {meta.name_of(pod)} failed, deleted leader pod {meta.name_of(leader)} to recreate group {group}"
        self.recorder.report(lws, "Normal", "RecreateGroup", DELETE, text, related=leader)
        return True

    def _leader_of(self, pod: ReadOnlyTree) -> Tree | None:
        """The leader of a worker's group, unless that is another group by now."""
        name, ordinal = names.parent_and_ordinal(meta.name_of(pod))
        if ordinal == -1:
            raise NotOfGroup(f"parsing pod name for pod {meta.name_of(pod)}")
        leader = self.pods.get(meta.namespace_of(pod), name)
        if leader is None or names.revision_key(leader) != names.revision_key(pod):
            return None
        return leader if self._is_worker_of(pod, leader) else None

    def _is_worker_of(self, pod: ReadOnlyTree, leader: ReadOnlyTree) -> bool:
        owner = meta.controller_of(pod)
        if owner is not None and owner["kind"] == STATEFUL_SETS.kind:
            found = self.sets.get(meta.namespace_of(pod), owner["name"])
            owner = meta.controller_of(found) if found is not None and meta.uid_of(found) == owner["uid"] else None
        return owner is not None and owner["kind"] == PODS.kind and owner["uid"] == meta.uid_of(leader)

    def _is_pending(self, pod: Tree, size: int) -> bool:
        """Whether a pod of the group is missing, or has not started."""
        labels = meta.labels_of(pod)
        wanted = {names.NAME: labels[names.NAME], names.GROUP_INDEX: labels.get(names.GROUP_INDEX, "")}
        found = [each for each in self.pods.list(meta.namespace_of(pod), wanted) if meta.name_of(each) != meta.name_of(pod)]
        found.append(pod)  # as it was, if it has gone meanwhile
        return len(found) != size or any(pod_states.phase(each) == "Pending" for each in found)

    # workers

    async def _create_service(self, leader: Tree, lws: Tree) -> None:
        name, namespace = meta.name_of(leader), meta.namespace_of(leader)
        if names.subdomain_policy(lws) != names.UNIQUE_PER_REPLICA or self.services.get(namespace, name) is not None:
            return
        selector = {names.NAME: meta.name_of(lws), names.GROUP_INDEX: meta.labels_of(leader).get(names.GROUP_INDEX, "")}
        await self.client.create(SERVICES, sets.service(lws, name, selector, leader))

    async def _create_workers(self, leader: Tree, lws: Tree) -> Result | None:
        revision = revisions.find(revisions.owned(self.history, lws), names.revision_key(leader))
        if revision is None:
            return Result(requeue_after=AGAIN)
        name, selector = meta.name_of(leader), dict[str, str]()
        key = meta.annotations_of(lws).get(names.EXCLUSIVE_TOPOLOGY)
        if key is not None:
            if not leader["spec"].get("nodeName"):
                return None
            selector = {key: self._domain(leader, key)}
        if self.sets.get(meta.namespace_of(leader), name) is not None:
            return None
        wanted = sets.workers(lws, revisions.restored(lws, revision), leader, selector)
        try:
            await self.client.create(STATEFUL_SETS, wanted)
        except APIError as error:
            if error.reason == "AlreadyExists":
                return None
            text = f"Failed to create worker statefulset for leader pod {name}: {error}"
            self.recorder.report(lws, "Warning", "FailedCreate", CREATE, text, related=leader)
            raise
        text = f"Created worker statefulset for leader pod {name}"
        self.recorder.report(lws, "Normal", "GroupsProgressing", CREATE, text, related=leader)
        return None

    def _domain(self, leader: ReadOnlyTree, key: str) -> str:
        """The domain of a leader's node; nothing while there is no such node."""
        node = self.nodes.get("", leader["spec"]["nodeName"])
        if node is None:
            return ""
        if key not in meta.labels_of(node):
            raise NotOfGroup("node does not have topology label: ")
        return meta.labels_of(node)[key]


def _has_restarted(pod: ReadOnlyTree) -> bool:
    """Whether a container of a pod that is not over has been started again."""
    status = pod.get("status") or meta.EMPTY
    if status.get("phase") not in ("Running", "Pending"):
        return False
    found = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return any(each.get("restartCount", 0) > 0 for each in found)
