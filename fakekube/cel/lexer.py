"""From a text to tokens.

Upstream: the lexer rules of parser/gen/CEL.g4 and parser/unescape.go.
"""

import re
from typing import NamedTuple

END, IDENT, ESCAPED, INT, UINT, FLOAT, STRING, BYTES = (
    "<EOF>",
    "IDENTIFIER",
    "ESC_IDENTIFIER",
    "NUM_INT",
    "NUM_UINT",
    "NUM_FLOAT",
    "STRING",
    "BYTES",
)
KEYWORDS = frozenset({"true", "false", "null", "in"})

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])"""
_QUOTED = "|".join(
    [
        rf'"""(?:[^\\"]|"(?!"")|{_ESCAPE})*+"""',
        rf"'''(?:[^\\']|'(?!'')|{_ESCAPE})*+'''",
        rf'"(?:[^\\"\n\r]|{_ESCAPE})*+"',
        rf"'(?:[^\\'\n\r]|{_ESCAPE})*+'",
        r'[rR]"""(?:[^"]|"(?!""))*+"""',
        r"[rR]'''(?:[^']|'(?!''))*+'''",
        r'[rR]"[^"\n\r]*+"',
        r"[rR]'[^'\n\r]*+'",
    ]
)
_TOKEN = re.compile(
    rf"""(?P<space>(?:[\t\x20\r\n\f]|//[^\n]*)+)
|(?P<BYTES>[bB](?:{_QUOTED}))
|(?P<STRING>{_QUOTED})
|(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
|(?P<NUM_UINT>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])
|(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
|(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
|(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/\x20]+`)
|(?P<operator>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])""".replace("\n|", "|"),
    re.ASCII,
)
_ESCAPE_PART = (
    r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?"  # an escape that does not end
)
_BEGUN = {
    **{quote: re.compile(rf"(?:[^\\{quote}\n\r]|{_ESCAPE})*+(?:{_ESCAPE_PART})?") for quote in ("'", '"')},
    "`": re.compile(r"[A-Za-z0-9_.\-/ ]*"),
}
"""What is read behind a quote that nothing ends."""
_ESCAPED = re.compile(
    r"""\\(?:([abfnrtv"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7][0-7]))"""
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Token(NamedTuple):
    """One token. ``kind`` is one of the names above, or the text of a keyword or an operator."""

    kind: str
    text: str
    start: int


class Unrecognized(NamedTuple):
    """A place where no token starts: which characters were read in vain."""

    start: int
    text: str


class LiteralError(ValueError):
    """A quoted text that means no string; the message is upstream's."""


def tokens(text: str) -> tuple[list[Token], list[Unrecognized]]:
    """The tokens of a text with END as the last one, and what is no token."""
    found: list[Token] = []
    unrecognized: list[Unrecognized] = []
    position, end, match = 0, len(text), _TOKEN.match
    while position < end:
        token = match(text, position)
        if token is None:
            bad = _unrecognized(text, position)
            unrecognized.append(bad)
            position += len(bad.text)
            continue
        kind, start, position = token.lastgroup or "", position, token.end()
        if kind == "space":
            continue
        word = token.group()
        if kind == "operator" or (kind == IDENT and word in KEYWORDS):
            kind = word
        found.append(Token(kind, word, start))
    found.append(Token(END, END, end))
    return found, unrecognized


def _unrecognized(text: str, position: int) -> Unrecognized:
    """How far a lexer reads before it gives up: until what cannot be there, that included."""
    first = text[position]
    if first in _BEGUN:
        begun = _BEGUN[first].match(text, position + 1)
        assert begun is not None  # it may be empty
        after = begun.end()
    elif first in "=&|":
        after = position + 1
    else:
        after = position
    return Unrecognized(position, text[position : after + 1])


def unquote_string(text: str) -> str:
    """The value of a STRING token. Raises LiteralError."""
    body, raw = _body(text)
    if raw or "\\" not in body:
        return body

    def replace(escape: re.Match[str]) -> str:
        simple, short, middle, long, octal = escape.groups()
        if simple is not None:
            return _SIMPLE.get(simple, simple)
        number = int(octal, 8) if octal is not None else int(short or middle or long, 16)
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            raise LiteralError("invalid unicode code point")
        return chr(number)

    return _ESCAPED.sub(replace, body)


def unquote_bytes(text: str) -> bytes:
    """The value of a BYTES token. Raises LiteralError."""
    body, raw = _body(text[1:])
    if raw or "\\" not in body:
        return body.encode()
    parts: list[bytes] = []
    position = 0
    for escape in _ESCAPED.finditer(body):
        parts.append(body[position : escape.start()].encode())
        position = escape.end()
        simple, short, middle, long, octal = escape.groups()
        if simple is not None:
            parts.append(_SIMPLE.get(simple, simple).encode())
        elif middle is not None or long is not None:
            raise LiteralError("unable to unescape string")
        else:
            parts.append(bytes([int(octal, 8) if octal is not None else int(short, 16)]))
    parts.append(body[position:].encode())
    return b"".join(parts)


def _body(text: str) -> tuple[str, bool]:
    """What stands between the quotes, with plain line ends, and whether it is raw."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    width = 3 if len(text) >= 6 and text[:3] in {'"""', "'''"} else 1
    return text[width:-width], raw
