"""What a pod tolerates, as all plugins that look at taints understand it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from fakekube.apimachinery.types import ReadOnlyTree

COMPARISON_GATE = "TaintTolerationComparisonOperators"
COMPARISONS = ("Gt", "Lt")
DO_NOT_SCHEDULE = ("NoSchedule", "NoExecute")


class Gates(Protocol):
    """Knows which feature gates are on."""

    def enabled(self, gate: str) -> bool:
        """Whether one is on."""


def tolerations_of(pod: ReadOnlyTree, gates: Gates) -> Sequence[Mapping[str, str]]:
    """The tolerations of a pod; those that compare numbers only where the gate for them is on."""
    found: Sequence[Mapping[str, str]] = pod["spec"].get("tolerations") or ()
    if found and any(each.get("operator") in COMPARISONS for each in found) and not gates.enabled(COMPARISON_GATE):
        return [each for each in found if each.get("operator") not in COMPARISONS]
    return found
