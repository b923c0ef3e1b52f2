"""URLs as Go parses and prints them, with Go's complaints.

Parsing works on bytes, as Go's does; what leaves this module is text, in which each byte that is no
UTF-8 has become U+FFFD. Upstream: Go's net/url/url.go.
"""

from typing import NamedTuple

from fakekube.apimachinery import netip
from fakekube.apimachinery.field_errors import go_quote

_ALPHANUMERIC = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_HEXADECIMAL = frozenset(b"0123456789abcdefABCDEF")
_MAX_QUERY_PARAMETERS = 10_000

_UNRESERVED = _ALPHANUMERIC + b"-_.~"
PATH = _UNRESERVED + b"$&+,/:;=@"
HOST = _UNRESERVED + b"!$&'()*+,;=:[]<>\""
USER = _UNRESERVED + b"$&+,;="
FRAGMENT = _UNRESERVED + b"$&+,/:;=?@!()*"
"""The bytes that stand for themselves in a part of a URL."""

_KEPT_AS_WRITTEN = b"!$&'()*+,;=:@[]%"
_USERINFO = _UNRESERVED + b":!$&'()*+,;=%@"
_CONTROLS = bytes((*range(0x20), 0x7F))


class URLError(ValueError):
    """A text that is no URL; the message is Go's."""


class URL(NamedTuple):
    """The parts of a URL, as bytes; ``raw_path`` is set where it says more than ``path``."""

    scheme: bytes = b""
    opaque: bytes = b""
    user: bytes | None = None
    host: bytes = b""
    path: bytes = b""
    raw_path: bytes = b""
    omit_host: bool = False
    force_query: bool = False
    raw_query: bytes = b""
    fragment: bytes = b""
    raw_fragment: bytes = b""

    @property
    def hostname(self) -> bytes:
        """The host without its port, and without the brackets of an IPv6 address."""
        name = _split_port(self.host)[0]
        return name[1:-1] if name.startswith(b"[") and name.endswith(b"]") else name

    @property
    def port(self) -> bytes:
        """The port, empty if there is none."""
        return _split_port(self.host)[1]

    @property
    def escaped_path(self) -> bytes:
        """The path as it stands in the URL."""
        if self.path == b"*":
            return b"*"
        return _escaped(self.path, self.raw_path, PATH)

    @property
    def query(self) -> dict[str, list[str]]:
        """The values by their names; what cannot be read is left out."""
        found: dict[str, list[str]] = {}
        pairs = self.raw_query.split(b"&")
        if len(pairs) > _MAX_QUERY_PARAMETERS:
            return found
        for pair in pairs:
            if not pair or b";" in pair:
                continue
            key, _, value = pair.partition(b"=")
            try:
                name, text = _unescape(key.replace(b"+", b" ")), _unescape(value.replace(b"+", b" "))
            except URLError:
                continue
            found.setdefault(decode(name), []).append(decode(text))
        return found

    def __str__(self) -> str:
        parts = [self.scheme, b":"] if self.scheme else []
        if self.opaque:
            parts.append(self.opaque)
        else:
            authority = self.host or self.user is not None
            if (self.scheme or authority) and not (self.omit_host and not authority) and (authority or self.path):
                parts.append(b"//")
                if self.user is not None:
                    parts += [self.user, b"@"]
                parts.append(_escape(self.host, HOST))
            path = self.escaped_path
            if path and not path.startswith(b"/") and self.host:
                parts.append(b"/")
            if not parts and b":" in path.partition(b"/")[0]:
                parts.append(b"./")
            parts.append(path)
        if self.force_query or self.raw_query:
            parts += [b"?", self.raw_query]
        if self.fragment:
            parts += [b"#", _escaped(self.fragment, self.raw_fragment, FRAGMENT)]
        return decode(b"".join(parts))


def decode(data: bytes) -> str:
    """Bytes as a text: each that is no UTF-8 becomes U+FFFD."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        text = data.decode(errors="surrogateescape")
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text)


def parse_request_uri(text: str) -> URL:
    """Read an absolute URL or an absolute path; a fragment is none. Raises URLError."""
    try:
        return _parse(text.encode(errors="replace"), via_request=True)
    except URLError as error:
        raise URLError(f"parse {go_quote(text)}: {error}") from None


def parse(text: str) -> URL:
    """Read any URL. Raises URLError."""
    before, _, fragment = text.partition("#")
    try:
        url = _parse(before.encode(errors="replace"), via_request=False)
    except URLError as error:
        raise URLError(f"parse {go_quote(before)}: {error}") from None
    raw = fragment.encode(errors="replace")
    try:
        decoded = _unescape(raw)
    except URLError as error:
        raise URLError(f"parse {go_quote(text)}: {error}") from None
    return url._replace(fragment=decoded, raw_fragment=b"" if _escape(decoded, FRAGMENT) == raw else raw)


def _parse(text: bytes, *, via_request: bool) -> URL:
    if len(text.translate(None, _CONTROLS)) != len(text):
        raise URLError("net/url: invalid control character in URL")
    if not text and via_request:
        raise URLError("empty url")
    if text == b"*":
        return URL(path=b"*")
    scheme, rest = _split_scheme(text)
    force_query, query = rest.endswith(b"?") and rest.count(b"?") == 1, b""
    if force_query:
        rest = rest[:-1]
    else:
        rest, _, query = rest.partition(b"?")
    url = URL(scheme=scheme.lower(), force_query=force_query, raw_query=query)
    if not rest.startswith(b"/"):
        if scheme:
            return url._replace(opaque=rest)
        if via_request:
            raise URLError("invalid URI for request")
        if b":" in rest.partition(b"/")[0]:
            raise URLError("first path segment in URL cannot contain colon")
    if rest.startswith(b"//") and (scheme or (not via_request and not rest.startswith(b"///"))):
        authority, slash, path = rest[2:].partition(b"/")
        user, host = _parse_authority(url.scheme, authority)
        url, rest = url._replace(user=user, host=host), slash + path
    elif scheme and rest.startswith(b"/"):
        url = url._replace(omit_host=True)
    path = _unescape(rest)
    return url._replace(path=path, raw_path=b"" if _escape(path, PATH) == rest else rest)


def _split_scheme(text: bytes) -> tuple[bytes, bytes]:
    for place, byte in enumerate(text):
        if byte == 0x3A:
            if place == 0:
                raise URLError("missing protocol scheme")
            return text[:place], text[place + 1 :]
        if byte not in _ALPHANUMERIC + b"+-." or (place == 0 and byte in b"0123456789+-."):
            break
    return b"", text


def _parse_authority(scheme: bytes, authority: bytes) -> tuple[bytes | None, bytes]:
    userinfo, at, host = authority.rpartition(b"@")
    host = _parse_host(scheme, host)
    if not at:
        return None, host
    if userinfo.translate(None, _USERINFO):
        raise URLError("net/url: invalid userinfo")
    name, colon, password = userinfo.partition(b":")
    return _escape(_unescape(name), USER) + colon + _escape(_unescape(password), USER), host


def _parse_host(scheme: bytes, host: bytes) -> bytes:
    bracket = host.rfind(b"[")
    if bracket > 0:
        raise URLError("invalid IP-literal")
    if bracket == 0:
        return _parse_ip_literal(host)
    first, last = host.find(b":"), host.rfind(b":")
    if first >= 0:
        _check_port(host[first if scheme in (b"http", b"https") else last :])
    return _unescape_host(host)


def _parse_ip_literal(host: bytes) -> bytes:
    end = host.rfind(b"]")
    if end < 0:
        raise URLError("missing ']' in host")
    port = host[end + 1 :]
    _check_port(port)
    name, percent, zone = host[1:end].partition(b"%25")
    address = _unescape_host(name) + (_unescape_host(percent + zone, zone=True) if percent else b"")
    try:
        parsed = netip.parse_address(decode(address))
    except netip.AddressError as error:
        raise URLError(f"invalid host: {error}") from None
    if parsed.bits == 32:
        raise URLError("invalid IP-literal")
    return b"[" + address + b"]" + port


def _check_port(colon_port: bytes) -> None:
    if not _is_optional_port(colon_port):
        raise URLError(f"invalid port {go_quote(decode(colon_port))} after host")


def _is_optional_port(colon_port: bytes) -> bool:
    return not colon_port or (colon_port[:1] == b":" and (len(colon_port) == 1 or colon_port[1:].isdigit()))


def _split_port(host: bytes) -> tuple[bytes, bytes]:
    before, colon, port = host.rpartition(b":")
    return (before, port) if colon and _is_optional_port(colon + port) else (host, b"")


def _unescape_host(text: bytes, *, zone: bool = False) -> bytes:
    """A host without its percent signs, where only what cannot be written plainly may be escaped.
    """
    place = 0
    while place < len(text):
        byte = text[place]
        if byte == 0x25:
            escape = _escape_at(text, place)
            value = int(escape[1:], 16)
            bad = value != 0x20 and value not in HOST if zone else value < 0x80
            if bad and escape != b"%25":
                raise URLError(f"invalid URL escape {go_quote(decode(escape))}")
            place += 3
        else:
            if byte < 0x80 and byte not in HOST:
                raise URLError(f"invalid character {go_quote(chr(byte))} in host name")
            place += 1
    return _unescape(text)


def _escape_at(text: bytes, place: int) -> bytes:
    escape = text[place : place + 3]
    if len(escape) < 3 or escape[1] not in _HEXADECIMAL or escape[2] not in _HEXADECIMAL:
        raise URLError(f"invalid URL escape {go_quote(decode(escape))}")
    return escape


def _unescape(text: bytes) -> bytes:
    if b"%" not in text:
        return text
    first, *rest = text.split(b"%")
    parts = [first]
    for part in rest:
        escape = _escape_at(b"%" + part, 0)
        parts += [bytes([int(escape[1:], 16)]), part[2:]]
    return b"".join(parts)


def _escape(text: bytes, plain: bytes) -> bytes:
    special = set(text.translate(None, plain))
    if not special:
        return text
    return b"".join(b"%%%02X" % byte if byte in special else bytes((byte,)) for byte in text)


def _escaped(decoded: bytes, raw: bytes, plain: bytes) -> bytes:
    """A part as it was written, if it may be written so and says the same."""
    if raw and not raw.translate(None, plain + _KEPT_AS_WRITTEN) and _unescape(raw) == decoded:
        return raw
    return _escape(decoded, plain)
