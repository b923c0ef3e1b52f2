"""Numbers at the edge of their types, and names that are none after an optional dot."""

import pytest

from fakekube.cel import errors, macros, types
from fakekube.cel.environment import Environment
from fakekube.cel.libraries import Library


@pytest.mark.parametrize(("kind", "number", "value"), [
    ("int", "9223372036854774784.0", 9223372036854774784), ("int", "-9223372036854774784.0", -9223372036854774784),
    ("int", "9223372036854775808.0", None), ("int", "-9223372036854775808.0", None), ("int", "-9223372036854777856.0", None),
    ("int", "nan", None), ("int", "-inf", None), ("uint", "18446744073709549568.0", 18446744073709549568),
    ("uint", "18446744073709551616.0", None), ("uint", "-0.5", None), ("uint", "0.9", 0),
])
def test_doubles_as_integers(kind: str, number: str, value: int | None) -> None:
    """given a double, when it is made an integer, then it is one of 64 bits, or overflows"""
    program = Environment({"x": types.DOUBLE}).compile(f"{kind}(x)")
    if value is not None:
        assert program.evaluate({"x": float(number)}) == value
        return
    with pytest.raises(errors.EvaluationError, match=r"integer overflow$"):
        program.evaluate({"x": float(number)})


@pytest.mark.parametrize(("text", "told"), [
    ("a.?+b", "1:4: Syntax error: extraneous input '+' expecting {IDENTIFIER, ESC_IDENTIFIER}"),
    ("A{+b: 1}", "1:3: Syntax error: extraneous input '+' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"),
    ("a.+b", "1:3: Syntax error: no viable alternative at input '.+'"),
])
def test_what_stands_where_a_name_has_to(text: str, told: str) -> None:
    """given another token where a name has to stand, when it is compiled, then it is taken out
    where one alternative is left, as ANTLR does
    """
    optional = Library("optional", macros=macros.OPTIONAL, optional_syntax=True)
    with pytest.raises(errors.CompileError) as refused:
        Environment(libraries=[optional]).compile(text)
    assert str(refused.value).startswith(f"ERROR: <input>:{told}\n")
