"""How a group's table of resources is written down: one line a resource, and the releases that have it.

A ``Resource`` is what stays the same from version to version; ``Served`` says which releases have a version, whether it
is on by default and which feature gate it needs. ``catalog.py`` turns both into Kinds for one release.
Upstream spreads this over pkg/registry/*/rest/storage_*.go, strategies, storages and pkg/controlplane/instance.go.
"""

from typing import NamedTuple

from fakekube.apimachinery import releases
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis import late
from fakekube.registry.kind import ALL_VERBS, Convert, Printer, Selectable
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy

NEVER = 1000
ALWAYS = releases.OLDEST.minor

GET_AND_UPDATE = ("get", "patch", "update")
CREATE = ("create",)
PROXY = ("create", "delete", "get", "patch", "update")


class Served(NamedTuple):
    """One version of a resource: the minor numbers of the first and the last release that have it.

    ``on`` is whether it is served without ``--runtime-config``; by default that is so for versions without alpha or
    beta in their name. ``to_stored`` and ``from_stored`` are for versions whose shape differs from the stored
    one; they may change the tree that they get, unless ``only_moves`` says that they do not, and need not touch apiVersion
    and kind. ``strategy`` is for a
    version with rules of its own; else the resource's strategy serves all versions, and sees them in the stored shape.
    ``unconditional_update`` is for one that differs from the others.
    """

    version: str
    since: int = ALWAYS
    until: int = NEVER
    on: bool | None = None
    gate: str = ""
    to_stored: Convert | None = None
    from_stored: Convert | None = None
    only_moves: bool = False
    strategy: Lazy[Strategy] | None = None
    unconditional_update: bool | None = None

    @property
    def served_by_default(self) -> bool:
        """Whether it takes no ``--runtime-config`` to have it."""
        return self.on if self.on is not None else "alpha" not in self.version and "beta" not in self.version


class Sub(NamedTuple):
    """A sub-resource, since which release, behind which gate."""

    name: str
    verbs: tuple[str, ...] = GET_AND_UPDATE
    kind: GroupVersionKind | None = None
    strategy: Lazy[Strategy] | None = None
    printer: Lazy[Printer] | None = None
    since: int = ALWAYS
    gate: str = ""


class Resource(NamedTuple):
    """One resource of a group; the fields are those of Kind.

    ``singular`` is the kind in lower case when not given. ``generation_since`` is the release from which on
    metadata.generation is tracked. ``stored`` names what is on disk when that is not the first served version of this
    group. ``relaxed_name`` is a gate and the name rule that holds while it is on. ``object_until_v1`` is for
    kinds whose DELETE answers the object in alpha and beta versions only.
    """

    plural: str
    kind: str
    versions: tuple[Served, ...] = (Served("v1"),)
    namespaced: bool = True
    singular: str = ""
    verbs: tuple[str, ...] = ALL_VERBS
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Sub, ...] = ()
    strategy: Lazy[Strategy] | None = None
    printer: Lazy[Printer] | None = None
    selectable: Selectable = Selectable()
    stored: GroupVersionKind | None = None
    table: bool = True
    generation_since: int = NEVER
    create_on_update: bool = False
    unconditional_update: bool = True
    delete_returns_object: bool = False
    object_until_v1: bool = False
    orphan_by_default: bool = False
    collects_dependents: bool = True
    field_annotation: str = ""
    name_rule: str = "subdomain"
    relaxed_name: tuple[str, str] = ("", "")


class Group(NamedTuple):
    """An API group. ``priority`` orders groups in discovery, highest first."""

    name: str
    priority: int
    resources: tuple[Resource, ...]


STATUS = Sub("status")
SCALE = Sub(
    "scale", kind=GroupVersionKind("autoscaling", "v1", "Scale"), printer=late.printer("autoscaling.printers:SCALE"))
ALL = ("all",)
API_EXTENSIONS = ("api-extensions",)
