"""Whether whoever asks may ask that: the step between authentication and everything else.

Upstream: apiserver/pkg/endpoints/filters/authorization.go. It comes before it is known whether
there is what a path names, so who may do nothing does not learn what there is.
"""

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import Request
from fakekube.auth.authorizer import ANONYMOUS, Access, Authorizer, Decision, forbidden
from fakekube.auth.impersonation import Impersonation, wanted_user
from fakekube.endpoints.requestinfo import RequestInfo


def impersonate(impersonation: Impersonation, info: RequestInfo, request: Request) -> None:
    """Let a request be that of whom its headers name, if the caller may be them.

    Raises 400 for headers that name nobody, 403. The refusal is left in ``info``, else who they
    are.
    """
    caller, wanted = request.user or ANONYMOUS, wanted_user(request.headers)
    if wanted is None:
        return
    try:
        request.user, info.impersonation_constraint = impersonation.act_as(caller, wanted, access_of(info))
    except APIError:
        info.decision = Decision(False)
        raise
    info.impersonator = caller


def access_of(info: RequestInfo) -> Access:
    """What a request asks for, to be asked about under another verb."""
    return Access(
        info.verb, info.group, info.version, info.resource, info.subresource, info.namespace, info.name, info.path,
        info.field_selector, info.label_selector)


def check_also(authorizer: Authorizer, info: RequestInfo, request: Request, verb: str) -> None:
    """Whether the user may use another verb, too, on what the request is about.

    Raises 403, in which upstream says no more than the authorizer's reason.
    """
    if info.verb == verb:
        return
    decision = authorizer.decide(request.user or ANONYMOUS, access_of(info)._replace(verb=verb))
    if not decision.allowed:
        raise errors.forbidden(GroupResource(info.group, info.resource), info.name, decision.reason)


def denial(authorizer: Authorizer, info: RequestInfo, request: Request) -> APIError | None:
    """The 403 of a request that its user may not send; None when the user may.

    The decision is left in ``info``.
    """
    user = request.user or ANONYMOUS
    decision = info.decision = authorizer.decide(user, info)
    return None if decision.allowed else forbidden(user, info, decision.reason)
