"""What a kubelet answers over streams: commands in containers, attaching to them, connections to ports, logs as they come.

A command is answered by the callback ``on_exec``, then by the pod's annotation ``fakekube.dev/exec``, then by ``shell.py``; a
port by ``on_connect``, or by an echo. The annotation is JSON, from command lines to what they come to: an output, an exit
code, or an object with ``stdout``, ``stderr`` and ``exitCode``. Upstream: pkg/kubelet/kubelet_pods.go (GetExec and its
fellows) and k8s.io/cri-streaming.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.streams import (
    Command,
    CommandOptions,
    CommandStreams,
    Forward,
    NodeError,
    PortStreams,
    StreamError,
)
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.context import Context
from fakekube.runtime.controller import attempt_async
from fakekube.util.pipe import Pipe
from fakekube.util.tasks import Tasks
from fakekube_controllers.kubelet.containers.container import SIGKILL_CODE, Container
from fakekube_controllers.kubelet.outcomes.annotations import PREFIX
from fakekube_controllers.kubelet.outcomes.outcome import Outcome
from fakekube_controllers.kubelet.pods.run import PodRun
from fakekube_controllers.kubelet.server.logs import Follower, Line
from fakekube_controllers.kubelet.server.port_connection import Dialled
from fakekube_controllers.kubelet.server.process import Answer, Connection, OnConnect, OnExec, Process
from fakekube_controllers.kubelet.shell.files import Files
from fakekube_controllers.kubelet.shell.session import Io, Result

INTERRUPTED = 130
log = logging.getLogger(__name__)

T = TypeVar("T")


class Streams:
    """The streams of all pods. ``run_of`` finds what the kubelet knows of one, ``wake`` has it look at one again."""

    def __init__(
        self, ctx: Context, run_of: Callable[[ReadOnlyTree], PodRun | None], wake: Callable[[ObjectKey], object],
    ) -> None:
        self._clock, self._activity, self._run_of, self._wake = ctx.clock, ctx.activity, run_of, wake
        self._on_exec: OnExec | None = ctx.options.get("on_exec")
        self._on_connect: OnConnect | None = ctx.options.get("on_connect")
        self._followers: dict[str, dict[Follower, None]] = {}
        self._files: dict[str, dict[tuple[str, int], Files]] = {}
        self._dialled: dict[Dialled, None] = {}

    # what the kubelet tells

    def look(self, uid: str) -> None:
        """Something may have happened to a pod."""
        if uid in self._followers:
            for follower in list(self._followers[uid]):
                follower.look()

    def forget(self, uid: str) -> None:
        """A pod has gone: what follows it ends."""
        for follower in list(self._followers.pop(uid, ())):
            follower.close()
        self._files.pop(uid, None)

    def close(self) -> None:
        """End everything."""
        for uid in list(self._followers):
            self.forget(uid)
        for dialled in list(self._dialled):
            dialled.hang_up()

    # what a node is asked for

    async def execute(self, options: CommandOptions) -> Command:
        """A command in a running container. Raises NodeError when it does not run."""
        _, container = self._running(options)
        if container is None:
            raise NodeError(500, f'container not found ("{options.container}")')
        files = self._files_of(options.pod, container)

        async def run(streams: CommandStreams) -> int:
            return await self._run(options, container, streams, files, "executing command in container")

        return run

    async def attach(self, options: CommandOptions) -> Command:
        """What a running container logs from now on; if it has an input, its own command with what is sent."""
        run, container = self._running(options)
        if run is None or container is None:
            raise NodeError(500, f"container {options.container} not found in pod {_full_name(options.pod)}")
        spec = _spec(options)
        own = CommandOptions(
            options.pod, options.container, (*(spec.get("command") or ()), *(spec.get("args") or ())) or ("sh",),
            options.stdin, options.stdout, options.stderr, bool(spec.get("tty")))

        async def attached(streams: CommandStreams) -> int:
            await self._attach(run, container, own, streams)
            return 0

        return attached

    async def forward(self, pod: ReadOnlyTree) -> Forward:
        """The way to the ports of a running pod. Raises NodeError."""
        running = self._any_running(pod)
        if running is None:
            raise NodeError(500, f'pod not found ("{_full_name(pod)}")')

        async def connect(streams: PortStreams) -> None:
            serving = self._serve(Connection(pod, streams, self._clock))
            if await self._while_running(meta.uid_of(pod), running, serving, asyncio.Event()) is None:
                raise StreamError("the pod runs no longer")

        return connect

    async def dial(self, pod: ReadOnlyTree, port: int) -> Dialled:
        """A connection to a port on which ``on_connect`` listens. ConnectionRefusedError when nothing runs that could; reading
        from it raises that when ``on_connect`` does not care for the port.
        """
        running = self._any_running(pod)
        if running is None or self._on_connect is None:
            raise ConnectionRefusedError

        async def connect(streams: PortStreams) -> None:
            serving = self._answer_at(Connection(pod, streams, self._clock))
            if await self._while_running(meta.uid_of(pod), running, serving, asyncio.Event()) is None:
                raise StreamError("EOF")

        dialled = Dialled(port, self._activity, connect, lambda gone: self._dialled.pop(gone, None))
        self._dialled[dialled] = None
        return dialled

    def follow(
        self, uid: str, container: Container, skip: int, tell: Callable[[Line], None], ended: Callable[[], None],
    ) -> Callable[[], None]:
        """Tell of a container's lines as they come, without the first ``skip``; call what is returned to hear no more."""
        mine = self._followers.setdefault(uid, {})

        def over() -> None:
            mine.pop(follower, None)
            ended()

        follower = Follower(self._clock, container, skip, tell, over)
        mine[follower] = None
        follower.look()

        def stop() -> None:
            follower.stop()
            mine.pop(follower, None)

        return stop

    def follow_log(
        self, pod: ReadOnlyTree, container: str, skip: int, tell: Callable[[Line], None], ended: Callable[[], None],
    ) -> Callable[[], None]:
        """The same for a container by its name; it has ended if it is not known."""
        run = self._run_of(pod)
        found = next((c for c in run.containers if c.name == container), None) if run is not None else None
        if found is None:
            ended()
            return lambda: None
        return self.follow(meta.uid_of(pod), found, skip, tell, ended)

    # how it is answered

    async def _run(
        self, options: CommandOptions, container: Container, client: CommandStreams, files: Files, what: str, *,
        attached: bool = False,
    ) -> int:
        """Run a command to its end, or to the container's; at a terminal if there is one."""
        uid, tasks, over = meta.uid_of(options.pod), Tasks(lambda _: None), asyncio.Event()
        killed = SIGKILL_CODE

        def interrupt() -> None:
            nonlocal killed
            killed = INTERRUPTED
            over.set()

        try:
            if options.tty:
                from fakekube_controllers.kubelet.server.terminal import Terminal

                terminal = Terminal(client, interrupt)
                tasks.spawn(terminal.type(), "terminal")  # a client that has gone is noticed by who writes to it
                client = terminal.streams
            process = Process(options, client, self._clock, files, attached=attached)
            code = await self._while_running(uid, container, self._answer(process, what), over)
            return killed if code is None else code
        finally:
            await tasks.close()

    async def _while_running(self, uid: str, container: Container, work: Coroutine[Any, Any, T], over: asyncio.Event) -> T | None:
        """What the work comes to; None when it was over before, which it is when the container ends."""
        stop, tasks = self.follow(uid, container, len(container.log), lambda _: None, over.set), Tasks(lambda _: None)
        try:
            working = tasks.spawn(work, "stream")
            await asyncio.wait((working, tasks.spawn(over.wait(), "end of a container")), return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            stop()
            await tasks.close()

    async def _answer_at(self, connection: Connection) -> bool:
        with self._activity.busy():
            if not await self._serve_by_callback(connection):
                raise ConnectionRefusedError
        return True

    async def _serve_by_callback(self, connection: Connection) -> bool:
        """Whether the callback took it. Raises StreamError when it raised."""
        if self._on_connect is None:
            return False
        served, error = await attempt_async(self._on_connect, connection)
        if error is not None:
            raise _failed("on_connect", error)
        return served is not False

    async def _serve(self, connection: Connection) -> bool:
        if await self._serve_by_callback(connection):
            return True
        while data := await connection.read():
            await connection.write(data)
        return True

    async def _answer(self, process: Process, what: str) -> int:
        answer: Answer = None
        if self._on_exec is not None:
            answer, error = await attempt_async(self._on_exec, process)
            if error is not None:
                raise _failed(f"error {what}: on_exec", error)
        if answer is None:
            answer = _annotated(process)
        if answer is None:
            from fakekube_controllers.kubelet.shell.shell import Shell

            shell = Shell(process.files, process.environment, process.clock)
            return await shell.execute(process.command, Io(process, process.write, process.write_error))
        result = _result(answer)
        if result is None:
            raise StreamError(f"error {what}: on_exec returned {answer!r}, which is no answer")
        await process.write(result.stdout)
        await process.write_error(result.stderr)
        return result.exit_code

    async def _attach(self, run: PodRun, container: Container, own: CommandOptions, client: CommandStreams) -> None:
        tasks, lines, spec = Tasks(lambda _: None), Pipe(), _spec(own)
        told = sum(1 for at, _ in container.log if at <= self._clock.time())
        stop = self.follow(
            meta.uid_of(run.pod), container, told, lambda line: lines.feed(f"{line[1]}\n".encode()), lines.end)

        async def write_lines() -> None:
            from fakekube_controllers.kubelet.server.terminal import with_returns

            output = with_returns(client.stdout) if own.tty else client.stdout
            while data := await lines.read():
                await output(data)

        async def command() -> None:
            files = self._files_of(own.pod, container)
            code = await self._run(own, container, client, files, "attaching to container", attached=True)
            if container.running and (spec.get("stdinOnce") or not client.stdin.ended):
                container.ends_at = self._clock.time()
                container.outcome = replace(container.outcome or Outcome(), exit_code=code)
                self._wake(meta.key_of(run.pod))

        try:
            both = [tasks.spawn(write_lines(), "attached output")]
            if own.stdin and spec.get("stdin"):
                both.append(tasks.spawn(command(), "attached command"))
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_EXCEPTION)
            for task in both:
                if task in done:
                    task.result()
        finally:
            stop()
            await tasks.close()

    # what is known

    def _running(self, options: CommandOptions) -> tuple[PodRun | None, Container | None]:
        run = self._run_of(options.pod)
        if run is None:
            return None, None
        return run, next((c for c in run.containers if c.name == options.container and c.running), None)

    def _any_running(self, pod: ReadOnlyTree) -> Container | None:
        """A container of a pod that runs."""
        run = self._run_of(pod)
        return next((container for container in run.containers if container.running), None) if run is not None else None

    def _files_of(self, pod: ReadOnlyTree, container: Container) -> Files:
        mine = self._files.setdefault(meta.uid_of(pod), {})
        return mine.setdefault((container.name, container.restart_count), Files())


def _spec(options: CommandOptions) -> ReadOnlyTree:
    """The specification of the container that is meant."""
    spec = options.pod["spec"]
    fields = ("containers", "initContainers", "ephemeralContainers")
    found: ReadOnlyTree = next(c for field in fields for c in spec.get(field) or () if c["name"] == options.container)
    return found


def _full_name(pod: ReadOnlyTree) -> str:
    return f"{meta.name_of(pod)}_{meta.namespace_of(pod)}"


def _annotated(process: Process) -> Answer:
    """What the pod's annotation says of a command. Raises StreamError for an annotation that cannot be meant."""
    annotations = process.pod["metadata"].get("annotations") or {}
    text = annotations.get(f"{PREFIX}exec.{process.container}", annotations.get(f"{PREFIX}exec"))
    if text is None:
        return None
    try:
        said = orjson.loads(text)
        answer = said.get(" ".join(process.command))
    except (orjson.JSONDecodeError, AttributeError) as error:
        raise StreamError(f"annotation {PREFIX}exec is no JSON object: {text}") from error
    if isinstance(answer, dict):
        return Result(_line(answer.get("stdout", "")), _line(answer.get("stderr", "")), int(answer.get("exitCode", 0)))
    if answer is None or isinstance(answer, int):
        return answer
    return Result(_line(answer))


def _line(text: object) -> str:
    return f"{text}\n" if text and not str(text).endswith("\n") else str(text)


def _result(answer: Answer) -> Result | None:
    if isinstance(answer, Result):
        return answer
    if isinstance(answer, int):
        return Result(exit_code=answer % 256)
    return Result(answer) if isinstance(answer, str | bytes) else None


def _failed(who: str, error: Exception) -> StreamError:
    """What a client is told of an author's function that raised; the author finds the traceback in the log."""
    log.error("%s raised", who, exc_info=error)
    return StreamError(f"{who} raised {type(error).__name__}: {error}")
