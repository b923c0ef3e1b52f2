"""Ownership of ``spec.replicas`` as the Scale of an object shows it, and back.

Who owns the replicas of a Deployment owns those of its Scale, whatever else of the Deployment they
own. Upstream: apimachinery/pkg/util/managedfields/scalehandler.go. Left out: kinds whose replicas
are elsewhere than in spec.replicas.
"""

from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import entries

SCALE_VERSION = "autoscaling/v1"
REPLICAS: Tree = {"f:spec": {"f:replicas": {}}}


def to_scale(parent: Json) -> list[Tree]:
    """The managedFields of a Scale, from those of the object behind it."""
    return [{**entry, "apiVersion": SCALE_VERSION, "fieldsV1": REPLICAS} for entry in _distinct(parent) if _has_replicas(entry)]


def to_parent(parent: Json, scale: Json, api_version: str) -> list[Tree]:
    """The managedFields of the object, from its old ones and those of its Scale after a write.

    ``api_version`` is the object's. Who is no longer among the Scale's owners has lost the
    replicas. An updater is known by the version, too, which is another one in the Scale: it loses
    the replicas in any case, and gets them back in an entry of their own, of which nobody knows the
    time. Two entries of the same name are thus possible; of these, the next one to read them sees
    the last.
    """
    owners = {_identity(entry): entry for entry in scale or () if _has_replicas(entry)}
    kept: list[Tree] = []
    for entry in _distinct(parent):
        stays = entry["operation"] == entries.APPLY and owners.pop(_identity(entry), None) is not None
        if stays or not _has_replicas(entry):
            kept.append(entry)
        elif rest := _without_replicas(entry["fieldsV1"]):
            kept.append({**entry, "fieldsV1": rest})
    for entry in owners.values():
        moved = {**entry, "apiVersion": api_version}
        moved.pop("time", None)
        kept.append(moved)
    return sorted(kept, key=entries.rank_of)


def _distinct(found: Json) -> list[Tree]:
    """The entries, one of each name."""
    return entries.encode(entries.decode(found))


def _identity(entry: Tree) -> tuple[str, str, str]:
    return entry.get("manager", ""), entry["operation"], entry.get("subresource", "")


def _has_replicas(entry: Tree) -> bool:
    return "f:replicas" in ((entry.get("fieldsV1") or {}).get("f:spec") or {})


def _without_replicas(fields: Tree) -> Tree:
    spec = {name: value for name, value in fields["f:spec"].items() if name != "f:replicas"}
    rest = {name: value for name, value in fields.items() if name != "f:spec"}
    return {**rest, "f:spec": spec} if any(name != "." for name in spec) else rest
