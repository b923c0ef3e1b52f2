"""What kinds and fields are for, in upstream's words: for ``kubectl explain`` alone.

The tables of this package hold no prose. The package kubernetes-validate does, and the extra
``explain`` installs it; its file of a release is read when somebody first asks for an OpenAPI
document. Upstream: the comments of k8s.io/api's structs.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import orjson

from fakekube.util.memory import memoized

MISSING = 'What kinds and fields are for is told after: pip install "fakekube[explain]"'

Texts = Mapping[tuple[str, str], str]
"""Descriptions by definition and field; the definition's own has an empty field."""


def are_installed() -> bool:
    """Whether there are any descriptions."""
    return _package() is not None


def load(release: str) -> Texts | None:
    """The descriptions of a release such as ``1.37``; None where they are not installed."""
    package = _package()
    file = package and package / "kubernetes-json-schema" / f"v{release}.0-local" / "_definitions.json"
    return _read(str(file)) if file and file.exists() else None


def _package() -> Path | None:
    found = find_spec("kubernetes_validate")
    return Path(found.origin).parent if found is not None and found.origin else None


@memoized(2)
def _read(path: str) -> Texts:
    texts: dict[tuple[str, str], str] = {}
    for name, definition in orjson.loads(Path(path).read_bytes())["$defs"].items():
        for field, node in [("", definition), *definition.get("properties", {}).items()]:
            if text := node.get("description"):
                texts[name, field] = text
    return MappingProxyType(texts)
