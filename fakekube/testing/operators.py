"""Operators outside of the cluster that start with it, die when a fault says so, and start again.

    shop = kopf_operator("shop", registry)

    @pytest.mark.fakekube(extra=[shop], strategies="intermediate-states")
    def test_a_site_has_its_pods(fakekube_server): ...

Each is a component of ``extra``, as controllers in the process are: it starts and stops with the
cluster and by its name, ``crash`` rules let it die, and strategies try it. To the server it is a
user of its name. Each run of it has a kubeconfig, a port and a token of its own, and knows nothing
of the run before; but what runs in a thread shares the global variables of this process. Virtual
time waits for it until it has begun to watch or to write, and then as for any client outside.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery.http import UserInfo
from fakekube.runtime.builder import Declaration, controller
from fakekube.runtime.component import WrongOption
from fakekube.testing.operatorruns import (
    KUBECONFIG,
    CommandRun,
    Function,
    KopfRun,
    OperatorDied,
    OperatorRun,
    ThreadRun,
    in_thread,
)
from fakekube.util.wallclock import RealClock

if TYPE_CHECKING:
    import kopf

    from fakekube.composition.doors import Door, OpenDoor
    from fakekube.runtime.context import Context
    from fakekube.util.activity import Activity
    from fakekube.util.timers import Timer

ADMINISTRATORS = ("system:masters",)
START_SECONDS, STOP_SECONDS = 15.0, 5.0


def command_operator(
    name: str, arguments: Sequence[str], *, environment: Mapping[str, str] | None = None, directory: Path | str | None = None,
    user: str = "", groups: Iterable[str] | None = None, start_seconds: float = START_SECONDS,
    stop_seconds: float = STOP_SECONDS,
) -> Declaration:
    """A command, which finds its cluster by the environment variable ``KUBECONFIG``.

    ``environment`` is added to this process's. Who it is to the server is ``user``, by default its
    name, in ``groups``: administrators, unless a user or groups are named. Virtual time waits for
    it at most ``start_seconds`` of real time until it watches or writes, and the end of a run may
    take ``stop_seconds``.
    """
    made = partial(
        CommandRun, arguments=tuple(arguments), environment=dict(environment or {}),
        directory=None if directory is None else Path(directory))
    return _declared(name, made, user, groups, start_seconds, stop_seconds)


def thread_operator(
    name: str, function: Function, *, user: str = "", groups: Iterable[str] | None = None,
    start_seconds: float = START_SECONDS, stop_seconds: float = STOP_SECONDS,
) -> Declaration:
    """A function in a thread: it gets the path of a kubeconfig, and an event that is set when it
    has to end. The rest is as for ``command_operator``.
    """
    return _declared(name, partial(ThreadRun, function=function), user, groups, start_seconds, stop_seconds)


def kopf_operator(
    name: str, registry: "kopf.OperatorRegistry | None" = None, *, user: str = "", groups: Iterable[str] | None = None,
    start_seconds: float = START_SECONDS, stop_seconds: float = STOP_SECONDS, **values: Any,
) -> Declaration:
    """Kopf in a thread, with the handlers of a registry, by default kopf's own.

    ``values`` are other arguments of ``kopf.operator`` (``namespaces``, ``settings`` ...), each run
    gets copies of them; it is standalone and for all namespaces, unless they say otherwise. Login
    handlers are not asked. The rest is as for ``command_operator``.
    """
    return _declared(name, partial(KopfRun, registry=registry, values=values), user, groups, start_seconds, stop_seconds)


def operator_kubeconfig() -> Path:
    """The kubeconfig of the run of an operator in whose thread this is called, for its handlers'
    own clients. LookupError elsewhere.
    """
    return KUBECONFIG.get()


def _declared(
    name: str, make: Callable[[Path], OperatorRun], user: str, groups: Iterable[str] | None, start_seconds: float,
    stop_seconds: float,
) -> Declaration:
    from fakekube.client import users

    given = ADMINISTRATORS if groups is None and not user else tuple(groups or ())
    who = users.named(user or name, given)
    return controller(name).with_options(user=who).runs(
        partial(OutsideOperator, name, who, make, start_seconds=start_seconds, stop_seconds=stop_seconds))


class OutsideOperator:
    """A component whose work is done outside of the cluster. ``make`` makes a run of it.

    ``user`` is who it is to the server.
    """

    def __init__(
        self, name: str, user: UserInfo, make: Callable[[Path], OperatorRun], *, start_seconds: float, stop_seconds: float,
    ) -> None:
        self.name, self.user, self._make = name, user, make
        self._start_seconds, self._stop_seconds = start_seconds, stop_seconds
        self._alive: tuple[_Life, asyncio.Task[None]] | None = None

    async def start(self, ctx: "Context") -> None:
        """Begin a run. Raises WrongOption for a command that there is not, and where no cluster of
        this process is.
        """
        open_door: OpenDoor | None = ctx.options.get("open_door")
        if open_door is None:
            raise _wrong(f"the operator {self.name} is for clusters in tests: it is a client, run it as it is")
        life = _Life(self.name, ctx.activity, self._stop_seconds)
        life.door = await open_door(self.user, life.release)
        try:
            life.begin(self._make, self._start_seconds)
        except OSError as error:
            await life.close()
            raise _wrong(f"the operator {self.name} cannot be started: {error}") from error
        ctx.explainers.append(life.explain)
        self._alive = life, ctx.tasks.spawn(life.raise_what_is_wrong(), f"run of {self.name}")

    def kill(self) -> None:
        """Let the run be dead: nothing reaches the cluster, nothing is heard of it."""
        if self._alive is not None:
            self._alive[0].kill()

    async def stop(self) -> None:
        """Kill the run, and wait for its end, or until it has ignored that for too long."""
        if self._alive is not None:
            (life, task), self._alive = self._alive, None
            life.kill()
            await asyncio.wait([task])
            await life.close()


class _Life:
    """One run from its beginning to its end; a unit of ``activity`` is held until it has begun."""

    def __init__(self, name: str, activity: "Activity", stop_seconds: float) -> None:
        self._name, self._activity, self._stop_seconds = name, activity, stop_seconds
        self._is_held = self._is_killed = False
        self.door: Door | None = None
        self._run: OperatorRun | None = None
        self._folder: TemporaryDirectory[str] | None = None
        self._timers: list[Timer] = []
        self._wall, self._loop = RealClock(), asyncio.get_running_loop()
        self._over: asyncio.Future[BaseException | None] = self._loop.create_future()  # with what is wrong

    def begin(self, make: Callable[[Path], OperatorRun], start_seconds: float) -> None:
        """Begin. Raises OSError."""
        assert self.door is not None, "a run needs a door"
        self._folder = TemporaryDirectory(prefix=f"fakekube-{self._name}-")
        path = Path(self._folder.name) / "kubeconfig"
        path.touch(mode=0o600)
        path.write_text(self.door.kubeconfig)
        self._run = run = make(path)
        run.begin()
        self._activity.hold()
        self._is_held = True
        self._timers.append(self._wall.call_later(start_seconds, self.release, daemon=True))
        in_thread(self._name, run, self._end_of_thread)

    def release(self) -> None:
        """It has begun, or has had enough time for that."""
        if self._is_held:
            self._is_held = False
            self._activity.release()

    def kill(self) -> None:
        """Let it be dead; it has a while to end."""
        if self._is_killed:
            return
        self._is_killed = True
        if self.door is not None:
            self.door.shut()
        if self._run is not None:
            self._run.kill()
        self.release()
        self._timers.append(self._wall.call_later(self._stop_seconds, self._end, OperatorDied(
            f"goes on {self._stop_seconds:g} s after it was killed: its thread has to end when the event is set that it got, "
            "or when its connections break"), daemon=True))

    async def close(self) -> None:
        """Forget it."""
        for timer in self._timers:
            timer.cancel()
        if self.door is not None:
            await self.door.close()
        if self._folder is not None:
            self._folder.cleanup()

    async def raise_what_is_wrong(self) -> None:
        """Wait for its end. Raises OperatorDied, unless it has ended well, or as it was to."""
        wrong = await asyncio.shield(self._over)
        if wrong is not None:
            raise _died(self._name, wrong) from wrong

    def explain(self) -> Iterator[str]:
        """How it is, in a line."""
        told = self._run.told() if self._run is not None else ""
        state = "has ended" if self._over.done() else "has neither watched nor written yet" if self._is_held else "runs"
        yield f"{self._name}: {state}" + (f", and said last: {told}" if told else "")

    def _end_of_thread(self, died: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: it was said that this one goes on
            self._loop.call_soon_threadsafe(lambda: self._end(None if self._is_killed else died))

    def _end(self, wrong: BaseException | None) -> None:
        if not self._over.done():
            self._over.set_result(wrong)
        self.release()


def _died(name: str, error: BaseException) -> OperatorDied:
    how = str(error) if isinstance(error, OperatorDied) else f"has died of {type(error).__name__}: {error}"
    return OperatorDied(f"the operator {name} {how}")


def _wrong(text: str) -> WrongOption:
    error = WrongOption(text)
    error.option = "extra"
    return error
