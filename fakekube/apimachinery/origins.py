"""Hosts and origins as requests and options name them, each in its one spelling.

Upstream: RFC 9110 7.2 (Host) and RFC 6454 (Origin), of which Go's net/url reads the parts.
"""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

ANY = "*"
MAX_CHARACTERS = 300
"""What is longer is no host: names in DNS have 253 characters."""
DEFAULT_PORTS = {"http": "80", "https": "443"}
_LABEL = "[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")
_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#@\s]+)")


def host_of(authority: str) -> str:
    """The host of ``host:port`` in its one spelling; empty for what is no host.

    Names are in lower case and have no dot at the end, IPv6 addresses neither brackets nor a zone.
    """
    text = authority.lower() if len(authority) <= MAX_CHARACTERS else ""
    if text.startswith("["):
        text, bracket, port = text[1:].partition("]")
        address = address_of(text)
        if not bracket or (port and port[:1] != ":") or not isinstance(address, IPv6Address):
            return ""
        host, port = str(address), port[1:]
    else:
        text, _, port = text.partition(":")
        if not text.isascii() or not _NAME.fullmatch(text):
            return ""
        host = text.removesuffix(".")
    return host if not port or (port.isascii() and port.isdecimal()) else ""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host, as ``--bind-address`` gives it."""
    address = address_of(host)
    if address is None:
        return ("." + host_of(host)).endswith(".localhost")
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def origin_of(text: str) -> str:
    """An origin in its one spelling: ``null``, ``*``, ``http://host:port``.

    Raises ValueError for anything else.
    """
    plain = text.strip().lower()
    if plain in (ANY, "null"):
        return plain
    found = _ORIGIN.fullmatch(plain)
    if found is None:
        raise ValueError(f"{text!r} is no origin: say http://127.0.0.1:3000")
    scheme, authority = found.groups()
    return f"{scheme}://{authority.removesuffix(':' + DEFAULT_PORTS.get(scheme, ''))}"


def plain_host(text: str) -> str:
    """A host as options give it, spelled as ``host_of`` spells it; a port is not looked at.

    Raises ValueError for what is no host.
    """
    address = address_of(text)
    host = str(address) if address is not None else host_of(text)
    if not host:
        raise ValueError(f"{text!r} is no host: say the name or the address by which clients reach the server")
    return host


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address that a text is, without its zone, or None."""
    try:
        return ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
