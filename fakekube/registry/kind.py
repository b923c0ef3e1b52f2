"""A kind: everything that discovery, Tables, storage and the endpoints know of one resource.

Built-in kinds are declared in ``fakekube/apis``. Upstream has types, strategies, storages and
printers apart; here they are one value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from fakekube.apimachinery.gvk import GroupKind, GroupResource, GroupVersionKind, api_version, version_order
from fakekube.apimachinery.types import Json, Tree
from fakekube.registry.lazy import LazyField
from fakekube.registry.strategy import DEFAULT, Strategy
from fakekube.schema.decode import BodyReader

NAME_DESCRIPTION = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"  # noqa: E501
CREATED_DESCRIPTION = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"  # noqa: E501
ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Column(NamedTuple):
    """One column of a Table. ``priority`` above 0 shows with ``-o wide`` only."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


class Printer(NamedTuple):
    """How a kind prints as a Table.

    ``cells(obj, now)`` gives one cell a column; ``now`` is Unix seconds, for ages.
    ``conditions(obj)`` gives the row's conditions, for kinds that have them (finished pods).
    """

    columns: Sequence[Column]
    cells: Callable[[Tree, float], list[Json]]
    conditions: Callable[[Tree], list[Tree]] | None = None
    rows_may_be_null: bool = False
    """Whether a Table of no object has null for rows, as Go prints a slice that nobody made."""


class Selectable(NamedTuple):
    """What fieldSelector may name beside metadata.name and metadata.namespace.

    ``values(obj)`` gives the text of each of ``labels``; ``aliases`` maps other spellings to them
    (spec.host). ``unknown`` words the 400 for a label that is none of them, with ``{label}`` in it;
    empty for the common text ``field label not supported: {label}``.
    """

    labels: tuple[str, ...] = ()
    values: Callable[[Tree], Mapping[str, str]] | None = None
    aliases: Mapping[str, str] = MappingProxyType({})
    unknown: str = '"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'


NAME_ONLY = Selectable()


class ScalePaths(NamedTuple):
    """Where a custom kind has what its Scale shows: ``.spec.replicas``; ``selector`` may be empty.
    """

    replicas: str
    status_replicas: str
    selector: str = ""


@dataclass(frozen=True, eq=False)
class Subresource:
    """A path below an object.

    ``kind`` names what travels over it when that is not the object itself.

    ``strategy`` is for those that change the object by rules of their own (finalize, approval,
    resize): its ``prepare_for_update`` and ``validate_update`` take the place of the kind's.
    "status" needs none: the kind's strategy has hooks for it. ``printer`` is how it prints as a
    Table when that is not as the object does; ``table`` is whether it is to be had as a Table at
    all.
    """

    name: str  # "status", "scale", "log", ...
    verbs: tuple[str, ...]
    kind: GroupVersionKind | None = None
    strategy: LazyField[Strategy | None] = LazyField(None)  # noqa: RUF009
    printer: LazyField[Printer | None] = LazyField(None)  # noqa: RUF009
    table: bool = True


class Published(Protocol):
    """What OpenAPI says of a kind that no release has."""

    @property
    def name(self) -> str:
        """The name of its schema."""

    @property
    def list_name(self) -> str:
        """The name of the schema of its lists."""

    @property
    def digest(self) -> str:
        """Differs where anything that is published does."""

    def schemas(self, printer: Any) -> Mapping[str, Tree]:
        """Both schemas by name; ``printer`` is that of the document they become a part of."""


Convert = Callable[[Tree], Tree]
"""From the shape of one version to that of another."""


class RemoteConversion(Protocol):
    """A conversion that has to be waited for: what it did before, a Conversion's functions find."""

    async def read(self, trees: Sequence[Tree]) -> None:
        """Convert stored objects from what they are stored as. Raises APIError."""

    async def store(self, tree: Tree) -> None:
        """Convert an object into what is stored, past its last check. Raises APIError."""


class Conversion(NamedTuple):
    """How this version differs from what is stored, for a resource that is served in several
    versions.

    Neither function changes the tree that it gets; what it gives may share all but the top with it.
    ``stored`` is what is on disk. With ``remote`` the functions know only what that converted.
    """

    stored: GroupVersionKind
    to_stored: Convert
    from_stored: Convert
    remote: RemoteConversion | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Kind:
    """One resource in one version.

    Its strategy and its printer may be given as Lazy; they are loaded when asked for.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...] = ALL_VERBS
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    strategy: LazyField[Strategy | None] = LazyField(None)  # noqa: RUF009
    printer: LazyField[Printer | None] = LazyField(None)  # noqa: RUF009  # None: Name and Created At
    selectable: Selectable = NAME_ONLY
    conversion: Conversion | None = None
    table: bool = True  # False: no Table, 406 (review kinds)
    tracks_generation: bool = False
    create_on_update: bool = False  # PUT of a missing object creates it
    unconditional_update: bool = True  # PUT needs no resourceVersion
    delete_returns_object: bool = False  # else a Status, once the object is gone
    orphan_by_default: bool = False  # a bare DELETE orphans dependents
    collects_dependents: bool = True  # False: a DELETE takes no notice of propagation policies
    # an annotation that is a field of the stored type upstream: metadata alone goes without it
    field_annotation: str = ""
    # which checks of metadata its own validation of updates repeats: "update" those of updates,
    # "whole" those of new objects, where "unnamed" leaves out that of generateName. Since 1.37,
    # which tells each error once, only the check of generateName makes a difference
    metadata_checks: tuple[str, ...] = ("update",)
    # where upstream keeps objects below /registry, which conflicts name; else the plural
    storage_path: str = ""
    status_keeps_metadata: bool = False  # the status endpoint puts metadata back
    # what a sub-resource puts back, where that is not usual
    reset_fields: Mapping[str, tuple[str, ...]] | None = None
    # the path of the pod template, for kinds whose controllers make pods of it
    pod_template: tuple[str, ...] = ()
    selector_is_map: bool = False  # spec.selector is a map of labels
    scale_paths: ScalePaths | None = None  # where a custom kind's Scale comes from; None: as built-ins
    deprecation: str = ""  # what each answer warns of
    orphan_warning: str = ""  # what a DELETE without a propagation policy warns of
    # what metadata.name must look like: a rule of apimachinery.names.object_name
    name_rule: str = "subdomain"
    served_by_default: bool = True
    gate: str = ""  # a feature gate that must be on besides
    custom: bool = False  # from a CustomResourceDefinition
    published: LazyField["Published | None"] = LazyField(None)  # noqa: RUF009  # what OpenAPI says of a custom kind
    # what reads its bodies; None for the reader that its definition in the release gives
    codec: LazyField[BodyReader | None] = LazyField(None)  # noqa: RUF009
    own_list_kind: str = ""  # what its lists are called, where that is not ``JobList``
    refuses_new: bool = False  # its definition is being deleted: discovery names no writing verbs

    def __repr__(self) -> str:
        return f"Kind({self.gvk})"

    @cached_property
    def api_version(self) -> str:
        """``batch/v1``."""
        return api_version(self.group, self.version)

    @cached_property
    def gvk(self) -> GroupVersionKind:
        """Group, version and kind."""
        return GroupVersionKind(self.group, self.version, self.kind)

    @cached_property
    def group_kind(self) -> GroupKind:
        """As Invalid errors and preconditions name it: by the stored kind's group."""
        return GroupKind(self.storage_resource.group, self.kind)

    @cached_property
    def group_resource(self) -> GroupResource:
        """As NotFound, Conflict and Forbidden errors name it."""
        return GroupResource(self.group, self.plural)

    @cached_property
    def list_kind(self) -> str:
        """``JobList``."""
        return self.own_list_kind or f"{self.kind}List"

    @cached_property
    def storage_resource(self) -> GroupResource:
        """Where objects are kept: the same for all versions of a resource."""
        if self.conversion:
            return GroupResource(self.conversion.stored.group, self.plural)
        return self.group_resource

    @cached_property
    def discovery_order(self) -> tuple[bool, str, tuple[int, ...], str, str]:
        """Sorts custom kinds behind all others: by group, then version, the most stable first."""
        if not self.custom:
            return (False, "", (), "", "")
        newest_first = tuple(-part for part in version_order(self.version))
        return (True, self.group, newest_first, self.version, self.plural)

    def subresource(self, name: str) -> Subresource | None:
        """The declared subresource, or None."""
        return self._subresources.get(name)

    @cached_property
    def _subresources(self) -> Mapping[str, Subresource]:
        return {sub.name: sub for sub in self.subresources}


def strategy_of(kind: Kind) -> Strategy:
    """The kind's strategy, or the default one."""
    return kind.strategy or DEFAULT
