"""The hooks by which one kind differs from another.

``write.py`` has the order in which they are called. Every hook has a working default, so a strategy
overrides only what differs, and a kind without behaviour of its own needs no strategy at all. Kinds
with a status begin with ``StatusStrategy`` in ``fakekube/apis/base.py``.
Upstream: apiserver/pkg/registry/rest/create.go, update.go. Left out: conversion, which a Kind
declares.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import orjson

from fakekube.apimachinery.empties import Emptied
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Authorization
from fakekube.util.turns import TakesLong, Turn, in_turns

if TYPE_CHECKING:
    from fakekube.util.rng import Rng


T = TypeVar("T")

NOT_SPEC = ("metadata", "status", "kind", "apiVersion")
# of the fields that the server changes by itself, beside what was asked for
SERVER_MANAGER = "kube-apiserver"


class Cluster(Protocol):
    """What strategies and admission may ask of the rest of the cluster. Every call answers at once.
    """

    release: str  # "1.37"
    authorization: Authorization  # who decides what users may do

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on."""

    def lookup(self, group: str, resource: str, namespace: str, name: str) -> Tree | None:
        """The stored object, decoded; never to be changed. None when there is none."""

    def select(self, group: str, resource: str, namespace: str) -> list[Tree]:
        """All stored objects of a namespace ("" for all, or for a cluster-scoped resource), in key
        order.
        """

    def write_status(self, group: str, resource: str, namespace: str, name: str, status: Tree, *, now: str) -> None:
        """Store a new status of an object at once, past admission and validation; nothing when
        there is none.

        It is the server's own write, at the time ``now``.
        """


def minor_of(cluster: Cluster) -> int:
    """The minor number of a cluster's release: 37 of ``1.37``."""
    return int(cluster.release.partition(".")[2])


@dataclass(slots=True, eq=False)
class WriteContext:
    """One write on its way through the server."""

    cluster: Cluster
    rng: "Rng"
    now: str  # RFC 3339, whole seconds, UTC
    user: UserInfo
    operation: str = "CREATE"  # CREATE, UPDATE or DELETE, as admission names it
    subresource: str = ""
    dry_run: bool = False
    # the object was made from the stored one, and shares with it what a patch left alone
    patched: bool = False
    by_patch: bool = False  # by one of any kind, apply among them
    field_manager: str = "unknown"
    options: Mapping[str, Any] = field(default_factory=dict)
    # texts for Warning headers, in order, may repeat
    warnings: list[str] = field(default_factory=list)
    of_collection: bool = False  # one of many that are deleted: admission is not told its name
    # what the audit log says of the request, by key
    audit_annotations: dict[str, str] = field(default_factory=dict)
    # lists and maps with nothing in them that were given, see ``apimachinery/empties.py``
    emptied: Sequence[Emptied] = ()
    # what expressions may take before others on the loop have their turn
    _turn: Turn | None = None

    @property
    def turn(self) -> Turn:
        """The turn of what is computed now."""
        if self._turn is None:
            self._turn = Turn()
        return self._turn

    async def finish(self, work: Callable[[], T]) -> T:
        """What ``work`` returns or raises, however long its expressions take.

        It is done anew in turns when it takes long: until it is done it leaves nothing behind that
        the second time would not. Others may have written meanwhile.
        """
        try:
            return work()
        except TakesLong:
            return await self.finish_in_turns(work)

    async def finish_in_turns(self, work: Callable[[], T]) -> T:
        """The same for work that was found to take long."""
        def with_turn(turn: Turn) -> T:
            self._turn = turn
            return work()

        try:
            return await in_turns(with_turn)
        finally:
            self._turn = None

    @property
    def minor(self) -> int:
        """The minor number of the release: 37 of ``1.37``."""
        return minor_of(self.cluster)

    def warn(self, text: str) -> None:
        """Say something in a Warning header."""
        self.warnings.append(text)

    def annotate(self, key: str, value: str) -> None:
        """Say something in the audit log; of several who use a key, the first counts."""
        self.audit_annotations.setdefault(key, value)


class Strategy:
    """The defaults of every hook.

    Trees given to a hook are the hook's to change unless it says otherwise.
    """

    deletes_by_itself = False
    """Whether the kind's own endpoint sees to preconditions of deletes, in storage's words."""
    empties_count = False
    """Whether a list or a map with nothing in it, where storage has none, is a change of the spec:
    upstream's strategy compares by ``reflect.DeepEqual``.
    """

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """Fill what is absent, right after decoding: on create, on update and on a patch's result.

        Upstream: the versioned defaulters (apis/*/v1/defaults.go). Must be idempotent. ``obj`` has
        passed the schema: every field has its type, null and unknown fields are gone, and so are
        lists and maps with nothing in them that storage does not keep. The hooks that prepare and
        validate see the latter, as upstream's do.
        """

    def default_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """As ``default``, for a changed object.

        What ``obj`` shares with ``old`` may not be changed in place.

        The default copies that first; a kind that fills in nothing but what it can tell to be new
        can save itself the copies.
        """
        if ctx.patched:
            unshare(obj)
        self.default(obj, ctx)

    def default_status(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """As ``default_update``, for the status endpoint, where all but metadata and status may be
        those of ``old``.
        """
        if ctx.patched:
            unshare(obj)
        else:
            for name, value in obj.items():
                if value is old.get(name):
                    obj[name] = orjson.loads(orjson.dumps(value))
        self.default(obj, ctx)

    def authorize(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> None:
        """Refuse what this user may not write, whatever verbs they may use; ``old`` is None for a
        new object. Admission has made its changes. Raises APIError.
        """

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Clear what a client may not set (status, say) and set what only the server knows. uid and
        name are set.
        """

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """Restore what this endpoint may not change (status, say). Do not change ``old``."""

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """What is wrong with a new object, metadata excepted. Do not change it."""
        return []

    def validate_create(self, obj: Tree, of_metadata: list[FieldError], ctx: WriteContext) -> list[FieldError]:
        """All that is wrong with a new object, ``of_metadata`` among it, in the order in which it
        is to be told.
        """
        return of_metadata + self.validate(obj, ctx)

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """What is wrong with a changed object, metadata excepted. Do not change either.

        The default is the validation of a new object.
        """
        return self.validate(obj, ctx)

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        """Texts for Warning headers about an accepted object; ``old`` is None on create."""
        return []

    def canonicalize(self, obj: Tree) -> None:
        """Bring a validated object into the form in which it is stored. Usually nothing."""

    def canonicalize_changed(self, obj: Tree, old: Tree) -> None:
        """As ``canonicalize``, for a changed object; what it shares with ``old`` is canonical."""
        self.canonicalize(obj)

    def prepare_for_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """As ``prepare_for_update``, for the status endpoint: the default takes all but status from
        ``old``.

        Labels, annotations and finalizers may change through it on most built-ins, so metadata
        stays.
        """
        for name in [name for name in obj if name not in NOT_SPEC]:
            del obj[name]
        for name, value in old.items():
            if name not in ("metadata", "status"):
                obj[name] = value

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """What is wrong with a status write, metadata excepted."""
        return []

    def spec_changed(self, obj: Tree, old: Tree) -> bool:
        """Whether metadata.generation rises, for kinds that track it: the default compares all but
        metadata and status.
        """
        for name in dict.fromkeys([*obj, *old]):  # noqa: SIM110 - every update asks, and a generator costs as much as the answer
            if name not in NOT_SPEC and not same(obj.get(name), old.get(name)):
                return True
        return False

    def check_graceful_delete(self, obj: Tree, grace_seconds: int | None, ctx: WriteContext) -> int | None:
        """Seconds of grace for a delete; None when the kind knows no graceful deletion, 0 for at
        once.
        """
        return None

    def prepare_for_delete(self, obj: Tree, ctx: WriteContext) -> None:
        """Change an object that stays for a while after a delete: a Namespace's phase, say."""

    def why_kept(self, name: str) -> str:
        """Why nobody may delete the object of this name; empty when one may.

        Deletes of a collection do not ask.
        """
        return ""

    def holds_deletion(self, obj: Tree) -> bool:
        """Whether the object stays after a delete for a reason of its kind's own: a Namespace's
        spec.finalizers.
        """
        return False

    def after_create(self, obj: Tree, ctx: WriteContext) -> None:
        """Book what a stored object took (an address, a port). Not called on a dry run.

        Do not change ``obj``.
        """

    def after_delete(self, obj: Tree, ctx: WriteContext) -> None:
        """Give back what a removed object took. Do not change ``obj``."""


def unshare(obj: Tree) -> None:
    """Make all of an object its own, but for managedFields, which nobody ever changes in place."""
    for name, value in obj.items():
        if name == "metadata" and "managedFields" in value:
            own = orjson.loads(orjson.dumps({key: field for key, field in value.items() if key != "managedFields"}))
            obj[name] = own | {"managedFields": value["managedFields"]}
        elif isinstance(value, dict | list):
            obj[name] = orjson.loads(orjson.dumps(value))


LEFT_OUT = ""
"""Stands for a shared part where the rest of an object is read or filled in: a text is taken for
what it is wherever a part may stand.
"""


def shared_parts(obj: Tree, old: Tree) -> Tree:
    """The objects and lists directly below an object that are those of ``old`` itself."""
    return {
        name: value for name, value in obj.items()
        if (value.__class__ is dict or value.__class__ is list) and value is old.get(name)}


DEFAULT = Strategy()
