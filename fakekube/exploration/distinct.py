"""What tells one history from another: who wrote what, in which order; not when, nor under which
uid or generated name.

Two histories are the same when the same components made the same requests for the same objects in
the same order. What was written in them is not compared: that would take as long as a run. Leases
and Events are left out: heartbeats and words.
"""

from hashlib import blake2b
from heapq import merge
from typing import TYPE_CHECKING

from fakekube.apimachinery.gvk import GroupResource
from fakekube.storage.record import Event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fakekube.storage.memory import Storage

LEFT_OUT = ("leases", "events")
GENERATED = b'"generateName":'


def fingerprint(storages: "Iterable[Storage]") -> str:
    """A text that is equal for two runs of one history: of one cluster, or of all of a fleet."""
    digest = blake2b(digest_size=8)
    for storage in storages:
        names: dict[tuple[str, str, str], str] = {}
        tracks = [
            [(event.revision, bucket.resource, event) for event in bucket.history()]
            for bucket in storage.buckets if bucket.resource.resource not in LEFT_OUT]
        for _, resource, event in merge(*tracks, key=lambda entry: entry[0]):
            digest.update(repr(_told(resource, event, names)).encode())
    return digest.hexdigest()


def _told(resource: GroupResource, event: Event, names: dict[tuple[str, str, str], str]) -> tuple[object, ...]:
    record, cause = event.record, event.cause
    key = resource.resource, record.namespace, record.name
    name = names.get(key)
    if name is None:
        name = names[key] = f"generated {len(names)}" if GENERATED in record.data else record.name
    who = (cause.user_agent, cause.method, cause.acting.component if cause.acting is not None else "") if cause else ()
    return event.type, resource.group, resource.resource, record.namespace, name, who
