"""What a request line and its headers say, read as Go's net/url and net/http read them.

A path with a broken escape is refused; a parameter with a broken escape or a semicolon is ignored.
Bytes that are not UTF-8 become replacement characters, since no text of the server could hold them.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qs, unquote

NO_QUERY: Mapping[str, list[str]] = {}
_BROKEN_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")


class BadTarget(ValueError):
    """A path that cannot be read."""


def path_of(target: str) -> str:
    """The path of a request line's target, decoded. Raises BadTarget."""
    if target[:1] != "/":  # absolute form, as proxies send it
        target = "/" + target.partition("://")[2].partition("/")[2]
    if "%" not in target:
        return text_of(target)
    if _BROKEN_ESCAPE.search(target):
        raise BadTarget(target)
    return text_of(unquote(target))


def query_of(text: str) -> Mapping[str, list[str]]:
    """The values of each parameter."""
    if not text:
        return NO_QUERY
    if ";" in text or _BROKEN_ESCAPE.search(text):
        text = "&".join(pair for pair in text.split("&") if ";" not in pair and not _BROKEN_ESCAPE.search(pair))
    return parse_qs(text_of(text), keep_blank_values=True)


def headers_of(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The value of each header by its name in lower case, those given several times joined."""
    headers: dict[str, str] = {}
    for name, value in fields:
        key, text = name.lower(), text_of(value)
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def text_of(text: str) -> str:
    """What aiohttp decoded, with replacement characters for the bytes that it could not."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
