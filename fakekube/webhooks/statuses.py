"""What upstream's client makes of an answer that is a failure and no Status.

Upstream: apimachinery/pkg/api/errors (NewGenericServerResponse), client-go/rest/request.go.
"""

from collections.abc import Mapping
from types import MappingProxyType

from fakekube.apimachinery.field_errors import go_quote
from fakekube.webhooks.transport import Answer

MAX_TEXT_BYTES = 2048
"""So much of a body is told."""

_WORDS: Mapping[int, str] = MappingProxyType({
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
})
UNKNOWN = "unknown"


def unstructured(answer: Answer) -> str:
    """The text of the error that such an answer is."""
    told = _text(answer)
    if answer.status in (403, 415):
        return told
    if answer.status == 406:
        return "the server was unable to respond with a content type that the client supports" if told in ("", UNKNOWN) else told
    if answer.status in _WORDS:
        return _WORDS[answer.status]
    if answer.status >= 500:
        return f"an error on the server ({go_quote(told)}) has prevented the request from succeeding"
    return f"the server responded with the status code {answer.status} but did not return more information"


def _text(answer: Answer) -> str:
    """The body of an answer that is text; a word for every other."""
    media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media and not media.startswith("text/"):
        return UNKNOWN
    return answer.body[:MAX_TEXT_BYTES].decode("utf-8", "replace").strip()
