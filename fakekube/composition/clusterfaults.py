"""The faults of one cluster: ``Cluster.faults``, the option ``faults``, and what they do to its
components.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from fakekube.apimachinery.gvk import GroupResource
from fakekube.composition import admissionconfiguration
from fakekube.composition.options import OptionError, controller_name
from fakekube.endpoints.openwatches import OpenWatches
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.faults.calls import CallFaults
from fakekube.faults.plan import Faults, Server
from fakekube.faults.point import FaultPoint
from fakekube.faults.rules import FaultError, Rule, rule_of, rules_of
from fakekube.util.clock import ManualClock

if TYPE_CHECKING:
    from fakekube.apiserver.apiserver import APIServer
    from fakekube.composition.controllermanager import ControllerManager
    from fakekube.composition.controlplane import OutgoingCalls
    from fakekube.composition.world import Membership
    from fakekube.storage.memory import Bucket, Record
    from fakekube.util.clock import Clock
    from fakekube.util.driver import Driver
    from fakekube.util.rng import Rng
    from fakekube.util.tasks import Tasks


def read(value: Any) -> list[Rule]:
    """The rules of the option ``faults``: the name of a file, a mapping, or a list of rules.

    Raises OptionError.
    """
    file, content = None, value
    if isinstance(value, Path) or (isinstance(value, str) and value):
        file, content = Path(value), admissionconfiguration.parsed(Path(value), "faults")
    try:
        return rules_of(content or ())
    except FaultError as error:
        where = "" if file is None else f"{placed(file.read_text(encoding='utf-8'), str(file), error)}: "
        raise OptionError(f"faults: {where}{str(error).removeprefix('faults: ')}") from None


def placed(text: str, name: str, error: FaultError) -> str:
    """Where in a file something is wrong: ``plan.yaml:3``."""
    from fakekube.apimachinery.yaml import line_of

    return f"{name}:{line_of(text, error.place)}"


def planned(texts: Iterable[str]) -> list[Rule]:
    """The rules that a schedule plans, as JSON. Raises OptionError."""
    try:
        return [rule_of(orjson.loads(text)) for text in texts]
    except ValueError as error:
        raise OptionError(f"schedule: a fault that it plans cannot be read: {error}") from None


class UnknownComponent(FaultError, OptionError):
    """A component that is to die and that the cluster does not know; known once it starts."""


MOST_DEATHS = 20
"""So often a component dies at one moment: where time is virtual, it would not pass otherwise."""


class ClusterFaults:
    """The faults of a cluster, and its servers one after the other, which have them.

    ``server`` gives the one of the moment, ``controllers`` run its components, ``member`` is its
    place in a fleet.
    """

    def __init__(
        self, server: "Callable[[], APIServer]", controllers: "ControllerManager", *, clock: "Clock", rng: "Rng",
        driver: "Driver", tasks: "Tasks", calls: "OutgoingCalls", member: "Membership | None" = None,
    ) -> None:
        self._server, self._controllers, self._calls, self._member = server, controllers, calls, member
        self._activity, self._tasks = driver.activity, tasks
        self._restarting: dict[str, None] = {}
        self._deaths: dict[str, tuple[float, int]] = {}  # when each died last, and how often then
        self._driver, self._stands = driver, isinstance(clock, ManualClock)
        seed = driver.transit.choices.seed if driver.transit is not None else None
        self.faults = Faults(clock, rng.fork("faults" if seed is None else f"faults of the seed {seed}"), self)
        self._point = FaultPoint(self.faults, self)
        self._of_calls = CallFaults(self.faults)
        driver.explainers.append(self.faults.explain)
        if driver.transit is not None:
            choices = driver.transit.choices
            self.faults.on_meeting.append(lambda fault: choices.meet(fault.name))
        self.stand_in(server())

    def stand_in(self, apiserver: "APIServer") -> None:
        """Let the requests of a server, and the calls that it makes, meet the faults; once."""
        apiserver.interceptors = (*apiserver.interceptors, self._point)
        self._calls.callables.fault = self._of_calls
        self.faults.begin_again()

    async def crash(self, component: str) -> bool:
        """Let a component die and start again; whether who sent the request is dead by that. That
        of another member of the fleet is named as ``manager/scheduler``.

        Returns once it lives, unless it is the component itself that waits: one in this process
        does not see it, and one outside is dead at once. What is on its way up already is dead, and
        who asks while components start or stop, as they do themselves, is not waited for. What has
        died too often at this moment lives on in it.
        """
        from fakekube.composition.operatorservers import is_sender_dead

        home, name = self._home_of(component)
        if home is not self:
            return await home.crash(name)
        now = self.faults.clock.time()
        died, count = self._deaths.get(name, (now, 0))
        count = count if died == now else 0
        if name in self._restarting or count >= MOST_DEATHS:
            return is_sender_dead()
        self._deaths[name] = now, count + 1
        self._restarting[name] = None
        self._controllers.kill(self._name_of(name))
        waits, over = not self._controllers.are_changing and not is_sender_dead(), asyncio.Event()
        self._tasks.spawn(self._restart(name, over.set), f"crash of {name}")
        if waits:
            await over.wait()
        return is_sender_dead()

    async def _restart(self, name: str, then: Callable[[], None]) -> None:
        controllers = self._controllers
        try:
            with self._activity.busy():
                if controllers.runs(self._name_of(name)):  # the dead do not die
                    await controllers.restart_controller(name)
        finally:
            self._restarting.pop(name, None)
            then()

    def _name_of(self, component: str) -> str:
        """Raises OptionError."""
        return controller_name(component, self._controllers.known)

    def _home_of(self, component: str) -> "tuple[Server, str]":
        """Where a component runs, and its name there."""
        cluster, slash, name = component.partition("/")
        if not slash or self._member is None:
            return self, component
        if cluster == self.name:
            return self, name
        faults = self._member.faults_of(cluster)
        return (self, component) if faults is None else (faults.server, name)

    # what faults need of a server

    @property
    def name(self) -> str:
        """That of the cluster in its fleet, empty for a cluster alone."""
        return "" if self._member is None else self._member.name

    @property
    def revision(self) -> int:
        """The latest version of the storage."""
        return self._server().storage.revision

    @property
    def oldest_revision(self) -> int:
        """The oldest version of the storage that can be read."""
        log = self._server().storage.log
        return max(log.compacted, log.begun)

    def compact(self) -> None:
        """Let no past state be read or watched from any more."""
        storage = self._server().storage
        storage.expire(storage.revision, watches=True)

    def touch(self, resource: GroupResource, namespace: str, name: str) -> bool:
        """Give a stored object a new version; False where there is none."""
        bucket, record = self._stored(resource, namespace, name)
        if bucket is None or record is None:
            return False
        bucket.update(record.tree(), record)
        return True

    def kind_of(self, resource: GroupResource) -> str:
        """The name of the kind of a resource; that of the resource where there is none."""
        kind = self._server().resources.stored.get(resource)
        return resource.resource if kind is None else kind.group_kind.kind

    def check_component(self, name: str) -> None:
        """Raises FaultError for the name of a component that the cluster does not know, nor the
        fleet.
        """
        home, component = self._home_of(name)
        if home is not self:
            home.check_component(component)
            return
        try:
            self._name_of(component)
        except OptionError as error:
            raise UnknownComponent(f"crash: {error}") from None

    def is_elsewhere(self, info: RequestInfo) -> bool:
        """Whether another server answers a request, with versions of its own."""
        return self._server().is_elsewhere(info)

    def asleep(self) -> AbstractContextManager[None]:
        """A block in which a request waits for time, so that nobody else waits for it."""
        return self._activity.sleeping()

    @property
    def is_asked(self) -> bool:
        """Whether time stands while somebody's predicate is asked."""
        return self._stands and self._driver.outside.asking

    @property
    def watches(self) -> OpenWatches:
        """The watches that are open."""
        return self._server().services.watches

    def labels_of(self, resource: GroupResource, namespace: str, name: str) -> Mapping[str, str] | None:
        """The labels of a stored object, None where there is none."""
        _, record = self._stored(resource, namespace, name)
        return None if record is None else record.labels

    def _stored(self, resource: GroupResource, namespace: str, name: str) -> "tuple[Bucket | None, Record | None]":
        """An object as a request names it, and where it is: the path of a Namespace is in one, its
        own.
        """
        server = self._server()
        kind, bucket = server.resources.stored.get(resource), server.buckets.existing(resource)
        if kind is None or bucket is None:
            return None, None
        return bucket, bucket.get(namespace if kind.namespaced else "", name)
