"""Queues without a cluster: objects in dictionaries, and a clock that is moved by hand."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.util.timers import Timer
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.queues.manager import Queues
from fakekube_controllers.kueue.workload.info import InfoOptions, Ordering

NAMESPACE = "ns"


class HandClock:
    """Fires timers when ``advance`` passes them."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay_seconds: float, callback: Callable[..., object], *args: Any) -> Timer:
        timer = Timer(self.now + delay_seconds, callback, args, False, self._timers.remove)
        self._timers.append(timer)
        return timer

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [timer for timer in self._timers if timer.when <= end]:
            first = min(due, key=lambda timer: timer.when)
            self._timers.remove(first)
            first.cancelled, self.now = True, first.when
            first.callback(*first.args)
        self.now = end


class World:
    """Objects by name, and queues that look them up here."""

    def __init__(self, features: Features = Features()) -> None:  # noqa: B008 - immutable
        self.workloads: dict[str, Tree] = {}
        self.local_queues: dict[str, Tree] = {}
        self.inactive: dict[str, None] = {}
        self.labels: Mapping[str, str] | None = {}
        self.clock = HandClock()
        self.broadcasts = 0
        clock: Any = self.clock
        self.queues = Queues(
            clock, self, is_cluster_queue_active=lambda name: name not in self.inactive,
            options=InfoOptions(features), ordering=Ordering(features))
        self.queues.on_broadcast(self._count)
        self.queues.open()

    def _count(self) -> None:
        self.broadcasts += 1

    # -- what the queues look up

    def workload(self, key: ObjectKey) -> ReadOnlyTree | None:
        return self.workloads.get(key.name)

    def workloads_of(self, local_queue: ObjectKey) -> Sequence[ReadOnlyTree]:
        return [each for each in self.workloads.values() if each["spec"]["queueName"] == local_queue.name]

    def local_queues_of(self, cluster_queue: str) -> Sequence[ReadOnlyTree]:
        return [each for each in self.local_queues.values() if each["spec"]["clusterQueue"] == cluster_queue]

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        return self.labels

    # -- what tests do

    def cluster_queue(self, name: str = "cq", *, strategy: str = "BestEffortFIFO", cohort: str = "") -> None:
        self.queues.add_cluster_queue(cluster_queue(name, strategy=strategy, cohort=cohort))

    def local_queue(self, name: str = "q", of: str = "cq") -> None:
        self.local_queues[name] = {
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"clusterQueue": of}, "status": {}}
        self.queues.add_local_queue(self.local_queues[name])

    def submit(self, name: str, **of: Any) -> Tree:
        self.workloads[name] = workload(name, **of)
        self.queues.add_or_update_workload(self.workloads[name])
        return self.workloads[name]

    def heads(self) -> list[str]:
        return [info.key.name for info in self.queues.heads()]


def cluster_queue(name: str, *, strategy: str = "BestEffortFIFO", cohort: str = "") -> Tree:
    return {
        "metadata": {"name": name}, "status": {},
        "spec": {"queueingStrategy": strategy, "namespaceSelector": {}, "cohortName": cohort}}


def workload(name: str, *, queue: str = "q", priority: int = 0, created: int = 0, cpu: str = "1") -> Tree:
    return {
        "metadata": {
            "name": name, "namespace": NAMESPACE, "uid": name, "generation": 1,
            "creationTimestamp": f"1970-01-01T00:00:{created:02d}Z"},
        "spec": {"queueName": queue, "priority": priority, "podSets": [{
            "name": "main", "count": 1,
            "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}}]},
        "status": {}}


def key(name: str) -> ObjectKey:
    return ObjectKey(NAMESPACE, name)
