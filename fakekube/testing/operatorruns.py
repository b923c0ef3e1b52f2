"""One run of an operator outside of the cluster: a process, a function in a thread, or kopf.

Each run is watched by a thread, which ends when the run has ended. ``kill`` returns at once; what a
run does afterwards reaches nobody, since its server has ended by then
(``composition/operatorservers.py``).
"""

import asyncio
import contextvars
import copy
import os
import signal
import subprocess
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    import kopf
    from kopf._cogs.structs.credentials import Vault

TOLD_LINES = 20
"""So many of the last lines of what a process has written are told when it dies."""

TOLD_BYTES = 1 << 16

CLEANUP_ROUNDS, CLEANUP_ROUND_SECONDS = 20, 0.05
"""So often what kopf leaves behind is cancelled, since it may catch that, and has that much real
time to end.
"""

KUBECONFIG: ContextVar[Path] = ContextVar("KUBECONFIG")
"""That of the run to which the code belongs that is running."""

Function = Callable[[Path, threading.Event], object]
"""An operator as a function: it gets the path of a kubeconfig, and an event that is set when it is
to end.
"""


class OperatorDied(Exception):
    """An operator has ended by itself, and not well; the text says how."""


class OperatorRun(ABC):
    """One run. ``kubeconfig`` is the path of its own."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig

    def begin(self) -> None:  # noqa: B027 - most begin in their thread
        """Begin, as far as that needs no time. Raises OSError."""

    @property
    def process(self) -> int | None:
        """The number of its process, once it has begun; None for what runs in this one."""
        return None

    @abstractmethod
    def work(self) -> None:
        """Run to the end, in a thread. Raises what it died of."""

    @abstractmethod
    def kill(self) -> None:
        """Let it end, from any thread, and do not wait for it; harmless when it has ended."""

    def told(self) -> str:
        """What it has said last, a line; empty for nothing."""
        return ""


class CommandRun(OperatorRun):
    """A command in a process group of its own, which writes into a file."""

    def __init__(
        self, kubeconfig: Path, arguments: Sequence[str], environment: Mapping[str, str], directory: Path | None,
    ) -> None:
        super().__init__(kubeconfig)
        self._arguments, self._environment, self._directory = list(arguments), environment, directory
        self._output = kubeconfig.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start the process. Raises OSError when there is no such command."""
        environment = {**os.environ, **self._environment, "KUBECONFIG": str(self.kubeconfig)}
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own operator
                self._arguments, env=environment, cwd=self._directory, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True)

    @property
    def process(self) -> int | None:
        """The number of the process."""
        return self._process.pid if self._process is not None else None

    def work(self) -> None:
        """Wait for the process. Raises OperatorDied unless its exit code is 0."""
        process = self._process
        assert process is not None, "it has begun"
        code = process.wait()
        _kill_group(process)  # what it leaves behind
        if code:
            how = f"was killed by signal {-code}" if code < 0 else f"has ended with exit code {code}"
            lines = "".join(f"\n  {line}" for line in self._last_lines())
            raise OperatorDied(f"{how}, its last lines were:{lines}" if lines else f"{how}, and has said nothing")

    def kill(self) -> None:
        """Send SIGKILL to the process and its children."""
        if self._process is not None and self._process.poll() is None:
            _kill_group(self._process)

    def told(self) -> str:
        """The last line of its output."""
        lines = self._last_lines()
        return lines[-1] if lines else ""

    def _last_lines(self) -> list[str]:
        try:
            with self._output.open("rb") as output:
                output.seek(max(0, output.seek(0, os.SEEK_END) - TOLD_BYTES))
                text = output.read().decode(errors="replace")
        except OSError:
            return []
        return list(deque((line.rstrip() for line in text.splitlines() if line.strip()), TOLD_LINES))


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS forbids it for a group of the dead
        os.killpg(process.pid, signal.SIGKILL)


class ThreadRun(OperatorRun):
    """A function in a thread."""

    def __init__(self, kubeconfig: Path, function: Function) -> None:
        super().__init__(kubeconfig)
        self._function, self._stop = function, threading.Event()

    def work(self) -> None:
        """Call the function. Raises what it raises."""
        self._function(self.kubeconfig, self._stop)

    def kill(self) -> None:
        """Set the event."""
        self._stop.set()


class KopfRun(OperatorRun):
    """kopf in a thread, with an event loop of its own; ``values`` are those of ``kopf.operator``.
    """

    def __init__(self, kubeconfig: Path, registry: "kopf.OperatorRegistry | None", values: Mapping[str, Any]) -> None:
        super().__init__(kubeconfig)
        self._registry, self._values = registry, values
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_dead = False

    def work(self) -> None:
        """Run kopf until it ends. Raises what it raises."""
        import kopf

        vault, executor = _vault(self.kubeconfig), ThreadPoolExecutor()
        values = {"standalone": True, **_copied(self._values, executor)}
        if "namespaces" not in values and "clusterwide" not in values:
            values["clusterwide"] = True
        loop = asyncio.new_event_loop()
        try:
            with self._lock:
                if self._is_dead:
                    return
                self._loop = loop
            loop.run_until_complete(kopf.operator(registry=self._registry, vault=vault, **values))
        except RuntimeError:
            if not self._is_dead:
                raise
        finally:
            with self._lock:
                self._loop = None
            _clean(loop, vault)
            executor.shutdown(wait=False, cancel_futures=True)

    def kill(self) -> None:
        """Stop its loop where it is: no handler goes on, and none is told."""
        with self._lock:
            self._is_dead = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)


def _copied(values: Mapping[str, Any], executor: ThreadPoolExecutor) -> dict[str, Any]:
    """Arguments of kopf for one run: what it keeps in them dies with it, as far as they can be
    copied. Its handlers run in an ``executor`` of its own, unless the settings have a special one.
    """
    import kopf

    settings = values.get("settings") or kopf.OperatorSettings()
    given, workers = settings.execution.executor, settings.execution.max_workers
    copied = {"settings": copy.deepcopy(settings, {id(given): executor if isinstance(given, ThreadPoolExecutor) else given})}
    if workers is not None:
        copied["settings"].execution.max_workers = workers
    for name, value in values.items():
        if name != "settings":
            try:
                copied[name] = copy.deepcopy(value)
            except TypeError:  # a lock, say
                copied[name] = value
    return copied


def _vault(kubeconfig: Path) -> "Vault":
    """What kopf is to know of a kubeconfig of ours, and nothing that a login handler finds: that
    may lead to another cluster.
    """
    import kopf
    from kopf._cogs.structs.credentials import Vault

    tree = orjson.loads(kubeconfig.read_text())
    cluster, user = tree["clusters"][0]["cluster"], tree["users"][0]["user"]
    connection = kopf.ConnectionInfo(
        server=cluster["server"], ca_data=cluster.get("certificate-authority-data"), token=user["token"],
        default_namespace="default")

    class OneLogin(Vault):
        """Of one connection."""

        async def populate(self, _: Any) -> None:
            await super().populate({"fakekube": connection})

    return OneLogin({"fakekube": connection})


def _clean(loop: asyncio.AbstractEventLoop, vault: "Vault") -> None:
    """Let what is left on a loop end, for a while, and close it."""
    for _ in range(CLEANUP_ROUNDS):
        tasks = asyncio.all_tasks(loop)
        if not tasks:
            break
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):  # kopf cancels whatever it finds, this too
            loop.run_until_complete(asyncio.wait(tasks, timeout=CLEANUP_ROUND_SECONDS))
    loop.run_until_complete(vault.close())
    # what was killed in the middle has closed nothing; a loop of another kind closes its own
    for transport in list(getattr(loop, "_transports", {}).values()):
        transport.abort()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def in_thread(name: str, run: OperatorRun, ended: Callable[[BaseException | None], None]) -> None:
    """Let a run that has begun work in a thread; ``ended`` is called there with what it died of."""
    def work() -> None:
        KUBECONFIG.set(run.kubeconfig)
        died: BaseException | None = None
        try:
            run.work()
        except BaseException as error:  # whatever it is: nobody else hears of it
            died = error
        ended(died)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name=f"fakekube operator {name}", daemon=True).start()
