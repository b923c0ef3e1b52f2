"""Small parts of the package for tests: claims that were broken already, predicates that raise, and
what cannot be read any more.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.gvk import GroupResource
from fakekube.client.resources import CONFIG_MAPS, SECRETS
from fakekube.testing import History, HistoryError, Never, checking, companions, operatorruns, present, run_until
from fakekube.testing.history import State
from tests.apiextensions.definitions import custom_object, definition, version

WEB = {"metadata": {"name": "web", "namespace": "default"}}


def test_an_error_without_a_claim() -> None:
    """Given an error that says of no claim that it was broken / then it has no reason to compare.
    """
    assert HistoryError("x").reason == ""


async def test_a_claim_is_broken_once() -> None:
    """Given a claim that is broken / when more is written before anybody looks / then nobody asks
    its predicate any more, and the first state is told.
    """
    asked: list[int] = []

    def has_map(state: State) -> bool:
        asked.append(len(state.list(CONFIG_MAPS, "default")))
        return state.get(CONFIG_MAPS, "web") is not None

    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        claims = checking(cluster, Never(has_map))
        claims.__enter__()
        await cluster.client.create(CONFIG_MAPS, WEB)
        often = len(asked)
        for name in "abc":
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name}})
        assert len(asked) == often
        with pytest.raises(HistoryError) as broken:
            claims.__exit__(None, None, None)
        assert broken.value.broken is not None
        assert broken.value.broken.change is not None
        assert broken.value.broken.change.name == "configmaps default/web"


async def test_failures_of_others_are_left_to_the_cluster() -> None:
    """Given claims that hold / when a component breaks in their block / then the block ends, and
    the cluster raises what the component broke with.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        with checking(cluster, Never(lambda _: False)):
            cluster.driver.fail(ArithmeticError("mine"))
        with pytest.raises(ArithmeticError, match=r"^mine$"):
            cluster.driver.raise_failure()


async def test_predicates_that_give_no_answer() -> None:
    """Given a predicate that raises, or is async / when a state is waited for / then what it raises
    is raised, or that it gives no answer.
    """
    def breaks(_: State) -> bool:
        raise ArithmeticError("mine")

    async def waits(_: State) -> bool:
        return True

    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        with pytest.raises(ArithmeticError, match=r"^mine$"):
            await run_until(cluster, breaks)
        with pytest.raises(TypeError) as refused:
            await run_until(cluster, cast("Any", waits))
        assert "waits" in str(refused.value)
        await cluster.client.create(SECRETS, WEB)
        assert await run_until(cluster, lambda state: state.get(SECRETS, "web") is not None) == cluster.apiserver.storage.revision


async def test_few_trees_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a memory of two trees / when a state with many objects is looked at again and again /
    then it forgets them, and finds all.
    """
    monkeypatch.setattr(present, "KEPT_TREES", 2)
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        for name in "abcd":
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name}})
        state = present.Present(cluster)
        for _ in range(2):
            assert [each["metadata"]["name"] for each in state.list(CONFIG_MAPS, "default")] == ["a", "b", "c", "d"]
            assert len(state._trees) > 2
            state.refresh()
            assert len(state._trees) == 0
        state.get(CONFIG_MAPS, "a")
        state.refresh()
        assert len(state._trees) == 1


async def test_resources_that_a_history_may_have() -> None:
    """Given a history with a definition of which there is no object / when it is asked about
    resources / then there may be such objects, also of one that was deleted, and none of what
    nobody defined.
    """
    schema: Any = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        await cluster.load([definition(versions=[version(schema=schema)]), custom_object("a", spec={})])
        taken = cluster.snapshot()
        assert present.Present(cluster).concerned == ((),)
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        await cluster.load([definition(versions=[version(schema=schema)])])
        unused = cluster.snapshot()
    assert History(unused).stores(GroupResource("probe.dev", "widgets"))
    history = History(taken)
    widgets, others = GroupResource("probe.dev", "widgets"), GroupResource("probe.dev", "others")
    assert [history.stores(each) for each in (widgets, others, GroupResource("", "pods"))] == [True, False, True]


def test_children_of_a_thread_that_has_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Given the threads of a process / when one ends while its children are read / then those of
    the others are found.
    """
    for name, text in (("1", "7 8"), ("2", None), ("3", "9\n")):
        (tmp_path / name).mkdir()
        if text is None:
            (tmp_path / name / "children").mkdir()
        else:
            (tmp_path / name / "children").write_text(text)
    monkeypatch.setattr(companions, "TASKS", tmp_path)
    assert sorted(companions._children()) == [7, 8, 9]


class Quiet(operatorruns.OperatorRun):
    """A run that says nothing."""

    def work(self) -> None:
        """It ends at once."""

    def kill(self) -> None:
        """It has ended."""


async def test_runs_of_kopf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a run of kopf / when it is killed before it begins, or breaks / then nothing of kopf
    runs, or what it broke with is raised; its logins are those of our server, and its settings a
    copy.
    """
    import kopf

    file = tmp_path / "kubeconfig"
    file.write_bytes(orjson.dumps({
        "clusters": [{"cluster": {"server": "https://h:1"}}], "users": [{"user": {"token": "t"}}]}))
    ran: list[Any] = []

    async def operator(**values: Any) -> None:
        ran.append(values["clusterwide"])
        raise RuntimeError("mine")

    monkeypatch.setattr(kopf, "operator", operator)
    dead = operatorruns.KopfRun(file, None, {})
    dead.kill()
    await asyncio.to_thread(dead.work)
    assert ran == []
    with pytest.raises(RuntimeError, match=r"^mine$"):
        await asyncio.to_thread(operatorruns.KopfRun(file, None, {}).work)
    assert ran == [True]
    vault = operatorruns._vault(file)
    await vault.populate({})
    assert [each.info.server for each in vault._current.values()] == ["https://h:1"]
    settings = kopf.OperatorSettings()
    settings.execution.max_workers = 3
    with ThreadPoolExecutor() as executor:
        copied = operatorruns._copied({"settings": settings, "peering_name": "p"}, executor)
    assert copied["settings"] is not settings
    assert (copied["settings"].execution.max_workers, copied["peering_name"]) == (3, "p")


def test_a_run_that_says_nothing() -> None:
    """Given a run of an operator that prints nothing / then there is no last line, and no process.
    """
    run: Any = object.__new__(Quiet)
    assert (run.told(), run.process) == ("", None)
