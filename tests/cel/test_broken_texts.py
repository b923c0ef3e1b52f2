"""Texts that are no expressions, and expressions on anything: errors of ours, none of Python's."""

import random

import pytest

from fakekube.cel import errors, types
from fakekube.cel.environment import Environment
from fakekube.cel.library import kubernetes

PRINTABLE = """
( ) [ ] { } . , : ? ! - + * / % < <= > >= == != && || in true false null 1 2u 3.5 'a' b'b' "c" x s self
has size all exists map filter exists_one optMap optional.of orValue .? [? ?a format cel bind 1e400 0x 0xFF
99999999999999999999 ' " ` @ # $ é // 'abc as break const .sum() .sort() quantity('1Gi') ip('::1')
"""
TOKENS = (*PRINTABLE.split(), "\x00", "\ud800", "'\ud800'", "\\", "r'\\d'", "\n")
DATA = {"x": {"a": [1, "b", None, 2.5], "\ud800": "\ud800"}, "s": "h\ud800llo", "self": {}}
BRACKETS = (
    ("(", ")"), ("[", "]"), ("{'a':", "}"), ("-", ""), ("!", ""), ("x.", ""), ("x[", "]"), ("x ? x : ", ""), ("[1].map(x, ", ")"),
    ("1 + ", ""), ("true && ", ""), ("size(", ")"), ("optional.of(", ")"), ("x.?", ""), ("'", ""), ("[1].all(i, v, ", ")"),
    ("optional.of(1).optMap(y, ", ")"), ("s.format([", "])"), ("1 == ", ""), ("", ".trim()"), ("", "[0]"), ("", ".optMap(y, y)"),
    ("", " || true"),
)


@pytest.fixture(scope="module")
def environment() -> Environment:
    """All that 1.37 has, with variables of any type."""
    return kubernetes.environment(37).extended({"x": types.DYN, "s": types.STRING, "self": types.DYN})


def attempt(environment: Environment, text: str) -> str:
    """What comes of a text: ``value``, or the name of an error of ours."""
    try:
        program = environment.compile(text)
        program.estimate()
        program.run(DATA, cost_limit=100_000)
    except errors.CelError as error:
        return type(error).__name__ if str(error) else "nothing"
    return "value"


@pytest.mark.parametrize("seed", range(4))
def test_random_tokens_and_bytes(environment: Environment, seed: int) -> None:
    """given tokens in random order, letters and bytes, when they are compiled, then some compile,
    and nothing but errors of ours is raised
    """
    drawn = random.Random(seed)
    found = set()
    for _ in range(800):
        count = drawn.randint(1, 14)
        found.add(attempt(environment, drawn.choice((" ", "")).join(drawn.choice(TOKENS) for _ in range(count))))
        letters = "".join(chr(drawn.choice((drawn.randint(0, 127), drawn.randint(0, 0x10FFFF)))) for _ in range(count))
        found.add(attempt(environment, letters))
        found.add(attempt(environment, drawn.randbytes(count).decode("latin-1")))
    assert {"value", "CompileError"} <= found
    assert "nothing" not in found


@pytest.mark.parametrize("depth", [10, 249, 251, 1000, 20_000])
@pytest.mark.parametrize(("before", "after"), BRACKETS)
def test_deep_nesting(environment: Environment, depth: int, before: str, after: str) -> None:
    """given what is nested deeply, when it is compiled, then it is refused, or comes to an end"""
    middle = "optional.of(1)" if "optMap" in after else "s" if "trim" in after else "x"
    found = attempt(environment, before * depth + middle + after * depth)
    assert found in ("value", "CompileError", "EvaluationError", "CostExceeded")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_random_tokens(environment: Environment, seed: int) -> None:
    """given a great many texts of tokens, when they are compiled, then only errors of ours come"""
    drawn = random.Random(1000 + seed)
    for _ in range(20_000):
        attempt(environment, " ".join(drawn.choice(TOKENS) for _ in range(drawn.randint(1, 14))))
