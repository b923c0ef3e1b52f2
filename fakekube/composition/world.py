"""Time, and what has to end before it moves: of one cluster, or of all clusters of a fleet."""

from typing import TYPE_CHECKING, NamedTuple

from fakekube.composition.clocks import clock_of
from fakekube.composition.options import ClusterOptions
from fakekube.util.activity import Activity
from fakekube.util.clusterclock import ClusterClock
from fakekube.util.driver import driver_for
from fakekube.util.outside import ClientsOutside

if TYPE_CHECKING:
    from fakekube.client.kubeconfig import Find


class World:
    """The clock that ``options`` ask for, from the Unix time ``at`` on, and what moves it.

    ``plain_clock`` is for parts of clusters, ``clock`` for people.
    """

    def __init__(self, options: ClusterOptions, at: float | None = None) -> None:
        self.activity = Activity()
        self.plain_clock = clock_of(options, self.activity, at)
        self.outside = ClientsOutside(options.grace)
        self.driver = driver_for(self.plain_clock, self.activity, self.outside)
        self.clock = ClusterClock(self.plain_clock, self.driver)


class Membership(NamedTuple):
    """A cluster's place in a fleet: the fleet's world, the cluster's name, who finds the others."""

    world: World
    name: str
    find: "Find"
