"""Faults that reach into their cluster: its past, its components, and those of other members."""

from pathlib import Path
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES
from fakekube.composition.clusterfaults import UnknownComponent, planned, read
from fakekube.composition.fleet import Fleet
from fakekube.composition.options import OptionError
from fakekube.faults.plan import FaultNeverMet

MAP = {"metadata": {"name": "m", "namespace": "default"}}


NO_VERB = "'fly' is no verb: known are get, list, watch, create, update, patch, delete, deletecollection, read and write"


@pytest.mark.parametrize(("text", "said"), [
    ("- {error: Timeout}\n- {verbs: fly, error: Timeout}\n", f"2: faults.1: verbs: {NO_VERB}"),
    ("kind: FaultPlan\nfaults:\n- {error: Timeout}\n- {name: x,\n   verbs: fly, error: Timeout}\n",
     f"4: faults.1: verbs: {NO_VERB}"),
    ("- {error: Timeout}\n- {errors: 3}\n", "2: faults.1.errors: there is no such field: did you mean error?"),
    ("3\n", "1: int is no plan: say a mapping with faults, or a list of rules"),
    ("{\n", "1: did not find expected node content"),
    ("kind: Pod\nfaults: []\n", "1: kind: input should be 'FaultPlan'"),
])
def test_a_file_of_faults_that_is_none(tmp_path: Path, text: str, said: str) -> None:
    """Given a file with a fault that is none / when it is read / then file and line are named; the
    same fault without a file has no place.
    """
    file = tmp_path / "plan.yaml"
    file.write_text(text)
    for given in (file, str(file)):
        with pytest.raises(OptionError) as refused:
            read(given)
        assert str(refused.value) == f"faults: {file}:{said}"


def test_faults_without_a_file() -> None:
    """Given faults as an option / when they are read / then there are as many rules, and none of
    nothing; one that is none is told without a place.
    """
    for given, count in ((None, 0), ("", 0), ([], 0), ([{"error": "Timeout"}], 1), ({"faults": [{"error": "Timeout"}] * 2}, 2)):
        assert len(read(given)) == count
    with pytest.raises(OptionError) as refused:
        read([{"error": "Timeout", "every": 0}])
    assert str(refused.value) == "faults: faults.0.every: input should be greater than or equal to 1"
    assert planned(['{"error": "Timeout"}']) == read([{"error": "Timeout"}])
    with pytest.raises(OptionError) as refused:
        planned(["{"])
    assert str(refused.value) == (
        "schedule: a fault that it plans cannot be read: unexpected end of data: line 1 column 2 (char 1)")


async def test_states_of_the_past() -> None:
    """Given a cluster / when it is asked how old a state can be read, and when the past is
    forgotten / then it is the beginning, which cannot be read any more, and with compaction later.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        server = cluster.faults.server
        began = server.oldest_revision
        assert began == cluster.apiserver.storage.log.begun
        await cluster.client.create(CONFIG_MAPS, MAP)
        assert server.oldest_revision == began < server.revision
        cluster.faults.add(compact=True, verbs="list", resources="configmaps", nth=1)
        page = await cluster.client.list(NAMESPACES, limit=1)
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "n"}})
        await cluster.client.list(CONFIG_MAPS)
        assert server.oldest_revision == began  # what is forgotten is only not readable
        with pytest.raises(APIError) as expired:
            await cluster.client.list(NAMESPACES, limit=1, continue_token=page.continue_token)
        assert (expired.value.code, expired.value.reason) == (410, "Expired")
        cluster.apiserver.storage.compact(began + 1)
        assert server.oldest_revision == began + 1


async def test_components_of_other_members() -> None:
    """Given a fleet / when a request in one member kills a component of another, or of itself by
    its whole name / then that one has died and lives again, and the others have not.
    """
    async with Fleet("a", "b", nodes=0, controllers="namespace,job", clock="manual") as fleet:
        for crash in ("b/job", "a/namespace"):
            fleet["a"].faults.add(crash=crash, verbs="create", resources="configmaps", times=1)
        died = {name: note_deaths(fleet[name]) for name in "ab"}
        for name in "ab":
            await fleet[name].client.create(CONFIG_MAPS, MAP)
        assert died == {"a": ["namespace"], "b": ["job"]}
        assert [fleet[name].manager.is_running(each) for name in "ab" for each in ("job", "namespace")] == [True] * 4


def note_deaths(cluster: Cluster) -> list[str]:
    """The components that die from now on."""
    controllers: Any = cluster._controllers
    died, kill = list[str](), controllers.kill

    def noted(component: str) -> None:
        died.append(component)
        kill(component)

    controllers.kill = noted
    return died


@pytest.mark.parametrize("name", ["b/nothing", "c/job", "nothing", "a/nothing"])
async def test_components_that_nobody_knows(name: str) -> None:
    """Given a fleet / when a fault is to kill what no member has / then it is refused."""
    async with Fleet("a", "b", nodes=0, controllers="namespace,job", clock="manual") as fleet:
        with pytest.raises(UnknownComponent) as refused:
            fleet["a"].faults.add(crash=name)
        said = name if name.startswith("c") else name.rpartition("/")[2]
        assert str(refused.value).startswith(f'crash: controllers: "{said}" is not in the list of known controllers: ')


async def test_a_component_that_would_die_for_ever() -> None:
    """Given a component / when it is to die again and again / then it dies twenty times at a moment
    and lives on in it; a moment later it may die again.
    """
    async with Cluster(nodes=0, controllers="namespace,job", clock="manual") as cluster:
        died = note_deaths(cluster)
        server = cluster.faults.server
        for often in range(1, 23):
            assert await server.crash("job") is False
            assert len(died) == min(often, 20)
        await server.crash("namespace")
        assert len(died) == 21
        await cluster.advance(1)
        await server.crash("job")
        assert died == ["job"] * 20 + ["namespace", "job"]
        assert cluster.manager.is_running("job")


async def test_plans_begin_again_with_a_reset() -> None:
    """Given a plan and a fault that was added / when the cluster is reset / then the plan is at
    work from its beginning, in the new server, and what was added is gone.
    """
    async with Cluster(nodes=0, controllers="", clock="manual", faults=[{
            "name": "planned", "verbs": "create", "resources": "configmaps", "error": "EtcdNoSpace", "nth": 1}]) as cluster:
        cluster.faults.add(name="added", verbs="create", resources="configmaps", error="Timeout", nth=2, optional=True)
        for _ in range(2):
            with pytest.raises(APIError) as refused:
                await cluster.client.create(CONFIG_MAPS, MAP)
            assert refused.value.code == 500
            await cluster.reset()
            assert [fault.name for fault in cluster.faults] == ["planned"]
        with pytest.raises(APIError):
            await cluster.client.create(CONFIG_MAPS, MAP)


async def test_faults_that_no_member_met() -> None:
    """Given members of which one meets a plan of all / when the fleet ends / then the others need
    not; a fault of one alone is missed.
    """
    plan = [{"verbs": "create", "resources": "configmaps", "error": "EtcdNoSpace", "nth": 1}]
    async with Fleet("a", "b", nodes=0, controllers="", clock="manual", faults=plan) as fleet:
        with pytest.raises(APIError):
            await fleet["b"].client.create(CONFIG_MAPS, MAP)
    with pytest.raises(FaultNeverMet, match="alone"):
        async with Fleet("a", "b", nodes=0, controllers="", clock="manual") as fleet:
            fleet["b"].faults.add(name="alone", verbs="delete", error="Timeout")


async def test_a_fleet_whose_block_breaks() -> None:
    """Given a fleet / when its block raises / then all members are stopped, the error is raised as
    it is, and no fault is missed.
    """
    fleet = Fleet("a", "b", nodes=0, controllers="namespace", clock="manual")

    async def breaks() -> None:
        async with fleet:
            fleet["b"].faults.add(name="alone", verbs="delete", error="Timeout")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await breaks()
    assert [fleet[name]._controllers.is_running for name in "ab"] == [False, False]
