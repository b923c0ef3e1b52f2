"""Entry points, as the standard library reads them."""

import importlib.metadata
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest

from fakekube.util.entrypoints import EntryPoint, entry_points

TEXT = """
[console_scripts]
other = somewhere:main

[things]
# what comes
ordered = collections:OrderedDict
deep=collections:OrderedDict.fromkeys
extra = collections:OrderedDict [fast]

[ more.things ]
x = a:b
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that packages are installed in, the first on the path."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def install(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "METADATA").write_text("Metadata-Version: 2.1\nName: " + name.partition("-")[0] + "\nVersion: 1\n")
    (folder / name / "entry_points.txt").write_text(text)


def as_the_library(group: str) -> list[EntryPoint]:
    return [EntryPoint(point.name, point.value) for point in importlib.metadata.entry_points(group=group)]


def test_those_of_a_group_are_found_and_loaded(site: Path) -> None:
    """Given an installed package with entry points / when a group is asked for / then its own, and
    they can be loaded.
    """
    install(site, "some_thing-1.0.dist-info", TEXT)
    found = {point.name: point for point in entry_points("things")["things"]}
    assert sorted(found) == ["deep", "extra", "ordered"]
    assert found["ordered"].load() is found["extra"].load() is OrderedDict
    assert found["deep"].load() == OrderedDict.fromkeys
    assert entry_points("more.things", "thing") == {"more.things": [EntryPoint("x", "a:b")], "thing": []}


def test_the_backport_of_the_library_changes_nothing(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a process in which some package has imported the library's backport, with a finder of
    its own / when a group is asked for / then the answer is the same.
    """
    finder = type("MetadataPathFinder", (), {"__module__": "importlib_metadata", "find_distributions": None})()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    install(site, "some_thing-1.0.dist-info", TEXT)
    assert entry_points("more.things", "thing") == {"more.things": [EntryPoint("x", "a:b")], "thing": []}


@pytest.mark.parametrize("group", ["things", "console_scripts", "pytest11", "fakekube.controllers"])
def test_they_are_those_that_the_library_finds(site: Path, group: str) -> None:
    """Given packages of either form, one of them installed twice / when groups are asked for / then
    as the library answers.
    """
    install(site, "some_thing-1.0.dist-info", TEXT)
    install(site, "Some.Thing-0.9.dist-info", "[things]\nolder = a:b\n")
    install(site, "old-2.0-py3.11.egg-info", "[things]\nold = a:b\n")
    assert sorted(entry_points(group)[group]) == sorted(as_the_library(group))
    if group == "fakekube.controllers":
        assert "job" in [point.name for point in entry_points(group)[group]]


def test_archives_are_read_too(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a package in an archive on the path / when its group is asked for / then it is found.
    """
    archive = site / "packed.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("packed-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: packed\nVersion: 1\n")
        made.writestr("packed-1.0.dist-info/entry_points.txt", TEXT)
    monkeypatch.setattr(sys, "path", [*sys.path, str(archive)])
    assert EntryPoint("ordered", "collections:OrderedDict") in entry_points("things")["things"]


def test_what_is_not_there_is_told_when_it_is_loaded(site: Path) -> None:
    """Given an entry point to nothing / when it is loaded / then ImportError or AttributeError."""
    with pytest.raises(ImportError):
        EntryPoint("x", "no_such_module_of_ours:y").load()
    with pytest.raises(AttributeError):
        EntryPoint("x", "collections:NoSuchThing").load()
