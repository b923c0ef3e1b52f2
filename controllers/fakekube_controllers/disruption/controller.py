"""Keeps the status of PodDisruptionBudgets: how many pods are healthy, how many should be, and how
many may go now.

An eviction counts the pod as gone before it is; if that pod is still there two minutes later it
counts again. Likewise the condition DisruptionTarget of a pod that was not deleted after all is
taken back.
Upstream: pkg/controller/disruption/disruption.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from fakekube.apimachinery import labels, meta
from fakekube.apimachinery.conditions import set_condition
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.times import format_time, parse_time
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import POD_DISRUPTION_BUDGETS, PODS
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube.runtime.podconditions import DISRUPTION_TARGET, pod_condition
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.disruption.expected import Expected, UnknownScale, expected

TIMEOUT_SECONDS = 120.0
BY_KUBELET = "TerminationByKubelet"
ALLOWED = "DisruptionAllowed"
UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status of the PDB "
    'cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set '
    '".spec.minAvailable" field of the PDB to an integer value.'
)


class DisruptionReconciler:
    """Keeps the status of one budget; in a second queue are pods whose disruption may have been
    called off.
    """

    queue: WorkQueue[Request]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.budgets, self.pods = ctx.lister(POD_DISRUPTION_BUDGETS), ctx.lister(PODS)
        self.events = ctx.recorder("controllermanager")
        self.stale = ctx.queue("stale_pod_disruption")

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Watch pods."""
        self.queue = queue
        self.ctx.add_handler(PODS, self._pod_changed, lambda _, new: self._pod_changed(new), self._enqueue_budgets_of)
        Worker(self.ctx, self.stale, self._sync_stale).start()

    def _pod_changed(self, pod: Tree) -> None:
        self._enqueue_budgets_of(pod)
        seconds = self._seconds_until_stale(pod)
        if seconds is not None:
            self.stale.add_after(meta.key_of(pod), seconds, daemon=True)

    def _enqueue_budgets_of(self, pod: Tree) -> None:
        carried = meta.labels_of(pod)
        found = [budget for budget in self.budgets.list(meta.namespace_of(pod)) if _selector(budget).matches(carried)]
        for budget in found:
            self.queue.add(meta.key_of(budget))
        if len(found) > 1:
            namespace, name = go_quote(meta.namespace_of(pod)), go_quote(meta.name_of(pod))
            chosen = go_quote(meta.name_of(found[0]))
            text = f"Pod {namespace}/{name} matches multiple PodDisruptionBudgets.  Chose {chosen} arbitrarily."
            self.events.event(pod, "Warning", "MultiplePodDisruptionBudgets", text)

    # budgets

    async def reconcile(self, request: Request) -> Result | None:
        """Count the pods of a budget; the result says when the first of its disrupted pods counts
        again. Raises APIError.
        """
        cached = self.budgets.get(*request)
        if cached is None:
            return None
        budget: Tree = orjson.loads(orjson.dumps(cached))
        try:
            return await self._count(budget)
        except (APIError, UnknownScale) as error:
            if isinstance(error, APIError) and error.reason == "Conflict":
                raise
            # What is not known for sure must not let anything go.
            status = budget.setdefault("status", {})
            status["disruptionsAllowed"] = 0
            self._set_condition(status, "False", "SyncFailed", str(error))
            await self.client.update_status(POD_DISRUPTION_BUDGETS, budget)
            return None

    async def _count(self, budget: Tree) -> Result | None:
        selected = sorted(self.pods.list(meta.namespace_of(budget), _selector(budget)), key=meta.name_of)
        if not selected:
            self.events.event(budget, "Normal", "NoPods", "No matching pods found")
        try:
            wanted = await expected(self.client, budget, selected)
        except (APIError, UnknownScale) as error:
            text = f"Failed to calculate the number of expected pods: {error}"
            self.events.event(budget, "Warning", "CalculateExpectedPodCountFailed", text)
            raise
        if wanted.unmanaged:
            text = UNMANAGED.format(labels.go_text(budget["spec"].get("selector") or {}))
            self.events.event(budget, "Warning", "UnmanagedPods", text)
        now = self.clock.time()
        disrupted, recheck = self._disrupted(budget, selected, now)
        staying = [pod for pod in selected if not pods.is_terminating(pod) and meta.name_of(pod) not in disrupted]
        await self._write(budget, wanted, sum(map(pods.is_ready, staying)), disrupted)
        return None if recheck is None else Result.after(recheck - now, daemon=True)

    def _disrupted(self, budget: Tree, selected: Sequence[Tree], now: float) -> tuple[Mapping[str, str], float | None]:
        """Pods that are about to go, with the times at which that was said; and when the first of
        them should be gone.
        """
        said = (budget.get("status") or {}).get("disruptedPods") or {}
        waiting: dict[str, str] = {}
        for pod in selected:
            when = said.get(meta.name_of(pod))
            if when is None or pods.is_terminating(pod):
                continue
            if parse_time(when) + TIMEOUT_SECONDS <= now:
                namespace = meta.namespace_of(budget)  # twice, as upstream has it
                text = f"Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
                self.events.event(pod, "Warning", "NotDeleted", text)
            else:
                waiting[meta.name_of(pod)] = when
        return waiting, min((parse_time(when) + TIMEOUT_SECONDS for when in waiting.values()), default=None)

    async def _write(self, budget: Tree, wanted: Expected, healthy: int, disrupted: Mapping[str, str]) -> None:
        allowed = max(healthy - wanted.healthy, 0) if wanted.pods > 0 else 0
        before: Tree = budget.get("status") or {}
        status: Tree = {
            "observedGeneration": meta.generation_of(budget), "disruptionsAllowed": allowed, "currentHealthy": healthy,
            "desiredHealthy": wanted.healthy, "expectedPods": wanted.pods,
            **({"disruptedPods": dict(disrupted)} if disrupted else {}),
        }
        state, reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
        condition = meta.find_condition(budget, ALLOWED) or {}
        counts = {name: value for name, value in before.items() if name != "conditions" and value != {}}
        if counts == status and (condition.get("status"), condition.get("reason")) == (state, reason):
            return
        status["conditions"] = before.get("conditions") or []
        self._set_condition(status, state, reason, "")
        await self.client.update_status(POD_DISRUPTION_BUDGETS, {**budget, "status": status})

    def _set_condition(self, status: Tree, state: Any, reason: str, message: str) -> None:
        set_condition(
            status.setdefault("conditions", []), ALLOWED, state, now=format_time(self.clock.time()), reason=reason,
            message=message, observed_generation=status.get("observedGeneration", 0))

    # pods that were to go and did not

    def _seconds_until_stale(self, pod: Tree) -> float | None:
        """How long a pod may still say that it is about to go; None when it does not say so, or
        really goes.
        """
        condition = meta.find_condition(pod, DISRUPTION_TARGET)
        if pods.is_terminating(pod) or pods.is_finished(pod) or condition is None:
            return None
        if condition["status"] != "True" or condition.get("reason") == BY_KUBELET:
            return None
        return max(parse_time(condition["lastTransitionTime"]) + TIMEOUT_SECONDS - self.clock.time(), 0.0)

    async def _sync_stale(self, key: Request) -> Result | None:
        cached = self.pods.get(key.namespace, key.name)
        seconds = self._seconds_until_stale(cached) if cached is not None else None
        if cached is None or seconds is None:
            return None
        if seconds > 0:
            return Result.after(seconds, daemon=True)
        condition = pod_condition(self.ctx, cached, DISRUPTION_TARGET, "False")
        kept = [condition if each["type"] == condition["type"] else each for each in cached["status"]["conditions"]]
        await self.client.update_status(PODS, {**cached, "status": {**cached["status"], "conditions": kept}})
        return None


def _selector(budget: Tree) -> labels.Selector:
    """No selector selects nothing, an empty one everything."""
    return labels.from_label_selector(budget["spec"].get("selector"))
