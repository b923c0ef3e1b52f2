"""Whether whoever asks may ask that: the step between authentication and everything else.

Upstream: apiserver/pkg/endpoints/filters/authorization.go. It comes before it is known whether
there is what a path names, so who may do nothing does not learn what there is.
"""

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.auth.authorizer import ANONYMOUS, Access, Authorizer, forbidden
from fakekube.endpoints.requestinfo import RequestInfo

SELECTING = ("list", "watch", "deletecollection")


def access_of(info: RequestInfo, request: Request) -> Access:
    """What a request asks for, as an authorizer is told it."""
    if not info.is_resource:
        return Access(info.verb, path=info.path)
    access = Access(
        info.verb, info.group, info.version, info.resource, info.subresource, info.namespace, info.name, info.path)
    if request.query and info.verb in SELECTING:
        access = access._replace(field_selector=request.param("fieldSelector"), label_selector=request.param("labelSelector"))
    return access


def denial(authorizer: Authorizer, info: RequestInfo, request: Request) -> APIError | None:
    """The 403 of a request that its user may not send; None when the user may.

    The decision is left in ``info``.
    """
    user, access = request.user or ANONYMOUS, access_of(info, request)
    decision = info.decision = authorizer.decide(user, access)
    return None if decision.allowed else forbidden(user, access, decision.reason)
