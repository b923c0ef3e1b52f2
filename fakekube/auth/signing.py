"""What tokens of service accounts are signed with.

That is an RSA key pair (RS256), whose public half is served at ``/openid/v1/jwks``, where the
package cryptography is installed (extra ``tls``); else a secret that nobody else can check (HS256).
A token is checked by the one algorithm of its cluster, whatever its own header says. Upstream:
pkg/serviceaccount/jwt.go.
"""

import hashlib
import hmac
from importlib.util import find_spec
from typing import Protocol

from fakekube.apimachinery.types import Tree
from fakekube.util import base64url
from fakekube.util.memory import memoized
from fakekube.util.rsakeys import RSANumbers, rsa_numbers


class Signer(Protocol):
    """Signs, and knows its own signatures again. ``jwk`` is the public key, where there is one."""

    algorithm: str
    key_id: str
    jwk: Tree | None

    def sign(self, data: bytes) -> bytes:
        """The signature of ``data``."""

    def is_signed(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature is that of ``data``."""


@memoized(8)
def signer_of(secret: bytes) -> Signer:
    """The signer whose key follows from ``secret``."""
    return _RS256(rsa_numbers(secret)) if find_spec("cryptography") else _HS256(secret)


class _RS256:
    algorithm = "RS256"

    def __init__(self, numbers: RSANumbers) -> None:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        n, e, d, p, q = numbers
        self._key = rsa.RSAPrivateNumbers(
            p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), rsa.RSAPublicNumbers(e, n),
        ).private_key()
        self._public = self._key.public_key()
        encoded = self._public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.key_id = base64url.encoded(hashlib.sha256(encoded).digest())
        self.jwk: Tree | None = {
            "use": "sig", "kty": "RSA", "kid": self.key_id, "alg": self.algorithm, "n": _number(n), "e": _number(e)}

    def sign(self, data: bytes) -> bytes:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        return self._key.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def is_signed(self, data: bytes, signature: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        try:
            self._public.verify(signature, data, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return False
        return True


class _HS256:
    algorithm, key_id = "HS256", "fakekube"
    jwk: Tree | None = None

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sign(self, data: bytes) -> bytes:
        return hmac.digest(self._secret, data, "sha256")

    def is_signed(self, data: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(self.sign(data), signature)


def _number(number: int) -> str:
    return base64url.encoded(number.to_bytes((number.bit_length() + 7) // 8, "big"))
