"""Several clusters with one clock, one seed, and links between them that can be cut.

    async with Fleet("manager", "worker1", "worker2") as fleet:
        await fleet["manager"].client.create(JOBS, manifest)
        await fleet.run_until(job_is_complete)

Time moves while nothing is in flight in any of them. A controller of one cluster reaches another
by a kubeconfig, ``fleet.kubeconfig("worker1")`` say: in this process there is no socket between
them. Upstream has no counterpart; MultiKueue's tests start several envtest servers.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from fakekube.composition.cluster import Cluster
from fakekube.composition.links import Link
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.composition.timed import Timed
from fakekube.composition.world import Membership, World
from fakekube.util.tasks import Tasks

if TYPE_CHECKING:
    from fakekube.composition.servedfleet import ServedFleet
    from fakekube.faults.plan import Faults
    from fakekube.util.choices import Choices

DOMAIN = "fleet.invalid"
"""A kubeconfig within a fleet names ``https://MEMBER.fleet.invalid``."""
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
MOST_MEMBERS = 100
OF_WORLDS = ("clock", "start", "seed", "grace")
"""The options that all members share."""


class Fleet(Timed, Mapping[str, Cluster]):
    """Clusters by name; an async context manager.

    ``options`` are keyword arguments of every ``Cluster``, ``members`` those of single ones, by
    name: ``members={"manager": {"nodes": 0}}``. The clock, its start, the seed and ``grace`` are
    the fleet's. Each member draws from the seed for itself. ``schedule`` as for ``Cluster``, for
    all of them together. Raises OptionError.
    """

    def __init__(
        self, *names: str, members: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
        schedule: "Choices | str | None" = None, **options: Any,
    ) -> None:
        _check(names, members, options)
        shared = {name: value for name, value in options.items() if name in OF_WORLDS}
        self._world = World(ClusterOptions.of(**shared), schedule=schedule)
        self.driver, self.clock = self._world.driver, self._world.clock
        self._tasks = Tasks(on_failure=self.driver.fail)
        self._clusters: dict[str, Cluster] = {}
        self._links: dict[str, Link] = {}
        self._served: ServedFleet | None = None
        for name in names:
            self._clusters[name] = cluster = Cluster(
                member=Membership(self._world, name, self._find, self._faults_of), **{**options, **members.get(name, {})})
            self._links[name] = Link(cluster)

    def __getitem__(self, name: str) -> Cluster:
        return self._clusters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._clusters)

    def __len__(self) -> int:
        return len(self._clusters)

    @property
    def first(self) -> Cluster:
        """The one that was named first: the manager, mostly."""
        return next(iter(self._clusters.values()))

    # life

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._close)
            await self.start()
            stack.pop_all()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            await self.stop()
            self._check_faults()
            return
        await self._close()
        self.driver.note_failure(error)

    async def start(self) -> None:
        """Start all members, in the order of their names' giving."""
        self.driver.start(self._tasks)
        for cluster in self._clusters.values():
            await cluster.start()

    async def stop(self) -> None:
        """Stop all members, the last first. Raises the error of a component that was not raised
        before.
        """
        await self._close()
        self.driver.raise_failure()

    def _check_faults(self) -> None:
        """Raises FaultNeverMet for a fault that no member has met, of those at work in them."""
        having = [cluster.faults for cluster in self._clusters.values() if cluster.has_faults]
        met = [fault.rule for faults in having for fault in faults if fault.met]
        for faults in having:
            for fault in faults:
                if fault.rule not in met:  # a plan of all is met by one
                    fault.check()

    async def _close(self) -> None:
        if self._served is not None:
            self._served.remove_kubeconfigs()
        for cluster in reversed(self._clusters.values()):
            await cluster.close()
        await self._tasks.close()

    # links

    def kubeconfig(self, name: str) -> str:
        """The text of a kubeconfig that leads to a member from within the fleet, for a Secret of
        MultiKueue say. KeyError.
        """
        from fakekube.server.kubeconfig import kubeconfig

        return kubeconfig(f"https://{name}.{DOMAIN}", self[name].token)

    def cut(self, name: str) -> None:
        """Let nothing through to a member from the others: requests fail, watches end.

        Its own controllers and clients go on. KeyError.
        """
        self._links[name].cut()

    def mend(self, name: str) -> None:
        """End an outage; harmless when there is none. KeyError."""
        self._links[name].mend()

    def _find(self, url: str) -> Link | None:
        """The link to the member at a URL, of a kubeconfig of ours or of a served member."""
        host = urlsplit(url).hostname or ""
        member, _, domain = host.partition(".")
        if domain == DOMAIN:
            return self._links.get(member)
        served = self._served.member_at(url) if self._served is not None else None
        return self._links[served] if served is not None else None

    def _faults_of(self, name: str) -> "Faults | None":
        return self._clusters[name].faults if name in self._clusters else None

    async def serve(self, *, host: str = "127.0.0.1", port: int = 0, insecure: bool = False) -> "ServedFleet":
        """Listen with every member: on ``port`` and those that follow, or where one is free.

        Raises as ``Cluster.serve``.
        """
        from fakekube.composition.servedfleet import ServedFleet

        servers = {
            name: await cluster.serve(host=host, port=port + number if port else 0, insecure=insecure)
            for number, (name, cluster) in enumerate(self._clusters.items())}
        self._served = ServedFleet(servers)
        return self._served


def names_of(text: str) -> tuple[str, ...]:
    """The members that an option names: ``manager,worker1,worker2``."""
    return tuple(text.replace(",", " ").split())


def _check(names: tuple[str, ...], members: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]) -> None:
    """Raises OptionError."""
    if not names or len(names) > MOST_MEMBERS:
        raise OptionError(f"fleet: name its clusters, {MOST_MEMBERS} at most: manager,worker1,worker2")
    for name in names:
        if not LABEL.fullmatch(name):
            raise OptionError(f"fleet: {name!r} is no name of a cluster: say letters, digits and dashes, as worker1")
        if names.count(name) > 1:
            raise OptionError(f"fleet: there are two clusters {name!r}")
    for name, values in members.items():
        if name not in names:
            raise OptionError(f"fleet: {name!r} is none of its clusters: {', '.join(names)}")
        for option in OF_WORLDS:
            if option in values:
                raise OptionError(f"fleet: {option} is the same for all clusters: say it for the fleet")
    for option in ("state", "member"):
        if option in options or any(option in values for values in members.values()):
            raise OptionError(f"fleet: its clusters take no {option}")
