"""What was said of pods and groups that could not be scheduled, kept for whoever asks why.

What is kept are references: words are made when somebody asks. It is bounded by the number of
entities and by that of statuses, which nodes alike share; the oldest go first. Upstream has nothing
of the kind.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from fakekube_controllers.scheduler.framework.status import Status

MAX_ENTITIES, MAX_STATUSES = 1000, 200_000
ATTEMPTS = 3  # of each entity


class Diagnosis(NamedTuple):
    """An attempt that failed; ``time`` in Unix seconds, ``statuses`` with numbers of nodes."""

    number: int
    time: float
    reason: str
    message: str
    statuses: Sequence[tuple[Status, int]] = ()


class Diagnoses:
    """The latest diagnoses by the uid of a pod or group."""

    def __init__(self) -> None:
        self._kept: dict[str, deque[Diagnosis]] = {}
        self._statuses = 0

    def record(self, uid: str, diagnosis: Diagnosis) -> None:
        """An attempt has failed."""
        kept = self._kept.pop(uid, None)
        if kept is None:
            kept = deque()
        elif len(kept) == ATTEMPTS:
            self._statuses -= len(kept.popleft().statuses)
        kept.append(diagnosis)
        self._kept[uid] = kept  # the latest is at the end
        self._statuses += len(diagnosis.statuses)
        while len(self._kept) > MAX_ENTITIES or (self._statuses > MAX_STATUSES and len(self._kept) > 1):
            self._drop(next(iter(self._kept)))

    def _drop(self, uid: str) -> None:
        for diagnosis in self._kept.pop(uid):
            self._statuses -= len(diagnosis.statuses)

    def of(self, uid: str) -> Sequence[Diagnosis]:
        """The latest ones of an entity, the last at the end."""
        return tuple(self._kept.get(uid, ()))
