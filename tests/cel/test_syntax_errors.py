"""Texts that are no expression: what is said of them, and which are refused for their size."""

import pytest

from fakekube.cel import errors, macros
from fakekube.cel.environment import Environment
from fakekube.cel.libraries import Library

FIRST = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)
UNKNOWN = "Syntax error: token recognition error at"


def refusal(text: str) -> str:
    """What is said of a text that does not compile."""
    optional = Library("optional", macros=macros.OPTIONAL, optional_syntax=True)
    with pytest.raises(errors.CompileError) as refused:
        Environment(libraries=[optional]).compile(text)
    return str(refused.value)


@pytest.mark.spec("API-157")
@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("1 +", [f"1:4: Syntax error: mismatched input '<EOF>' expecting {FIRST}"]),
        ("&& true", [f"1:1: Syntax error: extraneous input '&&' expecting {FIRST}"]),
        ("(1", ["1:3: Syntax error: missing ')' at '<EOF>'"]),
        ("a b", ["1:3: Syntax error: extraneous input 'b' expecting <EOF>"]),
        ("a b c", ["1:3: Syntax error: mismatched input 'b' expecting <EOF>"]),
        ("{'a'}", ["1:5: Syntax error: mismatched input '}' expecting ':'"]),
        ("[1", ["1:3: Syntax error: mismatched input '<EOF>' expecting {']', ','}"]),
        ("a.", ["1:3: Syntax error: no viable alternative at input '.'"]),
        ("a.true", ["1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"]),
        ("'abc", [f"1:1: {UNKNOWN}: ''abc'", f"1:5: Syntax error: mismatched input '<EOF>' expecting {FIRST}"]),
        ("1 + $ + 2", [f"1:5: {UNKNOWN}: '$'", f"1:7: Syntax error: extraneous input '+' expecting {FIRST}"]),
        (
            "-",
            [
                "1:2: Syntax error: no viable alternative at input '-'",
                f"1:2: Syntax error: mismatched input '<EOF>' expecting {FIRST}",
            ],
        ),
        ("* if", [f"1:1: Syntax error: extraneous input '*' expecting {FIRST}", "1:3: reserved identifier: if"]),
        ("for", ["1:1: reserved identifier: for"]),
        ("9223372036854775808", ["1:1: invalid int literal"]),
        ("has(1)", ["1:5: invalid argument to has() macro"]),
        ("[1].all(2, true)", ["1:9: argument must be a simple name"]),
    ],
)
def test_messages_are_those_of_upstream(text: str, messages: list[str]) -> None:
    """given a text that is no expression, when it is compiled, then errors read as upstream's"""
    found = [line.removeprefix("ERROR: <input>:") for line in refusal(text).splitlines() if line.startswith("ERROR")]
    assert found == messages


def test_the_line_is_shown_with_a_caret() -> None:
    """given an error in the second line, when it is shown, then a caret points at it"""
    shown = "ERROR: <input>:2:7: Syntax error: token recognition error at: '$'\n |   'é' $\n | ...\uff0e..^"
    assert refusal("1 +\n  'é' $") == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(" * 251 + "1" + ")" * 251, "expression recursion limit exceeded: 250"),
        ("1" + " + 1" * 251, "max recursion depth exceeded"),
        ("a" + ".b" * 251, "max recursion depth exceeded"),
        ("[" * 50_000, "expression recursion limit exceeded: 250"),
        ("'" + "x" * 1_000_000 + "'", "expression code point size exceeds limit: size: 1000002, limit 100000"),
    ],
)
def test_what_nests_too_deep_or_is_too_long_is_refused(text: str, message: str) -> None:
    """given a text beyond upstream's limits, when it is compiled, then it is refused as there"""
    assert refusal(text) == f"ERROR: <input>:-1:0: {message}"


@pytest.mark.parametrize(
    "text", ["(" * 200 + "1" + ")" * 200, "1" + " + 1" * 240, "true" + " && true" * 11_000, "!" * 90_000 + "true"]
)
def test_what_is_within_the_limits_compiles(text: str) -> None:
    """given a text within the limits, when it is compiled, then it is"""
    Environment().compile(text)
