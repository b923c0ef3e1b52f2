"""Which of two operators binds more tightly."""

import itertools

import pytest

from fakekube.cel import parser, tree

LEVELS = (("||",), ("&&",), ("<", "<=", ">", ">=", "==", "!=", "in"), ("+", "-"), ("*", "/", "%"))
LEVEL = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}


def shown(node: tree.Expression) -> str:
    """An expression with all its parentheses."""
    if isinstance(node, tree.Call):
        inner = [shown(argument) for argument in node.arguments]
        operator = node.function.strip("_@")
        if len(inner) == 1:
            return f"({operator}{inner[0]})"
        if node.function == "_?_:_":
            return f"({inner[0]}?{inner[1]}:{inner[2]})"
        return "(" + operator.join(inner) + ")"
    assert isinstance(node, tree.Ident)
    return node.name


def parsed(text: str) -> str:
    """The same of a text."""
    return shown(parser.parse(text, {}, optional_syntax=True))


@pytest.mark.parametrize(("first", "second"), [*itertools.product(LEVEL, LEVEL)])
def test_two_operators(first: str, second: str) -> None:
    """given two operators, when the second binds more tightly, then it is computed first, and else
    the first; of ``||`` and ``&&`` several are one
    """
    found = parsed(f"a {first} b {second} c")
    if first == second and first in ("||", "&&"):
        assert found in (f"(a{first}b{first}c)", f"((a{first}b){first}c)", f"(a{first}(b{first}c))")
    elif LEVEL[second] > LEVEL[first]:
        assert found == f"(a{first}(b{second}c))"
    else:
        assert found == f"((a{first}b){second}c)"


@pytest.mark.parametrize("operator", LEVEL)
def test_what_stands_around(operator: str) -> None:
    """given an operator, when a sign or a condition stands around it, then signs bind more tightly
    and conditions less
    """
    assert parsed(f"!a {operator} -b") == f"((!a){operator}(-b))"
    assert parsed(f"a {operator} b ? c {operator} d : e {operator} f") == (
        f"((a{operator}b)?(c{operator}d):(e{operator}f))")
    assert parsed(f"(a {operator} b) * c") == f"((a{operator}b)*c)"
    assert parsed("a ? b : c ? d : e") == "(a?b:(c?d:e))"
