"""Which pods wait for room on which nodes.

A pod that has evicted others is nominated for their node: until it is bound there, its requests
count for pods of no more priority.

Upstream: pkg/scheduler/backend/queue/nominator.go.
"""

from collections.abc import Callable, Iterable, Sequence

from fakekube_controllers.scheduler.framework.handle import NominatingInfo, NominatingMode
from fakekube_controllers.scheduler.framework.types import PodInfo, pod_info

NOBODY: Sequence[PodInfo] = ()


class Nominator:
    """Nominated pods by node.

    ``is_unscheduled`` says of a uid whether that pod still has no node, as the caches know,
    ``is_in_flight`` whether it is being tried.
    """

    def __init__(
        self, is_unscheduled: Callable[[str], bool] | None = None, is_in_flight: Callable[[str], bool] | None = None,
    ) -> None:
        self._is_unscheduled, self._is_in_flight = is_unscheduled, is_in_flight
        self._nodes: dict[str, str] = {}  # the node's name by uid
        self._pods: dict[str, dict[str, PodInfo]] = {}  # by uid, by the node's name

    def add_nominated_pod(self, pod: PodInfo, info: NominatingInfo | None = None) -> None:
        """Nominate a pod for the node of ``info``; where that says nothing, for the node of its
        status. A pod that has a node meanwhile is not nominated.
        """
        self.delete_nominated_pod_if_exists(pod.uid)
        if info is not None and info.mode is NominatingMode.OVERRIDE:
            node_name = info.nominated_node_name
        else:
            node_name = (pod.pod.get("status") or {}).get("nominatedNodeName") or ""
        if not node_name or (self._is_unscheduled is not None and not self._is_unscheduled(pod.uid)):
            return
        self._nodes[pod.uid] = node_name
        self._pods.setdefault(node_name, {})[pod.uid] = pod

    def update_nominated_pod(self, old: PodInfo, new: PodInfo) -> None:
        """A pod has changed.

        Where neither state names a node, a nomination that only this nominator knows of is kept.
        """
        kept: NominatingInfo | None = None
        if not any((each.pod.get("status") or {}).get("nominatedNodeName") for each in (old, new)):
            node_name = self._nodes.get(old.uid)
            if node_name is not None:
                kept = NominatingInfo(node_name)
        if old.uid != new.uid:
            self.delete_nominated_pod_if_exists(old.uid)
        self.add_nominated_pod(new, kept)

    def delete_nominated_pod_if_exists(self, uid: str) -> None:
        """Forget a nomination."""
        node_name = self._nodes.pop(uid, None)
        if node_name is not None:
            pods = self._pods[node_name]
            del pods[uid]
            if not pods:
                del self._pods[node_name]

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        """The pods that are nominated for a node.

        Of those in flight, as the pods of a group that is being tried are, upstream knows no more
        than the name: they count as pods that ask for nothing, with a priority of 0.
        """
        pods, is_in_flight = self._pods.get(node_name), self._is_in_flight
        if not pods:
            return NOBODY
        if is_in_flight is None:
            return list(pods.values())
        return [_without_spec(pod) if is_in_flight(uid) else pod for uid, pod in pods.items()]

    def node_of(self, uid: str) -> str:
        """The node that a pod is nominated for, or nothing."""
        return self._nodes.get(uid, "")

    def nodes(self) -> Iterable[str]:
        """The names of the nodes that pods are nominated for."""
        return self._pods


def _without_spec(pod: PodInfo) -> PodInfo:
    """All that is known of a pod in flight. Upstream: nominatedPodToInfo of backend/queue."""
    metadata = pod.pod["metadata"]
    known = {key: metadata[key] for key in ("name", "namespace", "uid") if key in metadata}
    group = {key: value for key, value in pod.pod["spec"].items() if key == "schedulingGroup"}
    return pod_info({"metadata": known, "spec": {"containers": [], **group}})
