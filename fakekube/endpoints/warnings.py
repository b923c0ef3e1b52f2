"""Warning headers: texts for a person behind a client.

Upstream: apiserver/pkg/endpoints/filters/warning.go.

The texts of one answer are told once each; when together they pass a limit, each is cut.
"""

import re
from collections.abc import Iterable

from fakekube.apimachinery.http import Response

TOTAL_CHARACTERS = 4096
ITEM_CHARACTERS = 256
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def add_warnings(response: Response, texts: Iterable[str]) -> None:
    """Append a Warning header for each text; what is empty or holds control characters is no
    header's.
    """
    unique = [text for text in dict.fromkeys(texts) if text and not _CONTROL.search(text)]
    if sum(map(len, unique)) > TOTAL_CHARACTERS:
        unique = _cut(unique)
    response.headers += [("Warning", header(text)) for text in unique]


def _cut(texts: list[str]) -> list[str]:
    kept, written = [], 0
    for text in texts:
        if written >= TOTAL_CHARACTERS:
            break
        kept.append(text[:ITEM_CHARACTERS])
        written += len(kept[-1])
    return kept


def header(text: str) -> str:
    """``299 - "text"``, quotes and backslashes escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{escaped}"'
