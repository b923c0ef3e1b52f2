"""Ownership of ``spec.replicas`` as the Scale of an object shows it, and back.

Who owns the replicas of a Deployment owns those of its Scale, whatever else of the Deployment they own. Upstream:
apimachinery/pkg/util/managedfields/scalehandler.go. Left out: kinds whose replicas are elsewhere than in spec.replicas.
"""

from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import entries

SCALE_VERSION = "autoscaling/v1"
REPLICAS: Tree = {"f:spec": {"f:replicas": {}}}


def to_scale(parent: Json) -> list[Tree]:
    """The managedFields of a Scale, from those of the object behind it."""
    return [{**entry, "apiVersion": SCALE_VERSION, "fieldsV1": REPLICAS} for entry in parent or () if _has_replicas(entry)]


def to_parent(parent: Json, scale: Json, api_version: str) -> list[Tree]:
    """The managedFields of the object, from its old ones and those of its Scale after a write.

    ``api_version`` is the object's. Who is no longer among the Scale's owners has lost the replicas.
    """
    owners = {_identity(entry): entry for entry in scale or () if _has_replicas(entry)}
    kept: list[Tree] = []
    for entry in parent or ():
        if not _has_replicas(entry) or owners.pop(_identity(entry), None) is not None:
            kept.append(entry)
        elif rest := _without_replicas(entry["fieldsV1"]):
            kept.append({**entry, "fieldsV1": rest})
    kept += [{**entry, "apiVersion": api_version} for entry in owners.values()]
    return entries.encode(entries.decode(kept))


def _identity(entry: Tree) -> tuple[str, str, str]:
    return entry.get("manager", ""), entry["operation"], entry.get("subresource", "")


def _has_replicas(entry: Tree) -> bool:
    return "f:replicas" in ((entry.get("fieldsV1") or {}).get("f:spec") or {})


def _without_replicas(fields: Tree) -> Tree:
    spec = {name: value for name, value in fields["f:spec"].items() if name != "f:replicas"}
    rest = {name: value for name, value in fields.items() if name != "f:spec"}
    return {**rest, "f:spec": spec} if any(name != "." for name in spec) else rest
