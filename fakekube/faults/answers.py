"""What a control plane in trouble answers, in its own words.

Upstream: apiserver/pkg/server/filters (priority-and-fairness.go, timeout.go, with_retry_after.go),
apimachinery/pkg/api/errors, storage/cacher/ready.go; etcd/api/v3rpc/rpctypes/error.go, whose texts
reach clients as errors without a reason.
"""

from collections.abc import Mapping
from types import MappingProxyType

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Response
from fakekube.endpoints.answers import NOSNIFF, PLAIN_TEXT
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.faults.rules import Rule

ETCD: Mapping[str, str] = MappingProxyType({
    "EtcdTimeout": "etcdserver: request timed out",
    "EtcdLeaderChanged": "etcdserver: leader changed",
    "EtcdNoLeader": "etcdserver: no leader",
    "EtcdNoSpace": "etcdserver: mvcc: database space exceeded",
})
NO_TIME_LEFT = "context deadline exceeded"


def answer(rule: Rule, info: RequestInfo) -> Response:
    """The answer that is no Status. Raises APIError for one that is."""
    name, after = str(rule.error), rule.retry_after_seconds
    if name == "TooManyRequests":
        return _plain(429, "Too many requests, please try again later.", 1 if after is None else after)
    if name == "ShuttingDown":
        return _plain(429, "The apiserver is shutting down, please try again later.", 5 if after is None else after)
    if name == "ServiceUnavailable":
        return _plain(503, "service unavailable", after)
    raise _error(rule, name, after or 0, info)


def deletion_conflict(resource: GroupResource, name: str, asked: str, revision: int) -> APIError:
    """What a deletion is told whose object was written by somebody else, who has made the
    ``revision``; ``resource`` is a kind and its group.
    """
    return errors.conflict(resource, name, (
        f"the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record ({revision}). "
        "The object might have been modified"))


def _plain(code: int, text: str, retry_after_seconds: int | None) -> Response:
    headers = [NOSNIFF] if retry_after_seconds is None else [("Retry-After", str(retry_after_seconds)), NOSNIFF]
    return Response(code, f"{text}\n".encode(), PLAIN_TEXT, headers)


def _error(rule: Rule, name: str, after: int, info: RequestInfo) -> APIError:
    resource = GroupResource(info.group, info.resource)
    if name in ETCD:
        return errors.raw(ETCD[name])
    if name == "Conflict":
        return errors.conflict(resource, info.name)
    if name == "Unauthorized":
        return errors.unauthorized()
    if name == "StorageInitializing":
        return errors.too_many_requests("storage is (re)initializing", after or 1)
    if name == "InternalError":
        return errors.internal(rule.message or NO_TIME_LEFT)
    if name == "ServerTimeout":
        message = f"The {info.verb} operation against {resource} could not be completed at this time, please try again."
        details = {"name": info.verb, **({"group": info.group} if info.group else {}), "kind": info.resource}
        return APIError(500, "ServerTimeout", message, {**details, "retryAfterSeconds": after or 2})
    # when the client's own time is over, it is told how its context ended
    return APIError(504, "Timeout", f"Timeout: request did not complete within requested timeout - {NO_TIME_LEFT}", {})
