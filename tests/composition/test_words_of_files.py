"""Files that options name: what is read of them, and what is said of those that are none."""

import gzip
import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.http import UserInfo
from fakekube.client.resources import CONFIG_MAPS, STORAGE_CLASSES
from fakekube.composition import admissionconfiguration, manifests, snapshot, tokenfile
from fakekube.composition.defaultstorageclass import create
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.composition.snapshot import SnapshotError
from fakekube.util import files

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"


def test_static_tokens(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Given a file of tokens, when it is read, then each is a user's, with uid and groups; an empty
    one is left out, of two equal ones the later counts, and both are warned of.
    """
    file = tmp_path / "tokens"
    file.write_text('a,ann,1\n\n,eve,2\nb,bob,3,"g,h",more\na,eva,4,\n')
    with caplog.at_level(logging.WARNING):
        found = tokenfile.read(str(file))
    assert found == {"a": UserInfo("eva", (), "4"), "b": UserInfo("bob", ("g", "h"), "3")}
    assert [record.getMessage() for record in caplog.records] == [
        f"empty token has been found in token file '{file}', record number '3'",
        f"duplicate token has been found in token file '{file}', record number '5'"]
    file.write_text("a,ann\n")
    with pytest.raises(OptionError) as refused:
        tokenfile.read(str(file))
    assert str(refused.value) == (
        f"token_auth_file: token file '{file}' must have at least 3 columns (token, user name, user uid), found 2")
    for data, told in ((b"\xff", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
                       (b'a,"b"c,1', "',' expected after '\"'")):
        file.write_bytes(data)
        with pytest.raises(OptionError) as refused:
            tokenfile.read(str(file))
        assert str(refused.value) == f"token_auth_file: {file}: {told}"


@pytest.mark.parametrize(("text", "told"), [
    ("kind: Else", "{file} holds no AdmissionConfiguration"), ("- a", "{file} holds no AdmissionConfiguration"),
    ("kind: AdmissionConfiguration\nplugins: [{path: a}]", "{file}: a plugin needs a name"),
    ("kind: AdmissionConfiguration\nplugins: [{name: 7}]", "{file}: a plugin needs a name"),
    ("kind: AdmissionConfiguration\nplugins: [a]", "{file}: a plugin needs a name"),
    ("kind: AdmissionConfiguration\nplugins: [{name: A, configuration: [1]}]", "{file}: the configuration of A is no object"),
    ("kind: AdmissionConfiguration\nplugins: [{name: A, path: nowhere}]", "{folder}/nowhere: No such file or directory"),
])
def test_what_is_no_configuration_of_admission(tmp_path: Path, text: str, told: str) -> None:
    """Given a file that configures no plugin, when it is read, then it is said why."""
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(OptionError) as refused:
        admissionconfiguration.read(str(file))
    assert str(refused.value) == f"admission_control_config_file: {told.format(file=file, folder=tmp_path)}"


def test_a_configuration_of_admission(tmp_path: Path) -> None:
    """Given plugins that are configured in the file, in one beside it, and not at all, when it is
    read, then each has its tree.
    """
    (tmp_path / "b.yaml").write_text("x: 1")
    file = tmp_path / "a.yaml"
    file.write_text("kind: AdmissionConfiguration\nplugins:\n- {name: A, configuration: {z: 2}, path: nowhere}\n"
                    "- {name: B, path: b.yaml}\n- {name: C}\n- {name: D, path: ''}\n")
    assert admissionconfiguration.read(str(file)) == {"A": {"z": 2}, "B": {"x": 1}, "C": {}, "D": {}}
    file.write_text("kind: AdmissionConfiguration")
    assert admissionconfiguration.read(str(file)) == {}


def test_manifests_are_read(tmp_path: Path) -> None:
    """Given texts, lists in lists, and a folder, when they are read, then objects come in order;
    of a folder its own YAML and JSON files by name.
    """
    inner = "{kind: List, apiVersion: v1, items: [{kind: A, apiVersion: v1}]}"
    listed = f"kind: List\napiVersion: v1\nitems:\n- {inner}\n- {{kind: B, apiVersion: v1}}\n"
    assert [tree["kind"] for tree in manifests.read(f"---\n---\n{POD}---\n{listed}")] == ["Pod", "A", "B"]
    assert [tree["kind"] for tree in manifests.read("kind: List\napiVersion: v1\nitems: 7\n")] == ["List"]
    for name, kind in (("b.yml", "B"), ("a.yaml", "A"), ("c.json", "C"), ("d.txt", "D")):
        (tmp_path / name).write_text(f'{{"kind": "{kind}", "apiVersion": "v1"}}')
    (tmp_path / "e.yaml").mkdir()
    assert [tree["kind"] for tree in manifests.read_files(tmp_path)] == ["A", "B", "C"]
    assert [tree["kind"] for tree in manifests.read_files(tmp_path / "d.txt")] == ["D"]


@pytest.mark.parametrize(("text", "told"), [
    ("a", "manifest: a document without apiVersion and kind is no manifest"),
    ("{kind: A}", "manifest: a document without apiVersion and kind is no manifest"),
    ("{apiVersion: v1}", "manifest: a document without apiVersion and kind is no manifest"),
    ("{apiVersion: v1, kind: 7}", "manifest: a document without apiVersion and kind is no manifest"),
    ("{apiVersion: v1, kind: List, items: [7]}", "manifest: a document without apiVersion and kind is no manifest"),
    *((f"a{ending}",
       f"manifest: a document without apiVersion and kind is no manifest: for a file of that name say Path('a{ending}')")
      for ending in (".yaml", ".yml", ".json")),
])
def test_what_is_no_manifest(text: str, told: str) -> None:
    """Given a text that is none, when it is read, then that is said; a name of a file has a hint.
    """
    with pytest.raises(OptionError) as refused:
        manifests.read(text)
    assert str(refused.value) == told


def test_folders_that_hold_no_manifests(tmp_path: Path) -> None:
    """Given a folder without manifests, and those that kustomize builds something of, when they are
    read, then it is said what to do.
    """
    with pytest.raises(OptionError) as refused:
        manifests.read_files(tmp_path)
    assert str(refused.value) == f"{tmp_path}: there is no file of *.yaml, *.yml, *.json in this directory"
    for name in ("Kustomization", "kustomization.yml", "kustomization.yaml"):
        (tmp_path / name).write_text("a: b")
        with pytest.raises(OptionError) as refused:
            manifests.read_files(tmp_path)
        assert str(refused.value) == (
            f"{tmp_path}: a folder with a {name} is built first: give what kubectl kustomize {tmp_path} prints")


@pytest.mark.parametrize(("tree", "told"), [
    ({"apiVersion": "v7", "kind": "Pod"}, 'no matches for kind "Pod" in version "v7"'),
    ({"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage"}, "manifest: Stages are for the kubelet, and none runs here"),
    ({"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "Else"},
     "manifest: KWOK's Else is not supported: only Stage and KwokConfiguration are"),
])
async def test_what_cannot_be_created(tree: dict[str, Any], told: str) -> None:
    """Given a cluster without a kubelet, when manifests are loaded that it knows nothing of, then
    that is said, and nothing is created.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        with pytest.raises(OptionError) as refused:
            await cluster.load([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, tree])
        assert str(refused.value) == told
        there = (await cluster.client.list(CONFIG_MAPS, "default")).items
        assert [each["metadata"]["name"] for each in there] == (["a"] if tree["apiVersion"] == "v7" else [])


async def test_what_is_there_is_applied_over() -> None:
    """Given manifests in an order in which they cannot be created, some of which are there, when
    they are loaded, then namespaces and kinds come first, and each is as the server has it.
    """
    definition: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "ws.x.dev"},
        "spec": {"group": "x.dev", "scope": "Namespaced", "names": {"kind": "W", "plural": "ws"}, "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
    trees: list[dict[str, Any]] = [
        {"apiVersion": "x.dev/v1", "kind": "W", "metadata": {"name": "w", "namespace": "team"}}, definition,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}]
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}, "data": {"x": "0",
            "y": "2"}})
        made = await cluster.load(trees)
        assert [(each["kind"], each["metadata"]["name"]) for each in made] == [
            ("W", "w"), ("CustomResourceDefinition", "ws.x.dev"), ("ConfigMap", "a"), ("Namespace", "team")]
        assert made[2]["data"] == {"x": "1", "y": "2"}
        assert [(each["manager"], each["operation"]) for each in made[2]["metadata"]["managedFields"]][-1][1] == "Apply" or \
            made[2]["metadata"]["managedFields"][0]["operation"] == "Apply"
        again = await cluster.load(trees)
        assert [each["metadata"]["uid"] for each in again] == [each["metadata"]["uid"] for each in made]


async def test_the_default_storage_class() -> None:
    """Given the option, when a cluster begins, then it has this class, and making it again changes
    nothing.
    """
    async with Cluster(nodes=0, controllers="", clock="manual", default_storage_class=True) as cluster:
        await create(cluster.client)
        [found] = (await cluster.client.list(STORAGE_CLASSES)).items
        assert found["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}
        assert {name: value for name, value in found.items() if name != "metadata"} == {
            "kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "provisioner": "fakekube.dev/provisioner",
            "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", "allowVolumeExpansion": True}
        assert found["metadata"]["name"] == "standard"


def packed(*lines: Any) -> bytes:
    """The lines as a snapshot's file has them, without the time: these bytes name a test."""
    return gzip.compress(
        b"".join((line if isinstance(line, bytes) else orjson.dumps(line)) + b"\n" for line in lines), mtime=0)


HEADER: dict[str, Any] = {"format": "fakekube-snapshot", "version": 1}
ZEROS = gzip.compress(bytes(100_000), mtime=0)


@pytest.mark.parametrize(("data", "told"), [
    (b"", "s is no snapshot of fakekube"), (b"x", "s is no snapshot of fakekube: Not a gzipped file (b'x')"),
    (packed("a")[:-9], "s is cut short"), (packed(b"{"), "s is no snapshot of fakekube"), (packed(7),
        "s is no snapshot of fakekube"),
    (packed({**HEADER, "format": "x"}), "s is no snapshot of fakekube"),
    (packed({**HEADER, "version": 2}), ("s has format 2 of snapshots, and this fakekube reads format 1: read it with the release "
     "that wrote it")),
    (packed(HEADER), "s is cut short: its end is missing"), (packed(HEADER, {"end": 1}), "s is cut short: its end is missing"),
    (packed(HEADER, b'{"end":0}'), "s is damaged: its header has no usable 'options'"),
    (packed({**HEADER, "options": {"nodes": -1}}, b'{"end":0}'), "s is damaged: nodes: -1 is no number of nodes"),
    (ZEROS, f"s is no snapshot of fakekube: its {len(ZEROS)} bytes unpack to more than {200 * len(ZEROS)}"),
])
def test_what_is_no_snapshot(data: bytes, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given bytes that are no usable snapshot, when they are read, then it is said why."""
    assert snapshot.MOST_UNPACKED == 64 << 20
    monkeypatch.setattr(snapshot, "MOST_UNPACKED", 10_000)
    with pytest.raises(SnapshotError) as refused:
        snapshot.decode(data, "s")
    assert str(refused.value) == told


async def test_times_in_a_header_have_to_be_times() -> None:
    """Given a snapshot whose header was changed, when it is read, then it is said which part is
    not usable; what is not changed comes back, with the same bytes.
    """
    async with Cluster(nodes=0, controllers="", clock="manual", seed=3, start="2026-02-01T00:00:00Z") as cluster:
        taken = cluster.snapshot()
    data = taken.encode()
    again = snapshot.decode(data)
    assert again.encode() == data
    assert (again.time, again.started, again.rng, again.revision, again.options.start) == (
        taken.time, taken.started, taken.rng, taken.revision, taken.options.start)
    head, *rest = gzip.decompress(data).split(b"\n")[:-1]
    header = orjson.loads(head)
    assert list(header) == [
        "format", "version", "options", "time", "started", "revision", "compacted", "begun", "rng", "components"]
    left_out = {"allow_host", "allow_origin", "webhook_services", "cache_mutation_detector", "tls", "token_auth_file",
                "anonymous_auth", "audit_log", "faults", "record"}
    assert {*ClusterOptions.__dataclass_fields__} - {*header["options"]} == left_out
    for name, value, told in (
        ("time", 1e15, "time"), ("started", "9999-12-31T00:00:00Z", "started"), ("rng", 7, "'int' object is not iterable"),
        ("components", 7, "'int' object is not iterable"),
    ):
        with pytest.raises(SnapshotError) as refused:
            snapshot.decode(packed({**header, name: value}, *rest), "s")
        assert str(refused.value) == f"s is damaged: its header has no usable {told}"


async def test_what_a_snapshot_decides(tmp_path: Path) -> None:
    """Given a snapshot, when a cluster goes on from it, then clock, controllers and what is up to
    who starts it may differ; a file that is no snapshot is never replaced.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        taken = cluster.snapshot()
    assert taken.options_with({"clock": "real", "controllers": ["job"], "tls": True}) == ClusterOptions.of(
        nodes=0, clock="real", controllers="job", tls=True)
    with pytest.raises(OptionError) as refused:
        taken.options_with({"nodes": 1})
    assert str(refused.value) == "nodes: the snapshot decides that; only clock and controllers may differ from it"
    file = tmp_path / "s"
    def write() -> None:
        return taken.write(file)
    write()
    write()
    assert snapshot.is_one(file.read_bytes())
    assert not snapshot.is_one(b"x")
    assert not snapshot.is_one(packed({"format": "other"}))
    file.write_text("else")
    with pytest.raises(files.NotReplaced) as kept:
        write()
    assert str(kept.value) == f"{file} is no snapshot of fakekube, and is left as it is"
    assert file.read_text() == "else"
