"""What constants mean, and what is said of characters that begin no token.

Upstream: the literals of parser/parser.go.
"""

from typing import Any

from fakekube.cel import errors, lexer, recovery, values

RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "null", "package", "return", "true", "var", "void", "while"),
    }
)


_WORDS = {"true": True, "false": False, "null": None}


def lexical(unrecognized: list[lexer.Unrecognized]) -> list[errors.Issue]:
    """An issue for every place where no token starts."""
    return [
        errors.Issue(f"Syntax error: token recognition error at: {recovery.quoted(bad.text)}", bad.start)
        for bad in unrecognized
    ]


def literal(token: lexer.Token, sign: str) -> Any:
    """The value of a token that is a constant. Raises LiteralError."""
    kind, text = token.kind, token.text
    if kind in _WORDS:
        return _WORDS[kind]
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
