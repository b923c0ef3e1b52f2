"""Who sends a request: by a client certificate, a bearer token, or nothing at all.

A certificate goes before a token, and one that does not count leaves the say to the token. A token
that does not count is 401 even where who asks without one is let in. Upstream:
pkg/kubeapiserver/authenticator/config.go and apiserver/pkg/authentication/request. Left out: OIDC,
webhooks, an authenticating proxy, the cache of tokens.
"""

import base64
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from fakekube.apimachinery import errors
from fakekube.apimachinery.http import Request, UserInfo
from fakekube.auth import bootstraptokens
from fakekube.auth.authorizer import ANONYMOUS
from fakekube.auth.impersonation import AUTHENTICATED, UNAUTHENTICATED
from fakekube.auth.tokens import ISSUER, InvalidToken, Lookup, Token, Tokens
from fakekube.util.clock import Clock

ADMIN = UserInfo("kubernetes-admin", ("system:masters", AUTHENTICATED))
BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io."
EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored"
INVALID = "invalid bearer token"
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


class Credentials(NamedTuple):
    """Whom a server knows from the beginning, by ``tokens``.

    ``secret`` is what it makes keys of. ``nobody`` is who asks without credentials; None is
    refused. ``is_open`` says that everybody may do everything: then nobody is let in by an address
    that other machines reach.
    """

    tokens: Mapping[str, UserInfo] = MappingProxyType({})
    secret: bytes = b""
    nobody: UserInfo | None = ADMIN
    is_open: bool = True


class Authenticator:
    """Authenticates requests, and says whom a token names.

    A request that carries its user already comes from the same process and is trusted.
    """

    def __init__(self, credentials: Credentials, tokens: Tokens, lookup: Lookup, clock: Clock) -> None:
        self._known = {token: _authenticated(user) for token, user in credentials.tokens.items()}
        self.tokens, self._nobody, self._is_open = tokens, credentials.nobody, credentials.is_open
        self._lookup, self._clock = lookup, clock

    def know(self, token: str, user: UserInfo) -> None:
        """Let a token name somebody from now on."""
        self._known[token] = _authenticated(user)

    def forget(self, token: str) -> None:
        """Let a token name nobody any more; harmless when it did not."""
        self._known.pop(token, None)

    def check_token(self, token: str, audiences: tuple[str, ...] = (ISSUER,)) -> Token:
        """The user of a token: one of those given, a service account, a bootstrap token.

        Raises InvalidToken, which says why as a TokenReview does.
        """
        agnostic = tuple(audience for audience in audiences if audience == ISSUER)
        user = self._known.get(token) if agnostic else None
        if user is not None:
            return Token(user, agnostic)
        why = INVALID
        try:
            if (found := self.tokens.verify(token, audiences)) is not None:
                return found
        except InvalidToken as error:
            why = str(error) if str(error) == INVALID else f"[{INVALID}, {error}]"
        if agnostic and (user := bootstraptokens.user_of(token, self._lookup, self._clock.time())) is not None:
            return Token(_authenticated(user), agnostic)
        raise InvalidToken(why)

    def authenticate(self, request: Request, warnings: list[str]) -> UserInfo:
        """The user. Raises 401 for credentials that do not count, and for none where that counts.
        """
        if request.user is not None:
            return request.user
        has_failed = False
        if request.certificate:
            from fakekube.auth.clientcertificates import InvalidCertificate, user_of

            try:
                user = user_of(request.certificate, self._clock.time())
            except InvalidCertificate:
                has_failed, user = True, None
            if user is not None:
                return _authenticated(user)
        token = _bearer(request.headers.get("authorization", ""), warnings) or token_of_websocket(request)
        if token:
            try:
                return self.check_token(token).user
            except InvalidToken:
                raise errors.unauthorized() from None
        if has_failed or self._nobody is None or (request.exposed and self._is_open):
            raise errors.unauthorized()
        return self._nobody


def _authenticated(user: UserInfo) -> UserInfo:
    if user.name == ANONYMOUS.name or AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return user._replace(groups=(*user.groups, AUTHENTICATED))


def _bearer(header: str, warnings: list[str]) -> str:
    """The token in an Authorization header; empty for none, and for another scheme.

    Of several headers, which are joined by commas, the first counts.
    """
    if not header:
        return ""
    parts = header.partition(", ")[0].strip().split(" ", 2)
    if len(parts) < 2 or parts[0].lower() != "bearer":
        return ""
    if not parts[1] and len(parts) == 3:
        warnings.append(EXTRA_SPACE)
    return parts[1]


def token_of_websocket(request: Request) -> str:
    """The token that a browser could not send in a header, from the sub-protocols that it could.

    Raises 401 when there are several tokens, when one is no text in base64, and when no
    sub-protocol is left to choose.
    """
    offered = request.headers.get("sec-websocket-protocol", "")
    if BEARER_PROTOCOL not in offered or request.headers.get("upgrade", "").lower() != "websocket":
        return ""
    protocols = [text for protocol in offered.split(",") if (text := protocol.strip())]
    given = [text.removeprefix(BEARER_PROTOCOL) for text in protocols if text.startswith(BEARER_PROTOCOL)]
    encoded = given[0]
    if len(given) > 1 or not _BASE64URL.fullmatch(encoded) or len(encoded) % 4 == 1:
        raise errors.unauthorized()
    try:
        token = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except UnicodeDecodeError:
        raise errors.unauthorized() from None
    if token and len(protocols) == 1:
        raise errors.unauthorized()
    return token
