"""Which attempt a pod is among those that replace each other, as the pods of a Job do.

Outcomes go by it: ``fakekube.dev/exit-codes: "1,0"`` on the template of a Job fails the first pod
of each index.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Json, ReadOnlyTree
from fakekube_controllers.kubelet.outcomes.outcome import COMPLETION_INDEX


class Attempts:
    """Counts the pods that had the same controller and, in an Indexed Job, the same completion
    index.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def next(self, pod: ReadOnlyTree) -> int:
        """The number of a pod's attempt, from 0; the next such pod gets the next. A pod without a
        controller has 0.
        """
        owner = meta.controller_of(pod)
        if owner is None:
            return 0
        key = (owner["uid"], str(meta.annotations_of(pod).get(COMPLETION_INDEX, "")))
        number = self._counts.get(key, 0)
        self._counts[key] = number + 1
        return number

    def dump(self) -> list[Json]:
        """All of it as JSON, for ``load``."""
        return [[*key, number] for key, number in self._counts.items()]

    def load(self, state: list[Json]) -> None:
        """Go on counting where another stopped."""
        self._counts = {(owner, index): number for owner, index, number in state}
