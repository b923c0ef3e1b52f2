"""What a kubelet tells of its pods when it is asked: their logs, what they use, which there are.

Upstream: pkg/kubelet/server, whose handlers these are.
"""

from collections.abc import Callable

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.cache.lister import Lister
from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods.run import PodRun
from fakekube_controllers.kubelet.server import stats
from fakekube_controllers.kubelet.server.stats import Usage

NODE_INDEX = "node"
"""Of the cache of pods: those that are bound to a node."""


class Reports:
    """``run_of`` finds what the kubelet knows of a pod, ``is_silent(node)`` whether nothing is heard of a node."""

    def __init__(
        self, pods: Lister, nodes: Lister, clock: Clock, defaults: Defaults, run_of: Callable[[Tree], PodRun | None],
        is_silent: Callable[[str], bool],
    ) -> None:
        self._pods, self._nodes, self._clock, self._defaults = pods, nodes, clock, defaults
        self._run_of, self._is_silent = run_of, is_silent

    def log(self, namespace: str, name: str, container: str, *, previous: bool = False) -> list[tuple[float, str]] | None:
        """The lines that a container has logged until now, with their times (Unix seconds); None when there is no such run."""
        run = self._run(namespace, name)
        found = next((c for c in run.containers if c.name == container), None) if run is not None else None
        if found is None or (found.started_at is None and not previous):
            return None
        if previous:
            return found.previous_log if found.restart_count else None
        end = found.finished_at if found.finished_at is not None else self._clock.time()
        return [(at, line) for at, line in found.log if at <= end]

    def usage(self, namespace: str, name: str) -> dict[str, Usage] | None:
        """What each running container of a pod uses now; None when there is no such pod, or its node is not heard of.

        Raises BadOutcome for an annotation that cannot be meant.
        """
        run = self._run(namespace, name)
        if run is None or self._is_silent(run.pod["spec"]["nodeName"]):
            return None
        now = self._clock.time()
        used = {c.name: stats.of_container(run, c, now, self._defaults) for c in run.containers}
        return {container: found for container, found in used.items() if found is not None}

    def node_usage(self, name: str) -> Usage | None:
        """What all pods on a node use together; None when there is no such node, or it is not heard of. Raises BadOutcome."""
        if not self.answers(name):
            return None
        found = [
            used for pod in self.pods_of(name)
            for used in (self.usage(meta.namespace_of(pod), meta.name_of(pod)) or {}).values()]
        return Usage(sum(used.cpu_nanocores for used in found), sum(used.memory_bytes for used in found))

    def answers(self, node: str) -> bool:
        """Whether there is such a node, and it is heard of."""
        return self._nodes.get("", node) is not None and not self._is_silent(node)

    def pods_of(self, node: str) -> list[Tree]:
        """The pods that are bound to a node, as the cluster has them."""
        return list(self._pods.by_index(NODE_INDEX, node))

    def _run(self, namespace: str, name: str) -> PodRun | None:
        pod = self._pods.get(namespace, name)
        return self._run_of(pod) if pod is not None else None
