"""Reads that are answered by a replica which lags: what a cache has, and no newer.

Upstream: storage/cacher, whose cache follows etcd by a watch. A read that names a version waits for
the cache to have it; a list of an exact version, pages, and reads of what is current go to etcd.
"""

from collections.abc import Callable

from fakekube.apimachinery import errors
from fakekube.endpoints.listoptions import EXACT, NOT_OLDER_THAN, ListOptions, parse_resource_version
from fakekube.endpoints.read import FRESH_POLL_SECONDS, FRESH_WAIT_SECONDS, ListResult, matcher
from fakekube.registry.kind import Kind
from fakekube.storage.memory import Bucket, PastState, Record
from fakekube.util.clock import Clock

Replica = Callable[[], int]
"""The version that a replica has."""


async def get_object(
    kind: Kind, bucket: Bucket, namespace: str, name: str, resource_version: str, clock: Clock, replica: Replica,
) -> Record:
    """One object as the replica has it. Raises 404, 500 and 504."""
    state = await _state(bucket, parse_resource_version(resource_version), clock, replica)
    found = state.page(namespace, match=lambda record: record.name == name).records
    if not found:
        raise errors.not_found(kind.group_resource, name)
    return found[0]


async def list_objects(
    kind: Kind, bucket: Bucket, namespace: str, options: ListOptions, clock: Clock, replica: Replica,
) -> ListResult | None:
    """The objects as the replica has them; None for a list that is not the replica's to answer.

    Raises 500 and 504.
    """
    version, match = options.resource_version, options.resource_version_match
    if not version or options.continue_token or match == EXACT:
        return None
    if version != "0" and options.limit and match != NOT_OLDER_THAN:
        return None
    if kind.namespaced and not namespace:
        namespace = options.exact_field("metadata.namespace") or ""
    state = await _state(bucket, parse_resource_version(version), clock, replica)
    page = state.page(namespace, match=matcher(options))
    return ListResult(page.records, page.revision)


async def _state(bucket: Bucket, asked: int, clock: Clock, replica: Replica) -> Bucket | PastState:
    """What the replica has, at least as new as ``asked``; 504 when it has not after three seconds.
    """
    deadline = clock.time() + FRESH_WAIT_SECONDS
    while asked > replica():
        if clock.time() >= deadline:
            raise errors.future_version(asked, replica())
        await clock.sleep(FRESH_POLL_SECONDS)
    return bucket if replica() >= bucket.revision else bucket.at(replica())
