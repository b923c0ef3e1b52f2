"""Commands in containers: exec, and attaching to a container's own command.

A command is answered by the callback ``on_exec``, then by the pod's annotation
``fakekube.dev/exec``, then by the shell. The annotation is JSON, from command lines to what they
come to: an output, an exit code, or an object with ``stdout``, ``stderr`` and ``exitCode``.
Upstream: pkg/kubelet/kubelet_pods.go (GetExec, GetAttach) and k8s.io/cri-streaming.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from fakekube.apimachinery import meta
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.streams import Command, CommandOptions, CommandStreams, NodeError, StreamError
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.controller import attempt_async
from fakekube.util.clock import Clock
from fakekube.util.pipe import Pipe
from fakekube.util.tasks import Tasks
from fakekube_controllers.kubelet.containers.container import SIGKILL_CODE, Container
from fakekube_controllers.kubelet.outcomes.annotations import exec_answer
from fakekube_controllers.kubelet.outcomes.outcome import Outcome
from fakekube_controllers.kubelet.pods.run import PodRun
from fakekube_controllers.kubelet.pods.runs import PodRuns
from fakekube_controllers.kubelet.server.lifetime import callback_failed, while_running
from fakekube_controllers.kubelet.server.logs import ContainerLogs
from fakekube_controllers.kubelet.server.process import Answer, OnExec, Process
from fakekube_controllers.kubelet.shell.files import Files
from fakekube_controllers.kubelet.shell.session import Io, Result

INTERRUPTED_CODE = 130  # of a command that ^C ended

log = logging.getLogger(__name__)


class Exec:
    """The commands of all containers. ``wake(key)`` has the kubelet look at a pod again."""

    def __init__(
        self, clock: Clock, runs: PodRuns, logs: ContainerLogs, on_exec: OnExec | None, wake: Callable[[ObjectKey], object],
    ) -> None:
        self._clock, self._runs, self._logs, self._on_exec, self._wake = clock, runs, logs, on_exec, wake
        # by the pod's uid; by container and restart
        self._files: dict[str, dict[tuple[str, int], Files]] = {}

    def pod_gone(self, uid: str) -> None:
        """A pod was deleted: its files go."""
        self._files.pop(uid, None)

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
        """What a running container logs from now on; if it has an input, its own command with what
        is sent. Raises NodeError.
        """
        run, container = self._running(options)
        if run is None or container is None:
            name = f"{meta.name_of(options.pod)}_{meta.namespace_of(options.pod)}"
            raise NodeError(500, f"container {options.container} not found in pod {name}")
        spec = _spec(options)
        own = CommandOptions(
            options.pod, options.container, (*(spec.get("command") or ()), *(spec.get("args") or ())) or ("sh",),
            options.stdin, options.stdout, options.stderr, bool(spec.get("tty")))

        async def attached(streams: CommandStreams) -> int:
            await self._attach(run, container, own, streams)
            return 0

        return attached

    async def _run(
        self, options: CommandOptions, container: Container, client: CommandStreams, files: Files, what: str, *,
        attached: bool = False,
    ) -> int:
        """Run a command to its end, or to the container's; at a terminal if there is one."""
        uid, tasks, over = meta.uid_of(options.pod), Tasks(lambda _: None), asyncio.Event()
        killed_code = SIGKILL_CODE

        def interrupt() -> None:
            nonlocal killed_code
            killed_code = INTERRUPTED_CODE
            over.set()

        try:
            if options.tty:
                from fakekube_controllers.kubelet.server.terminal import Terminal

                terminal = Terminal(client, interrupt)
                # a client that has gone is noticed by who writes to it
                tasks.spawn(terminal.type(), "terminal")
                client = terminal.streams
            process = Process(options, client, self._clock, files, attached=attached)
            code = await while_running(self._logs, uid, container, self._answer(process, what), over)
            return killed_code if code is None else code
        finally:
            await tasks.close()

    async def _answer(self, process: Process, what: str) -> int:
        answer: Answer = None
        if self._on_exec is not None:
            answer, error = await attempt_async(self._on_exec, process)
            if error is not None:
                raise callback_failed(f"error {what}: on_exec", error, log)
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
        logged = sum(1 for at, _ in container.log if at <= self._clock.time())
        stop = self._logs.follow_container(
            meta.uid_of(run.pod), container, logged, lambda line: lines.feed(f"{line[1]}\n".encode()), lines.end)

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

    def _running(self, options: CommandOptions) -> tuple[PodRun | None, Container | None]:
        run = self._runs.find_for_change(options.pod)
        if run is None:
            return None, None
        container = run.container(options.container)
        return run, container if container is not None and container.running else None

    def _files_of(self, pod: ReadOnlyTree, container: Container) -> Files:
        files = self._files.setdefault(meta.uid_of(pod), {})
        return files.setdefault((container.name, container.restart_count), Files())


def _spec(options: CommandOptions) -> ReadOnlyTree:
    """The specification of the container that the options name."""
    spec = options.pod["spec"]
    fields = ("containers", "initContainers", "ephemeralContainers")
    found: ReadOnlyTree = next(c for field in fields for c in spec.get(field) or () if c["name"] == options.container)
    return found


def _annotated(process: Process) -> Answer:
    """What the pod's annotation says of a command. Raises StreamError for an invalid annotation."""
    try:
        answer = exec_answer(meta.annotations_of(process.pod), process.container, process.command)
    except ValueError as error:
        raise StreamError(str(error)) from error
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
