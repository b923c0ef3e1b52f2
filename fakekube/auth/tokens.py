"""Tokens of service accounts: JSON web tokens that this cluster signs, and knows again.

Upstream: pkg/serviceaccount (claims.go, jwt.go). Tokens are signed with a secret of the cluster
(HS256) and not with a key pair, since nobody but the cluster itself ever checks one; claims are
upstream's.
"""

import base64
from collections.abc import Mapping
from typing import NamedTuple

import orjson

from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.util.clock import Clock
from fakekube.util.rng import Rng

ISSUER = "https://kubernetes.default.svc.cluster.local"
PREFIX = "system:serviceaccount:"


class Token(NamedTuple):
    """A valid token: whom it names, and for whom it is meant."""

    user: UserInfo
    audiences: tuple[str, ...]


def service_account_user(
    namespace: str, name: str, uid: str = "", extra: Mapping[str, tuple[str, ...]] | None = None
) -> UserInfo:
    """The user that a service account is."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return UserInfo(f"{PREFIX}{namespace}:{name}", groups, uid, extra or {})


class Tokens:
    """Issues and checks tokens.

    Whether the account that one names still stands is the caller's to see.
    """

    def __init__(self, clock: Clock, rng: Rng) -> None:
        self._clock, self._rng = clock, rng
        self._secret = rng.uid().encode()

    def issue(self, account: Tree, audiences: list[str], expires: float, bound_to: Tree | None = None) -> str:
        """A token for a service account until ``expires`` (Unix seconds), bound to an object (kind,
        name, uid) or not.
        """
        meta, now = account["metadata"], int(self._clock.time())
        about: Tree = {"namespace": meta["namespace"]}
        if bound_to is not None:
            about[bound_to["kind"].lower()] = {"name": bound_to["name"], "uid": bound_to.get("uid", "")}
        about["serviceaccount"] = {"name": meta["name"], "uid": meta["uid"]}
        claims = {
            "aud": audiences or [ISSUER], "exp": int(expires), "iat": now, "iss": ISSUER, "jti": self._rng.uid(),
            "kubernetes.io": about, "nbf": now, "sub": f"{PREFIX}{meta['namespace']}:{meta['name']}",
        }
        head = {"alg": "HS256", "kid": "fakekube", "typ": "JWT"}
        text = f"{_encode(orjson.dumps(head))}.{_encode(orjson.dumps(claims))}"
        return f"{text}.{self._sign(text)}"

    def verify(self, token: str) -> Token | None:
        """Whom a token names; None when it is not one of ours or not valid any more."""
        from hmac import compare_digest

        text, _, signature = token.rpartition(".")
        if text.count(".") != 1 or not compare_digest(signature.encode(), self._sign(text).encode()):
            return None
        claims = orjson.loads(_decode(text.partition(".")[2]))
        if claims["exp"] <= self._clock.time():
            return None
        about = claims["kubernetes.io"]
        account = about["serviceaccount"]
        extra = {"authentication.kubernetes.io/credential-id": (f"JTI={claims['jti']}",)}
        for kind in ("node", "pod"):
            if kind in about:
                extra[f"authentication.kubernetes.io/{kind}-name"] = (about[kind]["name"],)
                extra[f"authentication.kubernetes.io/{kind}-uid"] = (about[kind]["uid"],)
        user = service_account_user(about["namespace"], account["name"], account["uid"], extra)
        return Token(user, tuple(claims["aud"]))

    def _sign(self, text: str) -> str:
        import hmac

        return _encode(hmac.digest(self._secret, text.encode(), "sha256"))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
