"""What pods take of nodes that no Workload has put there: static pods, DaemonSets, and all others.

Upstream: pkg/cache/scheduler/tas_non_tas_pod_cache.go.
"""

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime import pods
from fakekube_controllers.kueue import resources
from fakekube_controllers.kueue.topology.assignments import PODS
from fakekube_controllers.kueue.topology.domains import minus, plus
from fakekube_controllers.kueue.topology.requests import is_tas

_ONE_POD = {PODS: 1}


class NonTASUsageCache:
    """Usage by node. ``version`` is raised when it changes."""

    def __init__(self) -> None:
        self._pods: dict[ObjectKey, tuple[str, resources.Requests]] = {}
        self.node_usage: dict[str, resources.Requests] = {}
        self.version = 0

    def update(self, key: ObjectKey, pod: ReadOnlyTree) -> str:
        """Take the newer state of a pod; the node on which it leaves room, or nothing."""
        before = self._pods.get(key)
        node, requests = pod["spec"]["nodeName"], resources.requests_from_pod_spec(pod["spec"])
        if before == (node, requests):
            return ""
        self.delete(key)
        self._pods[key] = node, requests
        self.node_usage[node] = plus(plus(self.node_usage.get(node), requests), _ONE_POD)
        self.version += 1
        if before is None or (before[0] == node and not resources.greater_keys(before[1], requests)):
            return ""
        return before[0]

    def delete(self, key: ObjectKey) -> str:
        """Forget a pod; the node on which it leaves room, or nothing."""
        found = self._pods.pop(key, None)
        if found is None:
            return ""
        node, requests = found
        left = minus(minus(self.node_usage[node], requests), _ONE_POD)
        if left[PODS] > 0:
            self.node_usage[node] = left
        else:
            del self.node_usage[node]
        self.version += 1
        return node


def belongs_to_non_tas_cache(pod: ReadOnlyTree) -> bool:
    """Whether a pod takes room on a node that no Workload accounts for."""
    return not is_tas(pod) and bool(pod["spec"].get("nodeName")) and not pods.is_finished(pod)
