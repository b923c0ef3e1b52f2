"""Addresses and prefixes as Go reads and prints them, with Go's complaints.

Python's ``ipaddress`` takes and refuses other texts, and words its errors otherwise. Upstream:
Go's net/netip/netip.go.
"""

from typing import NamedTuple

from fakekube.apimachinery import strconv
from fakekube.apimachinery.field_errors import go_quote

_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_DECIMAL = frozenset("0123456789")
_GROUPS = 8
MAX_INT64 = 2**63 - 1
_MAPPED = 0xFFFF


class AddressError(ValueError):
    """A text that is no address or no prefix; the message is Go's."""


class Address(NamedTuple):
    """An address: how many bits it has (32 or 128), the number that they make, and a zone."""

    bits: int
    number: int
    zone: str = ""

    @property
    def is_4_in_6(self) -> bool:
        """Whether it is an IPv4 address in the form of IPv6: ``::ffff:1.2.3.4``."""
        return self.bits == 128 and self.number >> 32 == _MAPPED

    @property
    def is_unspecified(self) -> bool:
        """Whether it is ``0.0.0.0`` or ``::``."""
        return self.number == 0 and not self.zone

    @property
    def is_loopback(self) -> bool:
        """Whether it is in 127.0.0.0/8 or is ``::1``."""
        return self.number >> 24 == 127 if self.bits == 32 else self.number == 1

    @property
    def is_multicast(self) -> bool:
        """Whether it is in 224.0.0.0/4 or ff00::/8."""
        return self.number >> 28 == 0xE if self.bits == 32 else self.number >> 120 == 0xFF

    @property
    def is_link_local_multicast(self) -> bool:
        """Whether it is in 224.0.0.0/24, or its IPv6 scope is the link."""
        return self.number >> 8 == 0xE00000 if self.bits == 32 else self.number >> 112 & 0xFF0F == 0xFF02

    @property
    def is_link_local_unicast(self) -> bool:
        """Whether it is in 169.254.0.0/16 or fe80::/10."""
        return self.number >> 16 == 0xA9FE if self.bits == 32 else self.number >> 118 == 0x3FA

    @property
    def is_global_unicast(self) -> bool:
        """Whether it is none of the special ones: private addresses are global in this sense."""
        return not (
            self.number == 0 or (self.bits == 32 and self.number == 0xFFFFFFFF)
            or self.is_loopback or self.is_multicast or self.is_link_local_unicast
        )

    def __str__(self) -> str:
        if self.bits == 32:
            return _dotted(self.number)
        text = f"::ffff:{_dotted(self.number & 0xFFFFFFFF)}" if self.is_4_in_6 else _grouped(self.number)
        return f"{text}%{self.zone}" if self.zone else text


class Prefix(NamedTuple):
    """An address, and how many of its bits name the network."""

    address: Address
    length: int

    def masked(self) -> "Prefix":
        """The same network, with nothing but zeros behind its bits."""
        return Prefix(self.address._replace(number=_network(self.address, self.length)), self.length)

    def contains(self, address: Address) -> bool:
        """Whether the network has this address; the other family's never."""
        same_family = self.address.bits == address.bits
        return same_family and _network(self.address, self.length) == _network(address, self.length)

    def overlaps(self, other: "Prefix") -> bool:
        """Whether there is an address that both networks have."""
        if self.address.bits != other.address.bits:
            return False
        length = min(self.length, other.length)
        return _network(self.address, length) == _network(other.address, length)

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"


def parse_address(text: str) -> Address:
    """Read ``10.0.0.1``, ``2001:db8::1`` or ``fe80::1%eth0``. Raises AddressError."""
    for letter in text:
        if letter == ".":
            return Address(32, _ipv4(text, text))
        if letter == ":":
            return _ipv6(text)
        if letter == "%":
            raise _error(text, "missing IPv6 address")
    raise _error(text, "unable to parse IP")


def parse_prefix(text: str) -> Prefix:
    """Read ``10.0.0.0/8`` or ``2001:db8::/32``. Raises AddressError."""
    before, slash, length = text.rpartition("/")
    if not slash:
        raise _prefix_error(text, "no '/'")
    try:
        address = parse_address(before)
    except AddressError as error:
        raise _prefix_error(text, str(error)) from None
    if address.zone:
        raise _prefix_error(text, "IPv6 zones cannot be present in a prefix")
    bits = strconv.whole(length) if length[:1] not in ("+", "-", "0") or length == "0" else None
    if bits is None or bits > MAX_INT64:
        raise _prefix_error(text, f"bad bits after slash: {go_quote(length)}")
    if bits > address.bits:
        raise _prefix_error(text, "prefix length out of range")
    return Prefix(address, bits)


def _network(address: Address, length: int) -> int:
    host = address.bits - length
    return address.number >> host << host


def _dotted(number: int) -> str:
    return ".".join(str(byte) for byte in number.to_bytes(4, "big"))


def _grouped(number: int) -> str:
    groups = [number >> 16 * place & 0xFFFF for place in reversed(range(_GROUPS))]
    best, best_length, place = 0, 1, 0
    while place < _GROUPS:
        length = next((at for at, group in enumerate(groups[place:]) if group), _GROUPS - place)
        if length > best_length:
            best, best_length = place, length
        place += length + 1
    if best_length == 1:
        return ":".join(f"{group:x}" for group in groups)
    before, after = groups[:best], groups[best + best_length :]
    return "::".join(":".join(f"{group:x}" for group in part) for part in (before, after))


def _error(text: str, message: str, at: str = "") -> AddressError:
    where = f" (at {go_quote(at)})" if at else ""
    return AddressError(f"ParseAddr({go_quote(text)}): {message}{where}")


def _prefix_error(text: str, message: str) -> AddressError:
    return AddressError(f"netip.ParsePrefix({go_quote(text)}): {message}")


def _ipv4(text: str, part: str) -> int:
    """The number of a dotted part; ``text`` is what complaints quote."""
    fields: list[int] = []
    value, digits = 0, 0
    for place, letter in enumerate(part):
        if letter in _DECIMAL:
            if digits == 1 and value == 0:
                raise _error(text, "IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(letter), digits + 1
            if value > 255:
                raise _error(text, "IPv4 field has value >255")
        elif letter == ".":
            if place == 0 or place == len(part) - 1 or part[place - 1] == ".":
                raise _error(text, "IPv4 field must have at least one digit", part[place:])
            if len(fields) == 3:
                raise _error(text, "IPv4 address too long")
            fields.append(value)
            value, digits = 0, 0
        else:
            raise _error(text, "unexpected character", part[place:])
    if len(fields) < 3:
        raise _error(text, "IPv4 address too short")
    return int.from_bytes(bytes([*fields, value]), "big")


def _ipv6(text: str) -> Address:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _error(text, "zone must be a non-empty string")
    groups: list[int] = []
    ellipsis = -1
    if rest.startswith("::"):
        ellipsis, rest = 0, rest[2:]
        if not rest:
            return Address(128, 0, zone)
    while len(groups) < _GROUPS:
        length = _hexadecimal_length(text, rest)
        if rest[length : length + 1] == ".":
            if ellipsis < 0 and len(groups) != _GROUPS - 2:
                raise _error(text, "embedded IPv4 address must replace the final 2 fields of the address", rest)
            if len(groups) + 2 > _GROUPS:
                raise _error(text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest)
            number = _ipv4(text, rest)
            groups += [number >> 16, number & 0xFFFF]
            rest = ""
            break
        groups.append(int(rest[:length], 16))
        rest = rest[length:]
        if not rest:
            break
        if rest[0] != ":":
            raise _error(text, "unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _error(text, "colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if ellipsis >= 0:
                raise _error(text, "multiple :: in address", rest)
            ellipsis, rest = len(groups), rest[1:]
            if not rest:
                break
    if rest:
        raise _error(text, "trailing garbage after address", rest)
    return Address(128, _expanded(text, groups, ellipsis), zone)


def _hexadecimal_length(text: str, rest: str) -> int:
    """How many digits the next group has."""
    length = 0
    while length < len(rest) and rest[length] in _HEXADECIMAL:
        if length > 3:
            raise _error(text, "each group must have 4 or less digits", rest)
        length += 1
    if length == 0:
        raise _error(text, "each colon-separated field must have at least one digit", rest)
    return length


def _expanded(text: str, groups: list[int], ellipsis: int) -> int:
    missing = _GROUPS - len(groups)
    if missing and ellipsis < 0:
        raise _error(text, "address string too short")
    if not missing and ellipsis >= 0:
        raise _error(text, "the :: must expand to at least one field of zeros")
    if missing:
        groups = groups[:ellipsis] + [0] * missing + groups[ellipsis:]
    return int.from_bytes(b"".join(group.to_bytes(2, "big") for group in groups), "big")
