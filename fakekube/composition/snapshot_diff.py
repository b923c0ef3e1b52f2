"""What differs between two snapshots: by object, and in each by field."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fakekube.apimachinery import times
from fakekube.apimachinery.meta import BOOKKEEPING
from fakekube.composition.snapshot import Snapshot
from fakekube.storage.memory import Storage
from fakekube.storage.record import Record
from fakekube.util.treediff import MISSING, Difference, differences, shown


class ObjectDifference(NamedTuple):
    """One object that differs.

    ``sign`` is ``+`` for one that only the second snapshot has, ``-`` for one that only the first
    has, ``~`` for one that both have.
    """

    sign: str
    resource: str
    namespace: str
    name: str
    fields: tuple[Difference, ...]

    def lines(self) -> Iterator[str]:
        """As people read it."""
        yield f"{self.sign} {self.resource} {f'{self.namespace}/' if self.namespace else ''}{self.name}"
        for field in self.fields:
            yield f"    {field}"


def between(first: Snapshot, second: Snapshot, resources: Sequence[str] = ()) -> Iterator[ObjectDifference]:
    """The objects that differ, in the order of resources and keys.

    ``resources`` (``pods``, ``jobs.batch``) limits it to those. Objects that differ only in
    bookkeeping are left out.
    """
    for resource, old in _by_resource(first.storage).items():
        new = _by_resource(second.storage).get(resource, {})
        if _is_wanted(resource, resources):
            yield from _of_resource(resource, old, new)
    for resource, new in _by_resource(second.storage).items():
        if resource not in _by_resource(first.storage) and _is_wanted(resource, resources):
            yield from _of_resource(resource, {}, new)


def _is_wanted(resource: str, resources: Sequence[str]) -> bool:
    return not resources or resource in resources or resource.partition(".")[0] in resources


Key = tuple[str, str]


def _by_resource(storage: Storage) -> dict[str, dict[Key, Record]]:
    found = {}
    for bucket in sorted(storage.buckets, key=lambda bucket: bucket.resource):
        resource = bucket.resource
        name = f"{resource.resource}.{resource.group}" if resource.group else resource.resource
        found[name] = {(record.namespace, record.name): record for record in bucket.records()}
    return found


def _of_resource(resource: str, old: dict[Key, Record], new: dict[Key, Record]) -> Iterator[ObjectDifference]:
    for key in sorted(dict.fromkeys([*old, *new])):
        before, after = old.get(key), new.get(key)
        if before is None or after is None:
            yield ObjectDifference("+" if before is None else "-", resource, *key, ())
        elif before.data != after.data:
            fields = tuple(differences(before.copy_tree(), after.copy_tree(), ignored=BOOKKEEPING))
            if fields:
                yield ObjectDifference("~", resource, *key, fields)


def of_clusters(first: Snapshot, second: Snapshot) -> Iterator[str]:
    """Lines on what differs beside objects: time, and what the clusters are."""
    if first.time != second.time:
        yield f"time: {times.format_time(first.time)} -> {times.format_time(second.time)}"
    for name in first.options.__dataclass_fields__:
        old, new = getattr(first.options, name), getattr(second.options, name)
        if old != new:
            yield f"{name}: {shown(MISSING if old is None else old)} -> {shown(MISSING if new is None else new)}"
