"""URLs: ``url('https://example.com:80/a').getHost()``, ``isURL('/path')``.

Upstream: apiserver/pkg/cel/library/urls.go.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from fakekube.apimachinery import gourl
from fakekube.cel import types
from fakekube.cel.errors import EvaluationError
from fakekube.cel.functions import function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing

URL_TYPE = types.object_type("kubernetes.URL", {})
_QUERY = types.map_of(types.STRING, types.list_of(types.STRING))


@dataclass(frozen=True, slots=True, eq=False)
class URL:
    """The value of ``url('https://example.com')``; equal if the texts are."""

    cel_type: ClassVar[types.Type] = URL_TYPE
    parsed: gourl.URL

    def __str__(self) -> str:
        return str(self.parsed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URL) and str(self.parsed) == str(other.parsed)

    def __hash__(self) -> int:
        return hash(str(self.parsed))


def library() -> Library:
    """The functions of every release."""
    nominal: dict[str, Any] = {"cost": costing.nominal_cost, "estimate": costing.nominal}
    parts = (
        ("getScheme", "url_get_scheme", lambda url: gourl.decode(url.parsed.scheme)),
        ("getHost", "url_get_host", lambda url: gourl.decode(url.parsed.host)),
        ("getHostname", "url_get_hostname", lambda url: gourl.decode(url.parsed.hostname)),
        ("getPort", "url_get_port", lambda url: gourl.decode(url.parsed.port)),
        ("getEscapedPath", "url_get_escaped_path", lambda url: gourl.decode(url.parsed.escaped_path)),
    )
    return Library("urls", (
        function("url", overload(
            "string_to_url", [types.STRING], URL_TYPE, to_url,
            cost=costing.walk_cost(), estimate=costing.walk(sized=True))),
        *(function(name, member(overload_id, [URL_TYPE], types.STRING, part, **nominal)) for name, overload_id, part in parts),
        function("getQuery", member("url_get_query", [URL_TYPE], _QUERY, lambda url: url.parsed.query, **nominal)),
        function("isURL", overload("is_url_string", [types.STRING], types.BOOL, is_url)),
    ))


def to_url(text: str) -> URL:
    """An absolute URL, or an absolute path."""
    try:
        gourl.parse_request_uri(text)
        return URL(gourl.parse(text))
    except gourl.URLError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from None


def is_url(text: str) -> bool:
    """Whether ``url`` takes a text."""
    try:
        gourl.parse_request_uri(text)
    except gourl.URLError:
        return False
    return True
