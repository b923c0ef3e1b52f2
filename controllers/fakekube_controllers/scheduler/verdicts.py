"""What filters and scores said of nodes, for the next pod that is like the last one.

Pods of one template come by the hundred, and between two of them one node changes. Where every plugin says what it looks
at (``Sign``), its word about a node holds until that node changes. Upstream: opportunistic batching, KEP-5598, which
remembers the order of the nodes.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from fakekube.util.memory import remember
from fakekube_controllers.scheduler.framework.interface import Plugin
from fakekube_controllers.scheduler.framework.status import Status
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

REMEMBERED = 16  # kinds of pods


@dataclass(slots=True)
class Verdict:
    """What was said of a node as it was: why a pod does not fit, or None, and the scores so far by plugin."""

    node: NodeInfo
    generation: int
    status: Status | None
    scores: dict[str, int]


class Verdicts:
    """The latest verdicts, by signature of the pod and by node."""

    def __init__(self, plugins: Sequence[Plugin]) -> None:
        named = {plugin.name: getattr(plugin, "sign", None) for plugin in plugins}
        self._signs = [sign for sign in named.values() if sign is not None]
        self._complete = len(self._signs) == len(named)
        self._known: dict[Hashable, dict[str, Verdict]] = {}

    def of_pod(self, pod: PodInfo) -> dict[str, Verdict]:
        """The verdicts on pods like this one, to be added to; new ones where a plugin does not say what it looks at."""
        if not self._complete:
            return {}
        signature = tuple([sign(pod) for sign in self._signs])
        found = self._known.get(signature)
        if found is None:
            found = {}
            remember(self._known, signature, found, REMEMBERED)
        return found
