"""What containers use of the CPU and of memory, for whoever serves metrics.

A pod's annotations say it (``fakekube.dev/cpu-usage``, ``memory-usage``), as one amount or as steps
in time, and are read when somebody asks; then the Outcome of the run; then the cluster's defaults.
Upstream: pkg/kubelet/server/stats.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fakekube.apimachinery import meta, quantity
from fakekube.apimachinery.types import Tree
from fakekube.cache.lister import Lister
from fakekube.util.clock import Clock
from fakekube_controllers.kubelet.containers.container import Container
from fakekube_controllers.kubelet.node.mode import KubeletModes
from fakekube_controllers.kubelet.outcomes import annotations
from fakekube_controllers.kubelet.outcomes.annotations import ContainerAnnotations, invalid
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods.run import PodRun
from fakekube_controllers.kubelet.pods.runs import PodRuns


class Usage(NamedTuple):
    """What is used now."""

    cpu_nanocores: int
    memory_bytes: int


class Stats:
    """Usage by container, pod and node.

    ``responds(node)`` is whether a node is there and its kubelet is not stopped, ``pods_on(node)``
    are the pods bound to it.
    """

    def __init__(
        self, clock: Clock, pods: Lister, runs: PodRuns, modes: KubeletModes, defaults: Defaults, *,
        responds: Callable[[str], bool], pods_on: Callable[[str], Iterable[Tree]],
    ) -> None:
        self._clock, self._pods, self._runs, self._modes, self._defaults = clock, pods, runs, modes, defaults
        self._responds, self._pods_on = responds, pods_on

    def of_pod(self, namespace: str, name: str) -> dict[str, Usage] | None:
        """The usage of each running container of a pod; None when there is no such pod, or its
        kubelet is stopped.

        Raises InvalidOutcome for an invalid annotation.
        """
        pod = self._pods.get(namespace, name)
        return self._of_pod(pod) if pod is not None else None

    def of_node(self, name: str) -> Usage | None:
        """The usage of all pods on a node together; None when there is no such node, or its kubelet
        is stopped.

        Raises InvalidOutcome.
        """
        if not self._responds(name):
            return None
        found = [used for pod in self._pods_on(name) for used in (self._of_pod(pod) or {}).values()]
        return Usage(sum(used.cpu_nanocores for used in found), sum(used.memory_bytes for used in found))

    def _of_pod(self, pod: Tree) -> dict[str, Usage] | None:
        run = self._runs.find(pod)
        if run is None or self._modes.is_stopped(run.pod["spec"]["nodeName"]):
            return None
        now = self._clock.time()
        used = {c.name: _of_container(run, c, now, self._defaults) for c in run.containers}
        return {container: found for container, found in used.items() if found is not None}


def _of_container(run: PodRun, container: Container, now: float, defaults: Defaults) -> Usage | None:
    if not container.running:
        return None
    is_init = any(container is other for other in run.init)
    found = ContainerAnnotations(meta.annotations_of(run.pod), container.name, is_init=is_init)
    outcome, since = container.outcome, now - (container.started_at or now)
    cpu = found.text("cpu-usage") or (outcome.cpu if outcome else "") or defaults.cpu
    memory = found.text("memory-usage") or (outcome.memory if outcome else "") or defaults.memory
    return Usage(_now("cpu-usage", cpu, since).nano, _now("memory-usage", memory, since).value)


def _now(key: str, text: str, since: float) -> quantity.Quantity:
    """``250m``, or ``0s=100m,5m=2``: the last step that has come."""
    amount = "0"
    for part in text.split(","):
        at, equals, value = part.strip().rpartition("=")
        if not equals or annotations.seconds_of(key, at) <= since:
            amount = value
    try:
        return quantity.parse(amount)
    except quantity.QuantityError as error:
        raise invalid(key, f"{amount!r}: {error}") from error
