"""Commands in containers, attaching, ports and followed logs: who answers, and when it ends."""

import asyncio

import pytest

from fakekube.apimachinery.http import Frame
from fakekube.apimachinery.streams import NodeError, StreamError
from fakekube.apiserver.nodeproxy import LogOptions
from fakekube_controllers.kubelet import Result
from tests.controllers.kubelet.machine import Machine, container
from tests.controllers.kubelet.streaming import PortClient, agents, attach, begin, execute, options


@pytest.fixture
async def running(machine):
    """A pod that runs until it is deleted."""
    await machine.run(restart_policy="Always")
    await machine.advance(2)
    return machine


# who answers


async def answering(callback, *command, annotations=None, stdin=b""):
    """What a command comes to in a cluster with that callback."""
    async with Machine(on_exec=callback) as machine:
        await machine.run(restart_policy="Always", annotations=annotations)
        await machine.advance(2)
        return await execute(machine, *command, stdin=stdin)


@pytest.mark.parametrize(("answer", "expected"), [
    (Result("out", b"err", 4), (4, "out", "err")), ("text", (0, "text", "")), (b"bytes", (0, "bytes", "")), (3, (3, "", "")),
    ("", (0, "", "")), (None, (0, "nginx\n", "")),
])
async def test_a_callback_answers_first(answer, expected):
    """Given a callback / when it returns what a command comes to / then that is it; None leaves it
    to the next.
    """
    assert await answering(lambda _: answer, "nginx") == expected


async def test_a_callback_may_talk():
    """Given an async callback / when it reads, writes and sleeps / then the client has a
    conversation.
    """
    async def greet(process):
        await process.write("who? ")
        name = (await process.read_line()).decode().strip()
        await process.write_error(f"{process.command[0]} {name} in {process.container}")
        return 7

    assert await answering(greet, "greet", stdin=b"robin\n") == (7, "who? ", "greet robin in main")


def raising(process):
    raise LookupError("no such table")


@pytest.mark.parametrize(("callback", "text"), [
    (raising, "error executing command in container: on_exec raised LookupError: no such table"),
    (lambda _: [1], r"error executing command in container: on_exec returned \[1\], which is no answer"),
])
async def test_a_callback_that_fails_is_named(callback, text):
    """Given a callback that raises, or returns nonsense / when a command runs / then its client is
    told so.
    """
    with pytest.raises(StreamError, match=f"^{text}$"):
        await answering(callback, "ls")


@pytest.mark.parametrize(("text", "command", "expected"), [
    ('{"ls -l": "one\\ntwo"}', ["ls", "-l"], (0, "one\ntwo\n", "")), ('{"false": 0, "true": 9}', ["true"], (9, "", "")),
    ('{"db": {"stdout": "a", "stderr": "b", "exitCode": 2}}', ["db"], (2, "a\n", "b\n")),
    ('{"other": 1}', ["echo", "x"], (0, "x\n", "")),
])
async def test_an_annotation_answers_by_command_line(text, command, expected):
    """Given an annotation with command lines / when one of them runs / then it comes to what is
    written there.
    """
    assert await answering(None, *command, annotations={"exec": text}) == expected


@pytest.mark.parametrize("text", ["ls", "[]", '"x"'])
async def test_an_annotation_that_cannot_be_meant_is_told(text):
    """Given an annotation that is no JSON object / when a command runs / then its client is told
    so.
    """
    with pytest.raises(StreamError, match=r"annotation fakekube.dev/exec is no JSON object"):
        await answering(None, "ls", annotations={"exec": text})


async def test_an_annotation_may_speak_of_one_container():
    """Given two containers / when an annotation names one / then the other answers as usual."""
    async with Machine() as machine:
        await machine.run(container("a"), container("b"), restart_policy="Always", annotations={"exec.a": '{"id": "A"}'})
        await machine.advance(2)
        assert await execute(machine, "id", container="a") == (0, "A\n", "")
        assert await execute(machine, "id", container="b") == (0, "id\n", "")


# what does not run


async def test_only_what_runs_can_be_reached(machine):
    """Given a pod that has not started, or that has ended / when somebody connects / then the
    kubelet does not find it.
    """
    await machine.run(annotations={"start-delay": "5s"})
    for _ in range(2):
        with pytest.raises(NodeError, match=r'^container not found \("main"\)$'):
            await agents(machine).execute(await options(machine, "ls"))
        with pytest.raises(NodeError, match=r"^container main not found in pod p_default$"):
            await agents(machine).attach(await options(machine))
        with pytest.raises(NodeError, match=r'^pod not found \("p_default"\)$'):
            await agents(machine).forward(await machine.pod())
        await machine.advance(60)


@pytest.mark.parametrize("tty", [False, True])
async def test_a_command_dies_with_its_container(machine, tty):
    """Given a command that runs for long / when its container ends / then it is killed; the same
    when the pod is deleted.
    """
    await machine.run(annotations={"run-duration": "10s"}, restart_policy="Always")
    await machine.advance(2)
    session = await begin(machine, "sleep", "1d", tty=tty)
    await machine.advance(10)
    assert await session.code() == 137
    session = await begin(machine, "cat", tty=tty)
    await machine.delete(grace_period_seconds=0)
    assert await session.code() == 137


async def test_a_command_dies_with_the_kubelet(running):
    """Given a command that runs for long / when the kubelet stops / then the command does, and
    nothing of it is left.
    """
    session = await begin(running, "cat")
    await running.cluster.manager.stop_component("kubelet")
    assert await session.code() == 137


async def test_nothing_is_left_of_a_cancelled_command(running):
    """Given a command at a terminal / when its client goes / then every task of it has ended."""
    before = len(asyncio.all_tasks())
    session = await begin(running, "sh", tty=True)
    session.task.cancel()
    await asyncio.wait((session.task,))
    assert len(asyncio.all_tasks()) == before


async def test_an_idle_command_leaves_time_alone():
    """Given a clock that jumps when nothing is to be done / when a command waits for its input /
    then time stands still; when one sleeps, time jumps there.
    """
    async def runs():
        return await machine.phase() == "Running"

    async with Machine(clock="auto", controllers="kubelet,scheduler,serviceaccount") as machine:
        clock = machine.cluster.clock
        await machine.run(restart_policy="Always")
        await machine.cluster.run_until(runs)
        waiting, before = await begin(machine, "cat"), clock.time()
        for _ in range(3):
            waiting.stdin.feed(b"x")
            await machine.cluster.settle()
        assert (waiting.says(), clock.time()) == ("xxx", before)
        assert await (await begin(machine, "sleep", "1h")).code() == 0
        assert clock.time() == before + 3600
        waiting.stdin.end()
        assert await waiting.code() == 0


# terminals


async def test_a_terminal_echoes_and_edits(running):
    """Given a shell at a terminal / when keys come / then they are echoed, a line is run when it is
    finished, a deleted key is not in it; the end of input ends the shell.
    """
    session = await begin(running, "sh", tty=True)
    assert session.says() == "/ # "
    session.stdin.feed(b"echo hx\x7fi")
    await running.cluster.settle()
    assert session.says() == "echo hx\b \bi"
    session.stdin.feed(b"\r")
    await running.cluster.settle()
    assert session.says() == "\r\nhi\r\n/ # "
    session.stdin.feed(b"\x7f\x04")
    assert await session.code() == 0


async def test_an_interrupt_ends_a_command_at_a_terminal(running):
    """Given a command at a terminal / when ^C is typed / then it ends as by that signal."""
    session = await begin(running, "sleep", "infinity-ish", tty=True)
    assert await session.code() == 1
    session = await begin(running, "sleep", "1d", tty=True)
    session.stdin.feed(b"abc\x03")
    assert await session.code() == 130
    assert session.says() == "abc^C\r\n"


async def test_a_command_knows_the_size_of_its_terminal():
    """Given a terminal whose size was told / when a callback asks / then it has columns and rows;
    None before.
    """
    sizes = []

    async def look(process):
        sizes.append(process.size)
        await process.read()
        sizes.append(process.size)
        return 0

    async with Machine(on_exec=look) as machine:
        await machine.run(restart_policy="Always")
        await machine.advance(2)
        session = await begin(machine, "vi", tty=True)
        session.size.columns, session.size.rows = 80, 24
        session.stdin.end()
        await session.code()
    assert sizes == [None, (80, 24)]


# attaching


async def test_attaching_shows_what_is_logged_from_then_on(machine):
    """Given a container that logs / when somebody attaches / then they see what comes, not what
    came, until it ends.
    """
    await machine.run(container("main", "sh", "-c", "echo one; sleep 10; echo two; sleep 10"))
    await machine.advance(2)
    session = await attach(machine)
    await machine.advance(8)
    assert session.says() == ""
    await machine.advance(2)
    assert session.says() == "two\n"
    await machine.advance(20)
    assert await session.code() == 0


async def test_who_attaches_speaks_to_the_containers_own_command(machine):
    """Given a container that reads its input / when somebody attaches and says exit / then the
    container ends with that code.
    """
    await machine.run(container("main", "sh", stdin=True, stdinOnce=True))
    await machine.advance(3600)
    assert await machine.phase() == "Running"
    session = await attach(machine, stdin=True)
    session.stdin.feed(b"echo hi\nexit 3\n")
    assert await session.code() == 0
    assert session.says() == "hi\n"
    await machine.cluster.settle()
    assert await machine.states() == [3]
    assert await machine.phase() == "Failed"


@pytest.mark.parametrize(("once", "phase"), [(True, "Succeeded"), (False, "Running")])
async def test_an_input_that_ends_once_ends_the_container(machine, once, phase):
    """Given a container whose input is opened once, or again and again / when a client ends it /
    then the container ends, or waits for the next.
    """
    await machine.run(container("main", "cat", stdin=True, stdinOnce=once))
    await machine.advance(2)
    session = await attach(machine, stdin=True)
    session.stdin.feed(b"x")
    session.stdin.end()
    await machine.cluster.settle()
    assert session.says() == "x"
    assert await machine.phase() == phase
    session.task.cancel()
    await asyncio.wait((session.task,))


async def test_who_attaches_is_told_what_went_wrong():
    """Given a callback that raises / when somebody attaches to a container that reads its input /
    then they are told.
    """
    async with Machine(on_exec=raising) as machine:
        await machine.run(container("main", "sh", stdin=True))
        await machine.advance(2)
        session = await attach(machine, stdin=True)
        with pytest.raises(StreamError, match="attaching to container: on_exec raised LookupError"):
            await session.code()
        assert await machine.phase() == "Running"


# ports


async def test_a_port_echoes_unless_somebody_answers(running):
    """Given no callback / when a client connects to any port / then what it sends comes back until
    it ends.
    """
    client = PortClient(8080)
    client.received.feed(b"ping")
    client.received.end()
    await (await agents(running).forward(await running.pod()))(client.streams)
    assert client.sent == b"ping"


async def test_a_callback_serves_ports():
    """Given a callback / when clients connect / then it serves the ports that it knows and leaves
    others to the echo; what it raises is told.
    """
    async def serve(connection):
        if connection.port == 1:
            raise OSError("refused")
        if connection.port != 80:
            return False
        line = await connection.read_line()
        await connection.write(f"HTTP/1.0 200 OK\r\n\r\n{connection.pod['metadata']['name']} {line.decode().strip()}")
        return None

    async with Machine(on_connect=serve) as machine:
        await machine.run(restart_policy="Always")
        await machine.advance(2)
        forward = await agents(machine).forward(await machine.pod())
        web, other, bad = PortClient(80), PortClient(81), PortClient(1)
        for client in (web, other, bad):
            client.received.feed(b"GET /\r\n")
            client.received.end()
        await forward(web.streams)
        await forward(other.streams)
        with pytest.raises(StreamError, match=r"^on_connect raised OSError: refused$"):
            await forward(bad.streams)
    assert (web.sent, other.sent) == (b"HTTP/1.0 200 OK\r\n\r\np GET /", b"GET /\r\n")


async def test_a_connection_ends_with_its_pod(running):
    """Given an open connection / when the pod is deleted / then the connection ends with a reason.
    """
    client = PortClient(80)
    serving = asyncio.ensure_future((await agents(running).forward(await running.pod()))(client.streams))
    await running.cluster.settle()
    await running.delete(grace_period_seconds=0)
    with pytest.raises(StreamError, match="runs no longer"):
        await serving


# logs


class Reader:
    """A Sink that keeps what it gets."""

    def __init__(self):
        self.text, self.ended = "", False

    def send(self, frame: Frame):
        assert not self.ended
        self.text += frame.data.decode()

    def end(self):
        assert not self.ended
        self.ended = True


async def follow(machine, **given):
    stream = await agents(machine).logs(await machine.pod(), "main", LogOptions(follow=True, **given))
    reader = Reader()
    stream.start(reader)
    return stream, reader


async def test_a_followed_log_comes_as_it_is_written(machine):
    """Given a container that speaks now and then / when its log is followed / then what was there
    comes at once, each line when its time has come, none twice, and the log ends with the
    container.
    """
    await machine.run(container("main", "sh", "-c", "echo one; sleep 10; echo two; sleep 10; echo three"))
    await machine.advance(1)
    _, reader = await follow(machine)
    _, last = await follow(machine, tail_lines=0, timestamps=True)
    assert reader.text == "one\n"
    await machine.advance(10)
    assert (reader.text, reader.ended) == ("one\ntwo\n", False)
    await machine.advance(10)
    assert (reader.text, reader.ended) == ("one\ntwo\nthree\n", True)
    assert [line.split()[1] for line in last.text.splitlines()] == ["two", "three"]


async def test_a_followed_log_stops_when_told(machine):
    """Given followers of a log / when one leaves, or has the bytes that it asked for / then it
    hears no more.
    """
    await machine.run(container("main", "sh", "-c", "echo one; sleep 10; echo two; sleep 10; echo three"))
    await machine.advance(1)
    stream, gone = await follow(machine)
    _, short = await follow(machine, limit_bytes=6)
    stream.stop()
    stream.stop()
    await machine.advance(30)
    assert (gone.text, gone.ended) == ("one\n", False)
    assert (short.text, short.ended) == ("one\ntw", True)


@pytest.mark.parametrize("end", ["over", "deleted", "stopped"])
async def test_a_followed_log_ends_with_what_it_follows(machine, end):
    """Given a follower / when the container is over already, its pod is deleted, or the kubelet
    stops / then the log ends.
    """
    await machine.run(annotations={"log": "x", "run-duration": "5s" if end == "over" else "forever"})
    await machine.advance(60 if end == "over" else 2)
    _, reader = await follow(machine)
    if end == "deleted":
        await machine.delete(grace_period_seconds=0)
    elif end == "stopped":
        await machine.cluster.manager.stop_component("kubelet")
    assert (reader.text, reader.ended) == ("x\n", True)


async def test_since_seconds_counts_from_now(machine):
    """Given lines of different age / when those of the last seconds are asked for / then only they
    come.
    """
    await machine.run(container("main", "sh", "-c", "echo one; sleep 10; echo two; sleep 100"))
    await machine.advance(15)
    assert await machine.log(query="sinceSeconds=10") == "two\n"
