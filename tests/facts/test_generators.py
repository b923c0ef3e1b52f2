"""The generators of the tables, on small sources of their own: what they read, compare, write and
leave out.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakekube.apimachinery.releases import NEWEST, RECORDED, Release
from tools import bootstrap, facts, gates, go_facts, schemas
from tools.gosource import Packages
from tools.releases import ROOT, MissingSource, Sources, module_version

RELEASE = Release("1.90", 2)


def module(folder: Path, name: str, files: dict[str, str]) -> None:
    """A Go module of the release, with the files that are given."""
    for path, text in files.items():
        file = folder / module_version(name, RELEASE) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_go_structs_are_read_without_go(tmp_path: Path) -> None:
    """Given a Go file with an embedded struct, a named map and comments / when it is read / then
    the facts come out.
    """
    module(tmp_path, "api", {"demo/v1/types.go":
        'package v1\n\nimport (\n\tmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"\n)\n\n'
        "type Sizes map[string]Size\n\ntype Size struct {\n"
        '\t// first, json:"x"\n\tCount *int32 `json:"count,omitempty" protobuf:"1"`\n}\n\n'
        'type Thing struct {\n\tSize `json:",inline"`\n\tAll Sizes `json:"all"`\n'
        '\tAt metav1.Time `json:"at,omitempty,omitzero"`\n\tsecret string\n}\n'})
    packages = Packages.below([("k8s.io/api", tmp_path / "api@v0.90.2", ["*/v*"])])
    assert go_facts.facts_of(packages)["io.k8s.api.demo.v1.Thing"] == {"name": "Thing", "package": "v1", "fields": [
        ["count", "int32", "pe", "Size"],
        ["all", "v1.Sizes=map[string]v1.Size", "", ""],
        ["at", "v1.Time", "ez", ""],
    ]}  # fmt: skip


def test_files_of_builds_with_a_tag_are_not_read(tmp_path: Path) -> None:
    """Given two files that declare a type, one for builds with a tag / when read / then the other
    one counts.
    """
    module(tmp_path, "api", {
        "demo/v1/bytes.go": '//go:build !text\n\npackage v1\n\ntype Raw struct {\n\tData []byte `json:"data"`\n}\n',
        "demo/v1/text.go": '//go:build text\n\npackage v1\n\ntype Raw struct {\n\tData string `json:"data"`\n}\n'})
    packages = Packages.below([("k8s.io/api", tmp_path / "api@v0.90.2", ["*/v*"])])
    assert packages.struct("k8s.io/api/demo/v1.Raw")[0].type == "[]uint8"


GATES = """
const (
	Plain featuregate.Feature = "Plain"
	Named featuregate.Feature = "OtherName" // {not: this}
)

var versioned = map[featuregate.Feature]featuregate.VersionedSpecs{
	Plain: {
		{Version: version.MustParse("1.0"), Default: true, PreRelease: featuregate.GA},
		{Version: version.MustParse("1.90"), Default: false, PreRelease: featuregate.Deprecated, LockToDefault: true},
		{Version: version.MustParse("1.91"), Default: true, PreRelease: featuregate.GA},
	},
	Named: {{Version: version.MustParse("1.88"), Default: false, PreRelease: featuregate.Alpha}},
	other.Compatible: {
		{Version: version.MustParse("1.90"), Default: false, PreRelease: featuregate.Beta},
		{Version: version.MustParse("1.90"), Default: true, PreRelease: featuregate.Beta,
			MinCompatibilityVersion: version.MustParse("1.90")},
	},
}

var needs = map[featuregate.Feature][]featuregate.Feature{
	Plain: {},
	Named: {other.Compatible, featuregate.Feature(other.Plain)},
}
"""


def test_gates_are_read_as_a_release_has_them(tmp_path: Path) -> None:
    """Given gates with specs for several releases / when one is asked / then each is as it is
    there, with what it needs.
    """
    for name, folders in gates.FOLDERS.items():
        module(tmp_path, name, {f"{folder}/none.go": "package none\n" for folder in folders})
    module(tmp_path, "kubernetes", {"pkg/features/kube_features.go": GATES})
    found = gates.gates_of(Sources(tmp_path, None), RELEASE)
    assert {name: (gate.state, gate.needs) for name, gate in found.items()} == {
        "Plain": ("d-!", ()), "OtherName": ("a-", ("Compatible", "Plain")), "Compatible": ("b-", ())}
    known = {89: None, 90: found["Plain"], 91: None}
    assert gates.line("Plain", known) == "Plain 89g+ 90d-! from90 x91"
    assert gates.line("OtherName", {90: found["OtherName"]}) == "OtherName 90a- needs90=Compatible,Plain"


def test_first_objects_come_from_the_newest_recording(tmp_path: Path) -> None:
    """Given the recorded objects of a fresh cluster / when the table is built / then roles have
    their notation.
    """
    role = {"metadata": {"name": "r", "labels": {}}, "rules": [
        {"verbs": ["get"], "apiGroups": ["", "apps"], "resources": ["pods"]}, {"verbs": ["get"], "nonResourceURLs": ["/x"]}]}
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / f"bootstrap-{RECORDED[-1]}.json").write_text(json.dumps({
        "/apis/rbac.authorization.k8s.io/v1/clusterroles": [role],
        "/api/v1/namespaces": [{"spec": {}, "metadata": {"name": "default"}}]}))
    (built,) = bootstrap.build(Sources(None, tmp_path)).values()
    lines = [line for line in built.decode().splitlines() if not line.startswith("#")]
    assert lines == ["clusterrole r", "  get -,apps pods", "  get ~/x",
                     'object namespaces {"metadata":{"name":"default"},"spec":{}}']


def test_a_table_is_stale_when_a_file_differs_or_is_too_much(tmp_path: Path, monkeypatch) -> None:
    """Given a compressed file, a text and a stray one / when compared with what was built / then
    only what differs is named, and renewing writes it and removes the stray one.
    """
    monkeypatch.setattr(facts, "ROOT", tmp_path)
    table = facts.Table("t", lambda _: {}, "t/*")
    same, old, stray = (tmp_path / "t" / name for name in ("same.gz", "old.txt", "stray.txt"))
    facts.write(same, b"same")
    same.write_bytes(gzip.compress(b"same", 1))  # another compressor
    old.write_bytes(b"old")
    stray.write_bytes(b"")
    built = {same: b"same", old: b"new"}
    assert facts.stale(table, built) == [old, stray]
    facts.renew(table, built)
    assert facts.stale(table, built) == []
    assert not stray.exists()


def test_the_newest_definitions_are_what_the_generator_makes() -> None:
    """Given the package with the definitions / when the newest table is built anew / then it is the
    one that ships.
    """
    sources = Sources(None, None)
    try:
        sources.definitions(NEWEST)
    except MissingSource as missing:
        pytest.skip(str(missing))
    built = schemas.build(sources)[schemas.TABLES / f"{NEWEST.name}.gz"]
    assert facts.content(schemas.TABLES / f"{NEWEST.name}.gz") == built


def test_without_sources_nothing_is_checked_and_one_line_says_so(tmp_path: Path) -> None:
    """Given no Go modules and no recordings / when tables are checked / then that is no failure,
    and it is said.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tools.facts", "--check", "--modules", tmp_path, "--recordings", tmp_path, "gates", "bootstrap"],
        cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("skipped for want of sources: gates (no Go module ")
    assert line.endswith("bootstrap (no recording of a fresh cluster)")
