"""The status of a JobSet in one reconcile: what changes, and the Events that tell of it.

It is written once, at the end, and the Events are recorded only when that went well.
Upstream: updateJobSetStatus, setCondition and updateCondition in
pkg/controllers/jobset_controller.go.
"""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from fakekube.apimachinery import conditions
from fakekube.apimachinery.conditions import Status as ConditionStatus
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.recorder import EventType, Recorder
from fakekube_controllers.jobset.names import JOBSETS

ACTION = "Reconciling"
COMPLETED, FAILED, SUSPENDED, RESTARTING = "Completed", "Failed", "Suspended", "RestartingJobSet"
STARTUP_IN_PROGRESS, STARTUP_COMPLETED = "StartupPolicyInProgress", "StartupPolicyCompleted"
EXCLUSIVE = frozenset({(STARTUP_IN_PROGRESS, STARTUP_COMPLETED), (STARTUP_COMPLETED, STARTUP_IN_PROGRESS)})
OPTIONAL = ("restartsCountTowardsMax", "terminalState", "conditions", "replicatedJobsStatus")
"""What is left out of a status where there is none of it."""


class Told(NamedTuple):
    """An Event that waits for the status to be written."""

    type: EventType
    reason: str
    message: str


class StatusUpdate:
    """``jobset`` is a JobSet with a status of its own, which is changed here. ``now`` is an RFC
    3339 time.
    """

    def __init__(self, cached: Tree, now: str) -> None:
        self.status: Tree = {"restarts": 0, **orjson.loads(orjson.dumps(cached.get("status") or {}))}
        self.jobset: Tree = {**cached, "spec": cached.get("spec") or {}, "status": self.status}
        self.is_due = False
        self._events: list[Told] = []
        self._now = now

    @property
    def conditions(self) -> list[Tree]:
        """The conditions, to be changed."""
        found: list[Tree] = self.status.setdefault("conditions", [])
        return found

    @property
    def is_finished(self) -> bool:
        """Whether the JobSet has completed or failed."""
        return any(conditions.is_true(self.conditions, type_) for type_ in (COMPLETED, FAILED))

    def set_job_statuses(self, statuses: Sequence[Tree]) -> None:
        """Take over what was counted of each replicated job."""
        before = sorted(self.status.get("replicatedJobsStatus") or (), key=lambda each: str(each["name"]), reverse=True)
        self.status["replicatedJobsStatus"] = [*statuses]
        self.is_due = self.is_due or before != [*statuses]

    def tell(self, type_: EventType, reason: str, message: str) -> None:
        """Record an Event once the status is written."""
        self._events.append(Told(type_, reason, message))

    def set_condition(
        self, type_: str, status: ConditionStatus, reason: str, message: str, *, event: EventType = "Normal",
    ) -> None:
        """Set a condition and tell of it, if that changes anything.

        One that is false is never added. Two that exclude each other are not both true.
        """
        wanted: Tree = {"type": type_, "status": status, "reason": reason, "message": message}
        present = conditions.find(self.conditions, type_)
        changed = False
        if status == "True":
            for other in self.conditions:
                if (other["type"], type_) in EXCLUSIVE and other["status"] == "True":
                    other["status"] = "False"
                    changed = True
        if status == "True" if present is None else any(present.get(key) != wanted[key] for key in wanted):
            since = conditions.transition_time(present, status, self._now)
            conditions.put(self.conditions, {**wanted, "lastTransitionTime": since})
            changed = True
        if changed:
            self.is_due = True
            self.tell(event, reason, message)

    def end_restart(self, reason: str, message: str) -> None:
        """The JobSet does not restart any more, for such a reason."""
        self.set_condition(RESTARTING, "False", reason, message)

    async def write(self, client: Client, recorder: Recorder) -> Tree | None:
        """Write the status if it changed, then record the Events; the JobSet as it is then.

        Raises APIError.
        """
        if not self.is_due:
            return None
        status = {key: value for key, value in self.status.items() if value or key not in OPTIONAL}
        written = await client.update_status(JOBSETS, {**self.jobset, "status": status})
        for told in self._events:
            recorder.report(self.jobset, told.type, told.reason, ACTION, told.message)
        return written
