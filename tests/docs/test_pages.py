"""The pages under docs name what there is."""

import re
import tomllib
from pathlib import Path

import pytest

from fakekube.admission import chain
from fakekube.apis.gates import OWN
from fakekube.cli.main import cli
from fakekube.composition.installed import ADDONS, CONTROLLERS
from fakekube.pytest_plugin import INI

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / name).read_text()


def test_coverage_names_every_controller() -> None:
    """Given the controllers that the package brings, when the page about coverage is read, then it
    has a row for each.
    """
    rows = re.findall(r"^\| `([\w-]+)` \|", page("docs/coverage.md"), re.MULTILINE)
    points = tomllib.loads(page("pyproject.toml"))["project"]["entry-points"]
    assert sorted(rows) == sorted([*points[CONTROLLERS], *points[ADDONS]])


def test_coverage_names_every_admission_plugin_that_runs() -> None:
    """Given the plugins of a cluster, when the page about coverage is read, then each is named."""
    text = page("docs/coverage.md")
    assert [plugin.name for plugin in chain.build_chain().plugins if not re.search(rf"\b{plugin.name}\b", text)] == []


def test_every_gate_of_our_own_is_explained() -> None:
    """Given the gates that upstream does not have, when the page about configuration is read, then
    there is a row for each.
    """
    assert re.findall(r"^\| `(\w+)` \|", page("docs/configuration.md"), re.MULTILINE) == [*OWN]


@pytest.mark.parametrize("clock", ["auto", "manual", "real"])
def test_every_clock_is_explained(clock: str) -> None:
    """Given a clock, when the page about time is read, then there is a row for it."""
    assert f"\n| `{clock}` |" in page("docs/time.md")


def test_the_marker_takes_what_the_command_line_takes() -> None:
    """Given the options of the ini file, when they are compared with those of ``serve``, then each
    is there by the same name.
    """
    options = {option.name for option in cli.commands["serve"].params}
    assert [name for name in INI if name not in options] == []


def test_pages_name_no_hosts_and_no_machine() -> None:
    """Given every page, when it is searched, then the only addresses in it are of loopback."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for path in pages:
        addresses = re.findall(r"https?://([^\s/`'\")]+)", path.read_text())
        assert [address for address in addresses if not address.startswith("127.0.0.1")] == [], path.name
