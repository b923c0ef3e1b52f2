"""Answers recorded on a real control plane: what is equal today stays equal, and what is mended
leaves the list.
"""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def load_recordings() -> ModuleType:
    """The module beside this one, which is a program too."""
    spec = importlib.util.spec_from_file_location("recordings", Path(__file__).with_name("recordings.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


recordings = load_recordings()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(recordings.tool() is None, reason="no recordings here: FAKEKUBE_RECORDINGS names the folder that has them")
@pytest.mark.parametrize("release", recordings.RELEASES)
def test_the_ground_is_held(release: str) -> None:
    """Given the recordings of a release, when every case is played against ours, then exactly those
    differ that are known to: a new difference is a step back, and one that is gone must leave the
    list.
    """
    found, known = recordings.play(recordings.tool(), release), recordings.known(release)
    assert [name for name in found if name not in known] == [], "these differ, and did not before"
    assert [name for name in known if name not in found] == [], "these differ no longer: take them from the list"


@pytest.mark.parametrize("release", recordings.RELEASES)
def test_the_list_is_sorted_and_names_nothing_twice(release: str) -> None:
    """Given the list of known differences of a release, when it is read, then it is sorted and
    without repetition.
    """
    known = recordings.known(release)
    assert known == sorted(dict.fromkeys(known))


def test_a_phase_that_does_not_start_is_a_difference(tmp_path: Path) -> None:
    """Given a tool that reports one case as different, one as equal and a phase without results,
    when it is played, then the case and the phase are found.
    """
    tool = tmp_path / "fidelity"
    tool.write_text("""\
import json, sys
report = {"phases": {
    "quiet": {"results": [{"case": "b", "differences": {"1": []}}, {"case": "a", "differences": {"1": ["x"]}}]},
    "full": {"results": []}}}
open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps(report))
""")
    assert recordings.play(tool) == ["a", "phase:full"]
