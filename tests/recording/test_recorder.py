"""What clients ask is written down, what controllers ask is not; what is written can be read."""

import json
from pathlib import Path

import pytest

from fakekube import Cluster
from fakekube.client.client import Client
from fakekube.client.http import HTTP
from fakekube.client.resources import CONFIG_MAPS, JOBS, PODS, SECRETS
from fakekube.composition.options import OptionError
from fakekube.recording import exchanges, har
from fakekube.recording.exchanges import Recording
from fakekube.recording.lines import RecordingError
from fakekube.recording.recorder import Recorder
from tests.recording.faulty import FAULTS, faulty_story

JOB = {"metadata": {"name": "j"}, "spec": {"template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}


class Kept:
    """A recorder that keeps its lines."""

    def __init__(self, *, secrets: bool = False) -> None:
        self.lines: list[bytes] = []
        self.recorder = Recorder(self.lines.append, secrets=secrets)

    @property
    def recording(self) -> Recording:
        self.recorder.flush()
        return exchanges.parse(b"".join(self.lines).splitlines())


async def test_clients_are_recorded_and_controllers_are_not() -> None:
    """Given a cluster with all controllers / when its client creates a Job and the Job runs / then
    the recording has what the client asked, in order, and nothing of the controllers.
    """
    kept = Kept()
    async with Cluster(nodes=1, clock="manual", record=kept.recorder) as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.settle()
        assert (await cluster.client.list(PODS, "default")).items
    asked = [str(one) for one in kept.recording.exchanges]
    assert asked == [
        "POST /apis/batch/v1/namespaces/default/jobs", "GET /api/v1/namespaces/default/pods"]
    first = kept.recording.exchanges[0]
    assert (first.code, first.line["user"], first.line["body"]["spec"]) == (201, "kubernetes-admin", JOB["spec"])
    assert first.answer["metadata"]["uid"]
    assert next(iter(kept.recording.clusters.values()))["release"] == "1.37"


async def test_what_was_asked_over_a_socket_and_watched() -> None:
    """Given a served cluster / when a client watches over HTTP while another one writes / then the
    watch is recorded with its events, and refused requests with their errors.
    """
    kept = Kept()
    async with Cluster(nodes=0, clock="manual", controllers="", record=kept.recorder) as cluster:
        server = await cluster.serve()
        client = Client(HTTP(server.url))
        async with await client.watch(CONFIG_MAPS, "default") as events:
            await client.create(CONFIG_MAPS, {"metadata": {"name": "x"}})
            assert (await anext(events)).type == "ADDED"
        await client.get(CONFIG_MAPS, "none", missing_ok=True)
        await client.close()
    watch, create, get = kept.recording.exchanges
    assert watch.is_watch
    assert [(told.event["type"], told.event["object"]["metadata"]["name"]) for told in watch.told] == [("ADDED", "x")]
    assert (create.code, get.code, get.answer["reason"]) == (201, 404, "NotFound")


async def test_secrets_are_masked_unless_asked_for() -> None:
    """Given a Secret, its patch, its watch and a token / when they are recorded / then no value is
    in the recording, unless secrets are asked for; names of keys are.
    """
    for secrets in (False, True):
        kept = Kept(secrets=secrets)
        async with Cluster(nodes=0, clock="manual", record=kept.recorder) as cluster:
            client = cluster.client
            async with await client.watch(SECRETS, "default") as events:
                await client.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"a": "HUSH-1"}})
                await client.patch(SECRETS, "s", body={"data": {"b": "SFVTSC0y", "a": None}})
                await client.patch(SECRETS, "s", type="json", body=[
                    {"op": "add", "path": "/data/c", "value": "SFVTSC0z"},
                    {"op": "add", "path": "/metadata/labels", "value": {"x": "y"}}])
                await anext(events)
            token = (await client.create_token("default", "default"))["status"]["token"]
            await client.request("GET", "/version", accept="application/json")
        kept.recorder.flush()
        text = b"".join(kept.lines).decode()
        assert [word in text for word in ("HUSH-1", "SFVTSC0x", "SFVTSC0y", "SFVTSC0z", token)] == [secrets] * 5
        assert '"stringData":{"a":' in text
        assert '"b":' in text
        assert '"x":"y"' in text


async def test_recording_begins_and_ends_at_any_time() -> None:
    """Given a cluster that is served / when a recorder is put in and taken out again / then what
    was asked between is recorded, also after a reset, and nothing before or after.
    """
    kept = Kept()
    async with Cluster(nodes=0, clock="manual", controllers="") as cluster:
        server = await cluster.serve()
        outside = Client(HTTP(server.url))
        for name, recorder in (("before", kept.recorder), ("while", None), ("after", None)):
            for client in (cluster.client, outside):
                await client.get(CONFIG_MAPS, name, missing_ok=True)
            if name == "while":
                await cluster.reset()
                await cluster.client.get(CONFIG_MAPS, "reset", missing_ok=True)
            cluster.record(recorder)
        await outside.close()
    names = [one.info.name for one in kept.recording.exchanges]
    assert names == ["while", "while", "reset"]
    assert len(kept.recording.clusters) == 2  # one that was reset is another one


async def test_a_file_takes_several_clusters(tmp_path: Path) -> None:
    """Given a file / when two clusters are recorded into it, one after the other / then it has
    both, readable by its owner alone, and is read as one recording.
    """
    path = tmp_path / "recording.jsonl"
    for name in ("a", "b"):
        async with Cluster(nodes=0, clock="manual", controllers="", record=path) as cluster:
            await cluster.client.get(CONFIG_MAPS, name, missing_ok=True)
    recording = exchanges.read(path)
    assert [one.info.name for one in recording.exchanges] == ["a", "b"]
    assert len(recording.clusters) == 2
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(OptionError, match=r"^record: .*none/x: .*No such file"):
        Cluster(record=str(tmp_path / "none" / "x"))


@pytest.mark.parametrize(("text", "why"), [
    ("", "there is no recording in it"),
    ("what?", "line 1 is none of a recording: JSONDecodeError"),
    ("[]", "line 1 is none of a recording: TypeError"),
    ('{"type": "cluster", "format": "other", "cluster": "0"}', "its format is 'other'"),
    ('{"type": "request", "cluster": "0", "number": 1}', "a cluster '0' that it does not begin with"),
    ('{"type": "cluster", "format": "fakekube-recording/1", "cluster": "0"}\n{"type": "request", "cluster": "0", "number": 1}',
     "line 2 is none of a recording"),
])
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str, why: str) -> None:
    """Given a file that is none / when it is read / then one sentence says where and why."""
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(RecordingError) as raised:
        exchanges.read(path)
    assert str(path) in str(raised.value)
    assert why in str(raised.value)


async def test_a_snapshot_has_no_recorder(tmp_path: Path) -> None:
    """Given a recorded cluster / when it is written to a snapshot and forked / then the file says
    nothing of the recorder, and the fork is recorded as a cluster of its own.
    """
    kept = Kept()
    async with Cluster(nodes=0, clock="manual", controllers="", record=kept.recorder) as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "x"}})
        snapshot = cluster.snapshot()
        snapshot.write(tmp_path / "file")
        async with cluster.fork() as other:
            await other.client.get(CONFIG_MAPS, "x")
    async with Cluster(state=tmp_path / "file") as again:
        assert again.options.record == ""
    assert [(one.method, one.code) for one in kept.recording.exchanges] == [("POST", 201), ("GET", 200)]
    assert len({one.cluster for one in kept.recording.exchanges}) == 2


async def test_bodies_that_are_no_json() -> None:
    """Given requests in YAML, in bytes and in nonsense / when they are recorded / then they are
    there as they were sent, each on one line.
    """
    kept = Kept()
    async with Cluster(nodes=0, clock="manual", controllers="", record=kept.recorder) as cluster:
        server = await cluster.serve()
        client = HTTP(server.url)
        from fakekube.apimachinery.http import Request

        for body in (b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n", b"\xff\xfe", b"{\n}"):
            await client.request(Request(
                "POST", "/api/v1/namespaces/default/configmaps", headers={"content-type": "application/yaml"}, body=body))
        await client.close()
    first, second, third = (one.line for one in kept.recording.exchanges)
    assert first["bodyText"].endswith("metadata: {name: plain}\n")
    assert second["bodyBase64"] == "//4="
    assert third["body"] == {}
    assert first["code"] == 201
    assert all(json.loads(line) for line in b"".join(kept.lines).splitlines())


async def test_what_met_a_fault_says_so() -> None:
    """Given a test with faults, when it is recorded, then each request that met one names it, and
    says whether the server did what was asked, and whether the answer is its own; in an HTTP
    archive its comment does.
    """
    kept = Kept()
    async with Cluster(nodes=0, clock="manual", controllers="", record=kept.recorder, faults=FAULTS) as cluster:
        await faulty_story(cluster)
    met = {one.fault.names: (one.method, one.fault.served, one.fault.told) for one in kept.recording.exchanges if one.fault}
    assert met == {
        "busy": ("POST", False, False), "ambiguous": ("POST", True, False), "lost": ("POST", True, True),
        "slow": ("POST", True, True), "behind": ("GET", True, False), "silent": ("GET", True, False)}
    assert [one.fault for one in kept.recording.exchanges][-1] is None
    entries = json.loads(har.archive(kept.recording))["log"]["entries"]
    assert [entry["comment"] for entry in entries if "comment" in entry] == [
        "met the fault silent", "met the fault busy; the server did not do what was asked", "met the fault ambiguous",
        "met the fault lost", "met the fault slow", "met the fault behind"]
