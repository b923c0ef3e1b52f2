"""Bootstrap tokens: Secrets of ``kube-system`` by which a new node first asks.

Upstream: plugin/pkg/auth/authenticator/token/bootstrap and k8s.io/cluster-bootstrap. Left out: the
log of why one does not count.
"""

import base64
import binascii
import re

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.auth.tokens import Lookup

SECRET_TYPE = "bootstrap.kubernetes.io/token"  # noqa: S105 - the name of a type
NAMESPACE, PREFIX = "kube-system", "bootstrap-token-"
GROUP = "system:bootstrappers"
_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_EXTRA_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


def user_of(token: str, lookup: Lookup, now: float) -> UserInfo | None:
    """The user of a token, or None. ``now`` is in Unix seconds."""
    found = _TOKEN.fullmatch(token)
    if found is None:
        return None
    from hmac import compare_digest  # loads OpenSSL, which most clusters do without

    identifier, secret = found.groups()
    stored = lookup("", "secrets", NAMESPACE, f"{PREFIX}{identifier}")
    if stored is None or stored["metadata"].get("deletionTimestamp") or stored.get("type") != SECRET_TYPE:
        return None
    data = {name: _text(value) for name, value in (stored.get("data") or {}).items()}
    if not compare_digest(data.get("token-secret", "").encode(), secret.encode()) or data.get("token-id") != identifier:
        return None
    if _has_expired(data, now) or data.get("usage-bootstrap-authentication") != "true":
        return None
    groups = _groups(data)
    return None if groups is None else UserInfo(f"system:bootstrap:{identifier}", groups)


def _text(value: str) -> str:
    try:
        return base64.b64decode(value or "").decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _has_expired(data: Tree, now: float) -> bool:
    """An expiration that cannot be read has passed."""
    if not (text := data.get("expiration", "")):
        return False
    try:
        return parse_time(text) <= now
    except ValueError:
        return True


def _groups(data: Tree) -> tuple[str, ...] | None:
    """Sorted; None when one is not allowed."""
    found = {GROUP}
    for group in extra.split(",") if (extra := data.get("auth-extra-groups", "")) else ():
        if not _EXTRA_GROUP.fullmatch(group):
            return None
        found.add(group)
    return tuple(sorted(found))
