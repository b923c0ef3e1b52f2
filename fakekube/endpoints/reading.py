"""GET of an object, of a collection, and of what happens to it: requests in, answers in the form
asked for.

What is read, and how a stream goes, is in ``read.py`` and ``watch.py``. Upstream:
apiserver/pkg/endpoints/handlers/{get,watch,response}.go.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import orjson

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Request, Response, Sink
from fakekube.apimachinery.types import Tree
from fakekube.endpoints import negotiation, table
from fakekube.endpoints.answers import encode, object_answer
from fakekube.endpoints.converting import ConvertedStream
from fakekube.endpoints.negotiation import PROTOBUF, STREAM_TYPES, Form
from fakekube.endpoints.read import (
    ListResult,
    encode_list,
    get_object,
    list_metadata,
    list_objects,
    parse_list_options,
    tree_of,
)
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope
from fakekube.endpoints.watch import WatchStream, watch_timeout_seconds
from fakekube.storage.memory import Record

if TYPE_CHECKING:
    from fakekube.schema.protobuf.codec import ProtobufCodec

GZIPPED = (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
NO_EXPORT = "the export parameter, deprecated since v1.14, is no longer supported"


async def get(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a GET of one object."""
    kind, query = scope.kind, request.query
    form = scope.negotiate(request)
    if query and request.flag("export"):
        raise errors.bad_request(NO_EXPORT)
    version = request.param("resourceVersion") if query else ""
    namespace = info.namespace if kind.namespaced else ""
    clock = request.patience or scope.services.clock
    if request.replica is None or not version:
        record = await get_object(kind, scope.store.bucket, namespace, info.name, version, clock)
    else:
        from fakekube.endpoints import replica

        record = await replica.get_object(
            kind, scope.store.bucket, namespace, info.name, version, clock, request.replica)
    if kind.conversion is not None:
        await _readable(scope, "InternalError", [record])
    else:
        if form.plain:
            return Response(200, record.data + b"\n")
        return object_answer(scope, request, form, record.tree())
    return object_answer(scope, request, form, tree_of(kind, record))


async def list_or_watch(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a GET of a collection."""
    form = scope.negotiate(request)
    if info.verb == "watch":
        return watch(scope, info, request)
    options = parse_list_options(request.query, scope.kind, watch=False)
    namespace = info.namespace if scope.kind.namespaced else ""
    bucket, clock = scope.store.bucket, request.patience or scope.services.clock
    result = None
    if request.replica is not None:
        from fakekube.endpoints import replica

        result = await replica.list_objects(scope.kind, bucket, namespace, options, clock, request.replica)
    if result is None:
        result = await list_objects(scope.kind, bucket, namespace, options, clock)
    await _readable(scope, "StorageReadError", result.records)
    return list_answer(scope, request, form, result)


async def _readable(scope: Scope, reason: str, records: Sequence[Record]) -> None:
    """Wait until objects can be read in the endpoint's version.

    Raises 500, with the reason that upstream gives for such a request.
    """
    if scope.kind.conversion is None or scope.kind.conversion.remote is None:
        return
    try:
        await scope.store.ready(*records)
    except APIError as error:
        text = error.message if reason != "InternalError" else f"Internal error occurred: {error.message}"
        raise APIError(500, reason, text) from None


def list_answer(scope: Scope, request: Request, form: Form, result: ListResult) -> Response:
    """A list, transformed as asked.

    Raises 400 for an ``includeObject`` that is none, 406 when an object's form was asked for.
    """
    if form.plain:
        return Response(200, encode_list(scope.kind, result))
    tree = _list_tree(scope, request, form, result)
    return Response(200, encode(tree, form, scope.services), form.media)


def _list_tree(scope: Scope, request: Request, form: Form, result: ListResult) -> Tree:
    kind = scope.kind
    metadata = list_metadata(kind, result)
    if form.transform == "Table":
        include = table.include_object(request)
        objects = (tree_of(kind, record) for record in result.records)
        return table.table_of(kind, objects, metadata, form.transform_version, include, scope.services.clock.time())
    if form.transform == "PartialObjectMetadataList":
        items = [table.partial_of(kind, tree_of(kind, record), form.transform_version) for record in result.records]
        head = {"kind": form.transform, "apiVersion": form.transform_version, "metadata": table.list_meta(metadata)}
        return head | {"items": items or None}  # as Go prints a slice that nobody made
    if form.transform:
        go_type = f"{table.internal_type(scope.gvk)}List"
        raise errors.not_acceptable(f"you requested {form.transform}, but the requested object is a list (*{go_type})")
    tree: Tree = orjson.loads(encode_list(kind, result))
    tree["metadata"] = metadata
    return tree


def watch(scope: Scope, info: RequestInfo, request: Request) -> Response:
    """Answer a watch, of a collection or, by a path of the old form, of one object."""
    kind, services = scope.kind, scope.services
    form = negotiation.negotiate_stream(request, table=kind.table)
    name = info.name if info.watch_path else ""
    streamed = scope.store.cluster.gate("WatchList")
    options = parse_list_options(request.query, kind, watch=True, name=name, watch_list=streamed)
    if kind.conversion is not None and kind.conversion.remote is not None:
        namespace = info.namespace if kind.namespaced else ""
        clock = request.patience or services.clock
        converted = ConvertedStream(scope, namespace, options, clock, _render(scope, request, form))
        return services.watches.opened(converted.stored, info, request, Response(200, stream=converted, is_watch=True))
    stream = WatchStream(
        kind, scope.store.bucket, info.namespace if kind.namespaced else "", options, request.patience or services.clock,
        timeout_seconds=watch_timeout_seconds(options, services.rng), empty=lambda: scope.empty, render=_render(scope,
        request, form),
    )
    lists = options.send_initial_events and options.allow_bookmarks
    compressed = lists and request.accepts_gzip() and scope.store.cluster.gate("WatchListCompression")
    headers = list(GZIPPED) if compressed else []
    if form.media == PROTOBUF:
        frames = ProtobufStream(stream, scope.services.protobuf)
        response = Response(200, content_type=STREAM_TYPES[1], headers=headers, stream=frames, is_watch=True)
    else:
        response = Response(200, headers=headers, stream=stream, is_watch=True)
    return services.watches.opened(stream, info, request, response)


def _render(scope: Scope, request: Request, form: Form) -> Callable[[Tree], Tree] | None:
    """What a transforming watch shows of each object."""
    version = form.transform_version
    if form.transform == "Table":
        include = table.include_object(request)
        columns = True

        def row(tree: Tree) -> Tree:
            nonlocal columns
            first, columns = columns, False
            now = scope.services.clock.time()
            return table.table_of(scope.kind, [tree], tree["metadata"], version, include, now, columns=first)

        return row
    if form.transform == "PartialObjectMetadataList":
        def refuse(_: Tree) -> Tree:  # which ends the stream, as upstream's does at its first event
            raise errors.not_acceptable(
                "you requested PartialObjectMetadataList, but the requested object is not a list"
            )

        return refuse
    return (lambda tree: table.partial_of(scope.kind, tree, version)) if form.transform else None


class ProtobufStream:
    """A watch whose frames are protobuf. Each receiver has its own: those who ask for it are few.
    """

    def __init__(self, stream: WatchStream, codec: "ProtobufCodec") -> None:
        self._stream, self._codec = stream, codec
        self._sink: Sink | None = None

    def start(self, sink: Sink) -> None:
        """Send what is due, then everything that happens until ``stop``."""
        self._sink = sink
        self._stream.start(self)

    def stop(self) -> None:
        """The receiver is gone."""
        self._stream.stop()

    def send(self, frame: Frame) -> None:
        """Take one frame of JSON and pass it on as protobuf."""
        event = frame.tree
        assert isinstance(event, dict)
        data = self._codec.encode_event(event["type"], event["object"])
        if data is not None and self._sink is not None:
            self._sink.send(Frame(data))

    def end(self) -> None:
        """No frame follows."""
        if self._sink is not None:
            self._sink.end()
