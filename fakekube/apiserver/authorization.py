"""Whether whoever asks may ask that: the step between authentication and everything else.

Upstream: apiserver/pkg/endpoints/filters/authorization.go. It comes before it is known whether
there is what a path names, so who may do nothing does not learn what there is.
"""

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request
from fakekube.auth.authorizer import ANONYMOUS, Access, Authorizer, forbidden
from fakekube.endpoints.requestinfo import RequestInfo


def access_of(info: RequestInfo) -> Access:
    """What a request asks for, to be asked about under another verb."""
    return Access(
        info.verb, info.group, info.version, info.resource, info.subresource, info.namespace, info.name, info.path,
        info.field_selector, info.label_selector)


def denial(authorizer: Authorizer, info: RequestInfo, request: Request) -> APIError | None:
    """The 403 of a request that its user may not send; None when the user may.

    The decision is left in ``info``.
    """
    user = request.user or ANONYMOUS
    decision = info.decision = authorizer.decide(user, info)
    return None if decision.allowed else forbidden(user, info, decision.reason)
