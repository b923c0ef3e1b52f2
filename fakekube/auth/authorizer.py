"""Whether a user may do something. Upstream: apiserver/pkg/authorization/authorizer.

An authorizer answers at once: what it needs to know of roles and bindings it reads from the
storage.
"""

from typing import NamedTuple, Protocol

from fakekube.apimachinery.http import UserInfo


class Access(NamedTuple):
    """What is asked for: a verb on a resource, or on a path when there is no resource."""

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class Decision(NamedTuple):
    """Yes or no, and why, as access reviews tell."""

    allowed: bool
    reason: str = ""


class Authorizer(Protocol):
    """Decides about requests and access reviews."""

    def decide(self, user: UserInfo, access: Access) -> Decision:
        """Whether the user may."""


class AlwaysAllow:
    """Lets everybody do everything, as ``--authorization-mode=AlwaysAllow`` does."""

    def decide(self, user: UserInfo, access: Access) -> Decision:
        """Yes."""
        return Decision(True)
