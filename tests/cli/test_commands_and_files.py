"""Commands that read and write files, run in this process; what a served cluster would answer
stands here.
"""

import asyncio
from pathlib import Path
from typing import Any

import click
import orjson
import pytest
import yaml
from click.testing import CliRunner, Result

from fakekube import Cluster
from fakekube.cli import exploring, record, remote, verify
from fakekube.cli.main import cli
from fakekube.cli.verify import Wanted
from fakekube.client.resources import CONFIG_MAPS
from fakekube.recording.recorder import Recorder
from fakekube.recording.report import Found
from fakekube.tracing.otlp import OTLPError
from fakekube.tracing.trace import Trace


def run(*words: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, words, input=text)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a served cluster is asked, after its answer, which the test puts first."""
    asked: list[Any] = []

    def call(server: str | None, kubeconfig: str | None, *what: Any, **more: Any) -> bytes:
        asked.append((server, kubeconfig, *what, *more.values()))
        answer: bytes = asked[0]
        return answer

    monkeypatch.setattr(remote, "call", call)
    return asked


@pytest.fixture
def snapshots(tmp_path: Path) -> tuple[bytes, bytes]:
    """Of one cluster: without a ConfigMap, and with it."""
    async def made() -> tuple[bytes, bytes]:
        async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
            first = cluster.snapshot().encode()
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "m"}, "data": {"a": "1"}})
            return first, cluster.snapshot().encode()

    return asyncio.run(made())


async def of_another_seed() -> bytes:
    async with Cluster(nodes=0, controllers="", clock="manual", seed=7) as cluster:
        return cluster.snapshot().encode()


def test_snapshots(asked: list[Any], snapshots: tuple[bytes, bytes], tmp_path: Path) -> None:
    """Given a served cluster / when snapshots of it are taken and compared / then they are files,
    and what differs is told; a file that cannot be written is an error, and so is another server.
    """
    asked.append(b"")
    for name, data in zip("ab", snapshots, strict=True):
        asked[0] = data
        file = tmp_path / name
        found = run("snapshot", "--server", "there", "-o", str(file))
        assert (found.exit_code, found.output) == (
            0, f"{file}: {len(data):,} bytes; go on from it with: fakekube serve --from {file}\n")
        assert file.read_bytes() == data
    assert asked[1:] == [("there", None, "GET", "/fakekube/v1/snapshot")] * 2
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    for words, code, output in (
        ((a, b), 1, "+ configmaps default/m\n"),
        ((b, a), 1, "- configmaps default/m\n"), ((a, a), 0, ""), ((a, b, "pods"), 0, ""),
        ((a, b, "configmaps"), 1, "+ configmaps default/m\n")):
        found = run("diff", *words)
        assert (found.exit_code, found.output) == (code, output)
    missing = tmp_path / "no" / "c"
    found = run("snapshot", "--server", "there", "-o", str(missing))
    assert (found.exit_code, found.output.partition(": '")[0]) == (1, "Error: [Errno 2] No such file or directory")
    asked[0] = b"{}"
    found = run("snapshot", "--server", "there", "-o", a)
    assert (found.exit_code, found.output) == (1, "Error: what answers there is no fakekube that knows this command\n")
    other = asyncio.run(of_another_seed())
    (tmp_path / "other").write_bytes(other)
    found = run("diff", a, str(tmp_path / "other"), "pods")
    assert (found.exit_code, found.output) == (1, "seed: 0 -> 7\n")
    (tmp_path / "b").write_bytes(b"nothing")
    found = run("diff", a, b)
    assert (found.exit_code, found.output.startswith(f"Error: {b}")) == (1, True)


def test_traces_of_snapshots(snapshots: tuple[bytes, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a snapshot / when the trace of an object in it is asked for / then it is printed, or
    sent; what is not there, and what cannot be sent, is an error.
    """
    file = tmp_path / "s"
    file.write_bytes(snapshots[1])
    found = run("trace", "cm/m", "--from", str(file))
    assert (found.exit_code, found.output.splitlines()[0]) == (0, "configmaps default/m: 1 change, and what led to it")
    tree = orjson.loads(run("trace", "cm/m", "--from", str(file), "-o", "json").output)
    assert (tree["object"], tree["changes"]) == ("configmaps default/m", 1)
    found = run("trace", "cm/none", "--from", str(file))
    assert (found.exit_code, found.output) == (1, 'Error: configmaps "none" not found\n')
    found = run("trace", "cm/m", "--from", str(file), "--server", "x")
    assert (found.exit_code, found.output.splitlines()[-1]) == (
        2, "Error: a trace is of a snapshot or of a served cluster: give --from, or say where the cluster is")
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(Trace, "send", lambda trace, endpoint: sent.append((trace.object, endpoint)))
    found = run("trace", "cm/m", "--from", str(file), "--otlp", "http://collector")
    assert (found.exit_code, found.output, sent) == (
        0, "sent 1 spans to http://collector\n", [("configmaps default/m", "http://collector")])

    def refuse(_: Trace, endpoint: str) -> None:
        raise OTLPError(f"{endpoint} is away")

    monkeypatch.setattr(Trace, "send", refuse)
    found = run("trace", "cm/m", "--from", str(file), "--otlp", "http://collector")
    assert (found.exit_code, found.output) == (1, "Error: http://collector is away\n")
    file.write_bytes(b"nothing")
    found = run("trace", "cm/m", "--from", str(file))
    assert found.exit_code == 1
    assert found.output.startswith(f"Error: {file}")


def test_traces_of_served_clusters(asked: list[Any], snapshots: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a served cluster / when a trace is asked for / then its answer is printed, or sent as
    it is asked for as JSON.
    """
    asked.append(b"the trace\n")
    found = run("trace", "cm/m", "--server", "there", "--field", "data.a", "--last", "3")
    assert (found.exit_code, found.output) == (0, "the trace\n")
    query = {"object": ["cm/m"], "namespace": ["default"], "last": ["3"], "output": ["text"], "field": ["data.a"]}
    assert asked[1:] == [("there", None, "GET", "/fakekube/v1/trace", query)]


@pytest.mark.parametrize(("text", "said"), [
    ("- {error: Timeout}\n- {errors: x}\n", "{file}:2: faults.1.errors: there is no such field: did you mean error?"),
    ("{\n", "{file}:1: did not find expected node content"),
])
@pytest.mark.parametrize("name", ["file", "-"])
def test_faults_that_are_none(asked: list[Any], tmp_path: Path, text: str, said: str, name: str) -> None:
    """Given a plan with a fault that is none, in a file or on standard input / when it is to be
    added / then place and reason are told, and nobody is asked.
    """
    file = tmp_path / "plan.yaml"
    file.write_text(text)
    words = ("faults", "--server", "there", "add", str(file) if name == "file" else "-")
    found = run(*words, text=text)
    place = str(file) if name == "file" else "standard input"
    assert (found.exit_code, found.output) == (1, f"Error: {said.replace('{file}', place)}\n")
    assert asked == []


def test_faults_that_cannot_be_sent(asked: list[Any], tmp_path: Path) -> None:
    """Given a plan with a number that is too large / when it is to be added / then that is told."""
    file = tmp_path / "plan.yaml"
    file.write_text("- {error: Timeout, times: 99999999999999999999}\n")
    found = run("faults", "--server", "there", "add", str(file))
    assert (found.exit_code, found.output) == (
        1, f"Error: {file}:1: faults.0.times: unable to parse input string as an integer, exceeded maximum size\n")
    assert asked == []


def test_faults_are_added(asked: list[Any]) -> None:
    """Given a list of faults on standard input / when it is added / then it is sent as a plan."""
    asked.append(b'{"kind": "FaultList", "items": [], "meetings": []}')
    found = run("faults", "--server", "there", "add", "-", text="- {error: Timeout}\n")
    assert (found.exit_code, found.output) == (0, "nothing goes wrong on purpose\n")
    assert asked[1:] == [("there", None, "POST", "/fakekube/v1/faults", b'{"faults":[{"error":"Timeout"}]}', None)]


def test_definitions_of_add_ons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given add-ons of a module / when their definitions are printed / then they are YAML; what is
    no add-on, and one whose kinds do not go together, are told of.
    """
    (tmp_path / "ofmine.py").write_text(
        "from typing import ClassVar\n"
        "from fakekube.client.resources import Resource\n"
        "from fakekube.runtime import AddOn, controller\n"
        "from fakekube.types import Object\n"
        "class One(Object):\n    resource: ClassVar[Resource] = Resource('x.dev', 'v1', 'ones', 'One')\n"
        "class Two(Object):\n    resource: ClassVar[Resource] = Resource('x.dev', 'v1', 'ones', 'Two')\n"
        "good = AddOn('good', kinds=(One,))\nbad = AddOn('bad', kinds=(One, Two))\n"
        "plain = controller('plain').for_(One.resource).complete(lambda ctx: None)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = run("crds", "ofmine:good")
    (tree,) = yaml.safe_load_all(found.output)
    assert (found.exit_code, tree["metadata"]["name"], tree["spec"]["names"]["kind"]) == (0, "ones.x.dev", "One")
    found = run("crds", "ofmine:plain")
    assert (found.exit_code, found.output) == (1, "Error: ofmine:plain is no add-on, and has no definitions\n")
    found = run("crds", "ofmine:bad")
    assert found.exit_code == 1
    assert found.output.startswith("Error: ofmine:bad: ")


def test_schemas() -> None:
    """Given names / when their schemas are asked for / then they are printed."""
    assert orjson.loads(run("schema", "Job").output)["title"] == "Job"
    assert "faults" in orjson.loads(run("schema", "faults").output)["properties"]
    for name in ("Nothing", "Model", "empty"):
        found = run("schema", name)
        assert (found.exit_code, found.output) == (
            1, f"Error: there is no schema of {name}: say config, faults, or a kind of fakekube.types as Job\n")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """What a client asked: three requests."""
    lines: list[bytes] = []
    recorder = Recorder(lines.append, secrets=False)

    async def story() -> None:
        async with Cluster(nodes=0, controllers="", clock="manual", record=recorder) as cluster:
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "m"}})
            await cluster.client.get(CONFIG_MAPS, "m")
            await cluster.client.list(CONFIG_MAPS)

    asyncio.run(story())
    recorder.flush()
    file = tmp_path / "recorded"
    file.write_bytes(b"".join(lines))
    return file


def test_recordings_are_written(recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a recording / when it is written from a file or of a command / then it is the same, or
    an archive where the name asks for one; without one there is an error, and the code of the
    command.
    """
    same, archive = tmp_path / "same", tmp_path / "a.har"
    for target in (same, archive):
        found = run("record", "--from", str(recording), "-o", str(target))
        assert (found.exit_code, found.output) == (0, f"{target}: 3 requests\n")
    assert same.read_bytes() == recording.read_bytes()
    urls = [each["request"]["url"] for each in orjson.loads(archive.read_bytes())["log"]["entries"]]
    assert [url.rpartition("/api/")[2] for url in urls] == [
        "v1/namespaces/default/configmaps", "v1/namespaces/default/configmaps/m", "v1/configmaps"]
    found = run("record", "--from", str(recording), "--server", "x", "-o", str(same))
    assert (found.exit_code, found.output.splitlines()[-1]) == (
        2, "Error: --from takes what is recorded already: give no cluster and no command with it")
    archive.write_text("{}")
    found = run("record", "--from", str(archive), "-o", str(same))
    assert found.exit_code == 1

    data = recording.read_bytes()
    for content, code, output in (
        (data, 3, f"{same}: 3 requests\n"), (b"", 1, "Error: nothing was recorded: no cluster of fakekube was used\n")):
        monkeypatch.setattr(record, "record_command", lambda _, path, content=content, **__: (path.write_bytes(content), 3)[1])
        found = run("record", "-o", str(same), "--", "pytest")
        assert (found.exit_code, found.output) == (code, output)
    monkeypatch.setattr(record, "record_cluster", lambda *arguments, **__: arguments[2].write_bytes(data))
    found = run("record", "--server", "there", "-o", str(same))
    assert (found.exit_code, found.output) == (0, f"{same}: 3 requests\n")


WANTED = Wanted(None, "", "http://there", True, False, False, False, 10.0, 8, False, "text")


def test_what_would_be_played(recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Given a recording / when it is to be played on another cluster / then what its client asked
    is one conversation; a file that is no recording, and none, are errors.
    """
    (found,) = verify._conversations(recording, Found("http://there", "1.37", (), 0, (), ("apps",)), WANTED)
    assert [(step.exchange.method, step.reason) for step in found.steps] == [("POST", ""), ("GET", ""), ("GET", "")]
    assert found.addon_groups == ()
    assert capsys.readouterr().err == ""
    verify._conversations(recording, Found("http://there", "1.36"), WANTED)
    assert capsys.readouterr().err == (
        "1 test recorded on Kubernetes 1.37, played on 1.36: what these releases do otherwise differs, too\n")
    (tmp_path / "bad").write_bytes(b"{}\n")
    for name in ("bad", "none"):
        with pytest.raises(click.ClickException):
            verify._conversations(tmp_path / name, Found("http://there", "1.37"), WANTED)


def test_a_replay(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a recording / when it is replayed / then the cluster is looked at, and what is played
    is told by the exit code.
    """
    target, played = Found("http://there", "1.37"), list[Any]()

    async def look(_: Wanted) -> Found:
        return target

    def play(conversations: Any, there: Found, wanted: Wanted) -> int:
        played.append((len(conversations), there, wanted.server))
        return 4

    monkeypatch.setattr(verify, "_look", look)
    monkeypatch.setattr(verify, "_play", play)
    found = run("replay", str(recording), "--server", "http://there", "--yes")
    assert (found.exit_code, played) == (4, [(1, target, "http://there")])


def test_parts_on_a_dask_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the address of a scheduler / when an exploration runs / then its workers run the parts,
    and the connection ends with it.
    """
    from contextlib import contextmanager

    from fakekube.exploration import dask

    log: list[str] = []

    @contextmanager
    def connected(address: str) -> Any:
        log.append(address)
        yield "executor", 7
        log.append("ended")

    monkeypatch.setattr(dask, "connected", connected)
    with exploring._executor(2, "tcp://there") as (executor, count):
        assert (str(executor), count, log) == ("executor", 7, ["tcp://there"])
    assert log == ["tcp://there", "ended"]
