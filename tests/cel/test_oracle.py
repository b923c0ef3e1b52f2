"""Random expressions, compared with Google's implementation in C++."""

from typing import Any

import pytest

from fakekube.cel import errors
from tests.cel import oracle
from tests.cel.expressions import Generator

pytest.importorskip("cel_expr_python", reason="the oracle is not installed for this platform")

@pytest.fixture(scope="module")
def theirs() -> Any:
    """The oracle's environment."""
    return oracle.theirs()


def disagreements(theirs: Any, seeds: range) -> list[str]:
    """The expressions of these seeds on which the two differ, with both values."""
    ours, found = oracle.ours(), []
    for seed in seeds:
        text = Generator(seed, oracle.EXTENSIONS).any()
        expected = oracle.their_answer(theirs, text)
        try:
            value = oracle.our_answer(ours, text)
        except errors.ProgramError:
            continue
        if value != expected and not oracle.is_forgiven(theirs, ours, text):
            found.append(f"{seed}: {text}: {value}, not {expected}")
    return found


def test_values_and_errors_agree(theirs: Any) -> None:
    """given a few hundred random expressions, when both evaluate them, then values and errors
    agree
    """
    assert disagreements(theirs, range(500)) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_agree(theirs: Any, part: int) -> None:
    """given a tenth of 100,000 random expressions, when both evaluate them, then all agree"""
    assert disagreements(theirs, range(part * 10_000, (part + 1) * 10_000)) == []
