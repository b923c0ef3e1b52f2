"""Time, and what has to end before it moves: of one cluster, or of all clusters of a fleet."""

from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fakekube.composition.clocks import clock_of
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.util.activity import Activity
from fakekube.util.clusterclock import ClusterClock
from fakekube.util.driver import Driver
from fakekube.util.drivers import driver_for
from fakekube.util.outside import ClientsOutside
from fakekube.util.tasks import finish

if TYPE_CHECKING:
    from fakekube.apiserver.apiserver import APIServer
    from fakekube.client.kubeconfig import Find
    from fakekube.faults.plan import Faults
    from fakekube.storage.memory import Storage
    from fakekube.util.choices import Choices


T = TypeVar("T")


class World:
    """The clock that ``options`` ask for, from the Unix time ``at`` on, and what moves it.

    ``plain_clock`` is for parts of clusters, ``clock`` for people. ``schedule`` says what is chosen
    that is free in a real cluster, None: nothing. Raises OptionError.
    """

    def __init__(
        self, options: ClusterOptions, at: float | None = None, schedule: "Choices | str | None" = None,
    ) -> None:
        self.choices = _choices(schedule) if schedule else None
        self.activity = Activity()
        self.plain_clock = clock_of(options, self.activity, at, self.choices)
        self.outside = ClientsOutside(options.grace)
        self.driver = driver_for(self.plain_clock, self.activity, self.outside) if self.choices is None else (
            self._exploring_driver(self.choices))
        self.clock = ClusterClock(self.plain_clock, self.driver)

    def delay(self, apiserver: "APIServer") -> None:
        """Let requests to a server, and what its watches tell, be late, where a schedule says so.
        """
        if self.driver.transit is not None:
            from fakekube.apiserver.delays import Delays
            from fakekube.apiserver.paces import A_SECOND, AT_ONCE, Paces
            from fakekube.workqueue.ratelimit import Bucket

            paces = Paces(lambda: Bucket[str](self.plain_clock, A_SECOND, AT_ONCE).when)
            apiserver.interceptors = (Delays(self.driver.transit, paces), *apiserver.interceptors)

    def begin(self, storage: "Storage") -> None:
        """A cluster has started; what happens before is the same in every run."""
        if self.driver.transit is not None:
            self.driver.transit.begin(storage)

    def finish(self, coro: Coroutine[Any, Any, T]) -> T:
        """What a request that has nothing to wait for returns or raises; nothing makes it late."""
        with nullcontext() if self.driver.transit is None else self.driver.transit.on_time():
            return finish(coro)

    def _exploring_driver(self, choices: "Choices") -> Driver:
        from fakekube.util.transitdriver import driver_with_transit

        return driver_with_transit(choices, self.plain_clock, self.activity, self.outside)


def _choices(schedule: "Choices | str") -> "Choices":
    """Raises OptionError."""
    from fakekube.util.choices import Choices, ScheduleError

    if isinstance(schedule, Choices):
        return schedule
    try:
        return Choices.of(schedule)
    except ScheduleError as error:
        raise OptionError(f"schedule: {error}") from error


class Membership(NamedTuple):
    """A cluster's place in a fleet: the fleet's world, the cluster's name, who finds the others,
    and the faults of a cluster by its name (None: there is none).
    """

    world: World
    name: str
    find: "Find"
    faults_of: "Callable[[str], Faults | None]"
