"""The runner: which seed fails, what is left of its deviations, how many histories there were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.exploration import runner
from fakekube.exploration.runner import Verdict
from fakekube.exploration.shrinking import shrunk
from fakekube.util.choices import Choices


def racy(choices, plan):
    """Fails when two of thirty things are late at the same time."""
    late = [number for number in range(30) if choices.delay(f"thing {number}", "things")]
    return Verdict("both late" if {3, 17} <= {*late} else "", history=str(late))


def test_the_first_seed_that_fails_is_shrunk_to_what_matters():
    """Given a run that fails for two of its choices, then those two are left, and replay it."""
    explored = runner.explore(racy, range(1, 201))
    found = explored.found
    assert found is not None
    assert explored.seeds == found.seed < 200
    assert [one.label for one in found.deviations] == ["thing 3", "thing 17"]
    assert found.before > 2
    assert racy(Choices.of(found.schedule), None).failure == "both late"
    assert str(explored).endswith(f"seed {found.seed} fails")


def test_histories_are_counted_once():
    """Given a run that never fails and has three histories, then those and the seeds count."""
    def run(choices, plan):
        assert plan == "faults"
        return Verdict(history=str(choices.pick("which", 3)))

    explored = runner.explore(run, range(500), plan="faults")
    assert (explored.seeds, sorted(explored.histories), explored.found) == (500, ["0", "1", "2"], None)
    assert str(explored) == "500 seeds, 3 distinct histories, no failure"


def test_another_failure_does_not_count_while_it_is_shrunk():
    """Given a run that fails otherwise with fewer deviations, then the first reason is told."""
    def run(choices, plan):
        late = [number for number in range(6) if choices.pick(f"thing {number}", 2)]
        return Verdict("" if not late else "many" if len(late) > 3 else "few")

    choices = Choices(next(seed for seed in range(500) if run(Choices(seed), None).failure == "many"))
    found = runner.shrink(run, choices, run(choices, None))
    assert (found.verdict.failure, len(found.deviations)) == ("many", 4)


@given(whole=st.lists(st.integers(0, 60), unique=True, max_size=40), data=st.data())
def test_what_is_left_is_exactly_what_is_needed(whole, data):
    """Given a failure that needs some of many things, then those are left and nothing else."""
    needed = set(data.draw(st.lists(st.sampled_from(whole), unique=True, max_size=5))) if whole else set()
    left, _ = shrunk(tuple(whole), lambda rest: rest if needed <= {*rest} else None)
    assert {*left} == needed


@pytest.mark.parametrize("most_runs", [0, 1, 2, 5])
def test_shrinking_ends(most_runs):
    """Given that each run is dear, when so many are allowed, then no more are made."""
    asked = []

    def fails(rest):
        asked.append(rest)
        return rest if 50 in rest and 3 in rest else None

    left, runs = shrunk(tuple(range(100)), fails, most_runs)
    assert len(asked) == runs <= most_runs
    assert {3, 50} <= {*left}
