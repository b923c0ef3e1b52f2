"""Acting as somebody else, by headers. Upstream: apiserver/pkg/endpoints/filters/impersonation.

Who wants to needs leave. There are two kinds of it. The old one is the verb ``impersonate`` on
users, groups, service accounts, uids and extras. The constrained one, since 1.36, is a verb of a
mode (``impersonate:user-info``) on them, and leave to send this request in that mode
(``impersonate-on:user-info:list`` on what is listed). The modes are asked in order, the old kind
last; the one that last passed for a caller goes first, and the refusal that is shown is the first.
Left out: decisions that are remembered for ten seconds.
"""

from collections import OrderedDict
from collections.abc import Mapping

from fakekube.apimachinery import errors, names
from fakekube.apimachinery.field_errors import aggregate, go_quote
from fakekube.apimachinery.field_names import domain_prefixed_path
from fakekube.apimachinery.http import UserInfo
from fakekube.auth.authorizer import PRIVILEGED_GROUP, Access, Authorizer, forbidden
from fakekube.auth.tokens import PREFIX, service_account_user

USER, GROUP, UID, EXTRA = "impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-"
AUTHENTICATED, UNAUTHENTICATED, ANONYMOUS = "system:authenticated", "system:unauthenticated", "system:anonymous"
NODE_PREFIX, NODES = "system:node:", "system:nodes"
NODE_NAME_KEY, NODE_KEYS = "authentication.kubernetes.io/node-name", "authentication.kubernetes.io/associated-node-keys"
AUTHENTICATION = "authentication.k8s.io"
ASSOCIATED_NODE, ARBITRARY_NODE, SERVICE_ACCOUNT, USER_INFO = "associated-node", "arbitrary-node", "serviceaccount", "user-info"
MODES = (ASSOCIATED_NODE, ARBITRARY_NODE, SERVICE_ACCOUNT, USER_INFO, "")
"""In the order in which they are asked; the empty one is the old kind."""
MANY, CALLERS = 4, 10_000


def any_impersonation(headers: Mapping[str, str]) -> bool:
    """Whether a request has any of the headers."""
    for name in headers:  # noqa: SIM110 - every request comes by here, and a generator costs as much as the rest
        if name.startswith("impersonate-"):
            return True
    return False


def wanted_user(headers: Mapping[str, str]) -> UserInfo | None:
    """Whom a request wants to act as, as the headers say it; None when it does not want to.

    Header names are in lower case, the values of a repeated one joined with commas. Raises 400 for
    groups, a uid or extras without a user.
    """
    from urllib.parse import unquote

    name = headers.get(USER, "")
    groups = tuple(group.strip() for group in headers.get(GROUP, "").split(",") if group.strip())
    uid = headers.get(UID, "")
    extra = {
        unquote(key.removeprefix(EXTRA)).lower(): tuple(value.strip() for value in text.split(","))
        for key, text in headers.items() if key.startswith(EXTRA)
    }
    if name:
        return UserInfo(name, groups, uid, extra)
    if groups or uid or extra:
        raise errors.bad_request(f"requested {_go_info(groups, uid, extra)} without impersonating a user name")
    return None


class Impersonation:
    """Lets callers act as others, as far as the authorizer lets them."""

    def __init__(self, authorizer: Authorizer, *, constrained: bool) -> None:
        """``constrained``: whether the feature gate ConstrainedImpersonation is on."""
        self._authorizer = authorizer
        self._modes = MODES if constrained else ("",)
        self._last: OrderedDict[str, str] = OrderedDict()  # by caller, the mode that last passed

    def act_as(self, caller: UserInfo, wanted: UserInfo, access: Access) -> tuple[UserInfo, str]:
        """The user that the caller is for this request, with the groups that follow, and the verb
        of the constrained kind by which they are, empty for the old kind.

        Raises 403.
        """
        last = self._last.get(caller.name)
        modes = self._modes if last is None else (last, *(mode for mode in self._modes if mode != last))
        first: errors.APIError | None = None
        for mode in modes:
            if not _is_for(mode, caller, wanted):
                continue
            try:
                if mode:
                    self._check(_seen(mode, caller), access._replace(verb=f"impersonate-on:{mode}:{access.verb}"))
                user = self._checked(mode, _seen(mode, caller), wanted)
            except errors.APIError as error:
                first = first or error
                continue
            if mode != last:
                self._remember(caller.name, mode)
            return user, f"impersonate:{mode}" if mode else ""
        assert first is not None, "the old kind of leave is for everybody"
        raise first

    def _remember(self, name: str, mode: str) -> None:
        self._last[name] = mode
        if len(self._last) > CALLERS:
            self._last.popitem(last=False)

    def _check(self, caller: UserInfo, access: Access) -> None:
        decision = self._authorizer.decide(caller, access)
        if not decision.allowed:
            raise forbidden(caller, access, decision.reason)

    def _checked(self, mode: str, caller: UserInfo, wanted: UserInfo) -> UserInfo:
        """The user, each of its parts allowed by the verb of the mode. Raises 403."""
        verb, group = (f"impersonate:{mode}", AUTHENTICATION) if mode else ("impersonate", "")
        named, groups = Access(verb, group, "v1", "users", name=wanted.name), wanted.groups
        if mode in (ASSOCIATED_NODE, ARBITRARY_NODE):
            name = "*" if mode == ASSOCIATED_NODE else wanted.name.removeprefix(NODE_PREFIX)
            named, groups = named._replace(resource="nodes", name=name), (NODES,)
        account = _account_of(wanted.name)
        if account is not None:
            named = named._replace(resource="serviceaccounts", namespace=account[0], name=account[1])
            groups = groups or service_account_user(*account).groups[:2]
        self._check(caller, named)
        if wanted.uid:
            self._check(caller, Access(verb, AUTHENTICATION, "v1", "uids", name=wanted.uid))
        if wanted.groups:
            self._check_groups(caller, Access(verb, group, "v1", "groups"), wanted.groups, constrained=bool(mode))
        if wanted.extra:
            self._check_extra(caller, Access(verb, AUTHENTICATION, "v1", "userextras"), wanted.extra, constrained=bool(mode))
        return UserInfo(wanted.name, _completed(wanted.name, groups), wanted.uid, wanted.extra)

    def _check_groups(self, caller: UserInfo, access: Access, groups: tuple[str, ...], *, constrained: bool) -> None:
        if constrained:
            if PRIVILEGED_GROUP in groups:
                raise forbidden(
                    caller, access._replace(name=PRIVILEGED_GROUP), "impersonating the system:masters group is not allowed")
            if len(groups) >= MANY and self._authorizer.decide(caller, access._replace(name="*")).allowed:
                return
        for group in groups:
            self._check(caller, access._replace(name=group))

    def _check_extra(
        self, caller: UserInfo, access: Access, extra: Mapping[str, tuple[str, ...]], *, constrained: bool,
    ) -> None:
        if constrained:
            wrong = _wrong_extra(extra)
            if wrong:
                raise forbidden(caller, access, wrong)
            whole = access._replace(subresource="*", name="*")
            if sum(map(len, extra.values())) >= MANY and self._authorizer.decide(caller, whole).allowed:
                return
        for key, values in extra.items():
            for value in values:
                self._check(caller, access._replace(subresource=key, name=value))


def _is_for(mode: str, caller: UserInfo, wanted: UserInfo) -> bool:
    """Whether a mode is one for such users."""
    if not mode:
        return True
    node, account = _node_of(wanted.name), _account_of(wanted.name)
    if mode == USER_INFO:
        return not node and account is None
    if wanted.uid or wanted.groups or wanted.extra:
        return False
    if mode == SERVICE_ACCOUNT:
        return account is not None
    if mode == ARBITRARY_NODE:
        return bool(node)
    own = caller.extra.get(NODE_NAME_KEY, ())
    return bool(node) and _account_of(caller.name) is not None and tuple(own) == (node,)


def _seen(mode: str, caller: UserInfo) -> UserInfo:
    """The caller as authorizers see it: in the mode of its own node, only the names of extras."""
    if mode != ASSOCIATED_NODE:
        return caller
    return caller._replace(extra={NODE_KEYS: tuple(sorted(caller.extra))})


def _node_of(user: str) -> str:
    """The node whose kubelet a user is; empty for others."""
    name = user.removeprefix(NODE_PREFIX)
    return name if name != user and not names.dns1123_subdomain(name) else ""


def _account_of(user: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user is; None for others."""
    parts = user.removeprefix(PREFIX).split(":")
    if not user.startswith(PREFIX) or len(parts) != 2 or names.dns1123_label(parts[0]) or names.dns1123_subdomain(parts[1]):
        return None
    return parts[0], parts[1]


def _completed(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    """Groups with the one that says whether somebody has signed in."""
    if name == ANONYMOUS:
        return groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
    return groups if UNAUTHENTICATED in groups or AUTHENTICATED in groups else (*groups, AUTHENTICATED)


def _wrong_extra(extra: Mapping[str, tuple[str, ...]]) -> str:
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        wrong = domain_prefixed_path("extra.key", key)
        if wrong:
            return f"impersonating an invalid key in extra is not allowed: {aggregate(wrong)}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _go_info(groups: tuple[str, ...], uid: str, extra: Mapping[str, tuple[str, ...]]) -> str:
    """As Go's %#v writes a user."""
    extras = ", ".join(f"{go_quote(key)}:{_go_texts(extra[key])}" for key in sorted(extra))
    shown = f"map[string][]string{{{extras}}}" if extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{go_quote(uid)}, Groups:{_go_texts(groups)}, Extra:{shown}}}'


def _go_texts(values: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(map(go_quote, values))}}}" if values else "[]string(nil)"
