"""Tokens of service accounts: JSON web tokens that this cluster signs, and knows again.

Who holds one is the account, while the account and the object that the token is bound to are there.
Upstream: pkg/serviceaccount (claims.go, jwt.go), whose claims, times and words these are. Left out:
tokens bound to webhook configurations.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.times import parse_time
from fakekube.apimachinery.types import Tree
from fakekube.util import base64url
from fakekube.util.clock import Clock
from fakekube.util.memory import Memo
from fakekube.util.rng import Rng

if TYPE_CHECKING:
    from fakekube.auth.signing import Signer

ISSUER = "https://kubernetes.default.svc"
PREFIX = "system:serviceaccount:"
LEEWAY_SECONDS = 60
"""How far clocks may be apart (go-jose's DefaultLeeway)."""
INVALIDATED = "service account token has been invalidated"
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
MAX_TOKEN_CHARACTERS = 1 << 16
CHECKED_TOKENS, CHECKED_BYTES = 256, 4 << 20

Lookup = Callable[[str, str, str, str], Tree | None]
"""An object by group, resource, namespace and name; None where there is none."""


class InvalidToken(Exception):
    """A token that does not count; the text says why, as a TokenReview does."""


class Token(NamedTuple):
    """A valid token: whom it names, and for which of the wanted audiences it is meant."""

    user: UserInfo
    audiences: tuple[str, ...]


class Issued(NamedTuple):
    """A new token, and the id by which reviews and audit logs name it."""

    token: str
    credential_id: str


class Bound(NamedTuple):
    """An object that a token is bound to: its life ends with that of the object."""

    kind: str
    name: str
    uid: str


def service_account_user(
    namespace: str, name: str, uid: str = "", extra: Mapping[str, tuple[str, ...]] | None = None
) -> UserInfo:
    """The user that a service account is."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return UserInfo(f"{PREFIX}{namespace}:{name}", groups, uid, extra or {})


class Tokens:
    """Issues and checks tokens. ``secret`` is what its key is made of, at the first token."""

    def __init__(self, clock: Clock, rng: Rng, secret: bytes, lookup: Lookup) -> None:
        self._clock, self._rng, self._secret, self._lookup = clock, rng, secret, lookup
        # what tokens say whose signatures were found right; to check one takes longer than a GET
        self._checked: Memo[str, Mapping[str, Any]] = Memo(CHECKED_TOKENS, CHECKED_BYTES)

    @cached_property
    def signer(self) -> "Signer":
        """What signs the tokens; loaded with the first of them."""
        from fakekube.auth.signing import signer_of

        return signer_of(self._secret)

    def issue(
        self, account: Tree, audiences: list[str], expires: float, bound: Iterable[Bound] = (), *, warn_after: float = 0,
    ) -> Issued:
        """A token for a service account until ``expires`` (Unix seconds).

        ``bound`` are the object that it is bound to, and the node of that one. From ``warn_after``
        on (Unix seconds) its holder should have had a new one.
        """
        meta, now, signer = account["metadata"], int(self._clock.time()), self.signer
        about: Tree = {"namespace": meta["namespace"]}
        for each in bound:
            about[each.kind.lower()] = {"name": each.name} | ({"uid": each.uid} if each.uid else {})
        about["serviceaccount"] = {"name": meta["name"], "uid": meta["uid"]}
        if warn_after:
            about["warnafter"] = int(warn_after)
        identifier = self._rng.uid()
        claims = {
            "aud": audiences or [ISSUER], "exp": int(expires), "iat": now, "iss": ISSUER, "jti": identifier,
            "kubernetes.io": about, "nbf": now, "sub": f"{PREFIX}{meta['namespace']}:{meta['name']}",
        }
        head = {"alg": signer.algorithm, "kid": signer.key_id}
        text = f"{base64url.encoded(orjson.dumps(head))}.{base64url.encoded(orjson.dumps(claims))}"
        return Issued(f"{text}.{base64url.encoded(signer.sign(text.encode()))}", f"JTI={identifier}")

    def verify(self, token: str, audiences: tuple[str, ...] = (ISSUER,)) -> Token | None:
        """Whom a token names; None when it is none of this issuer.

        Raises InvalidToken for one that does not count, or counts for none of ``audiences``.
        """
        claims = self._checked.get(token)
        if claims is None:
            if not _is_ours(token):
                return None
            claims = self._claims(token)
            self._checked.put(token, claims, len(token))
        own = tuple(claims["aud"])
        shared = tuple(audience for audience in audiences if audience in own)
        if not shared:
            raise InvalidToken(f"token audiences {_listed(own)} is invalid for the target audiences {_listed(audiences)}")
        return Token(self._account(claims), shared)

    def _claims(self, token: str) -> Tree:
        """What a token says. Raises InvalidToken for one that this cluster has not signed."""
        text, _, signature = token.rpartition(".")
        signer, head = self.signer, _decoded(text.partition(".")[0])
        if not isinstance(head, dict):
            raise InvalidToken("invalid bearer token")
        if head.get("kid", "") not in ("", signer.key_id):
            raise InvalidToken("invalid signature, no keys found")
        signed = base64url.decoded(signature)
        if head.get("alg") != signer.algorithm or head.get("crit") or signed is None or not signer.is_signed(
                text.encode(), signed):
            raise InvalidToken("go-jose/go-jose: error in cryptographic primitive")
        claims = _decoded(text.partition(".")[2])
        assert isinstance(claims, dict), "what is signed was issued here"
        return claims

    def _account(self, claims: Mapping[str, Any]) -> UserInfo:
        """The account of a token that is signed. Raises InvalidToken."""
        now = self._clock.time()
        if claims["exp"] < now - LEEWAY_SECONDS:
            raise InvalidToken("service account token has expired")
        if claims["nbf"] > now + LEEWAY_SECONDS:
            raise InvalidToken("service account token is not valid yet")
        about = claims["kubernetes.io"]
        namespace, reference = about["namespace"], about["serviceaccount"]
        self._check_account(namespace, reference, now)
        extra = {CREDENTIAL_ID: (f"JTI={claims['jti']}",)}
        for kind in ("secret", "pod"):
            if kind in about:
                self._check_bound(kind, f"service account {kind} ref claim", namespace, about[kind], now)
        if "node" in about and "pod" not in about:
            self._check_bound("node", "service account node ref claim", "", about["node"], now)
        for kind in ("pod", "node"):
            if kind in about:
                extra[f"authentication.kubernetes.io/{kind}-name"] = (about[kind]["name"],)
                if uid := about[kind].get("uid"):
                    extra[f"authentication.kubernetes.io/{kind}-uid"] = (uid,)
        return service_account_user(namespace, reference["name"], reference["uid"], extra)

    def _check_account(self, namespace: str, reference: Tree, now: float) -> None:
        name, claimed = reference["name"], reference["uid"]
        found = self._lookup("", "serviceaccounts", namespace, name)
        if found is None:
            raise InvalidToken(f"serviceaccounts {go_quote(name)} not found")
        uid = found["metadata"]["uid"]
        if uid != claimed:
            raise InvalidToken(f"service account UID ({uid}) does not match claim ({claimed})")
        if _is_gone(found, now):
            raise InvalidToken(f"service account {namespace}/{name} has been deleted")

    def _check_bound(self, kind: str, claim: str, namespace: str, reference: Tree, now: float) -> None:
        found = self._lookup("", f"{kind}s", namespace, reference["name"])
        if found is None:
            raise InvalidToken(INVALIDATED)
        uid = found["metadata"]["uid"]
        if uid != reference["uid"]:
            raise InvalidToken(f"{kind} UID ({uid}) does not match {claim} ({reference['uid']})")
        if _is_gone(found, now):
            raise InvalidToken(INVALIDATED)


def _is_gone(obj: Tree, now: float) -> bool:
    """Whether an object that waits for its end has waited for longer than clocks may be apart."""
    deleted = obj["metadata"].get("deletionTimestamp")
    return bool(deleted) and parse_time(deleted) < now - LEEWAY_SECONDS


def _is_ours(token: str) -> bool:
    """Whether a text has the form of a token and names this issuer."""
    if len(token) > MAX_TOKEN_CHARACTERS or token.count(".") != 2 or not token.isascii():
        return False
    claims = _decoded(token.split(".")[1])
    return isinstance(claims, dict) and claims.get("iss") == ISSUER


def _decoded(text: str) -> object:
    """The JSON in base64; None where there is none."""
    data = base64url.decoded(text)
    try:
        return orjson.loads(data) if data else None
    except orjson.JSONDecodeError:
        return None


def _listed(texts: Iterable[str]) -> str:
    return f"[{' '.join(go_quote(text) for text in texts)}]"
