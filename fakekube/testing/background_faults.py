"""The faults of a cluster that runs in a thread of its own, for tests that block."""

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from fakekube.faults.plan import Fault, Meeting
    from fakekube.testing.background import BackgroundCluster


class BackgroundFaults:
    """As ``Faults`` of ``Cluster.faults``; every call is made in the cluster's thread."""

    def __init__(self, background: "BackgroundCluster") -> None:
        self._background = background

    def add(self, rule: Any = None, **values: Any) -> "BackgroundFault":
        """Let something go wrong from now on; see ``Faults.add``. Raises FaultError."""
        return BackgroundFault(self._background, self._background.run(lambda cluster: cluster.faults.add(rule, **values)))

    def clear(self) -> None:
        """Remove all."""
        self._background.run(lambda cluster: cluster.faults.clear())

    @property
    def meetings(self) -> "list[Meeting]":
        """Who met what, oldest first."""
        return self._background.run(lambda cluster: cluster.faults.meetings)


class BackgroundFault:
    """One fault; as a context manager it is removed at the end of the block, which fails if no
    request has met it.
    """

    def __init__(self, background: "BackgroundCluster", fault: "Fault") -> None:
        self._background, self._fault = background, fault

    @property
    def name(self) -> str:
        """Its name, as logs and histories have it."""
        return self._fault.name

    @property
    def met(self) -> int:
        """How many requests have met it."""
        return self._fault.met

    def remove(self) -> None:
        """Let it be; harmless when it was removed."""
        self._background.run(lambda _: self._fault.remove())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.remove()
        if error is None:
            self._fault.check()
