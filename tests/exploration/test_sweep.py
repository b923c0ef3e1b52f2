"""A sweep in slices that goes on where it was stopped."""

import json

import pytest

from fakekube.exploration.crashes import CrashPoint, CrashPoints
from fakekube.exploration.strategies import STRATEGIES
from tests.exploration import sweep
from tests.exploration.plays.known import KNOWN, unknown
from tests.exploration.plays.play import Play


def test_a_sweep_plays_what_its_file_does_not_have(tmp_path):
    """Given the file of a sweep in which one slice is missing, when it goes on, then it plays that
    slice alone, and adds it.
    """
    path = tmp_path / "sweep.jsonl"
    [target] = sweep.BY_NAME["ttl"].components
    slices = sweep.slices_of("ttl", target)
    assert {strategy for _, _, strategy, _ in slices} <= {*STRATEGIES}
    left = slices.pop()
    path.write_text("".join(json.dumps({"slice": each, "found": []}) + "\n" for each in slices))
    assert sweep.main(path, ["ttl"])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[len(slices):] == [{"slice": [*left], "found": []}]


def test_a_sweep_that_found_something_says_so_each_time(tmp_path):
    """Given the file of a sweep that is whole and has found something, when it is called again,
    then it is no success.
    """
    path = tmp_path / "sweep.jsonl"
    [target] = sweep.BY_NAME["ttl"].components
    path.write_text("".join(
        json.dumps({"slice": each, "found": ["it ended otherwise"]}) + "\n" for each in sweep.slices_of("ttl", target)))
    before = path.read_bytes()
    assert not sweep.main(path, ["ttl"])
    assert path.read_bytes() == before


def test_a_play_that_there_is_not_is_refused(tmp_path):
    """Given a name that no play has, when it is swept, then that is an error that names them."""
    with pytest.raises(SystemExit, match=r"there is no tll: there are .*ttl"):
        sweep.main(tmp_path / "sweep.jsonl", ["tll"])


def test_what_is_known_is_not_told():
    """Given runs that ended otherwise, one as is known of its fault, one with that fault and
    another end, one that raised, one with another fault, then all but the first are told, and all
    of another strategy.
    """
    name, strategy = "replaced-worker", "intermediate-states"
    known = KNOWN[name, strategy]
    where, end = f"{known.fault} before its write 36, and more", ([], ([[("j", False, 1)], [], []], []), [0, 1, 0])
    known_one = CrashPoint(where, end, None, "")
    others = (
        CrashPoint(where, (*end[:2], [0, 2, 0]), None, ""), CrashPoint(where, None, OSError(), ""),
        CrashPoint("something else", end, None, ""))
    points = CrashPoints(None, (known_one, *others))
    play = Play(name, None, ())
    assert unknown(points, play, [strategy]) == list(map(str, others))
    assert unknown(points, play, ["conflicts"]) == list(map(str, (known_one, *others)))
