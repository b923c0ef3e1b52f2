"""What is left when a cluster, a fleet or a block of claims has ended: nothing. And which
controllers run, by name, after what was asked.
"""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube import Cluster
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES
from fakekube.composition import controllermanager
from fakekube.composition.controllermanager import ControllerManager
from fakekube.composition.fleet import Fleet
from fakekube.composition.options import OptionError
from fakekube.runtime import controller
from fakekube.testing import Always, Eventually, HistoryError, LeadsTo, Never, checking
from fakekube.testing.runningclaims import Checking, ClaimError


def listeners(cluster: Cluster) -> list[int]:
    """How many listen: to new buckets, to the end of a storage, to each bucket, to the clock."""
    server = cluster.apiserver
    buckets = {str(bucket.resource): bool(bucket._subscribers) for bucket in server.storage.buckets}
    return [len(server.buckets._observers), len(server.storage.on_retire), sum(buckets.values())]


def has_map(state: Any) -> bool:
    return state.get(CONFIG_MAPS, "m") is not None


def config_map(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}}


@pytest.mark.parametrize("how", ["well", "broken", "in vain", "by an error", "given up", "at once", "after a reset"])
async def test_claims_leave_nothing_behind(how: str) -> None:
    """Given a cluster, when a block of claims ends, in whatever way, then nobody listens who did
    not before, no timer waits, and no failure is left.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        before, timers = listeners(cluster), []
        call_at = cluster.driver.clock.call_at

        def noted(*given: Any, **more: Any) -> Any:
            timers.append(call_at(*given, **more))
            return timers[-1]

        cluster.driver.clock.call_at = noted  # type: ignore[method-assign]
        claims: list[Any] = [Always(lambda state: state.revision > 0), LeadsTo(has_map, lambda _: False, within="1h")]
        claims.append(Eventually(lambda state: state.get(CONFIG_MAPS, "never"), within="1h"))
        if how == "broken":
            claims.append(Never(has_map))
        if how == "at once":
            claims = [Never(lambda state: state.list(NAMESPACES))]
        block = checking(cluster, *claims)
        if how == "at once":
            with pytest.raises(HistoryError):
                block.__enter__()
        else:
            block.__enter__()
            assert (listeners(cluster)[0] > before[0], listeners(cluster)[1] > before[1]) == (True, True)
            if how != "well":
                await cluster.client.create(CONFIG_MAPS, config_map("m"))
            if how == "after a reset":
                await cluster.reset()
                assert listeners(cluster)[0] > before[0]
            if how == "given up":
                block.give_up()
            elif how == "by an error":
                block.__exit__(ValueError, ValueError(), None)
            else:
                with pytest.raises(HistoryError):
                    block.__exit__(None, None, None)
        assert listeners(cluster) == before
        assert all(timer.cancelled for timer in timers)
        assert len(timers) >= (how != "at once")
        await cluster.settle()
        assert cluster.driver.take_failure() is None


async def test_a_claim_that_was_broken_is_a_note_of_another_error() -> None:
    """Given a block with a broken claim, when it ends with an error of its own, then that has a
    note; without a broken claim it has none; and what is no claim is refused.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        for claims, notes in (([Never(has_map)], 1), ([Always(lambda _: True)], 0)):
            error = ValueError("own")
            block = checking(cluster, *cast("Any", claims))
            block.__enter__()
            await cluster.client.create(CONFIG_MAPS, config_map("m"))
            block.__exit__(ValueError, error, None)
            told = getattr(error, "__notes__", [])
            assert (len(told), all(note.startswith("and a claim was broken: ") for note in told)) == (notes, True)
            await cluster.client.delete(CONFIG_MAPS, "m", "default")
        for wrong in (has_map, Never):
            with pytest.raises(ClaimError) as refused:
                checking(cluster, cast("Any", wrong))
            assert str(refused.value) == (
                f"{wrong!r} is no claim: say Always(p), Never(p), Eventually(p), Until(p, q) or LeadsTo(p, q)")
        assert isinstance(checking(cluster), Checking)


async def test_a_cluster_that_is_closed_has_closed_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a served cluster, when it is stopped, then servers, controllers, tasks, connections and
    recordings end, in this order, and nothing runs on.
    """
    cluster = Cluster(nodes=0, controllers="namespace", clock="manual")
    await cluster.start()
    served = await cluster.serve()
    calls: list[str] = []

    def note(part: Any, method: str, name: str) -> None:
        real = getattr(part, method)

        def called(*given: Any, **more: Any) -> Any:
            calls.append(name)
            return real(*given, **more)
        monkeypatch.setattr(part, method, called)

    for part, method, name in (
        (served, "stop", "server"), (cluster._controllers, "stop", "controllers"), (type(cluster._plane), "stop", "plane"),
        (cluster.tasks, "close", "tasks"), (cluster._calls, "close", "calls"), (cluster._front, "flush", "front"),
    ):
        note(part, method, name)
    assert cluster._controllers.is_running
    await cluster.stop()
    assert calls == ["server", "controllers", "plane", "tasks", "calls", "front"]
    assert (cluster._controllers.is_running, cluster._front.servers) == (False, [])
    assert [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_fleet_that_is_closed_has_closed_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a served fleet, when it is stopped, then its members are closed, the last first, and it
    is in no kubeconfig any more.
    """
    calls: list[str] = []
    real = Cluster.close

    async def close(self: Cluster) -> None:
        calls.append(next(name for name, cluster in fleet.items() if cluster is self))
        await real(self)

    monkeypatch.setattr(Cluster, "close", close)
    async with Fleet("a", "b", "c", nodes=0, controllers="", clock="manual") as fleet:
        served = await fleet.serve()
        monkeypatch.setattr(served, "remove_kubeconfigs", lambda: calls.append("kubeconfigs"))
        assert fleet._find(fleet["b"]._front.servers[0].url) is fleet._links["b"]
    assert calls == ["kubeconfigs", "c", "b", "a"]
    assert [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_controllers_by_name() -> None:
    """Given a cluster, when controllers are started, stopped and restarted by name, then those run
    that were asked for, a fork does the same, and a reset forgets it.
    """
    quiet: Any = controller("quiet").runs(cast("Any", lambda: SimpleNamespace(start=_nothing, stop=_nothing)))
    async with Cluster(nodes=0, controllers="namespace,ttl", clock="manual", extra=[quiet]) as cluster:
        def running(one: Cluster = cluster) -> list[str]:
            return [name for name, runs in one._controllers.states.items() if runs]

        assert sorted(running()) == ["namespace", "quiet", "ttl"]
        await cluster.stop_controller("ttl-controller")
        await cluster.start_controller("podgc")
        await cluster.stop_controller("podgc")
        await cluster.start_controller("job")
        await cluster.restart_controller("quiet")
        assert sorted(running()) == ["job", "namespace", "quiet"]
        assert cluster.extra_components == ["quiet"]
        async with cluster.fork() as other:
            assert sorted(running(other)) == ["job", "namespace", "quiet"]
        async with cluster.fork(controllers="namespace") as other:
            assert sorted(running(other)) == ["namespace", "quiet"]
        snapshot = cluster.snapshot()
        await cluster.restore(snapshot)
        assert sorted(running()) == ["job", "namespace", "quiet"]
        await cluster.reset()
        assert sorted(running()) == ["namespace", "quiet", "ttl"]
        for change in (cluster.stop_controller, cluster.start_controller, cluster.restart_controller):
            with pytest.raises(OptionError, match=r'^controllers: "nobody" is not in the list of known controllers: '):
                await change("nobody")
        assert not cluster._controllers.are_changing
        with pytest.raises(KeyError):
            cluster.component("job")


async def _nothing(*_: object) -> None:
    """Start, or stop."""


def test_a_manager_that_was_not_started() -> None:
    """Given a manager of controllers, when it was not started, then nothing runs, waits or answers.
    """
    made = ControllerManager(
        clock=cast("Any", None), activity=cast("Any", None), tasks=cast("Any", None), fail=lambda _: None, extra=[],
        callbacks={}, let_call=lambda _: [])
    none: Any = None
    assert (made.is_running, made.runs_kubelet, made.kubelet(), made.why(none, none), list(made.explain())) == (
        False, False, None, [], [])
    assert (made.find_component("job"), made.runs("job"), made.declared, made.extra_names) == (None, False, [], [])
    assert not any(made.states.values())
    first = made.metrics
    assert made.metrics is first
    made.reset()
    assert made.metrics is not first
    with pytest.raises(AssertionError, match=r"^not started\b"):
        _ = made.manager


def test_which_process_a_controller_is_in() -> None:
    """Given names of components, when it is asked in which process each runs, then those of
    kube-controller-manager are together.
    """
    assert {name: controllermanager._process_of(name) for name in (
        "job", "garbagecollector", "kubelet", "scheduler", "kueue", "mine")} == {
        "job": "kube-controller-manager", "garbagecollector": "kube-controller-manager", "kubelet": "kubelet",
        "scheduler": "scheduler", "kueue": "kueue", "mine": "mine"}


def test_configurations_of_the_scheduler(tmp_path: Path) -> None:
    """Given a configuration of the scheduler, when it is read, then a tree is itself, a file what
    is in it, an empty one an empty tree, and no name none.
    """
    (tmp_path / "a.yaml").write_text("a: 1\n")
    (tmp_path / "b.yaml").write_text("")
    read = controllermanager._scheduler_configuration
    assert [read(given) for given in ("", {"x": 1}, str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml"))] == [
        None, {"x": 1}, {"a": 1}, {}]
