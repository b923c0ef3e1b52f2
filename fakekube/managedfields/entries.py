"""The list ``metadata.managedFields``: read, ordered, kept short.

Upstream: apimachinery/pkg/util/managedfields/internal/{managedfields,capmanagers}.go.
"""

from typing import Any, NamedTuple

from fakekube.apimachinery.equality import same
from fakekube.apimachinery.types import Json, Tree
from fakekube.managedfields import fieldsv1
from fakekube.managedfields.fieldset import FieldSet, union

APPLY, UPDATE = "Apply", "Update"
MAX_UPDATE_MANAGERS = 10
ANCIENT = "ancient-changes"

# The orders of fields that ``encode`` writes.
_ORDERS = frozenset(
    (*manager, "operation", "apiVersion", *time, "fieldsType", "fieldsV1", *subresource)
    for manager in ((), ("manager",)) for time in ((), ("time",)) for subresource in ((), ("subresource",))
)  # fmt: skip


class Owner(NamedTuple):
    """Who owns fields; an applier is the same one whatever version it applies in."""

    manager: str
    operation: str
    api_version: str  # empty for an applier
    subresource: str = ""


class Entry(NamedTuple):
    """What an owner owns, in which version it said so, and when; ``time`` is empty when nobody
    knows.
    """

    api_version: str
    time: str
    fields: FieldSet


Managed = dict[Owner, Entry]
Key = tuple[str, str, str, str]
"""What an Owner holds: an Owner is equal to its key."""
Stored = dict[Key, Tree]
"""The entries of a stored list by their owners."""


def owner(manager: str, operation: str, api_version: str, subresource: str) -> Owner:
    """The identity under which a manager's fields are kept."""
    return Owner(manager or "unknown", operation, "" if operation == APPLY else api_version, subresource)


def decode(found: Json, *, trusted: bool = True) -> Managed:
    """The entries of a list. ``trusted`` ones were written by ``encode``.

    Raises FieldsError for anything odd.
    """
    result: Managed = {}
    for entry in found or ():
        operation, api_version = entry.get("operation"), entry.get("apiVersion")
        if not trusted:
            _check(entry)
        fields = entry.get("fieldsV1") or {}
        version = "" if operation == APPLY else api_version
        key = Owner(entry.get("manager", ""), operation, version, entry.get("subresource", ""))
        result[key] = Entry(api_version, entry.get("time") or "", fields if trusted else fieldsv1.parse(fields))
    return result


def _check(entry: Tree) -> None:
    if entry.get("operation") not in (APPLY, UPDATE):
        raise fieldsv1.FieldsError("operation must be `Apply` or `Update`")
    if not entry.get("apiVersion"):
        raise fieldsv1.FieldsError("apiVersion must not be empty")
    if entry.get("fieldsType") != "FieldsV1":
        raise fieldsv1.FieldsError("invalid fieldsType in managed fields entry")


def encode(managed: Managed) -> list[Tree]:
    """The list as it is stored: appliers first, then by time, name, version and sub-resource."""
    if len(managed) < 2:
        return [_encoded(key, entry) for key, entry in managed.items()]
    return [_encoded(key, managed[key]) for key in sorted(managed, key=lambda key: _rank(key, managed[key]))]


def _rank(key: Owner, entry: Entry) -> tuple[str, ...]:
    return (key.operation, entry.time, key.manager, entry.api_version, key.subresource)


def rank_of(entry: Tree) -> tuple[str, ...]:
    """What a stored list is sorted by."""
    get = entry.get
    return get("operation") or "", get("time") or "", get("manager") or "", get("apiVersion") or "", get("subresource") or ""


def _encoded(key: Owner, entry: Entry) -> Tree:
    return entry_of(key.manager, key.operation, entry.api_version, entry.time, entry.fields, key.subresource)


def entry_of(manager: str, operation: str, api_version: str, time: str, fields: FieldSet, subresource: str) -> Tree:
    """An entry as it is stored; what is empty is left out."""
    result: Tree = {"manager": manager} if manager else {}
    result["operation"], result["apiVersion"] = operation, api_version
    if time:
        result["time"] = time
    result["fieldsType"], result["fieldsV1"] = "FieldsV1", fields
    if subresource:
        result["subresource"] = subresource
    return result


def with_fields(entry: Tree, fields: FieldSet) -> Tree:
    """A stored entry with these fields in place of its own: the very same one when they are its
    own.
    """
    get = entry.get
    if get("fieldsV1") is fields and tuple(entry) in _ORDERS:
        return entry
    operation, api_version = entry["operation"], entry["apiVersion"]
    return entry_of(get("manager", ""), operation, api_version, get("time") or "", fields, get("subresource", ""))


def by_owner(found: list[Tree] | None) -> Stored:
    """The entries of a stored list by their owners; of two of the same owner the last."""
    result: Stored = {}
    for entry in found or ():
        get, operation = entry.get, entry["operation"]
        version = "" if operation == APPLY else entry["apiVersion"]
        result[get("manager", ""), operation, version, get("subresource", "")] = entry
    return result


def arranged(found: list[Tree]) -> list[Tree]:
    """Stored entries, each of another owner, in the order of ``encode``, and no more of them than
    there may be.
    """
    if len(found) > MAX_UPDATE_MANAGERS:
        return encode(capped(decode(found)))
    return sorted(found, key=rank_of) if len(found) > 1 else found


def is_reset(found: Json) -> bool:
    """Whether a client asks for ownership to be forgotten: an empty list, or one empty entry."""
    if not isinstance(found, list) or len(found) > 1:
        return False
    return not found or (isinstance(found[0], dict) and not any(found[0].values()))


def capped(managed: Managed) -> Managed:
    """The same with the oldest updates of each version merged into one while there are too many of
    them.
    """
    updates = [key for key in managed if key.operation == UPDATE]
    if len(updates) <= MAX_UPDATE_MANAGERS:
        return managed
    updates.sort(key=lambda key: (managed[key].time, key.manager, key.api_version, key.subresource))
    result: dict[Owner, Any] = dict(managed)
    first_of: dict[str, Owner] = {}
    left = len(updates)
    for key in updates:
        if left <= MAX_UPDATE_MANAGERS:
            break
        entry = result[key]
        bucket = Owner(ANCIENT, UPDATE, entry.api_version)
        first = first_of.setdefault(entry.api_version, key)
        if first is key:
            continue
        if bucket not in result:
            result[bucket] = result.pop(first)
        merged = union(entry.fields, result[bucket].fields)
        if key != bucket:
            del result[key]
        result[bucket] = Entry(entry.api_version, entry.time, merged)
        left -= 1
    return result


def same_but_for_times(new: Tree, old: Tree) -> bool:
    """Whether two objects say the same, whatever the times of their entries: a write that makes one
    of the other is none.

    Upstream: fieldmanager.IgnoreManagedFieldsTimestampsTransformer.
    """
    if not _same_but_for(new, old, "metadata"):
        return False
    new_metadata, old_metadata = new.get("metadata") or {}, old.get("metadata") or {}
    if not _same_but_for(new_metadata, old_metadata, "managedFields"):
        return False
    ours, theirs = new_metadata.get("managedFields") or [], old_metadata.get("managedFields") or []
    return ours is theirs or (len(ours) == len(theirs) and all(
        {**left, "time": 0} == {**right, "time": 0} for left, right in zip(ours, theirs, strict=True)))


def _same_but_for(new: Tree, old: Tree, ignored: str) -> bool:
    """Whether two maps hold the same, one key ignored.

    What is not the same is mostly told by one look.
    """
    if len(new) - (ignored in new) != len(old) - (ignored in old):
        return False
    for name, value in new.items():
        if name != ignored and (known := old.get(name)) is not value and (name not in old or not same(value, known)):
            return False
    return True
