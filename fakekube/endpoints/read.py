"""Getting and listing: which state is read, what of it matches, and the bytes of the answer.

A list is the records' stored bytes joined, never encoded again, unless the kind is another version
of what is stored.
Upstream: apiserver/pkg/endpoints/handlers/get.go and storage/cacher (delegator, cacher,
watch_cache).
"""

from collections.abc import Callable
from typing import NamedTuple

import orjson

from fakekube.apimachinery import errors, fields, gojson, labels
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.endpoints.listoptions import (
    EXACT,
    METADATA_LABELS,
    NOT_OLDER_THAN,
    ListOptions,
    parse_list_options,
    parse_resource_version,
)
from fakekube.registry.kind import Kind
from fakekube.storage import paging
from fakekube.storage.memory import Bucket, Compacted, Future, Page, PastState, Record
from fakekube.storage.watchcache import field_value
from fakekube.util.clock import Clock

__all__ = [
    "ListOptions", "ListResult", "encode_list", "get_object", "list_metadata", "list_objects", "matcher",
    "parse_list_options", "present", "rendered", "tree_of", "wait_until_fresh",
]

FRESH_WAIT_SECONDS = 3.0  # how long a read at a revision that is still to come waits for it
FRESH_POLL_SECONDS = 0.05
INDEX_FROM = 256  # below so many objects looking at each is cheaper than keeping an index

EQUALITY = (labels.EQUALS, labels.DOUBLE_EQUALS, labels.IN)
INEQUALITY = (labels.NOT_EQUALS, labels.NOT_IN)

LIST_EXPIRED = "The resourceVersion for the provided list is too old."
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)

Match = Callable[[Record], bool]


class ListResult(NamedTuple):
    """A list, or a page of one.

    ``revision`` is the state's, ``continue_token`` empty on the last page, ``remaining`` the number
    of objects after this page, None when upstream does not say.
    """

    records: list[Record]
    revision: int
    continue_token: str = ""
    remaining: int | None = None


async def get_object(
    kind: Kind, bucket: Bucket, namespace: str, name: str, resource_version: str, clock: Clock,
) -> Record:
    """One object, at least as new as ``resource_version`` ("" for no such wish).

    Raises 404, 500 and 504.
    """
    if resource_version:
        await wait_until_fresh(bucket, parse_resource_version(resource_version), clock)
    record = bucket.get(namespace, name)
    if record is None:
        raise errors.not_found(kind.group_resource, name)
    return record


async def list_objects(kind: Kind, bucket: Bucket, namespace: str, options: ListOptions, clock: Clock) -> ListResult:
    """The objects of a namespace ("" for all), at the revision and as many as the options say.

    Raises APIError: 400 for a bad token or revision, 410 for a state that is gone, 504 for one that
    is to come.
    """
    start, revision = "", 0
    if options.continue_token:
        token = _decode_token(options)
        start, revision = token.start, max(0, token.revision)
    elif options.resource_version not in ("", "0"):
        asked = _list_version(options.resource_version)
        await wait_until_fresh(bucket, asked, clock)
        match = options.resource_version_match
        if match == EXACT or (options.limit and match != NOT_OLDER_THAN):
            revision = asked
    if kind.namespaced and not namespace:
        namespace = options.exact_field("metadata.namespace") or ""
    # lists that may be of any revision come from upstream's cache, which knows no limit
    limit = 0 if options.resource_version == "0" and not options.continue_token else options.limit
    state: Bucket | PastState = bucket
    if revision and revision != bucket.revision:
        await wait_until_fresh(bucket, revision, clock)
        state = _past(bucket, revision, start)
    elif not start and (not limit or _is_single(kind, namespace, options)):
        return ListResult(present(kind, bucket, namespace, options), bucket.revision)
    page = state.page(namespace, start=start, limit=limit, match=matcher(options))
    return _result(page, options)


def _is_single(kind: Kind, namespace: str, options: ListOptions) -> bool:
    """Whether the list is the read of one key, which knows no pages."""
    return bool(namespace or not kind.namespaced) and options.exact_field("metadata.name") is not None


def _result(page: Page, options: ListOptions) -> ListResult:
    if not page.next_start:
        return ListResult(page.records, page.revision)
    token = paging.encode(page.revision, page.next_start)
    return ListResult(page.records, page.revision, token, page.remaining if options.selects_all else None)


def _list_version(text: str) -> int:
    try:
        return parse_resource_version(text)
    except APIError as error:
        raise errors.bad_request(f"invalid resource version: {error.message}") from None


def _decode_token(options: ListOptions) -> paging.Continue:
    try:
        token = paging.decode(options.continue_token, gojson.loads)
    except paging.BadToken as error:
        raise errors.bad_request(f"invalid continue token: {error}") from None
    if options.resource_version not in ("", "0"):
        raise errors.bad_request("specifying resource version is not allowed when using continue")
    return token


def _past(bucket: Bucket, revision: int, start: str) -> Bucket | PastState:
    try:
        if revision < bucket.storage.oldest_readable:
            raise Compacted(bucket.storage.oldest_readable)
        return bucket.at(revision)
    except Compacted:
        if start:
            raise errors.expired(CONTINUE_EXPIRED, paging.encode(paging.INCONSISTENT, start)) from None
        raise errors.expired(LIST_EXPIRED) from None
    except Future as error:
        raise errors.future_version(revision, error.current) from None


async def wait_until_fresh(bucket: Bucket, revision: int, clock: Clock) -> None:
    """Return once the storage has reached the revision; 504 when it has not after three seconds."""
    if revision <= bucket.revision:
        return
    deadline = clock.time() + FRESH_WAIT_SECONDS
    while clock.time() < deadline:
        await clock.sleep(FRESH_POLL_SECONDS)
        if revision <= bucket.revision:
            return
    raise errors.future_version(revision, bucket.revision)


# selecting


def matcher(options: ListOptions) -> Match | None:
    """What the selectors ask of a record; None when they ask nothing."""
    requirements = options.labels.requirements if options.labels is not None else ()
    terms = options.fields.terms if options.fields is not None else ()
    tests = [*map(_label_test, requirements), *map(_field_test, terms)]
    if len(tests) < 2:  # nearly always
        return tests[0] if tests else None
    first, *others = tests

    def match(record: Record) -> bool:
        if not first(record):
            return False
        for test in others:  # noqa: SIM110 (this is asked of every object, and a generator costs more than the answer)
            if not test(record):
                return False
        return True

    return match


def _label_test(requirement: labels.Requirement) -> Match:
    key, operator, values = requirement
    if operator in EQUALITY and len(values) == 1:
        value = values[0]
        return lambda record: record.labels.get(key) == value
    wanted = frozenset(values)  # every object is looked up in it
    if operator in EQUALITY:
        return lambda record: record.labels.get(key) in wanted
    if operator in INEQUALITY:
        return lambda record: record.labels.get(key) not in wanted
    return lambda record: requirement.matches(record.labels)


def _field_test(term: fields.Term) -> Match:
    label, value, equal = term
    if label in METADATA_LABELS:
        return lambda record: (field_value(record, label) == value) == equal
    return lambda record: (record.fields.get(label, "") == value) == equal


def present(kind: Kind, bucket: Bucket, namespace: str, options: ListOptions) -> list[Record]:
    """All present objects of a namespace ("" for all) that the selectors choose, in key order."""
    match, found = matcher(options), _candidates(kind, bucket, namespace, options)
    if found is None:
        return bucket.page(namespace, match=match).records
    return found if match is None else [record for record in found if match(record)]


def _candidates(kind: Kind, bucket: Bucket, namespace: str, options: ListOptions) -> list[Record] | None:
    """The present records among which all that match are, in key order; None when only a scan can
    tell.
    """
    name = options.exact_field("metadata.name")
    if name is not None:
        everywhere = kind.namespaced and not namespace
        spaces = bucket.namespaces() if everywhere else [namespace]
        return [record for space in spaces if (record := bucket.get(space, name)) is not None]
    if len(bucket) < INDEX_FROM or options.selects_all:
        return None
    field = options.narrowest_field()
    if field is not None:
        return _within(bucket.by_field(*field), namespace)
    requirements = options.labels.requirements if options.labels is not None else ()
    for requirement in requirements:
        if requirement.operator in EQUALITY and len(requirement.values) == 1:
            found = bucket.by_label(requirement.key, requirement.values[0])
            if found is not None:
                return _within(found, namespace)
    return None


def _within(records: list[Record], namespace: str) -> list[Record]:
    return [record for record in records if record.namespace == namespace] if namespace else records


# rendering


def tree_of(kind: Kind, record: Record) -> Tree:
    """A record's object in the kind's version; read-only."""
    if kind.conversion is None:
        return record.tree()
    return kind.conversion.from_stored(record.tree())


def rendered(kind: Kind, record: Record) -> bytes:
    """A record's object encoded in the kind's version: the stored bytes, unless that version is
    another one.
    """
    return record.data if kind.conversion is None else _encode(kind, tree_of(kind, record))


def _encode(kind: Kind, tree: Tree) -> bytes:
    return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS if kind.custom else 0)


def list_metadata(kind: Kind, result: ListResult) -> Tree:
    """The metadata of a list: what is empty is absent, but lists of custom resources always name
    ``continue``.
    """
    metadata: Tree = {"continue": result.continue_token} if result.continue_token or kind.custom else {}
    if result.remaining is not None:
        metadata["remainingItemCount"] = result.remaining
    if kind.custom:
        return metadata | {"resourceVersion": str(result.revision)}
    return {"resourceVersion": str(result.revision)} | metadata


def encode_list(kind: Kind, result: ListResult) -> bytes:
    """The answer to a list in plain JSON, ended by a newline: the stored bytes of the items, copied
    once.
    """
    metadata = orjson.dumps(list_metadata(kind, result))
    list_kind, api_version = kind.list_kind.encode(), kind.api_version.encode()
    if kind.custom:
        head = b'{"apiVersion":"%b","items":[' % api_version
        tail = b'],"kind":"%b","metadata":%b}\n' % (list_kind, metadata)
    else:
        head = b'{"kind":"%b","apiVersion":"%b","metadata":%b,"items":[' % (list_kind, api_version, metadata)
        tail = b"]}\n"
    opening, items = _items(kind, result.records)
    if not items:
        return head + tail
    items[0] = b"".join((head, opening, items[0]))
    items[-1] = b"".join((items[-1], tail))
    return (b"," + opening).join(items)


def _items(kind: Kind, records: list[Record]) -> tuple[bytes, list[bytes | memoryview]]:
    """What stands in front of every item, and the rest of each; built-ins leave out kind and
    apiVersion.
    """
    if kind.custom:
        return b"", [rendered(kind, record) for record in records]
    if kind.conversion is None:
        return b"{", [memoryview(record.data)[record.body_offset:] for record in records]
    return b"", [
        orjson.dumps({key: value for key, value in tree_of(kind, record).items() if key not in ("kind", "apiVersion")})
        for record in records
    ]
