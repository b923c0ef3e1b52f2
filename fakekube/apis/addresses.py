"""IP addresses and ranges as the API takes them: what is refused, what is accepted with a warning.

Old fields accept leading zeros and IPv4 inside IPv6 with a warning, unless the gate
StrictIPCIDRValidation is on; new fields want the canonical form. Upstream:
apimachinery/pkg/util/validation/ip.go.
"""

import ipaddress
import re
from collections.abc import Collection

from fakekube.apimachinery.field_errors import FieldError, go_quote, invalid

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
LONGEST_PREFIX = 3
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_CANONICAL_IPV4 = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")
NOT_AN_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NOT_A_RANGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def parse_ip(text: str) -> Address | None:
    """An address, leading zeros allowed; None when it is none."""
    if "%" in text:
        return None
    try:
        return ipaddress.ip_address(_without_zeros(text))
    except ValueError:
        return None


def parse_cidr(text: str) -> tuple[Address, Network] | None:
    """The address and the range of ``10.0.0.1/8``; None when it is neither."""
    address, slash, prefix = text.partition("/")
    ip = parse_ip(address)
    if ip is None or not slash or not prefix.isascii() or not prefix.isdigit() or len(prefix) > LONGEST_PREFIX:
        return None
    try:
        return ip, ipaddress.ip_network(f"{ip}/{int(prefix)}", strict=False)
    except ValueError:
        return None


def _without_zeros(text: str) -> str:
    head, colon, tail = text.rpartition(":")
    parts = tail.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts):
        return text
    return head + colon + ".".join(str(int(part)) for part in parts)


def _plain(ip: Address) -> str:
    """As Go prints it: IPv4 inside IPv6 is IPv4."""
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return str(mapped or ip)


def legacy_ip(path: str, text: str, known: Collection[str] = (), *, strict: bool = False) -> list[FieldError]:
    """A field that was there before addresses were checked well; ``known`` are values of the old
    object.
    """
    return [] if text in known else _ip(path, text, strict=strict)


def _ip(path: str, text: str, *, strict: bool) -> list[FieldError]:
    if _CANONICAL_IPV4.fullmatch(text):
        return []
    ip = parse_ip(text)
    if ip is None:
        return [invalid(path, text, NOT_AN_ADDRESS)]
    if strict and _without_zeros(text) != text:
        return [invalid(path, text, "must not have leading 0s")]
    if strict and isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        return [invalid(path, text, "must not be an IPv4-mapped IPv6 address")]
    return []


def strict_ip(path: str, text: str) -> list[FieldError]:
    """A field that wants the canonical form."""
    found, ip = _ip(path, text, strict=True), parse_ip(text)
    if not found and ip is not None and str(ip) != text:
        return [invalid(path, text, f"must be in canonical form ({go_quote(str(ip))})")]
    return found


def legacy_cidr(path: str, text: str, known: Collection[str] = (), *, strict: bool = False) -> list[FieldError]:
    """As ``legacy_ip``, for a range."""
    return [] if text in known else _cidr(path, text, strict=strict)


def _cidr(path: str, text: str, *, strict: bool) -> list[FieldError]:
    parsed = parse_cidr(text)
    if parsed is None:
        return [invalid(path, text, NOT_A_RANGE)]
    if not strict:
        return []
    ip, network = parsed
    address, _, prefix = text.partition("/")
    if _without_zeros(address) != address or str(int(prefix)) != prefix:
        return [invalid(path, text, "must not have leading 0s in IP or prefix length")]
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        return [invalid(path, text, "must not have an IPv4-mapped IPv6 address")]
    if ip != network.network_address:
        return [invalid(path, text, "must not have bits set beyond the prefix length")]
    return []


def strict_cidr(path: str, text: str) -> list[FieldError]:
    """As ``strict_ip``, for a range."""
    found, parsed = _cidr(path, text, strict=True), parse_cidr(text)
    if not found and parsed is not None and str(parsed[1]) != text:
        return [invalid(path, text, f"must be in canonical form ({go_quote(str(parsed[1]))})")]
    return found


def canonical_interface(text: str) -> str:
    """An address with the length of its prefix, as Go prints it; ``parse_cidr`` reads the text."""
    parsed = parse_cidr(text)
    assert parsed is not None, "it was found to be a range"
    ip, network = parsed
    mapped = isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped
    bits = network.prefixlen - (96 if mapped else 0)
    return f"{_plain(ip)}/{bits}"


def special_ip(path: str, text: str) -> list[FieldError]:
    """An address that no endpoint may have: unspecified, loopback, link-local."""
    ip = parse_ip(text)
    if ip is None:
        return [invalid(path, text, "must be a valid IP address")]
    found = []
    if ip.is_unspecified:
        found.append(invalid(path, text, f"may not be unspecified ({text})"))
    if ip.is_loopback:
        found.append(invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    if ip.is_link_local:
        found.append(invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
    multicast = ipaddress.ip_network("224.0.0.0/24" if ip.version == 4 else "ff02::/16")
    if ip in multicast:
        found.append(invalid(path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"))
    return found


def ip_warnings(path: str, text: str) -> list[str]:
    """What a client is told about an address that is accepted and should be written otherwise."""
    ip = parse_ip(text)
    if ip is None:
        return []
    mapped = isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped
    if mapped or _without_zeros(text) != text:
        return [f"{path}: non-standard IP address {go_quote(text)} is invalid: use {go_quote(_plain(ip))}"]
    if ip.version == 6 and str(ip) != text:
        return [f"{path}: IPv6 address {go_quote(text)} should be in RFC 5952 canonical format ({go_quote(str(ip))})"]
    return []


def cidr_warnings(path: str, text: str) -> list[str]:
    """As ``ip_warnings``, for a range."""
    parsed = parse_cidr(text)
    if parsed is None:
        return []
    ip, network = parsed
    found = []
    if ip != network.network_address:
        alone = f"{ip}/{ip.max_prefixlen}"
        found.append(
            f"{path}: CIDR value {go_quote(text)} is ambiguous in this context "
            f"(should be {go_quote(str(network))} or {go_quote(alone)}?)")
    address, _, prefix = text.partition("/")
    mapped = isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped
    if mapped or _without_zeros(address) != address or str(int(prefix)) != prefix:
        found.append(f"{path}: non-standard CIDR value {go_quote(text)} is invalid: use {go_quote(str(network))}")
    if not found and ip.version == 6 and str(network) != text:
        canonical = go_quote(str(network))
        found.append(f"{path}: IPv6 CIDR value {go_quote(text)} should be in RFC 5952 canonical format ({canonical})")
    return found
