"""How fast somebody may write, where no request takes time by itself.

A controller whose watch is behind makes again what the garbage collector takes away, for as long as
that takes. On a real cluster these are some hundred writes, since each request takes time. Where it
takes none, and virtual time waits for what is in flight, the two would go on for ever: so the
writes of one sender, of one kind in one namespace, are kept apart once there were very many.
Upstream: rate limiters of clients, as client-go's flowcontrol.
"""

from collections.abc import Callable

from fakekube.endpoints.requestinfo import RequestInfo

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
AT_ONCE, A_SECOND = 500, 50
"""More than clients of upstream allow themselves: kube-controller-manager 30 and 20, kubelet 100
and 50.
"""
Pace = Callable[[str], float]
"""How many seconds the next write of a sender has to wait."""


class Paces:
    """The paces of all senders; ``new_pace`` makes one."""

    def __init__(self, new_pace: Callable[[], Pace]) -> None:
        self._new_pace = new_pace
        self._paces: dict[tuple[str, str, str, str], Pace] = {}

    def seconds(self, info: RequestInfo, sender: str) -> float:
        """How long a request has to wait; most have not."""
        if info.verb not in WRITES:
            return 0.0
        key = sender, info.group, info.resource, info.namespace
        found = self._paces.get(key)
        if found is None:
            found = self._paces[key] = self._new_pace()
        return found(sender)
