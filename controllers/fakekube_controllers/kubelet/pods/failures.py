"""Pods that fail because their outcome is invalid: an annotation that cannot be read, a callback
that raises.
"""

import traceback
from collections.abc import Iterator

from fakekube_controllers.kubelet.outcomes.annotations import InvalidOutcome
from fakekube_controllers.kubelet.pods.events import PodEvents
from fakekube_controllers.kubelet.pods.run import PodRun
from fakekube_controllers.kubelet.pods.runs import format_pod

SHOWN_LINES = 40


class OutcomeFailures:
    """Fails such pods. It adds a text to ``lines``, for whoever waits for something else; the list
    may outlive this object.
    """

    def __init__(self, events: PodEvents, lines: list[str]) -> None:
        self._events, self._lines = events, lines

    def fail(self, run: PodRun, now: float, error: InvalidOutcome) -> None:
        """Fail a pod now (Unix seconds), with an Event."""
        run.fail(now, error.reason, str(error))
        self._events.pod(run, "Warning", error.reason, str(error))
        self._lines.append(f"{format_pod(run.pod)}: {error}")
        if error.__cause__ is not None and error.reason == "OutcomeCallbackFailed":
            self._lines += "".join(traceback.format_exception(error.__cause__)).splitlines()

    def explain(self) -> Iterator[str]:
        """The latest lines, for people."""
        return iter(self._lines[-SHOWN_LINES:])
