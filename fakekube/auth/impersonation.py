"""Acting as somebody else, by headers. Upstream: apiserver/pkg/endpoints/filters/impersonation.

Whether the caller may is not asked here: whoever decides about access does.
"""

from collections.abc import Mapping

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import UserInfo
from fakekube.auth.tokens import PREFIX, service_account_user

USER, GROUP, UID, EXTRA = "impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-"
AUTHENTICATED, UNAUTHENTICATED, ANONYMOUS = "system:authenticated", "system:unauthenticated", "system:anonymous"


def any_impersonation(headers: Mapping[str, str]) -> bool:
    """Whether a request has any of the headers."""
    for name in headers:  # noqa: SIM110 - every request comes by here, and a generator costs as much as the rest
        if name.startswith("impersonate-"):
            return True
    return False


def wanted_user(headers: Mapping[str, str]) -> UserInfo | None:
    """Whom a request wants to act as; None when it does not want to.

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
    if not name:
        if groups or uid or extra:
            raise errors.bad_request(f"requested {_go_info(groups, uid, extra)} without impersonating a user name")
        return None
    if not groups and name.startswith(PREFIX) and name.count(":") == 3:
        namespace, _, account = name.removeprefix(PREFIX).partition(":")
        groups = service_account_user(namespace, account).groups[:2]
    if name != ANONYMOUS and AUTHENTICATED not in groups and UNAUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    elif name == ANONYMOUS and not groups:
        groups = (UNAUTHENTICATED,)
    return UserInfo(name, groups, uid, extra)


def _go_info(groups: tuple[str, ...], uid: str, extra: Mapping[str, tuple[str, ...]]) -> str:
    listed = ", ".join(f'"{group}"' for group in groups)
    extras = ", ".join(f'"{key}":[]string{{{", ".join(f"{value!r}" for value in extra[key])}}}' for key in sorted(extra))
    return f'&user.DefaultInfo{{Name:"", UID:"{uid}", Groups:[]string{{{listed}}}, Extra:map[string][]string{{{extras}}}}}'
