"""A cluster that others use, or that breaks off; names that are too long; a run that is
interrupted; recordings that somebody has changed.
"""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakekube import Cluster
from fakekube.apimachinery.http import Handler, Request, Response
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import CONFIG_MAPS, JOBS, NAMESPACES, PRIORITY_CLASSES
from fakekube.client.transport import TransportError
from fakekube.recording import exchanges, har
from fakekube.recording.asking import Target
from fakekube.recording.binary import Unpacking
from fakekube.recording.lines import RecordingError
from fakekube.recording.plan import plan
from fakekube.recording.player import Interrupted, play_all
from fakekube.recording.recorder import Recorder
from fakekube.recording.report import of_plays, totals
from fakekube.recording.translation import Translation
from tests.recording.test_playing import DEFINITION, EMPTY, JOB, names_of, played, recorded, small_story, told, whole_story


async def everything(cluster: Cluster) -> dict[str, str]:
    """Every object of a cluster, by path, as it is; but Events and leases."""
    client, found = cluster.client, {}
    for list_ in json.loads((await client.request("GET", "/apis")).body)["groups"]:
        for version in list_["versions"][:1]:
            found |= await _of_version(cluster, f"/apis/{version['groupVersion']}")
    return found | await _of_version(cluster, "/api/v1")


async def _of_version(cluster: Cluster, base: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for resource in json.loads((await cluster.client.request("GET", base)).body)["resources"]:
        if "list" not in resource["verbs"] or resource["name"] in ("events", "leases", "componentstatuses"):
            continue
        items = json.loads((await cluster.client.request("GET", f"{base}/{resource['name']}")).body)["items"]
        for item in items:
            metadata = item["metadata"]
            found[f"{resource['name']} {metadata.get('namespace', '')}/{metadata['name']}"] = json.dumps(item, sort_keys=True)
    return found


async def in_use(cluster: Cluster) -> None:
    """What others have, by the names that the story uses."""
    client = cluster.client
    await client.create(NAMESPACES, {"metadata": {"name": "suite"}})
    for namespace in ("default", "suite"):
        held = {"name": "a", "finalizers": ["x.y/theirs"]}
        await client.create(CONFIG_MAPS, {"metadata": held, "data": {"k": "theirs"}}, namespace)
        await client.create(JOBS, {**JOB, "spec": {**JOB["spec"], "suspend": True}}, namespace)
    await client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 9})
    await client.create(await client.resource("customresourcedefinitions"), DEFINITION)
    await client.create(await client.resource("shirts"), {
        "apiVersion": "stable.example.com/v1", "kind": "Shirt", "metadata": {"name": "s"}, "color": "theirs"})
    await cluster.settle()


async def much(cluster: Cluster) -> None:
    """The whole story, and objects without a namespace of the names that others have."""
    await whole_story(cluster)
    client = cluster.client
    await client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 1})
    await client.patch(PRIORITY_CLASSES, "high", body={"metadata": {"labels": {"a": "b"}}})
    await client.delete(PRIORITY_CLASSES, "high")
    definitions = await client.resource("customresourcedefinitions")
    await client.create(definitions, DEFINITION)
    await client.create(await client.resource("shirts"), {
        "apiVersion": "stable.example.com/v1", "kind": "Shirt", "metadata": {"name": "s"}, "color": "red"})
    await client.delete(definitions, DEFINITION["metadata"]["name"])


class Breaking:
    """A server to which the connection is lost after so many requests, for so many ``times``."""

    def __init__(self, handler: Handler, after: int, times: int) -> None:
        self._handler, self._left, self._times = handler, after, times

    async def handle(self, request: Request) -> Response:
        self._left -= 1
        if self._left < 0 and self._times:
            self._times -= 1
            raise TransportError("connection lost")
        return await self._handler.handle(request)


@pytest.mark.parametrize("after", [None, 1, 9, 23, 40])
async def test_nothing_of_others_is_touched(after: int | None) -> None:
    """Given a cluster with objects of others that have the same names, with their finalizers and
    definitions / when a story is played there to its end, or until the connection is lost for a
    moment / then every object that was there is as it was, and no other is left.
    """
    conversation = await recorded(much, cluster_scoped=True)
    async with Cluster(nodes=0, clock="auto") as cluster:
        await in_use(cluster)
        before = await everything(cluster)
        assert len(before) > 80
        result = await played(
            conversation, cluster, lambda handler: handler if after is None else Breaking(handler, after, 1))
        assert (result.failure == "") == (after is None)
        assert totals([result]).is_equal == (after is None)
        assert await everything(cluster) == before


async def test_a_connection_that_is_lost_for_good() -> None:
    """Given a cluster that is gone in the middle / when a story is played / then it is told, with
    what is left there.
    """
    conversation = await recorded(small_story)
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(conversation, cluster, lambda handler: Breaking(handler, 6, 1000))
        [theirs] = [name for name in await names_of(cluster) if name not in EMPTY]
    shown = list(of_plays([result]))
    assert "  not played to its end: connection lost" in shown
    assert any(line.startswith("  still there:") and theirs in line for line in shown)
    assert not totals([result]).is_equal


async def test_what_an_interrupted_run_leaves_is_told() -> None:
    """Given a run that is interrupted on a cluster that does not delete its namespace / when it has
    ended / then the error names what is left.
    """
    conversation = await recorded(small_story)
    async with Cluster(nodes=0, clock="auto", controllers="") as cluster:
        reached = asyncio.Event()

        class Stuck:
            async def handle(self, request: Request) -> Response:
                if request.path.endswith("configmaps/a"):
                    reached.set()
                    await asyncio.Event().wait()
                return await cluster.apiserver.handle(request)

        target = Target(InProcess(Stuck()), cluster.apiserver.clock)
        run = asyncio.get_running_loop().create_task(
            play_all(target, [conversation], suffix=lambda: "x", wait_seconds=1.0, jobs=1))
        await reached.wait()
        run.cancel()
        with pytest.raises(Interrupted) as raised:
            await run
    assert raised.value.left == ["fakekube-verify-x-default"]


async def test_names_that_would_be_too_long() -> None:
    """Given a namespace whose name has 63 letters / when the story is played / then it has a
    shorter one there, which the answers do not show.
    """
    name = "n" * 63

    async def story(cluster: Cluster) -> None:
        client = cluster.client
        await client.create(NAMESPACES, {"metadata": {"name": name}})
        await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"in": name}}, name)
        await client.list(CONFIG_MAPS, name)
        await client.delete(NAMESPACES, name)

    conversation = await recorded(story)
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(conversation, cluster)
        assert (told(result), result.failure, result.left) == ([], "", [])
    translation = Translation("fakekube-verify-bcdfg-", [name, "n" * 62, "short"])
    names = [translation.namespace(each) for each in (name, "n" * 62, "short")]
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 63


async def lines_of_a_story() -> list[bytes]:
    lines: list[bytes] = []
    async with Cluster(nodes=0, clock="manual", controllers="", record=Recorder(lines.append)) as cluster:
        await small_story(cluster)
    return b"".join(lines).splitlines()


LINES = asyncio.run(lines_of_a_story())
VALUES = st.sampled_from([
    None, 0, -1, 1e300, "", "x", [], {}, [None], {"a": None}, {"metadata": "x"}, {"metadata": {"name": 7}}, True])


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_recordings_that_somebody_has_changed(data: st.DataObject) -> None:
    """Given a recording of which lines are missing, cut or changed / when it is read, planned, and
    made into an archive / then it is, or one sentence says which line is wrong.
    """
    lines = [*LINES]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(lines) - 1))
        how = data.draw(st.sampled_from(["drop", "cut", "field", "deep"]))
        if how == "drop":
            del lines[place]
            lines = lines or [b""]
        elif how == "cut":
            lines[place] = lines[place][: data.draw(st.integers(0, len(lines[place])))]
        else:
            try:
                line: Any = json.loads(lines[place])
            except ValueError:
                continue
            inner = line.get("answer" if how == "deep" else "", line) if isinstance(line, dict) else {}
            if isinstance(inner, dict) and inner:
                inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(VALUES)
            lines[place] = json.dumps(line).encode()
    refusal = ""
    try:
        recording = exchanges.parse(lines)
    except RecordingError as error:
        refusal = str(error)
    assert "\n" not in refusal
    if refusal:
        return
    json.loads(har.archive(recording))
    for test, cluster, asked in recording.conversations():
        for exchange in asked:
            Unpacking().unpack(exchange, str(recording.clusters[cluster].get("release")))
        plan(test, recording.clusters[cluster], asked, cluster_scoped=True)
