"""An AdmissionCheck that a Python function decides:
``admission_check("budget", decide=lambda workload: "Ready")``.

The function gets the Workload, read-only, once quota is reserved for it. It answers with a state,
with a ``Decision``, or with None for not yet: then it is asked again with every change of the
Workload, and a second later whenever time passes. Upstream has no counterpart.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from fakekube.apimachinery import conditions, meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime import builder
from fakekube.runtime.builder import Declaration
from fakekube.runtime.reconcile import Request, Result, TerminalError
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, WORKLOADS
from fakekube_controllers.kueue.workload import admissionchecks, patching, reasons, states
from fakekube_controllers.kueue.workload.reasons import CheckState

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue

ASKED_AGAIN = timedelta(seconds=1)
STATES: tuple[str, ...] = get_args(CheckState)


class Decision(NamedTuple):
    """What becomes of a check.

    ``pod_set_updates`` are for pods of a check that is Ready: trees with the ``name`` of a podset,
    and ``labels``, ``annotations``, ``nodeSelector`` or ``tolerations``. With Retry
    ``requeue_after_seconds`` is how long the Workload waits at least.
    """

    state: CheckState
    message: str = ""
    pod_set_updates: Sequence[Tree] = ()
    requeue_after_seconds: int | None = None


Answer = Decision | CheckState | None
Decide = Callable[[ReadOnlyTree], Answer | Awaitable[Answer]]


def admission_check(name: str, *, decide: Decide, controller_name: str = "") -> Declaration:
    """A controller that makes an AdmissionCheck of that name, and decides about Workloads.

    For ``Cluster(extra=[admission_check(...)])``, or the controllers of an add-on. The check's
    ``spec.controllerName`` is ``fakekube.dev/<name>`` unless it is given. What ``decide`` raises is
    logged, and it is asked again later.
    """
    controller_name = controller_name or f"fakekube.dev/{name}"
    reconciler = partial(_Reconciler, name, controller_name, decide)
    return builder.controller(f"admission-check-{name}").starts_with(is_needed=_always).complete(reconciler)


def _always(_: "Context") -> bool:
    return True


class _Reconciler:
    """Reconciles the check, whose requests have no namespace, and Workloads."""

    def __init__(self, name: str, controller_name: str, decide: Decide, ctx: "Context") -> None:
        self._name, self._controller_name, self._decide = name, controller_name, decide
        self._client, self._clock, self._add_handler = ctx.client, ctx.clock, ctx.add_handler
        self._checks, self._workloads = ctx.lister(ADMISSION_CHECKS), ctx.lister(WORKLOADS)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow Workloads and the check."""
        def enqueue(obj: ReadOnlyTree) -> None:
            queue.add(Request(*meta.key_of(obj)))

        self._add_handler(WORKLOADS, enqueue, lambda _, new: enqueue(new))
        self._add_handler(ADMISSION_CHECKS, None, lambda _, new: enqueue(new), enqueue)
        queue.add(Request("", self._name))

    async def reconcile(self, request: Request) -> Result | None:
        """Keep the check active, or decide about a Workload. Raises APIError, and what ``decide``
        raises.
        """
        if not request.namespace:
            if request.name == self._name:
                await self._activate()
            return None
        workload = self._workloads.get(*request)
        return await self._decide_about(workload) if workload is not None else None

    async def _activate(self) -> None:
        check = self._checks.get("", self._name)
        if check is None:
            body: Tree = {"metadata": {"name": self._name}, "spec": {"controllerName": self._controller_name}}
            try:
                check = await self._client.create(ADMISSION_CHECKS, body)
            except APIError as error:
                if error.reason == "AlreadyExists":
                    return  # the cache will tell of it
                raise
        if states.spec_of(check).get("controllerName") != self._controller_name or meta.is_condition_true(check, "Active"):
            return
        present = [dict(each) for each in states.status_of(check).get("conditions") or ()]
        conditions.set_condition(
            present, "Active", "True", now=times.format_time(self._clock.time()), reason="Active",
            message="The admission check is active", observed_generation=meta.generation_of(check))
        status = {**states.status_of(check), "conditions": present}
        await self._client.update_status(ADMISSION_CHECKS, {**check, "status": status})

    async def _decide_about(self, workload: ReadOnlyTree) -> Result | None:
        check = admissionchecks.find_admission_check(admissionchecks.states_of(workload), self._name)
        if check is None or check.get("state") != reasons.CHECK_PENDING:
            return None
        if states.status(workload) != states.QUOTA_RESERVED or states.is_evicted(workload):
            return None
        answer = self._decide(workload)
        decision = _decision(await answer if isawaitable(answer) else answer)
        if decision is None:
            return Result(requeue_after=ASKED_AGAIN, daemon=True)
        await self._write(workload, check, decision)
        return None

    async def _write(self, workload: ReadOnlyTree, check: Tree, decision: Decision) -> None:
        decided: dict[str, Any] = {
            "name": self._name, "state": decision.state, "message": decision.message,
            "lastTransitionTime": times.format_time(self._clock.time())}
        if decision.state == check.get("state"):
            decided["lastTransitionTime"] = check["lastTransitionTime"]
        if decision.pod_set_updates:
            decided["podSetUpdates"] = [*decision.pod_set_updates]
        if decision.requeue_after_seconds is not None:
            decided["requeueAfterSeconds"] = decision.requeue_after_seconds

        def update(changed: Tree) -> bool:
            changed["status"]["admissionChecks"] = [decided]
            return True

        how = patching.How(force_apply=True)
        await patching.patch_status(
            self._client, workload, self._controller_name, update, features=Features(), how=how)


def _decision(answer: Answer) -> Decision | None:
    if isinstance(answer, str):
        answer = Decision(answer)
    if answer is not None and answer.state not in STATES:
        raise TerminalError(f"an admission check answered {answer.state!r}: the states are {', '.join(STATES)}")
    return answer
