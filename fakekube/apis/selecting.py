"""How a declaration says what a fieldSelector may name.

Upstream: the conversion.go and strategy.go of each kind.
"""

from collections.abc import Callable, Mapping

from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import dig
from fakekube.registry.kind import Selectable

UNSUPPORTED = "field label not supported: {label}"

def selectable(
    *labels: str, unknown: str = UNSUPPORTED, special: Mapping[str, Callable[[Tree], str]] | None = None,
) -> Selectable:  # fmt: skip
    """Labels that are paths of fields, but for the ``special`` ones, which name a function each.

    ``unknown`` may hold ``{gvk}`` beside ``{label}``; the catalog fills it in.
    """
    special = special or {}
    paths = tuple((label, tuple(label.split("."))) for label in labels if label not in special)

    def values(obj: Tree) -> dict[str, str]:
        found = {label: _text(dig(obj, *path)) for label, path in paths}
        for label, function in special.items():
            found[label] = function(obj)
        return found

    return Selectable(tuple(dict.fromkeys([*labels, *special])), values, {}, unknown)


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def flag(*path: str) -> Callable[[Tree], str]:
    """The text of a field that is true or false, absent ones being false."""
    return lambda obj: "true" if dig(obj, *path) else "false"


def number(*path: str) -> Callable[[Tree], str]:
    """The text of a number, absent ones being 0."""
    return lambda obj: str(dig(obj, *path) or 0)
