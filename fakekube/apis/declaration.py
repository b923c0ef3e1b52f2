"""How the resources of an API group are declared, with the releases that have them.

A ``Resource`` holds what is the same in all versions. ``Served`` says which releases have a
version, whether it is on by default, and which feature gate it needs. ``catalog.py`` makes the
Kinds of one release from both. Upstream: pkg/registry/*/rest/storage_*.go, the strategies and
storages beside them, pkg/controlplane/instance.go.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from fakekube.apimachinery import releases
from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis import late
from fakekube.registry.kind import ALL_VERBS, Convert, Printer, Selectable
from fakekube.registry.lazy import Lazy
from fakekube.registry.strategy import Strategy
from fakekube.schema.fields import Node

NEVER = 1000
ALWAYS = releases.OLDEST.minor

GET_AND_UPDATE = ("get", "patch", "update")
CREATE = ("create",)
PROXY = ("create", "delete", "get", "patch", "update")


class Deprecated(NamedTuple):
    """The minor numbers of the releases since which a version is deprecated, and in which it is
    gone (0 for never).

    ``instead`` is the apiVersion to use for the same kind, or an apiVersion and a kind.
    """

    since: int
    gone: int = 0
    instead: str = ""

    def warning(self, gvk: GroupVersionKind, minor: int) -> str:
        """What answers about such a kind warn of under a release; empty when it is not deprecated
        there yet.
        """
        if self.since > minor:
            return ""
        gone = f", unavailable in v1.{self.gone}+" if self.gone else ""
        instead = self.instead if " " in self.instead or not self.instead else f"{self.instead} {gvk.kind}"
        use = f"; use {instead}" if instead else ""
        return f"{gvk.api_version} {gvk.kind} is deprecated in v1.{self.since}+{gone}{use}"


class Served(NamedTuple):
    """One version of a resource: the minor numbers of the first and the last release that have it.

    ``on`` is whether it is served without ``--runtime-config``; by default that is so for versions
    without alpha or beta in their name. ``to_stored`` and ``from_stored`` are for versions whose
    shape differs from the stored one; they may change the tree that they get, unless ``only_moves``
    says that they do not, and need not touch apiVersion and kind. ``strategy`` is for a version
    with rules of its own; else the resource's strategy serves all versions, and sees them in the
    stored shape. ``unconditional_update`` and ``reset_fields`` are for one that differs from the
    others.
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
    deprecated: Deprecated | None = None
    reset_fields: Mapping[str, tuple[str, ...]] | None = None

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
    table: bool = True


class Resource(NamedTuple):
    """One resource of a group.

    A field that is not named here is the same as in Kind, which says more.

    ``singular`` is the kind in lower case when not given. ``generation_since`` is the release from
    which on metadata.generation is tracked. ``stored`` names what is stored when that is not the
    first served version of this group. ``relaxed_name`` is a gate and the name rule that holds
    while it is on. ``object_until_v1`` is for kinds whose DELETE answers the object in alpha and
    beta versions only. ``strategy`` and ``printer`` are loaded when they are needed, see ``late``.
    ``fields`` is for a kind that no release of Kubernetes has, in the notation of
    ``fakekube/schema/fields.py``: ``{"spec": {"text": "string"}}``. The fields of all others come
    from the definitions of the release.
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
    metadata_checks: tuple[str, ...] = ("update",)
    storage_path: str = ""
    status_keeps_metadata: bool = False
    reset_fields: Mapping[str, tuple[str, ...]] | None = None
    pod_template: tuple[str, ...] = ()
    selector_is_map: bool = False
    orphan_warning: str = ""
    fields: Mapping[str, Node] | None = None


class Group(NamedTuple):
    """An API group. ``priority`` orders groups in discovery, highest first.

    ``version_priorities`` ranks versions in their APIServices where the rank is not that of the
    version's stage. ``by_other_server``: upstream serves the group by a server beside
    kube-apiserver, which keeps objects below the group's name.
    """

    name: str
    priority: int
    resources: tuple[Resource, ...]
    version_priorities: Mapping[str, int] = MappingProxyType({})
    by_other_server: bool = False


STATUS = Sub("status")
SCALE = Sub(
    "scale", kind=GroupVersionKind("autoscaling", "v1", "Scale"), printer=late.printer("autoscaling.printers:SCALE"))
ALL = ("all",)
SPEC_TEMPLATE = ("spec", "template")
WHOLE, WHOLE_AND_UPDATE = ("whole",), ("whole", "update")  # for metadata_checks
WHOLE_UNNAMED = ("whole", "unnamed", "update")  # without the rule of the kind for generateName
API_EXTENSIONS = ("api-extensions",)
