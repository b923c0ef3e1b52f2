"""The faults of a cluster that runs in a thread of its own, for tests that block."""

from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakekube.composition.cluster import Cluster
    from fakekube.faults.plan import Fault, Meeting

T = TypeVar("T")


class Run(Protocol):
    """Calls a function in the cluster's thread, and gives back what it returns."""

    def __call__(self, function: "Callable[[Cluster], T]") -> T: ...


class BackgroundFaults:
    """As ``Faults`` of ``Cluster.faults``; every call is made in the cluster's thread."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def add(self, rule: Any = None, **values: Any) -> "BackgroundFault":
        """Let something go wrong from now on; see ``Faults.add``. Raises FaultError."""
        return BackgroundFault(self._run, self._run(lambda cluster: cluster.faults.add(rule, **values)))

    def clear(self) -> None:
        """Remove all."""
        self._run(lambda cluster: cluster.faults.clear())

    @property
    def meetings(self) -> "list[Meeting]":
        """Who met what, oldest first."""
        return self._run(lambda cluster: cluster.faults.meetings)


class BackgroundFault:
    """One fault; as a context manager it is removed at the end of the block, which fails if no
    request has met it.
    """

    def __init__(self, run: Run, fault: "Fault") -> None:
        self._run, self._fault = run, fault

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
        self._run(lambda _: self._fault.remove())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.remove()
        if error is None:
            self._fault.check()
