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
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from fakekube.apimachinery.http import UserInfo
from fakekube.composition.options import OptionError
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

    from fakekube.composition.operatorservers import OperatorServer, ServeOperator
    from fakekube.runtime.context import Context
    from fakekube.util.activity import Activity
    from fakekube.util.timers import Timer

log = logging.getLogger(__name__)

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
ADMINISTRATORS = ("system:masters",)
START_SECONDS, STOP_SECONDS = 15.0, 5.0
BACKOFF_SECONDS, MOST_BACKOFF_SECONDS, RESET_BACKOFF_SECONDS = 10.0, 300.0, 600.0
"""The kubelet's, for containers that start again: at once at first, then later and later."""

RESTART_POLICIES = ("Never", "Always")


class Terms(TypedDict, total=False):
    """On what terms an operator runs.

    ``user`` says who it is to the server, by default its name, and ``groups`` in which groups:
    administrators, unless a user is named. With the ``restart_policy`` Always a run that has ended
    by itself is followed by another, as in a Deployment; with Never, which is the default, the test
    fails then, unless the run has ended well. Virtual time waits for a run at most
    ``start_seconds`` of real time until it watches or writes, and it may take ``stop_seconds`` to
    end.
    """

    user: str
    groups: Iterable[str]
    restart_policy: Literal["Never", "Always"]
    start_seconds: float
    stop_seconds: float


def command_operator(
    name: str, arguments: Sequence[str], *, environment: Mapping[str, str] | None = None, directory: Path | str | None = None,
    **terms: Unpack[Terms],
) -> Declaration:
    """A command, which finds its cluster by the environment variable ``KUBECONFIG``.

    ``environment`` is added to this process's. Raises OptionError.
    """
    made = partial(
        CommandRun, arguments=tuple(arguments), environment=dict(environment or {}),
        directory=None if directory is None else Path(directory))
    return _declared(name, made, terms)


def thread_operator(name: str, function: Function, **terms: Unpack[Terms]) -> Declaration:
    """A function in a thread: it gets the path of a kubeconfig, and an event that is set when it
    has to end. Raises OptionError.
    """
    return _declared(name, partial(ThreadRun, function=function), terms)


def kopf_operator(name: str, registry: "kopf.OperatorRegistry | None" = None, **values: Any) -> Declaration:
    """Kopf in a thread, with the handlers of a registry, by default kopf's own.

    ``values`` are Terms, and other arguments of ``kopf.operator`` (``namespaces``, ``settings``
    ...), of which each run gets copies, where they can be copied; it is standalone and for all
    namespaces, unless they say otherwise. Login handlers are not asked. Raises OptionError.
    """
    own = {term: value for term, value in values.items() if term not in Terms.__annotations__}
    terms: Any = {term: value for term, value in values.items() if term not in own}
    return _declared(name, partial(KopfRun, registry=registry, values=own), terms)


def operator_kubeconfig() -> Path:
    """The kubeconfig of the run of an operator in whose thread this is called, for its handlers'
    own clients. LookupError elsewhere.
    """
    return KUBECONFIG.get()


def _declared(name: str, make: Callable[[Path], OperatorRun], terms: Terms) -> Declaration:
    """Raises OptionError."""
    from fakekube.client import users

    if not NAME.fullmatch(name):
        raise OptionError(f"operators: {name!r} is no name of an operator: say letters, digits and dashes, as shop")
    for term in terms:
        if term not in Terms.__annotations__:
            raise OptionError(f"operators: {name}: unknown option {term!r}: known are {', '.join(Terms.__annotations__)}")
    policy = terms.get("restart_policy", RESTART_POLICIES[0])
    if policy not in RESTART_POLICIES:
        raise OptionError(f"operators: {name}: restart_policy: {policy!r} is none of {', '.join(RESTART_POLICIES)}")
    user = terms.get("user", "")
    who = users.named(user or name, tuple(terms.get("groups", () if user else ADMINISTRATORS)))
    return controller(name).with_options(user=who).runs(partial(
        OutsideOperator, name, who, make, restarts=policy == "Always",
        start_seconds=terms.get("start_seconds", START_SECONDS), stop_seconds=terms.get("stop_seconds", STOP_SECONDS)))


class OutsideOperator:
    """A component whose work is done outside of the cluster, in runs that ``make`` makes.

    ``user`` is who it is to the server; with ``restarts`` a run that has ended by itself is
    followed by another.
    """

    def __init__(
        self, name: str, user: UserInfo, make: Callable[[Path], OperatorRun], *, restarts: bool, start_seconds: float,
        stop_seconds: float,
    ) -> None:
        self.name, self.user, self._make, self._restarts = name, user, make, restarts
        self._start_seconds, self._stop_seconds = start_seconds, stop_seconds
        self._life: _Life | None = None
        self._watching: asyncio.Task[None] | None = None

    async def start(self, ctx: "Context") -> None:
        """Begin a run. Raises WrongOption for a command that there is not, and where no cluster of
        this process is.
        """
        if "serve_operator" not in ctx.options:
            raise _wrong(f"the operator {self.name} is for clusters in tests: it is a client, run it as it is")
        ctx.explainers.append(self._explain)
        try:
            await self._begin(ctx, 0)
        except OSError as error:
            raise _wrong(f"the operator {self.name} cannot be started: {error}") from error

    def kill(self) -> None:
        """Let the run be dead: nothing reaches the cluster, nothing is heard of it."""
        if self._life is not None:
            self._life.kill()

    async def stop(self) -> None:
        """Kill the run, and wait for its end, or until it has ignored that for too long."""
        life, watching, self._life = self._life, self._watching, None
        if life is not None and watching is not None:
            life.kill()
            await asyncio.wait([watching])
            await life.close()

    async def _begin(self, ctx: "Context", deaths: int) -> None:
        serve_operator: ServeOperator = ctx.options["serve_operator"]
        async with AsyncExitStack() as stack:
            life = _Life(self.name, ctx.activity, self._stop_seconds)
            stack.push_async_callback(life.close)
            life.server = await serve_operator(self.user, life.release)
            life.begin(self._make, self._start_seconds)
            stack.pop_all()
        self._life = life
        self._watching = ctx.tasks.spawn(self._watch_over(ctx, life, deaths), f"run of {self.name}")

    async def _watch_over(self, ctx: "Context", life: "_Life", deaths: int) -> None:
        """Wait for the end of a run. Raises OperatorDied, unless it has ended well, or as it was
        to, or is to start again.
        """
        began = ctx.clock.time()
        wrong = await life.is_over()
        if self._restarts and not life.is_killed:
            log.warning("the operator %s %s, and starts again", self.name, _told(wrong))
            await life.close()
            if ctx.clock.time() - began > RESET_BACKOFF_SECONDS:
                deaths = 0
            ctx.tasks.spawn(self._begin_again(ctx, deaths), f"restart of {self.name}")
        elif wrong is not None:
            raise OperatorDied(f"the operator {self.name} {_told(wrong)}") from wrong

    async def _begin_again(self, ctx: "Context", deaths: int) -> None:
        await ctx.clock.sleep(min(BACKOFF_SECONDS * 2 ** (deaths - 1), MOST_BACKOFF_SECONDS) if deaths else 0.0)
        with ctx.activity.busy():
            await self._begin(ctx, deaths + 1)

    def _explain(self) -> Iterator[str]:
        if self._life is not None:
            yield f"{self.name}: {self._life}"


class _Life:
    """One run from its beginning to its end; a unit of ``activity`` is held until it has begun."""

    def __init__(self, name: str, activity: "Activity", stop_seconds: float) -> None:
        self._name, self._activity, self._stop_seconds = name, activity, stop_seconds
        self._is_held = self.is_killed = False
        self.server: OperatorServer | None = None
        self._run: OperatorRun | None = None
        self._folder: TemporaryDirectory[str] | None = None
        self._timers: list[Timer] = []
        self._wall, self._loop = RealClock(), asyncio.get_running_loop()
        self._over: asyncio.Future[BaseException | None] = self._loop.create_future()  # with what is wrong

    def begin(self, make: Callable[[Path], OperatorRun], start_seconds: float) -> None:
        """Begin. Raises OSError."""
        assert self.server is not None, "a run needs a server"
        self._folder = TemporaryDirectory(prefix=f"fakekube-{self._name}-")
        path = Path(self._folder.name) / "kubeconfig"
        path.touch(mode=0o600)
        path.write_text(self.server.kubeconfig)
        self._run = run = make(path)
        run.begin()
        if run.process is not None:
            self.server.processes[run.process] = None
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
        if self.is_killed:
            return
        self.is_killed = True
        if self.server is not None:
            self.server.break_off()
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
        if self.server is not None:
            if self._run is not None and self._run.process is not None:
                self.server.processes.pop(self._run.process, None)
            await self.server.stop()
        if self._folder is not None:
            self._folder.cleanup()

    async def is_over(self) -> BaseException | None:
        """Wait for its end; what is wrong with that, if anything."""
        return await asyncio.shield(self._over)

    def __str__(self) -> str:
        told = self._run.told() if self._run is not None else ""
        state = "has ended" if self._over.done() else "has neither watched nor written yet" if self._is_held else "runs"
        return state + (f", and said last: {told}" if told else "")

    def _end_of_thread(self, died: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: it was said that this one goes on
            self._loop.call_soon_threadsafe(lambda: self._end(None if self.is_killed else died))

    def _end(self, wrong: BaseException | None) -> None:
        if not self._over.done():
            self._over.set_result(wrong)
        self._activity.hold()  # something happened: time does not move before it is seen what follows
        self._activity.release()
        self.release()


def _told(wrong: BaseException | None) -> str:
    """How a run has ended."""
    if wrong is None:
        return "has ended"
    return str(wrong) if isinstance(wrong, OperatorDied) else f"has died of {type(wrong).__name__}: {wrong}"


def _wrong(text: str) -> WrongOption:
    error = WrongOption(text)
    error.option = "extra"
    return error
