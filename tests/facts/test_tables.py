"""The tables of facts that ship with the package: complete, without strays, and of one mind about
the releases.
"""

import gzip
import json
import re
from pathlib import Path

import pytest

from fakekube.apimachinery.releases import NEWEST, OLDEST, RELEASES
from fakekube.apis.bootstrap import KINDS, bootstrap_objects
from fakekube.apis.gates import Gates
from fakekube.runtime.gotemplate import ROOT as TEMPLATE
from fakekube.schema import definitions
from fakekube.schema.protobuf.messages import Messages
from tools.facts import TABLES
from tools.releases import ROOT

MINORS = {release.minor for release in RELEASES}
FOLDERS = ("fakekube/apis", "fakekube/runtime", "fakekube/schema")


def rows(path: str) -> list[list[str]]:
    """The words of each line of a table that is text."""
    return [line.split() for line in (ROOT / path).read_text().splitlines() if not line.startswith("#")]


def test_every_table_is_there_and_no_other() -> None:
    """Given the folders that hold tables / when their data files are listed / then each belongs to
    one generator.
    """
    owned = [path for table in TABLES for path in ROOT.glob(table.files)]
    held = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    data = {path for path in held if path.suffix in (".gz", ".txt", ".json")}
    assert data <= set(owned)
    assert len(owned) == len(set(owned))
    assert all(any(ROOT.glob(table.files)) for table in TABLES)


@pytest.mark.parametrize("table", [table for table in TABLES if table.files.endswith(".txt")], ids=lambda table: table.name)
def test_a_table_says_what_makes_it(table) -> None:
    """Given a table that is text / when its head is read / then it names a generator that exists.
    """
    (path,) = ROOT.glob(table.files)
    named = re.search(r"tools/\w+\.py", "".join(line for line in path.read_text().splitlines() if line.startswith("#")))
    assert named is not None
    assert (ROOT / named[0]).is_file()


def test_every_release_has_definitions() -> None:
    """Given the list of releases / when compared with the tables of definitions / then both name
    the same.
    """
    names = [path.name for path in (ROOT / "fakekube/schema/tables").iterdir()]
    assert sorted(names) == sorted(f"{release.name}.gz" for release in RELEASES)


@pytest.mark.parametrize("release", [release.name for release in RELEASES])
def test_every_release_has_gates(release: str) -> None:
    """Given a release / when its gates are read / then there are many, and each that one needs is a
    gate somewhere.
    """
    gates = Gates(release)
    assert {"AllAlpha", "AllBeta"} < set(gates)
    assert len(gates) > 100
    for gate in gates.known.values():
        assert all(need in gates.known for need in gate.needs), gate


def test_gates_speak_of_the_releases_of_the_list() -> None:
    """Given the table of gates / when its numbers are read / then each is a release of the list,
    the newest among them.
    """
    told = {int(number) for _, *words in rows("fakekube/apis/gates.txt") for word in words
            for number in re.findall(r"^(?:from|x|needs)?(\d+)", word)}
    assert told <= MINORS
    assert NEWEST.minor in told


def test_every_release_has_messages_for_its_kinds() -> None:
    """Given the definitions of a release / when looked up in protobuf / then all but a few that
    never travel have a message.
    """
    messages = Messages()
    for release in RELEASES:
        names = {name.removeprefix("io.k8s.") for name in definitions.load(release.name).names()}
        missing = {name for name in names if name.startswith("api.") and name not in messages}
        assert missing == set(), release.name


def test_templates_have_types_from_the_oldest_release_on() -> None:
    """Given the types of pod templates / when their releases are read / then they begin with the
    oldest and end in the list.
    """
    table = rows("fakekube/runtime/template_types.txt")
    minors = [int(row[0]) for row in table]
    assert minors == sorted(minors)
    assert set(minors) <= MINORS
    assert TEMPLATE in [row[1] for row in table if int(row[0]) == OLDEST.minor]


def test_internal_types_lead_to_each_other() -> None:
    """Given the internal types / when their fields are followed / then every struct that one names
    has a line.
    """
    table = {name: fields for name, *fields in rows("fakekube/apis/internal_types.txt")}
    named = {field.partition(":")[2].lstrip("*[]=") for fields in table.values() for field in fields}
    assert {kind for kind in named if kind[0] != "-"} <= {*table, "s", "b", "i"}


def test_bootstrap_has_objects_of_the_kinds_that_are_read() -> None:
    """Given the objects of a fresh cluster / when compared with the kinds that are read / then no
    kind and no line is left.
    """
    for resource in KINDS:
        assert bootstrap_objects(resource) or str(resource) == "ipaddresses.networking.k8s.io", resource
    words = {line[1] if line[0] == "object" else line[0] for line in
             [text.split(" ") for text in (ROOT / "fakekube/apis/bootstrap.txt").read_text().splitlines()]
             if line[0] not in ("", "#")}
    known = {str(resource) for resource in KINDS} | {kind.kind.lower() for kind in KINDS.values()}
    assert words <= known


def test_go_facts_speak_of_the_releases_of_the_list() -> None:
    """Given the facts from Go / when their releases are read / then all are of the list, and each
    definition has a shape.
    """
    facts = json.loads(gzip.decompress(Path(ROOT, "tools/go-facts.json.gz").read_bytes()))
    assert {minor for shapes in facts.values() for minor, _ in shapes} <= MINORS
    for release in RELEASES:
        table = definitions.load(release.name)
        assert [kind for kind in table.kinds() if (schema := table.schema(kind)) and schema.name not in facts] == []
