"""Small parts of authentication: secrets, certificates, signatures, and who is remembered."""

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fakekube.apimachinery.http import UserInfo
from fakekube.auth import bootstraptokens, impersonation, signing
from fakekube.auth.authorizer import Access, AlwaysAllow
from fakekube.auth.clientcertificates import InvalidCertificate, user_of
from fakekube.util.certificates import FIRST, LAST, UID

NOW = 1767225600.0


@pytest.mark.parametrize(("value", "text"), [("YQ==", "a"), ("", ""), (None, ""), ("a", ""), ("/w==", "")])
def test_what_a_secret_says(value: Any, text: str) -> None:
    """Given the data of a secret / when it is no base64, or no text / then it says nothing."""
    assert bootstraptokens._text(value) == text


def certificate(*names: tuple[str, str]) -> bytes:
    """A certificate (DER) of a subject with these."""
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(x509.ObjectIdentifier(oid), text, _validate=bool(text)) for oid, text in names]
    name = x509.Name(attributes)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, FIRST, LAST)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


COMMON, ORGANIZATION = "2.5.4.3", "2.5.4.10"


def test_whose_a_certificate_is() -> None:
    """Given certificates / when they are read / then the last common name is the user's, one
    without is nobody's.
    """
    assert user_of(certificate((ORGANIZATION, "g")), NOW) is None
    found = user_of(certificate((COMMON, "a"), (ORGANIZATION, "g"), (ORGANIZATION, "h"), (COMMON, "b"), (UID, "u")), NOW)
    assert found is not None
    assert (found.name, found.groups, found.uid) == ("b", ("g", "h"), "u")
    with pytest.raises(InvalidCertificate, match=r"^x509: certificate has expired or is not yet valid$"):
        user_of(certificate((COMMON, "a")), LAST.timestamp() + 1)


@pytest.mark.parametrize(("uids", "said"), [
    (("u", "v"), "expected 1 UID, but found multiple: [u v]"), (("",), "UID cannot be an empty string"),
])
def test_a_certificate_has_one_uid(uids: tuple[str, ...], said: str) -> None:
    """Given a subject with two uids, or an empty one / when it is read / then it is refused."""
    with pytest.raises(InvalidCertificate) as error:
        user_of(certificate((COMMON, "a"), *((UID, uid) for uid in uids)), NOW)
    assert str(error.value) == said


def test_signatures_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given no package for key pairs / when something is signed / then by HMAC with the secret, and
    another signature, or another secret's, is none.
    """
    monkeypatch.setattr(signing, "find_spec", lambda _: None)
    signer, other = signing.signer_of(b"secret"), signing.signer_of(b"other")
    signature = base64.b16decode("F5AD51F4D9D8E1CB0F0E02C8C4A1A5D0" * 2)
    assert (signer.algorithm, signer.key_id, signer.jwk) == ("HS256", "fakekube", None)
    made = signer.sign(b"data")
    assert made.hex() == "1b2c16b75bd2a870c114153ccda5bcfca63314bc722fa160d690de133ccbb9db"
    assert [signer.is_signed(b"data", made), signer.is_signed(b"date", made), signer.is_signed(b"data", signature),
            other.is_signed(b"data", made)] == [True, False, False, False]


def test_only_so_many_callers_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given callers that act as others / when there are more than are remembered / then the latest
    are.
    """
    monkeypatch.setattr(impersonation, "CALLERS", 2)
    acting, wanted = impersonation.Impersonation(AlwaysAllow(), constrained=True), UserInfo("somebody")
    for name in ("a", "b", "a", "c"):
        _, verb = acting.act_as(UserInfo(name), wanted, Access("list", resource="pods"))
        assert verb == "impersonate:user-info"
    assert list(acting._last) == ["b", "c"]
