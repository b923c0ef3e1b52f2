"""Several clusters with one clock."""

import pytest
import yaml

from fakekube.apimachinery.causes import ACTING, Acting
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame
from fakekube.client.client import Client
from fakekube.client.kubeconfig import client_of
from fakekube.client.resources import CONFIG_MAPS, JOBS, PODS
from fakekube.client.transport import TransportError
from fakekube.composition.fleet import Fleet, names_of
from fakekube.composition.options import OptionError
from fakekube.testing.history import History
from fakekube.util.tasks import turn

JOB = {"metadata": {"name": "j", "namespace": "default"}, "spec": {"template": {
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}
MAP = {"metadata": {"name": "m", "namespace": "default"}}


def client_to(fleet: Fleet, name: str, **changed: str) -> Client:
    """A client of another member's, by the kubeconfig that the fleet gives."""
    config = yaml.safe_load(fleet.kubeconfig(name))
    config["users"][0]["user"] |= changed
    return client_of(config, "secret", find=fleet._find)


async def is_complete(fleet: Fleet, name: str) -> bool:
    conditions = (await fleet[name].client.get(JOBS, "j", "default"))["status"].get("conditions", [])
    return any(each["type"] == "Complete" for each in conditions)


async def test_what_a_sender_acts_on_stays_in_its_cluster() -> None:
    """Given two members whose versions are alike, when somebody who acts on a change of the one
    writes to the other, and hears of that there, then the write knows its request alone, and who
    hears of it acts on nothing of the other's; afterwards they act on what they did before.
    """
    heard: list[Acting | None] = []

    class Listener:
        def send(self, frame: Frame) -> None:
            heard.append(ACTING.get())

        def end(self) -> None:
            pass

    async with Fleet("manager", "worker1", nodes=0, controllers="") as fleet:
        client = client_to(fleet, "worker1")
        stream = await client.open_watch(CONFIG_MAPS, Listener(), "default")
        token = ACTING.set(Acting("copier", "a", "3"))
        await client.create(CONFIG_MAPS, MAP)
        await fleet["worker1"].client.create(CONFIG_MAPS, {"metadata": {"name": "local", "namespace": "default"}})
        assert ACTING.get() == Acting("copier", "a", "3")
        ACTING.reset(token)
        await fleet.settle()
        stream.stop()
        causes = {change.event.record.name: change.cause for change in History.of(fleet["worker1"]).changes
                  if change.resource == CONFIG_MAPS.group_resource and change.cause is not None}
    assert causes["m"].acting is None
    assert causes["local"].acting == Acting("copier", "a", "3")
    assert heard
    assert set(heard) == {None}


async def test_members_are_clusters_of_their_own_with_one_clock() -> None:
    """Given two members, when a Job runs in one, then it completes there while the time of both
    goes on, and the other knows nothing of it.
    """
    async with Fleet("manager", "worker1") as fleet:
        started = fleet.clock.time()
        await fleet["worker1"].client.create(JOBS, JOB)
        await fleet.run_until(lambda: is_complete(fleet, "worker1"))
        assert fleet["manager"].clock.time() == fleet["worker1"].clock.time() > started
        assert (await fleet["manager"].client.list(PODS))[0] == []
        with pytest.raises(APIError, match="not found"):
            await fleet["manager"].client.get(JOBS, "j", "default")


async def test_time_waits_for_all_members() -> None:
    """Given a Job in the second of two members, when the first settles or time advances by it,
    then the second is where it would be on its own.
    """
    async with Fleet("manager", "worker1", clock="manual") as fleet:
        await fleet["worker1"].client.create(JOBS, JOB)
        await fleet["manager"].settle()
        assert len((await fleet["worker1"].client.list(PODS))[0]) == 1
        await fleet["manager"].advance("10m")
        assert await is_complete(fleet, "worker1")


async def test_one_seed_is_one_history_and_members_differ() -> None:
    """Given a seed, when a fleet lives twice, then it has the same history; its members draw
    other uids.
    """
    async def lived() -> dict[str, list[bytes]]:
        async with Fleet("a", "b", seed=7) as fleet:
            for cluster in fleet.values():
                await cluster.client.create(JOBS, JOB)
            await fleet.advance("5m")
            return {name: [change.event.record.data for change in History.of(cluster).changes] for name, cluster in fleet.items()}

    first = await lived()
    assert await lived() == first
    assert first["a"] != first["b"]


async def test_a_kubeconfig_leads_to_another_member_as_its_token_says() -> None:
    """Given a kubeconfig of a member, when another reaches it by that, then it writes there; with
    a token that nobody gave it is refused.
    """
    async with Fleet("manager", "worker1", members={"worker1": {"anonymous_auth": False}}) as fleet:
        await client_to(fleet, "worker1").create(CONFIG_MAPS, MAP)
        assert (await fleet["worker1"].client.get(CONFIG_MAPS, "m", "default"))["metadata"]["name"] == "m"
        with pytest.raises(APIError, match="Unauthorized"):
            await client_to(fleet, "worker1", token="wrong").list(CONFIG_MAPS)


async def test_an_outage_cuts_requests_and_watches_of_others_alone() -> None:
    """Given a watch of a member by another, when the member is cut off, then the watch ends and
    requests fail, while its own client goes on; mended, all is as before.
    """
    async with Fleet("manager", "worker1") as fleet:
        other, seen = client_to(fleet, "worker1"), []
        async with await other.watch(CONFIG_MAPS, namespace="default") as watch:
            await fleet["worker1"].client.create(CONFIG_MAPS, MAP)
            await turn()
            fleet.cut("worker1")
            seen = [event.object["metadata"]["name"] async for event in watch]
        assert "m" in seen
        with pytest.raises(TransportError, match="no connection"):
            await other.list(CONFIG_MAPS)
        assert await fleet["worker1"].client.get(CONFIG_MAPS, "m", "default")
        fleet.mend("worker1")
        assert await other.get(CONFIG_MAPS, "m", "default")


async def test_a_served_member_is_found_by_its_url() -> None:
    """Given a served fleet, when a URL of a member is looked for, then it leads there in this
    process; another one leads nowhere here.
    """
    async with Fleet("manager", "worker1") as fleet:
        served = await fleet.serve()
        assert [cluster["name"] for cluster in served.tree()["clusters"]] == ["manager", "worker1"]
        assert fleet._find(served.servers["worker1"].url) is not None
        assert fleet._find("http://127.0.0.1:1") is None


async def test_a_member_goes_back_without_its_fleet() -> None:
    """Given a member that has lived, when it is reset or restored, then its objects are those of
    then, and the fleet's time goes on.
    """
    async with Fleet("manager", "worker1", clock="manual") as fleet:
        before = fleet["worker1"].snapshot()
        await fleet["worker1"].client.create(JOBS, JOB)
        await fleet.advance("5m")
        time = fleet.clock.time()
        await fleet["worker1"].restore(before)
        assert (await fleet["worker1"].client.list(JOBS))[0] == []
        await fleet["worker1"].client.create(JOBS, JOB)
        await fleet["worker1"].reset()
        assert (await fleet["worker1"].client.list(JOBS))[0] == []
        assert fleet.clock.time() == time


@pytest.mark.parametrize(("names", "options", "text"), [
    ((), {}, "name its clusters"),
    (("a", "a"), {}, "two clusters 'a'"),
    (("A",), {}, "'A' is no name of a cluster"),
    (("a",), {"members": {"b": {}}}, "'b' is none of its clusters: a"),
    (("a",), {"members": {"a": {"seed": 3}}}, "seed is the same for all clusters"),
    (("a",), {"state": "file"}, "take no state"),
    (("a",), {"nodez": 3}, "nodez"),
])
def test_what_is_no_fleet_is_told_in_a_sentence(names: tuple[str, ...], options: dict[str, object], text: str) -> None:
    """Given names or options that make no fleet, when one is made, then an error says why."""
    with pytest.raises(OptionError, match=text):
        Fleet(*names, **options)  # type: ignore[arg-type]


def test_names_of_an_option() -> None:
    """Given a text of names, when it is read, then commas and blanks part them."""
    assert names_of("manager,worker1, worker2") == ("manager", "worker1", "worker2")


@pytest.mark.fakekube(fleet="one,two", nodes=0)
async def test_the_fixture_has_the_clusters_that_the_marker_names(fake_fleet: Fleet) -> None:
    """Given the marker, when a test asks for a fleet, then it has these clusters."""
    assert [*fake_fleet] == ["one", "two"]
