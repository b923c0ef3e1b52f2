"""As much of DER, PEM and X.509 as tells a certificate of an authority from anything else.

Signatures are not checked. The package cryptography is there with the extra ``tls`` only, and this
must do without. Upstream: Go's encoding/pem and crypto/x509.
"""

import base64
from typing import NamedTuple

INTEGER, SEQUENCE, BIT_STRING, BOOLEAN, OID, EXTENSIONS = 0x02, 0x30, 0x03, 0x01, 0x06, 0xA3
BASIC_CONSTRAINTS = bytes.fromhex("551d13")
BEGIN, END, DASHES, BLANKS = "-----BEGIN ", "-----END ", "-----", " \t\r"
NO_BLANKS = dict.fromkeys(map(ord, BLANKS))
SIGNED = [SEQUENCE, SEQUENCE, BIT_STRING]


class Block(NamedTuple):
    """A PEM block: its type, whether it has headers, and its content."""

    type: str
    headers: bool
    content: bytes


def pem_blocks(text: str) -> list[Block]:
    """All blocks of a text in order; what is not well formed is passed over.

    An end is that of the latest beginning, so that each line is looked at once.
    """
    found: list[Block] = []
    begun: str | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        plain = line.rstrip(BLANKS)
        if BEGIN in line:
            begun = plain[len(BEGIN):-len(DASHES)] if line.startswith(BEGIN) and plain.endswith(DASHES) else None
            lines = []
        elif line.startswith(END):
            if begun is not None and plain == f"{END}{begun}{DASHES}":
                found += _block(begun, lines)
            begun = None
        else:
            lines.append(line)
    return found


def _block(kind: str, lines: list[str]) -> list[Block]:
    """The block of a type that has these lines; none when they are not well formed."""
    count = next((number for number, line in enumerate(lines) if ":" not in line), len(lines))
    if count and count == len(lines):
        return []  # headers end with a line that is none
    try:
        return [Block(kind, count > 0, base64.b64decode("".join(lines[count:]).translate(NO_BLANKS), validate=True))]
    except ValueError:  # letters beyond ASCII among them
        return []


def _children(data: bytes) -> list[tuple[int, bytes]]:
    """The values that fill ``data``: tag and content. Raises ValueError when they do not."""
    found, place = [], 0
    while place < len(data):
        if place + 2 > len(data):
            raise ValueError("no length")
        tag, size = data[place], data[place + 1]
        place += 2
        if size >= 0x80:
            more = size & 0x7F
            size = int.from_bytes(data[place:place + more], "big")
            place += more
        if place + size > len(data):
            raise ValueError("too short")
        found.append((tag, data[place:place + size]))
        place += size
    return found


def _signed(data: bytes) -> list[tuple[int, bytes]]:
    """What was signed, of something that is signed. Raises ValueError when it is no such thing."""
    outer = _children(data)
    if [tag for tag, _ in outer] != [SEQUENCE]:
        raise ValueError("not one sequence")
    parts = _children(outer[0][1])
    if [tag for tag, _ in parts] != SIGNED:
        raise ValueError("not signed")
    return _children(parts[0][1])


def is_request(data: bytes) -> bool:
    """Whether this has the form of a PKCS#10 request."""
    try:
        fields = _signed(data)
    except ValueError:
        return False
    return [tag for tag, _ in fields[:3]] == [INTEGER, SEQUENCE, SEQUENCE]


def is_authority(data: bytes) -> bool:
    """Whether a certificate is one of an authority. Raises ValueError when this is none."""
    fields = _signed(data)
    if sum(tag == SEQUENCE for tag, _ in fields) < len(("algorithm", "issuer", "validity", "subject", "key")):
        raise ValueError("no certificate")
    for extensions in (content for tag, content in fields if tag == EXTENSIONS):
        for _, each in _children(_children(extensions)[0][1]):
            parts = _children(each)
            if parts[0] == (OID, BASIC_CONSTRAINTS):
                constraints = _children(_children(parts[-1][1])[0][1])
                return bool(constraints) and constraints[0] == (BOOLEAN, b"\xff")
    return False
