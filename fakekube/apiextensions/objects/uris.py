"""Whether a text is a URI as a request line may have it.

Upstream: net/url's ParseRequestURI, which the format ``uri`` of a schema stands for.
"""

import ipaddress

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
_HEX = frozenset("0123456789abcdefABCDEF")
_IN_HOST = _LETTERS | _DIGITS | frozenset("-_.~!$&'()*+,;=:[]<>\"")
_IN_USER = _LETTERS | _DIGITS | frozenset("-._:~!$&'()*+,;=%@")


def is_request_uri(text: str) -> bool:
    """Whether the text is an absolute URI or an absolute path."""
    if not text or any(letter < " " or letter == "\x7f" for letter in text):
        return False
    if text == "*":
        return True
    scheme, rest = _split_scheme(text)
    if scheme is None:
        return False
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return bool(scheme)
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        return _is_authority(authority) and _is_escaped(slash + path)
    return _is_escaped(rest)


def _split_scheme(text: str) -> tuple[str | None, str]:
    """The scheme, empty when there is none and None when there should be, and what follows."""
    for place, letter in enumerate(text):
        if letter in _LETTERS:
            continue
        if letter in _DIGITS or letter in "+-.":
            if not place:
                break
        elif letter == ":":
            return (text[:place] or None, text[place + 1:])
        else:
            break
    return "", text


def _is_escaped(text: str) -> bool:
    """Whether two hexadecimal digits follow each percent sign."""
    return all(len(part) > 1 and part[0] in _HEX and part[1] in _HEX for part in text.split("%")[1:])


def _is_authority(text: str) -> bool:
    user, _, host = text.rpartition("@")
    if not all(letter in _IN_USER for letter in user) or not _is_escaped(user):
        return False
    if "[" in host:
        return host.startswith("[") and _is_bracketed(host)
    name, colon, port = host.rpartition(":")
    if colon and not _is_port(port):
        return False
    return _is_host(name if colon else host)


def _is_bracketed(host: str) -> bool:
    address, bracket, port = host[1:].rpartition("]")
    if not bracket or (port and not (port[0] == ":" and _is_port(port[1:]))):
        return False
    address, escaped, zone = address.partition("%25")
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return False
    return not escaped or _is_escaped(zone)


def _is_port(text: str) -> bool:
    return all(letter in _DIGITS for letter in text)


def _is_host(text: str) -> bool:
    for part in text.split("%")[1:]:
        # what is escaped in a host is beyond ASCII, or a percent sign
        if len(part) < 2 or part[0] not in _HEX or part[1] not in _HEX or (part[0] < "8" and part[:2] != "25"):
            return False
    return all(letter > "\x7f" or letter in _IN_HOST or letter == "%" for letter in text)
