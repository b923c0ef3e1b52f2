"""Which controllers run: those that packages install, and add-ons where they are named."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakekube import Cluster
from fakekube.composition import controllermanager, installed
from fakekube.composition.options import OptionError

COMPONENT = """
class Quiet:
    name, user_agent, user = "quiet", "", None
    async def start(self, ctx): pass
    async def stop(self): pass
"""


def forget() -> None:
    for cached in (installed.installed, controllermanager.selected, controllermanager._loaded):
        cached.cache_clear()


@pytest.fixture
def addon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of an add-on that a package has installed."""
    folder = tmp_path / "quiet_package-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: quiet-package\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[fakekube.addons]\nquiet = quiet_package:Quiet\n")
    (tmp_path / "quiet_package.py").write_text(COMPONENT)
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield "quiet"
    forget()


@pytest.mark.parametrize(("option", "runs"), [("*", False), ("*,quiet", True), ("quiet", True), ("namespace", False)])
async def test_addon_runs_where_it_is_named(addon: str, option: str, runs: bool) -> None:
    """Given an installed add-on, when a cluster starts, then it runs if the option names it, and
    ``*`` alone does not.
    """
    async with Cluster(controllers=option, clock="manual", nodes=0) as cluster:
        assert (addon in cluster.manager.names) == runs


def test_controller_that_nobody_installed_is_refused() -> None:
    """Given an option with a name that is not installed, when a cluster is made, then OptionError
    names it.
    """
    with pytest.raises(OptionError, match='"nobody" is not in the list of known controllers'):
        Cluster(controllers="*,nobody")
