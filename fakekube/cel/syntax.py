"""What is wrong with a text that is no expression, and what its constants mean.

Upstream: the messages of ANTLR's error strategy, and the literals of parser/parser.go.
"""

from typing import Any

from fakekube.cel import errors, lexer, values


def lexical(unrecognized: list[lexer.Unrecognized]) -> list[errors.Issue]:
    """An issue for every place where no token starts."""
    return [
        errors.Issue(f"Syntax error: token recognition error at: '{bad.text}'", bad.start) for bad in unrecognized
    ]


def issues(found: list[lexer.Token]) -> list[errors.Issue]:
    """Why these tokens are no expression."""
    return [errors.Issue("Syntax error: mismatched input", found[-1].start)]


def literal(token: lexer.Token, sign: str) -> Any:
    """The value of a token that is a constant. Raises LiteralError."""
    kind, text = token.kind, token.text
    if kind == lexer.STRING:
        return lexer.unquote_string(text)
    if kind == lexer.BYTES:
        return lexer.unquote_bytes(text)
    if kind == lexer.FLOAT:
        value = float(sign + text)
        if value in {float("inf"), float("-inf")}:
            raise lexer.LiteralError("invalid double literal")
        return value
    digits, base = (text[2:], 16) if text.startswith("0x") else (text, 10)
    if kind == lexer.UINT:
        number = _number(digits[:-1], base)
        if number > values.MAX_UINT:
            raise lexer.LiteralError("invalid uint literal")
        return values.Uint(number)
    number = _number(digits, base)
    if sign:
        number = -number
    if not values.MIN_INT <= number <= values.MAX_INT:
        raise lexer.LiteralError("invalid int literal")
    return number


def _number(digits: str, base: int) -> int:
    """The number, or one that is too large if there are more digits than any has."""
    digits = digits.lstrip("0") or "0"
    return int(digits, base) if len(digits) <= 20 else values.MAX_UINT + 1
