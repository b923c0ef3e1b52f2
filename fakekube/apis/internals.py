"""Objects as upstream's errors print them: its internal types as JSON, or the lines of it that
differ.

Internal types have Go's names and print all their fields, in the order that ``internal_types.txt``
beside this file has them; ``tools/internal_types.py`` makes it from the newest release.
Upstream: apimachinery/pkg/util/diff. Left out: the fields that older releases did not have, or had
elsewhere.
"""

import difflib
import json
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fakekube.apimachinery import empties
from fakekube.apimachinery.empties import NoEntries, NoItems
from fakekube.apimachinery.types import Tree
from fakekube.util.memory import memoized

Fields = tuple[tuple[str, str, str], ...]
"""Of each field: Go's name, the same in lower case, and its kind."""

# Where the internal name is not the API's with other capitals.
RENAMED = {
    "monitors": "cephmonitors", "image": "rbdimage", "pool": "rbdpool", "user": "radosuser", "endpoints": "endpointsname",
    "chapAuthDiscovery": "discoverychapauth", "chapAuthSession": "sessionchapauth", "diskURI": "datadiskuri",
    "serviceAccount": "deprecatedserviceaccount",
}
# Metadata prints as it does elsewhere, amid the fields of what it belongs to.
OBJECT_META = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers", "managedFields",
)
LISTED_PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "matchExpressions": ("key", "operator", "values"),
    "ownerReferences": ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"),
    "managedFields": ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"),
})
ZERO: Mapping[str, Any] = MappingProxyType({"s": "", "b": False, "i": 0, "-IntOrString": 0, "-Quantity": "0"})


def changed_lines(kind: str, old: Any, new: Any) -> str:
    """The difference of two values of a kind (``PodSpec``, ``[]Container``), three lines around
    each change.
    """
    lines = list(difflib.unified_diff(_lines(kind, old), _lines(kind, new), lineterm=""))[2:]
    return "".join(f"{line}\n" for line in lines)


def _lines(kind: str, value: Any) -> list[str]:
    text = json.dumps(empties.without(internal(kind, value)), indent=1, ensure_ascii=False)
    for char in "<>&\u2028\u2029":  # which Go never prints in JSON
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.split("\n")


def internal(kind: str, value: Any) -> Any:
    """A value of a kind (``PodSpec``, ``*PodFailurePolicy``, ``[]Container``), ready to be printed
    as JSON.
    """
    if kind[0] == "*":
        return None if value is None else internal(kind[1:], value)
    if kind.startswith("[]="):
        return None if value is None else {key: internal(kind[3:], value[key]) for key in sorted(value)}
    if kind.startswith("[]"):
        return None if value is None else [internal(kind[2:], each) for each in value]
    if kind == "-LabelSelector":
        return {name: _in_order(name, value[name]) for name in ("matchLabels", "matchExpressions") if value.get(name)}
    fields = _types().get(kind)
    if fields is None:
        return ZERO.get(kind) if value is None else _plain(value)
    return _struct(fields, value or {})


def _struct(fields: Fields, tree: Tree) -> Tree:
    names = dict.fromkeys(name for _, name, _ in fields)
    given = {}
    for key, value in tree.items():
        other = RENAMED.get(key, "")
        given[other if other in names else key.lower()] = value
    found: Tree = {}
    for name, lower, kind in fields:
        if kind == "-ObjectMeta":
            meta = tree.get("metadata") or {}
            found |= {part: _in_order(part, meta[part]) for part in OBJECT_META if meta.get(part)}
        else:
            found[name] = internal(kind, given.get(lower))
    return found


def _in_order(part: str, value: Any) -> Any:
    """A part of metadata, or of a selector, as its type prints."""
    names = LISTED_PARTS.get(part)
    return [{name: each[name] for name in names if name in each} for each in value] if names else _sorted(value)


def _plain(value: Any) -> Any:
    """A value that the internal type prints, even if it has nothing in it."""
    if isinstance(value, NoItems):
        return []
    return {} if isinstance(value, NoEntries) else value


def _sorted(value: Any) -> Any:
    """Maps print in the order of their keys."""
    return dict(sorted(value.items())) if isinstance(value, dict) else value


@memoized(1)
def _types() -> Mapping[str, Fields]:
    data = pkgutil.get_data(__package__, "internal_types.txt")
    assert data is not None, "the package has its table"
    found: dict[str, Fields] = {}
    _, *lines = data.decode("ascii").splitlines()
    for line in lines:
        name, *fields = line.split()
        parts = [field.partition(":") for field in fields]
        found[name] = tuple((field, field.lower(), kind) for field, _, kind in parts)
    return found
