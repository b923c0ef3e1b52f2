"""The formats that a schema may name for texts, and how each is told.

A format of another name is not looked at. ``fakekube/apimachinery/strfmt.py`` has those that
expressions in CEL name, too. Upstream: kube-openapi/pkg/validation/strfmt with its govalidator, and
the list of formats in apiextensions-apiserver/pkg/apiserver/validation/formats.go.
"""

import binascii
import ipaddress
from collections.abc import Callable, Mapping
from types import MappingProxyType

from fakekube.apimachinery import gourl, strfmt
from fakekube.util.memory import memoized
from fakekube.util.regex import compiled

# the minor number of the release in which the formats of names came
NAMES_SINCE = 34
NAMES = ("k8sshortname", "k8slongname")
MAX_HOSTNAME_BYTES = 255
MAX_LABEL_BYTES = 63
MAX_SUBDOMAIN_BYTES = 253

_SPACES_AND_MINUS, _DIGITS = " \t\n\f\r-", "0123456789"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_OCTET = r"(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_ANY = r"[a-zA-Z0-9\p{S}\p{L}]"
_HEX = "[0-9a-f]"
_PATTERNS = {
    "uuid3": f"(?i)^{_HEX}{{8}}-?{_HEX}{{4}}-?3{_HEX}{{3}}-?{_HEX}{{4}}-?{_HEX}{{12}}$",
    "uuid4": f"(?i)^{_HEX}{{8}}-?{_HEX}{{4}}-?4{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}$",
    "uuid5": f"(?i)^{_HEX}{{8}}-?{_HEX}{{4}}-?5{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}$",
    "hexcolor": "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$",
    "rgbcolor": rf"^rgb\(\s*{_OCTET}\s*,\s*{_OCTET}\s*,\s*{_OCTET}\s*\)$",
}
_CREDIT_CARD = (
    r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|"
    r"3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$"
)
_HOSTNAME = (
    rf"^({_ANY}((-?[a-zA-Z0-9\p{{S}}\p{{L}}]{{0,62}})?)|"
    rf"({_ANY}(([a-zA-Z0-9-\p{{S}}\p{{L}}]{{0,61}}{_ANY})?)(\.)){{1,}}([a-zA-Z\p{{L}}]){{2,63}})$"
)

Format = Callable[[str], bool]
"""Whether a text is of the format."""


def format_named(name: str, minor: int) -> Format | None:
    """The test for a format by the name that a schema gives it; None for one that is not checked.

    ``minor`` is the minor number of the release: 37 of ``1.37``.
    """
    plain = name.replace("-", "")
    if plain in NAMES and minor < NAMES_SINCE:
        return None
    found = FORMATS.get(plain)
    if found is None and plain in _PATTERNS:
        return _by_pattern(plain)
    return found


@memoized(64, longest=64)
def _by_pattern(name: str) -> Format:
    return compiled(_PATTERNS[name]).is_in


def is_hostname(text: str) -> bool:
    """A name of a host, symbols and letters of any language among it."""
    if not compiled(_HOSTNAME).is_in(text) or len(text.encode()) > MAX_HOSTNAME_BYTES:
        return False
    return all(len(part.encode()) <= MAX_LABEL_BYTES for part in text.split("."))


def is_email(text: str) -> bool:
    """An address as RFC 5322 has it, a name in front allowed: ``Ann <ann@example.com>``."""
    text = text.strip()
    if text.endswith(">"):
        name, opened, text = text[:-1].rpartition("<")
        if not opened or not _is_phrase(name.strip()):
            return False
    local, at, domain = text.rpartition("@")
    if not at:
        return False
    quoted = len(local) > 1 and local[0] == local[-1] == '"'
    return (quoted or _is_dot_atom(local)) and (_is_dot_atom(domain) or (domain[:1] == "[" and domain[-1:] == "]"))


def _is_phrase(text: str) -> bool:
    if not text or (len(text) > 1 and text[0] == text[-1] == '"'):
        return True
    return all(_is_atom(word.replace(".", "")) or not word.replace(".", "") for word in text.split())


def _is_dot_atom(text: str) -> bool:
    return bool(text) and all(map(_is_atom, text.split(".")))


def _is_atom(text: str) -> bool:
    special = '()<>[]:;@\\,."'
    return bool(text) and all(letter > "\x7f" or (" " < letter < "\x7f" and letter not in special) for letter in text)


def is_ipv4(text: str) -> bool:
    """An address with a dot in it: IPv4, or IPv6 that ends in one. Leading zeros are fine."""
    return "." in text and (_is_dotted(text) or is_ipv6(text))


def _is_dotted(text: str) -> bool:
    octets = text.split(".")
    return len(octets) == 4 and all(octet.isascii() and octet.isdigit() and _small(octet, 255) for octet in octets)


def _small(digits: str, limit: int) -> bool:
    return len(digits.lstrip("0")) <= 3 and int(digits[-4:]) <= limit


def is_ipv6(text: str) -> bool:
    """An address with a colon in it, without a zone."""
    try:
        return ":" in text and "%" not in text and bool(ipaddress.IPv6Address(text))
    except ValueError:
        return False


def is_cidr(text: str) -> bool:
    """``10.0.0.0/8`` or ``fd00::/8``; bits beyond the prefix may be set."""
    address, slash, prefix = text.partition("/")
    limit = 32 if _is_dotted(address) else 128 if is_ipv6(address) else -1
    return bool(slash) and prefix.isascii() and prefix.isdigit() and _small(prefix, limit)


def is_mac(text: str) -> bool:
    """48, 64 or 160 bits in hex, between colons, dashes or dots."""
    mark = text[2:3] if text[2:3] in (":", "-") else "."
    width = 4 if mark == "." else 2
    groups = text.split(mark)
    if len(groups) * width not in (12, 16, 40):
        return False
    return all(len(group) == width and _is_hex(group) for group in groups)


def _is_hex(text: str) -> bool:
    return text.isascii() and all(letter in "0123456789abcdefABCDEF" for letter in text)


def is_bson_object_id(text: str) -> bool:
    """Twelve bytes in hex."""
    try:
        return len(binascii.a2b_hex(text)) == 12
    except ValueError:
        return False


def is_isbn10(text: str) -> bool:
    """Nine digits and a check digit, or ``X``."""
    digits = "".join(letter for letter in text if letter not in _SPACES_AND_MINUS)
    if not compiled("^(?:[0-9]{9}X|[0-9]{10})$").is_in(digits):
        return False
    total = sum(place * int(digit) for place, digit in enumerate(digits[:9], 1))
    return (total + 10 * (10 if digits[9] == "X" else int(digits[9]))) % 11 == 0


def is_isbn13(text: str) -> bool:
    """Twelve digits and a check digit."""
    digits = "".join(letter for letter in text if letter not in _SPACES_AND_MINUS)
    if not compiled("^(?:[0-9]{13})$").is_in(digits):
        return False
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits[:12]))
    return int(digits[12]) == (10 - total % 10) % 10


def is_credit_card(text: str) -> bool:
    """The digits of a card, whatever stands between them, with a right sum."""
    digits = "".join(letter for letter in text if letter in _DIGITS)
    if not compiled(_CREDIT_CARD).is_in(digits):
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value % 10 + 1 if value >= 10 else value
    return total % 10 == 0


def is_social_security_number(text: str) -> bool:
    """``123-45-6789``."""
    return len(text.encode()) == 11 and compiled(r"^\d{3}[- ]?\d{2}[- ]?\d{4}$").is_in(text)


def is_short_name(text: str) -> bool:
    """A label of a Kubernetes name."""
    return len(text) <= MAX_LABEL_BYTES and compiled(f"^{_LABEL}$").is_in(text)


def is_long_name(text: str) -> bool:
    """A Kubernetes name of several labels."""
    return len(text) <= MAX_SUBDOMAIN_BYTES and compiled(rf"^{_LABEL}(\.{_LABEL})*$").is_in(text)


def is_request_uri(text: str) -> bool:
    """An absolute URI or an absolute path."""
    try:
        gourl.parse_request_uri(text)
    except gourl.URLError:
        return False
    return True


FORMATS: Mapping[str, Format] = MappingProxyType({
    "bsonobjectid": is_bson_object_id,
    "cidr": is_cidr,
    "creditcard": is_credit_card,
    "byte": strfmt.is_base64,
    "date": strfmt.is_date,
    "datetime": strfmt.is_date_time,
    "duration": lambda text: strfmt.duration(text) is not None,
    "email": is_email,
    "hostname": is_hostname,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "isbn": lambda text: is_isbn10(text) or is_isbn13(text),
    "isbn10": is_isbn10,
    "isbn13": is_isbn13,
    "k8slongname": is_long_name,
    "k8sshortname": is_short_name,
    "mac": is_mac,
    "password": lambda _: True,
    "ssn": is_social_security_number,
    "uri": is_request_uri,
    "uuid": strfmt.is_uuid,
})
"""By names without dashes; those of one regular expression stand in ``_PATTERNS``."""
