"""Ownership of an object's replicas as its Scale shows it, and back.

Who owns the replicas of a Deployment owns those of its Scale, whatever else of the Deployment they
own. Custom kinds may have their replicas elsewhere than in ``spec.replicas``. Upstream:
apimachinery/pkg/util/managedfields/scalehandler.go.
"""

from collections.abc import Sequence

from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import entries
from fakekube.managedfields.fieldset import SELF

SCALE_VERSION = "autoscaling/v1"
REPLICAS = ("spec", "replicas")


def to_scale(parent: Json, path: Sequence[str] = REPLICAS) -> list[Tree]:
    """The managedFields of a Scale, from those of the object behind it, whose replicas are at
    ``path``.
    """
    fields: Tree = {"f:spec": {"f:replicas": {}}}
    return [
        {**entry, "apiVersion": SCALE_VERSION, "fieldsV1": fields} for entry in _distinct(parent) if _has_replicas(entry, path)]


def to_parent(parent: Json, scale: Json, api_version: str, path: Sequence[str] = REPLICAS) -> list[Tree]:
    """The managedFields of the object, from its old ones and those of its Scale after a write.

    ``api_version`` is the object's, ``path`` leads to its replicas. Who is no longer among the
    Scale's owners has lost the replicas. An updater is known by the version, too, which is another
    one in the Scale: it loses the replicas in any case, and gets them back in an entry of their
    own, of which nobody knows the time. Two entries of the same name are thus possible; of these,
    the next one to read them sees the last.
    """
    owners = {_identity(entry): entry for entry in scale or () if _has_replicas(entry, REPLICAS)}
    kept: list[Tree] = []
    for entry in _distinct(parent):
        stays = entry["operation"] == entries.APPLY and owners.pop(_identity(entry), None) is not None
        if stays or not _has_replicas(entry, path):
            kept.append(entry)
        elif rest := _without(entry["fieldsV1"], path):
            kept.append({**entry, "fieldsV1": rest})
    for entry in owners.values():
        moved = {**entry, "apiVersion": api_version, "fieldsV1": _fields(path)}
        moved.pop("time", None)
        kept.append(moved)
    return sorted(kept, key=entries.rank_of)


def _distinct(found: Json) -> list[Tree]:
    """The entries, one of each name."""
    return entries.encode(entries.decode(found))


def _identity(entry: Tree) -> tuple[str, str, str]:
    return entry.get("manager", ""), entry["operation"], entry.get("subresource", "")


def _has_replicas(entry: Tree, path: Sequence[str]) -> bool:
    fields: Json = entry.get("fieldsV1") or {}
    for name in path:
        fields = fields.get(f"f:{name}")
        if fields is None:
            return False
    return True


def _fields(path: Sequence[str]) -> Tree:
    fields: Tree = {}
    for name in reversed(path):
        fields = {f"f:{name}": fields}
    return fields


def _without(fields: Tree, path: Sequence[str]) -> Tree:
    """A set without what is at ``path``; what holds it stays only where it is owned itself, or for
    what else is in it.
    """
    element = f"f:{path[0]}"
    rest = {name: value for name, value in fields.items() if name != element}
    below = _without(fields[element], path[1:]) if len(path) > 1 else {}
    if not below:
        return rest
    return {**fields, element: {} if below.keys() == {SELF} else below}
