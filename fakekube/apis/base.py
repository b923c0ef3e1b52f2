"""What many strategies have in common: a status that is somebody else's to write."""

from collections.abc import Mapping, Sequence

from fakekube.apimachinery.empties import NoItems
from fakekube.apimachinery.types import Tree
from fakekube.registry.strategy import Strategy, WriteContext


def keep(obj: Tree, old: Tree, *fields: str) -> None:
    """Put fields back as they are in ``old``, absent ones too."""
    for field in fields:
        if field in old:
            obj[field] = old[field]
        else:
            obj.pop(field, None)


def stored_as_null(obj: Tree, *path: str) -> None:
    """Turn an empty list into null, which storage cannot tell apart: for lists that are printed in
    any case.
    """
    _replace_empty(obj, path, None)


def no_change(obj: Tree, *path: str) -> None:
    """Let an empty list be the same as null to whoever compares, until it is stored as that."""
    _replace_empty(obj, path, NoItems())


def _replace_empty(obj: Tree, path: Sequence[str], other: NoItems | None) -> None:
    *parents, name = path
    parent = obj
    for each in parents:
        parent = parent.get(each) or {}
    if parent.get(name) == []:
        parent[name] = other


def drop_disabled(new: Tree, old: Tree | None, gates: Mapping[str, str], ctx: WriteContext) -> None:
    """Take away the fields whose gate is off, unless the old object has them, in place.

    What both objects share loses nothing by it.
    """
    for field, gate in gates.items():
        if new.get(field) is not None and not ctx.cluster.gate(gate) and (old is None or old.get(field) is None):
            del new[field]


class StatusStrategy(Strategy):
    """A kind with a status sub-resource: its own endpoint neither takes nor changes the status."""

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree | None:
        """The status of a new object; None when it prints none."""
        return {}

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        """A fresh status."""
        status = self.new_status(obj, ctx)
        obj.pop("status", None)
        if status is not None:
            obj["status"] = status

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        """The stored status."""
        keep(obj, old, "status")


WITH_STATUS = StatusStrategy()  # of kinds that have a status, and no other rules
PLAIN = Strategy()  # of kinds that have no rules at all
