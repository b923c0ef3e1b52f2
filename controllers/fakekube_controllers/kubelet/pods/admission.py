"""How a kubelet takes pods that were bound to its node: it makes their run, and rejects those that
the node cannot take.

Upstream: pkg/kubelet (HandlePodAdditions), pkg/kubelet/lifecycle, pkg/kubelet/nodeshutdown.
``predicates.py`` has the checks.
"""

from collections.abc import Callable, Iterable

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube_controllers.kubelet.node.mode import KubeletModes
from fakekube_controllers.kubelet.outcomes import annotations, outcome
from fakekube_controllers.kubelet.outcomes.annotations import PREFIX, InvalidOutcome
from fakekube_controllers.kubelet.outcomes.outcome import Defaults
from fakekube_controllers.kubelet.pods import predicates
from fakekube_controllers.kubelet.pods.attempts import Attempts
from fakekube_controllers.kubelet.pods.events import PodEvents
from fakekube_controllers.kubelet.pods.failures import OutcomeFailures
from fakekube_controllers.kubelet.pods.predicates import Allocations, Rejection
from fakekube_controllers.kubelet.pods.run import PodRun
from fakekube_controllers.kubelet.pods.runs import PodRuns

REJECT = PREFIX + "admission-reject"


class PodAdmission:
    """Admits pods to nodes. ``pods_on(node)`` are the pods that are bound to a node, ``build``
    makes a pod's run.

    ``build(pod, now, attempt)`` takes Unix seconds.
    """

    def __init__(
        self, runs: PodRuns, attempts: Attempts, nodes: Lister, modes: KubeletModes, events: PodEvents, failures: OutcomeFailures,
        defaults: Defaults, *, build: Callable[[ReadOnlyTree, float, int], PodRun], pods_on: Callable[[str], Iterable[Tree]],
    ) -> None:
        self._runs, self._attempts, self._nodes, self._modes = runs, attempts, nodes, modes
        self._events, self._failures, self._defaults = events, failures, defaults
        self._build, self._pods_on = build, pods_on
        self._allocations = Allocations()
        for uid, run in runs.live.items():
            if not run.finished:
                self._allocations.add(run.pod["spec"]["nodeName"], uid, predicates.requests_of(run.pod))

    def admit(self, pod: ReadOnlyTree, now: float) -> PodRun:
        """The run of a pod that is new to this kubelet, rejected where its node does not take it.
        ``now`` is Unix seconds.
        """
        known = self._runs.checkpoints.has_run(meta.uid_of(pod))
        run = self._build(pod, now, 0 if known else self._attempts.next(pod))
        try:
            run.starts_at = now + outcome.start_delay_seconds(pod, self._defaults)
            if (evicted := outcome.evict_after_seconds(pod)) is not None:
                run.evicts_at = now + evicted
        except InvalidOutcome as error:
            self._failures.fail(run, now, error)
        self._check(run, known=known)
        for complaint in annotations.warnings(pod):
            self._events.pod(run, "Warning", "InvalidAnnotation", complaint)
        return run

    def release(self, pod: ReadOnlyTree) -> None:
        """A pod has ended or gone: its node has room for others."""
        self._allocations.remove(pod["spec"].get("nodeName", ""), meta.uid_of(pod))

    def _check(self, run: PodRun, *, known: bool) -> None:
        name, requests = run.pod["spec"]["nodeName"], predicates.requests_of(run.pod)
        rejection = self._rejection(run.pod, name, requests, known=known)
        if rejection is None:
            self._allocations.add(name, meta.uid_of(run.pod), requests)
        elif run.failure is None:
            run.reject(*rejection)
            self._events.pod(run, "Warning", *rejection)

    def _rejection(self, pod: ReadOnlyTree, name: str, requests: predicates.Requests, *, known: bool) -> Rejection | None:
        """Why the node does not take a pod. One whose containers ran already was admitted by an
        earlier kubelet.
        """
        if wanted := meta.annotations_of(pod).get(REJECT):
            reason, _, message = wanted.partition(":")
            return Rejection(reason.strip(), message.strip() or f"Node rejected the pod: {reason.strip()}")
        if self._modes.is_shutting_down(name):
            return predicates.SHUTTING_DOWN
        node = self._nodes.get("", name)
        ran = known or bool((pod.get("status") or {}).get("containerStatuses"))
        if node is None or ran or meta.is_deleting(pod):
            return None
        return self._allocations.insufficient(node, requests) or predicates.failed_predicate(pod, node, self._admitted_on)

    def _admitted_on(self, node: str) -> list[Tree]:
        return [pod for pod in self._pods_on(node) if meta.uid_of(pod) in self._runs]
