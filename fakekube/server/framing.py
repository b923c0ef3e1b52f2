"""Requests whose frame is refused: where a body ends must not be a matter of opinion.

aiohttp's parser refuses most of what lets two servers read two different requests in the same
bytes: both lengths, a space before a colon, folded headers, bare line feeds, two Hosts. This is
what it lets through. Upstream: net/http's readRequest and parseTransferEncoding, whose words these
are; chunks in HTTP/1.0, which Go ignores, are refused here, since no client sends them.
"""

import orjson
from aiohttp import hdrs
from aiohttp.http import HttpProcessingError, HttpVersion11, RawRequestMessage
from aiohttp.http_exceptions import LineTooLong

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Response

PLAIN_TEXT = "text/plain; charset=utf-8"


def refusal(error: HttpProcessingError | None = None) -> Response:
    """The answer to bytes that are not a request.

    An unknown method gets the answer that the router gives to methods that a path does not have.
    """
    if error is not None and "Invalid method" in error.message:
        return _no_such_method()
    if isinstance(error, LineTooLong):
        return Response(431, b"431 Request Header Fields Too Large", PLAIN_TEXT)
    return Response(400, b"400 Bad Request", PLAIN_TEXT)


def frame_refusal(message: RawRequestMessage) -> Response | None:
    """The answer to a request that is not read any further, else None.

    Nothing that follows on its connection may be taken for a request.
    """
    coding = message.headers.get(hdrs.TRANSFER_ENCODING)
    if coding is None and message.version == HttpVersion11 and message.method != "CONNECT":
        return None
    if message.method == "CONNECT":  # what follows would be bytes for somebody else
        return _no_such_method()
    if message.version.major != 1:
        return Response(505, b"505 HTTP Version Not Supported: unsupported protocol version", PLAIN_TEXT)
    if coding is None:
        return None
    if message.version < HttpVersion11:
        return refusal()
    return None if coding.lower() == "chunked" else Response(501, b"Unsupported transfer encoding", PLAIN_TEXT)


def _no_such_method() -> Response:
    return Response(405, orjson.dumps(errors.method_not_allowed().status()))
