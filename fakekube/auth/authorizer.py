"""Whether a user may do something. Upstream: apiserver/pkg/authorization (authorizer, union,
authorizerfactory).

An authorizer answers at once: what it needs to know of roles and bindings it reads from the
storage. Left out: conditional decisions, webhooks, attribute files (ABAC).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import UserInfo
from fakekube.auth.rules import EVERYTHING, NO_RULES, PolicyRule, UserRules

ANONYMOUS = UserInfo("system:anonymous", ("system:unauthenticated",))
PRIVILEGED_GROUP = "system:masters"
SCREENED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
REASONS_NAME_AUTHORIZERS_SINCE = 37


class AccessAttributes(Protocol):
    """What is asked for: a verb on a resource, or on a path when there is no resource.

    The selectors are those of a list, a watch or a deletecollection, as texts. A request's
    RequestInfo is one; ``Access`` is for who asks without a request.
    """

    @property
    def verb(self) -> str:
        """``get``, ``list``; the method in lower case for a path."""

    @property
    def group(self) -> str:
        """The API group, empty for the core's."""

    @property
    def version(self) -> str:
        """The version, ``*`` for any."""

    @property
    def resource(self) -> str:
        """The plural; empty for a path."""

    @property
    def subresource(self) -> str:
        """What is below the object, or nothing."""

    @property
    def namespace(self) -> str:
        """The namespace, empty for none or all."""

    @property
    def name(self) -> str:
        """The object, empty for all."""

    @property
    def path(self) -> str:
        """The path of the request."""

    @property
    def field_selector(self) -> str:
        """As the query says it."""

    @property
    def label_selector(self) -> str:
        """As the query says it."""


class Access(NamedTuple):
    """AccessAttributes by themselves."""

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    field_selector: str = ""
    label_selector: str = ""


class Decision(NamedTuple):
    """Yes or no, and why, as access reviews tell."""

    allowed: bool
    reason: str = ""


class Authorizer(Protocol):
    """Decides about requests and access reviews."""

    def decide(self, user: UserInfo, access: AccessAttributes) -> Decision:
        """Whether the user may."""

    def rules(self, user: UserInfo, namespace: str) -> UserRules:
        """What the user may do in a namespace, as far as this authorizer can list it."""


class RuleResolver(Protocol):
    """Knows the rules behind roles, so that nobody grants more than they have.

    Upstream: pkg/registry/rbac/validation (AuthorizationRuleResolver).
    """

    def role_rules(self, kind: str, name: str, namespace: str) -> Sequence[PolicyRule] | None:
        """The rules of the Role or ClusterRole that a binding in a namespace refers to; None when
        there is none.
        """

    def policy_rules(self, user: UserInfo, namespace: str) -> tuple[list[PolicyRule], list[tuple[str, str]]]:
        """The rules that hold for a user in a namespace ("" for the cluster), and the kinds and
        names of roles that bindings speak of and that are not there.
        """


class Authorization(NamedTuple):
    """Who decides in a cluster, and who knows its roles (None where everybody may do everything).
    """

    authorizer: Authorizer
    resolver: RuleResolver | None = None


class AlwaysAllow:
    """Lets everybody do everything, as ``--authorization-mode=AlwaysAllow`` does."""

    def decide(self, user: UserInfo, access: AccessAttributes) -> Decision:
        """Yes."""
        return Decision(True)

    def rules(self, user: UserInfo, namespace: str) -> UserRules:
        """Everything."""
        return EVERYTHING


class AlwaysDeny:
    """Lets nobody do anything, as ``--authorization-mode=AlwaysDeny`` does."""

    def decide(self, user: UserInfo, access: AccessAttributes) -> Decision:
        """No."""
        return Decision(False, "Everything is forbidden.")

    def rules(self, user: UserInfo, namespace: str) -> UserRules:
        """Nothing."""
        return NO_RULES


class Union:
    """Several authorizers by name: the first that says yes decides.

    Who is in the group ``system:masters`` is asked nothing.
    """

    def __init__(self, authorizers: Sequence[tuple[str, Authorizer]], *, minor: int) -> None:
        """``minor`` is that of the release: since 1.37 reasons begin with an authorizer's name."""
        self._authorizers, self._names = tuple(authorizers), minor >= REASONS_NAME_AUTHORIZERS_SINCE

    def decide(self, user: UserInfo, access: AccessAttributes) -> Decision:
        """Whether any of them says that the user may."""
        if PRIVILEGED_GROUP in user.groups:
            return Decision(True)
        reasons = []
        for name, authorizer in self._authorizers:
            decision = authorizer.decide(user, access)
            if decision.allowed:
                return decision
            if decision.reason:
                reasons.append(f"{name}: {decision.reason}" if self._names else decision.reason)
        return Decision(False, "\n".join(reasons))

    def rules(self, user: UserInfo, namespace: str) -> UserRules:
        """What all of them list."""
        found = [authorizer.rules(user, namespace) for _, authorizer in self._authorizers]
        return UserRules(
            [rule for one in found for rule in one.rules], any(one.incomplete for one in found),
            ", ".join(one.error for one in found if one.error))


def forbidden(user: UserInfo, access: AccessAttributes, reason: str = "") -> APIError:
    """The 403 of a user who may not. Upstream: endpoints/handlers/responsewriters/errors.go."""
    name = go_quote(user.name)
    if access.path and not access.resource:
        text = f"User {name} cannot {access.verb} path {go_quote(access.path)}"
    else:
        resource = f"{access.resource}/{access.subresource}" if access.subresource else access.resource
        place = f"in the namespace {go_quote(access.namespace)}" if access.namespace else "at the cluster scope"
        text = (
            f"User {name} cannot {access.verb} resource {go_quote(resource)} in API group {go_quote(access.group)} {place}")
    text = text.translate(SCREENED) + (f": {reason}" if reason else "")
    return errors.forbidden(GroupResource(access.group, access.resource) if access.resource else None, access.name, text)
