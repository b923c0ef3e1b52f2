"""One run of an operator outside of the cluster: what is said of it while it lives and when it
ends, and when the next begins.
"""

import asyncio
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from fakekube.runtime.component import WrongOption
from fakekube.testing import operatorruns, operators
from fakekube.testing.operatorruns import CommandRun, OperatorDied
from fakekube.testing.operators import OutsideOperator, _Life, thread_operator


def command(folder: Path, program: str, **more: Any) -> CommandRun:
    run = CommandRun(folder / "kubeconfig", [sys.executable, "-c", program], more.get("environment", {}), more.get("directory"))
    assert (run.process, run.told()) == (None, "")
    run.begin()
    assert run.process is not None
    return run


@pytest.mark.parametrize(("program", "told", "last"), [
    ("import sys; print('a'); print(); print('b '); sys.exit(3)",
     "has ended with exit code 3, its last lines were:\n  a\n  b", "b"),
    ("import sys; sys.exit(1)", "has ended with exit code 1, and has said nothing", ""),
    ("import os, sys; print('x', flush=True); os.kill(os.getpid(), 9)", "was killed by signal 9, its last lines were:\n  x", "x"),
    ("print('fine')", None, "fine"),
    ("import sys; [print(n) for n in range(25)]; sys.exit(2)",
     "has ended with exit code 2, its last lines were:" + "".join(f"\n  {number}" for number in range(5, 25)), "24"),
])
def test_a_command_that_ends(tmp_path: Path, program: str, told: str | None, last: str) -> None:
    """Given a command, when it ends, then it is told how, with the last twenty lines that say
    something; one that ends well has nothing wrong.
    """
    run = command(tmp_path, program)
    if told is None:
        run.work()
    else:
        with pytest.raises(OperatorDied) as died:
            run.work()
        assert str(died.value) == told
    assert run.told() == last
    run.kill()


def test_where_a_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a command with an environment and a folder, when it begins, then it has both, this
    process's environment beside them, its own kubeconfig, no input and a group of its own.
    """
    monkeypatch.setenv("FROM_HERE", "1")
    monkeypatch.setenv("MINE", "2")
    (tmp_path / "below").mkdir()
    names = "FROM_HERE", "MINE", "KUBECONFIG"
    run = command(
        tmp_path, f"import os, sys; print(*[os.environ[n] for n in {names}], os.getcwd(), repr(sys.stdin.read()), "
        "os.getpgrp() == os.getpid())", environment={"MINE": "3", "KUBECONFIG": "x"}, directory=tmp_path / "below")
    run.work()
    assert run.told() == f"1 3 {tmp_path / 'kubeconfig'} {tmp_path / 'below'} '' True"
    assert (tmp_path / "kubeconfig.log").exists()
    waits = command(tmp_path / "below", "import time; time.sleep(60)")
    waits.kill()
    with pytest.raises(OperatorDied, match=r"^was killed by signal 9, and has said nothing$"):
        waits.work()
    waits.kill()


class Held:
    """An activity, an operator's server, and a run that ends when it is told to."""

    process = 7

    def __init__(self) -> None:
        self.held, self.calls, self.processes = 0, list[str](), dict[int, None]()
        self.kubeconfig, self.last = "text", ""
        self.is_to_end = threading.Event()
        self.error: Exception | None = None
        self.on_release: Any = lambda: None

    def hold(self) -> None:
        self.held += 1

    def release(self) -> None:
        self.held -= 1
        self.on_release()

    def begin(self) -> None:
        self.calls.append("begin")

    def work(self) -> None:
        self.is_to_end.wait(10)
        if self.error is not None:
            raise self.error

    def kill(self) -> None:
        self.calls.append("kill")

    def told(self) -> str:
        return self.last

    def break_off(self) -> None:
        self.calls.append("break off")

    async def stop(self) -> None:
        self.calls.append("stop")

    def life(self, stop_seconds: float = 5.0) -> Any:
        life = _Life("shop", cast("Any", self), stop_seconds)
        life.server = cast("Any", self)
        return life


async def test_what_is_said_of_a_run() -> None:
    """Given a run, when it begins, watches, says something and ends, then its state is told; it is
    waited for until it has begun, and it has a kubeconfig that nobody else can read.
    """
    held, paths = Held(), list[Path]()
    life = held.life()
    assert str(life) == "runs"

    def make(path: Path) -> Any:
        paths.append(path)
        return held

    life.begin(make, 60.0)
    assert (str(life), held.held, held.processes) == ("has neither watched nor written yet", 1, {7: None})
    assert (paths[0].name, paths[0].read_text(), paths[0].stat().st_mode & 0o777) == ("kubeconfig", "text", 0o600)
    assert paths[0].parent.name.startswith("fakekube-shop-")
    life.release()
    life.release()
    held.last = "hello"
    assert (str(life), held.held) == ("runs, and said last: hello", 0)
    held.error = ValueError("x")
    held.is_to_end.set()
    wrong = await life.is_over()
    assert (str(life), repr(wrong), held.held) == ("has ended, and said last: hello", "ValueError('x')", 0)
    await life.close()
    assert (paths[0].parent.exists(), held.calls, held.processes) == (False, ["begin", "stop"], {})


async def test_a_run_that_is_killed() -> None:
    """Given a run, when it is killed, then its connections break and it is told, once; its error is
    none, and one that goes on for too long is.
    """
    held = Held()
    held.error = ValueError("x")
    life = held.life()
    life.begin(lambda _: held, 60.0)
    life.kill()
    life.kill()
    assert (held.calls, held.held, life.is_killed) == (["begin", "break off", "kill"], 0, True)
    held.is_to_end.set()
    assert await life.is_over() is None
    await life.close()
    held = Held()
    life = held.life(0.01)
    life.begin(lambda _: held, 60.0)
    life.kill()
    assert str(await life.is_over()) == (
        "goes on 0.01 s after it was killed: its thread has to end when the event is set that it got, "
        "or when its connections break")
    held.is_to_end.set()
    await life.close()


async def test_a_run_that_does_not_begin_is_not_waited_for_longer() -> None:
    """Given a run that neither watches nor writes, when its time to begin is over, then time may
    pass.
    """
    held = Held()
    life = held.life()
    life.begin(lambda _: held, 0.01)
    assert held.held == 1
    released = asyncio.Event()
    held.on_release = released.set
    await asyncio.wait_for(released.wait(), 5)
    assert held.held == 0
    assert str(life) == "runs"
    held.is_to_end.set()
    await life.is_over()
    await life.close()


@pytest.mark.parametrize(("deaths", "seconds"), [(0, 0), (1, 10), (2, 20), (3, 40), (5, 160), (6, 300), (9, 300)])
async def test_when_the_next_run_begins(deaths: int, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an operator that has died so often, when it is to start again, then it does at once at
    first, then later and later as a kubelet has it, and five minutes later at most.
    """
    slept, begun = list[float](), list[int]()

    class Busy:
        """A block."""

        def __enter__(self) -> None:
            begun.append(-1)

        def __exit__(self, *_: object) -> None:
            begun.append(-2)

    async def sleep(duration: float) -> None:
        slept.append(duration)

    async def begin(_self: object, _ctx: object, count: int) -> None:
        begun.append(count)

    operator = OutsideOperator("shop", cast("Any", None), cast("Any", None), restarts=True, start_seconds=1, stop_seconds=1)
    monkeypatch.setattr(OutsideOperator, "_begin", begin)
    ctx: Any = SimpleNamespace(clock=SimpleNamespace(sleep=sleep), activity=SimpleNamespace(busy=Busy))
    await operator._begin_again(ctx, deaths)
    assert (slept, begun) == ([seconds], [-1, deaths + 1, -2])


@pytest.mark.parametrize(("wrong", "restarts", "killed", "lasted", "outcome"), [
    (None, False, False, 1, None), (None, False, True, 1, None),
    (ValueError("x"), False, False, 1, "the operator shop has died of ValueError: x"),
    (OperatorDied("has ended with exit code 1"), False, False, 1, "the operator shop has ended with exit code 1"),
    (ValueError("x"), True, False, 600, 4), (None, True, False, 601, 0), (None, True, True, 1, None),
    (ValueError("x"), True, True, 1, "the operator shop has died of ValueError: x"),
])
async def test_what_follows_the_end_of_a_run(
    wrong: Any, restarts: bool, killed: bool, lasted: float, outcome: Any, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a run that has ended, when nobody has killed it, then another follows where it is to,
    with what is known of its deaths unless it lived long; else a bad end is an error.
    """
    times, spawned, calls = [0.0, float(lasted)], list[str](), list[Any]()

    async def is_over() -> Any:
        return wrong

    async def close() -> None:
        calls.append("close")

    async def begin_again(_self: object, _ctx: object, deaths: int) -> None:
        calls.append(deaths)

    def spawn(coro: Any, name: str) -> Any:
        spawned.append(name)
        return asyncio.get_running_loop().create_task(coro)

    monkeypatch.setattr(OutsideOperator, "_begin_again", begin_again)
    operator = OutsideOperator("shop", cast("Any", None), cast("Any", None), restarts=restarts, start_seconds=1, stop_seconds=1)
    ctx: Any = SimpleNamespace(clock=SimpleNamespace(time=lambda: times.pop(0)), tasks=SimpleNamespace(spawn=spawn))
    life: Any = SimpleNamespace(is_over=is_over, is_killed=killed, close=close)
    if isinstance(outcome, str):
        with pytest.raises(OperatorDied) as died:
            await operator._watch_over(ctx, life, 4)
        assert (str(died.value), died.value.__cause__) == (outcome, wrong)
    else:
        await operator._watch_over(ctx, life, 4)
    await asyncio.sleep(0)
    if isinstance(outcome, int):
        how = "has ended" if wrong is None else "has died of ValueError: x"
        assert (spawned, calls) == (["restart of shop"], ["close", outcome])
        assert caplog.messages == [f"the operator shop {how}, and starts again"]
    else:
        assert (spawned, calls, caplog.messages) == ([], [], [])


async def test_an_operator_where_no_cluster_is() -> None:
    """Given a context without a server for it, when an operator is to start, then it is told that
    it is a client; one that never started can be killed, stopped and asked.
    """
    operator = OutsideOperator("shop", cast("Any", None), cast("Any", None), restarts=False, start_seconds=1, stop_seconds=1)
    with pytest.raises(WrongOption) as refused:
        await operator.start(cast("Any", SimpleNamespace(options={}, explainers=[])))
    assert (str(refused.value), refused.value.option) == (
        "the operator shop is for clusters in tests: it is a client, run it as it is", "extra")
    operator.kill()
    await operator.stop()
    assert list(operator._explain()) == []
    assert (operators.START_SECONDS, operators.STOP_SECONDS) == (15.0, 5.0)


@pytest.mark.parametrize(("terms", "name", "groups"), [
    ({}, "shop", ["system:masters"]), ({"user": "jane"}, "jane", []), ({"groups": ["g"]}, "shop", ["g"]),
    ({"user": "jane", "groups": ["g"]}, "jane", ["g"]),
])
async def test_who_an_operator_is(terms: Any, name: str, groups: list[str]) -> None:
    """Given terms, when an operator is declared, then it is an administrator of its own name unless
    a user is named.
    """
    made: Any = thread_operator("shop", lambda *_: None, **terms)
    operator = made.make() if hasattr(made, "make") else made
    user = getattr(operator, "user", None) or made.user
    assert (user.name, [group for group in user.groups if group != "system:authenticated"]) == (name, groups)


def test_the_connection_of_kopf(tmp_path: Path) -> None:
    """Given a kubeconfig of ours, when kopf is to use it, then it knows that server alone."""
    file = tmp_path / "kubeconfig"
    for authority, data in (({}, None), ({"certificate-authority-data": "PEM"}, "PEM")):
        tree = {"clusters": [{"cluster": {"server": "https://h:1", **authority}}, {"cluster": {"server": "x"}}],
                "users": [{"user": {"token": "t"}}, {"user": {"token": "u"}}]}
        file.write_bytes(orjson.dumps(tree))
        (found,) = operatorruns._vault(file)._current.values()
        info: Any = found.info
        assert (info.server, info.token, info.ca_data, info.default_namespace) == ("https://h:1", "t", data, "default")
