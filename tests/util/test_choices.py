"""Choices: what is drawn, what is recorded, and what of it replays."""

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.util import base64url
from fakekube.util.choices import DELAYS_SECONDS, VERSION, Choices, Deviation, ScheduleError, schedule_of

LABELS = st.text(min_size=1, max_size=20)
ASKED = st.lists(st.tuples(LABELS, st.integers(1, 6)), max_size=40)


def answers(choices, asked):
    return [choices.pick(label, count) for label, count in asked]


@given(seed=st.integers(0, 10**9), asked=ASKED)
def test_a_replay_of_the_deviations_has_the_same_answers(seed, asked):
    """Given what a seed answered, when its deviations are replayed, then it is answered again."""
    drawn = Choices(seed)
    told = answers(drawn, asked)
    replayed = Choices.of(schedule_of(seed, drawn.deviations))
    assert answers(replayed, asked) == told
    assert replayed.deviations == drawn.deviations
    assert answers(Choices.of(schedule_of(seed)), asked) == told


@given(asked=ASKED, others=ASKED)
def test_a_draw_does_not_depend_on_those_before_it(asked, others):
    """Given two runs of one seed, one asking more, then what both ask is answered alike."""
    alone, beside = Choices(7), Choices(7)
    others = [(f"else {label}", count) for label, count in others]
    answers(beside, others)
    assert answers(alone, asked) == answers(beside, asked)


@given(asked=ASKED)
def test_without_deviations_everything_is_calm(asked):
    """Given a replay of nothing, then every answer is 0 and nothing is recorded."""
    choices = Choices(replayed=())
    assert not any(answers(choices, asked))
    assert choices.deviations == []


def test_answers_are_possible_ones_and_all_of_them_come():
    """Given many seeds, then each possibility is drawn, and nothing beyond."""
    drawn = Counter(Choices(seed).pick("timer", 4) for seed in range(2_000))
    assert sorted(drawn) == [0, 1, 2, 3]
    assert drawn[0] > 1_000
    assert {Choices(seed).delay("request") for seed in range(2_000)} == set(DELAYS_SECONDS)


def test_some_seeds_leave_a_group_calm_and_some_do_not():
    """Given a group of labels, then some seeds never deviate in it and some most of the time."""
    def share(seed):
        choices = Choices(seed)
        return sum(choices.pick(f"object {number}", 3, "a watch") > 0 for number in range(200)) / 200

    shares = [share(seed) for seed in range(40)]
    assert min(shares) == 0
    assert max(shares) > 0.5


def test_what_is_left_of_a_plan_when_there_is_less_to_choose_from():
    """Given a deviation to the fifth, when there are only two, then it is the last of them."""
    choices = Choices(replayed=[Deviation("queue", 1, 4)])
    assert choices.pick("queue", 2) == 1
    assert choices.deviations == [Deviation("queue", 1, 1, 2)]


def test_a_deviation_in_words():
    """Given deviations, then they say what was chosen."""
    choices = Choices(replayed=[Deviation("the watch of pods", 1, 5), Deviation("the queue", 2, 1)])
    choices.delay("the watch of pods")
    choices.pick("the queue", 3)
    choices.pick("the queue", 3)
    assert [str(one) for one in choices.deviations] == [
        "the watch of pods: 40 ms late", "the queue: number 2 of 3 is taken (time 2)"]


@pytest.mark.parametrize(("text", "words"), [
    ("", "is no schedule"), ("17", "is no schedule"), ("a:17", "is no schedule"), (f"{VERSION}:", "is no seed"),
    (f"{VERSION}:-3", "is no seed"), (f"{VERSION}:x", "is no seed"), (f"{VERSION + 1}:17", "of version 2"),
    (f"{VERSION}:17:", "cut off"), (f"{VERSION}:17:!!!", "cut off"), (f"{VERSION}:17:AAAA", "cannot be read"),
    (f"{VERSION}::{schedule_of(1, [Deviation('a', 1, 1)])[4:-4]}", "cannot be read"),
])
def test_what_is_no_schedule_is_refused_with_a_sentence(text, words):
    """Given a text that is no schedule, or of another version, then it is refused and says why."""
    with pytest.raises(ScheduleError, match=words):
        Choices.of(text)


@pytest.mark.parametrize("plain", [b"{}1", b'"x"', b"[1]", b'[["a",1]]', b'[["a",true,1]]', b"[[1,1,1]]", b'[["a",0,1]]'])
def test_deviations_that_are_none_are_refused(plain):
    """Given packed bytes that are no list of deviations, then they are refused."""
    import zlib

    with pytest.raises(ScheduleError):
        Choices.of(f"{VERSION}::{base64url.encoded(zlib.compress(plain))}")


def test_a_text_that_unpacks_to_very_much_is_refused():
    """Given a small text of very many bytes, then it is refused before they are all there."""
    import zlib

    with pytest.raises(ScheduleError, match="too long"):
        Choices.of(f"{VERSION}::{base64url.encoded(zlib.compress(bytes(50_000_000)))}")


@pytest.mark.parametrize("hash_seed", ["0", "1", "4711"])
def test_one_seed_draws_the_same_in_every_process(hash_seed):
    """Given other processes with other hash seeds, then the draws are the same."""
    program = "from fakekube.util.choices import Choices; c = Choices(3); print([c.pick(f'l{n}', 5) for n in range(50)])"
    printed = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=True).stdout
    choices = Choices(3)
    assert printed.strip() == str([choices.pick(f"l{number}", 5) for number in range(50)])


def test_again_begins_anew():
    """Given choices that were asked, then ``again`` answers as at the beginning."""
    for choices in (Choices(11), Choices(replayed=[Deviation("a", 2, 1)])):
        first = [choices.pick("a", 3) for _ in range(5)]
        other = choices.again()
        assert [other.pick("a", 3) for _ in range(5)] == first


def test_a_planned_fault_that_is_met_is_a_deviation_once() -> None:
    """Given a planned fault, when requests meet it twice, and another fault once, then it is one
    deviation, with the moment of the first.
    """
    planned = Deviation.of_fault({"name": "lost", "verb": "get"})
    choices = Choices.of(schedule_of(None, [planned]))
    assert choices.planned_faults == ['{"name":"lost","verb":"get"}']
    moments = iter([(12.5, 7), (13.0, 8)])
    choices.tell_moment = lambda: next(moments)
    for name in ("other", "lost", "lost"):
        choices.meet(name)
    assert choices.deviations == [planned._replace(time=12.5, revision=7)]
