"""Memos: bounded, and empty where they are switched off."""

import subprocess
import sys

import pytest

from fakekube.util import memory
from fakekube.util.memory import Memo

SWITCHED_OFF = """
from fakekube.util.memory import Memo, memoized
calls = []
@memoized(4)
def double(number):
    calls.append(number)
    return 2 * number
memo = Memo(4)
memo.put("a", 1)
print(double(2) + double(2), calls, len(memo), memo.get("a"))
"""


def test_the_oldest_values_go_first() -> None:
    """Given a memo of two / when a third value comes / then the first one is gone, and one that was
    put again counts as new.
    """
    memo: Memo[str, int] = Memo(2)
    for name, number in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        memo.put(name, number)
    assert (memo.get("a"), memo.get("b"), memo.get("c"), len(memo)) == (3, None, 4, 2)


def test_bytes_are_bounded_too() -> None:
    """Given a memo of ten bytes / when values come that take more / then the oldest go, one that is
    too large with them / and what a value took is given back when it is put again.
    """
    memo: Memo[str, int] = Memo(10, max_bytes=10)
    memo.put("a", 1, 6)
    memo.put("a", 2, 4)
    memo.put("b", 3, 6)
    assert (memo.get("a"), memo.get("b")) == (2, 3)
    memo.put("c", 4, 1)
    assert (memo.get("a"), memo.get("b"), memo.get("c")) == (None, 3, 4)
    memo.put("d", 5, 11)
    assert len(memo) == 0


def test_a_memoized_function_is_asked_once() -> None:
    """Given a function of a memo / when it is asked twice for the same / then it works once."""
    asked: list[int] = []

    @memory.memoized(4)
    def double(number: int) -> int:
        asked.append(number)
        return 2 * number

    assert (double(2), double(2), asked) == (4, 4, [2])


def test_long_texts_are_not_kept() -> None:
    """Given a memo of texts of four characters / when it is asked for longer ones / then each is
    computed anew, and short ones are not.
    """
    asked: list[str] = []

    @memory.memoized(4, longest=4)
    def upper(text: str, *, ends: str = "") -> str:
        asked.append(text)
        return text.upper() + ends

    assert [upper("four"), upper("four"), upper("fifth"), upper("fifth")] == ["FOUR", "FOUR", "FIFTH", "FIFTH"]
    assert (upper("four", ends="!"), asked) == ("FOUR!", ["four", "fifth", "fifth", "four"])
    assert upper.__name__ == "upper"


def test_long_texts_of_a_function_of_one_are_not_kept() -> None:
    """Given a memo of two texts of four characters / when it is asked for longer ones, and for more
    / then each long one is computed anew, and so is the oldest; an error is raised each time.
    """
    asked: list[str] = []

    @memory.memoized(2, longest=4)
    def number(text: str) -> int:
        asked.append(text)
        return int(text)

    assert [number(text) for text in ("1111", "1111", "22222", "22222")] == [1111, 1111, 22222, 22222]
    assert asked == ["1111", "22222", "22222"]
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            number("no")
    assert [number(text) for text in ("3", "1111", "4", "3", "1111")] == [3, 1111, 4, 3, 1111]
    assert asked[3:] == ["no", "no", "3", "4", "1111"]


def test_all_can_be_switched_off() -> None:
    """Given a process with FAKEKUBE_MEMO=off / when values are kept and functions asked again /
    then nothing is remembered.
    """
    done = subprocess.run(
        [sys.executable, "-c", SWITCHED_OFF], env={"FAKEKUBE_MEMO": "off", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=True)
    assert done.stdout == "8 [2, 2] 0 None\n"
