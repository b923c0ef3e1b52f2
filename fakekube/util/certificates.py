"""A certificate authority in memory: certificates for servers, for clients, and for who asks.

Its key follows from a secret, so that one secret gives one authority; who knows the secret can sign
in its name. The package cryptography signs, trustme makes the certificates of servers; both come
with the extra ``tls`` and are imported when the first authority is made. Upstream: kubeadm's
certs package, and k8s.io/kubernetes/pkg/controller/certificates/authority. Left out: intermediate
authorities, revocation.
"""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

MISSING = "certificates need the packages of the extra tls: pip install 'fakekube[tls]'"
COMMON_NAME = "kubernetes"
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""How many keys the curve P-256 has (FIPS 186-4, D.1.2.3)."""
FIRST, LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2999, 12, 31, tzinfo=UTC)
"""What the authority itself and its servers are valid for, so that no clock matters to them."""
UID = "1.3.6.1.4.1.57683.2"
"""The attribute of a subject that holds a user's uid."""
MAX_NAME_CHARACTERS = 64


class Signed(NamedTuple):
    """A certificate and its key, both in PEM."""

    certificate: bytes
    key: bytes


class Usages(NamedTuple):
    """What a certificate is good for: names of cryptography's KeyUsage, and OIDs of extended ones.
    """

    key: tuple[str, ...]
    extended: tuple[str, ...]


CLIENT = Usages(("digital_signature", "key_encipherment"), ("1.3.6.1.5.5.7.3.2",))
KEY_USAGES = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "key_cert_sign",
    "crl_sign", "encipher_only", "decipher_only")


def is_available() -> bool:
    """Whether the packages are installed."""
    try:
        import_module("cryptography.x509")
        import_module("trustme")
    except ImportError:
        return False
    return True


class CertificateAuthority:
    """One authority; ``certificate`` is its own in PEM. Raises ImportError where packages lack."""

    def __init__(self, secret: bytes) -> None:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        number = int.from_bytes(hashlib.sha512(b"certificate authority" + secret).digest(), "big") % (ORDER - 1) + 1
        self._key: EllipticCurvePrivateKey = ec.derive_private_key(number, ec.SECP256R1())
        self._own = self._sign_itself()
        self.certificate = self._own.public_bytes(serialization.Encoding.PEM).decode()

    def _sign_itself(self) -> "x509.Certificate":
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes

        name, public = _name(COMMON_NAME, ()), self._key.public_key()
        identifier = x509.SubjectKeyIdentifier.from_public_key(public)
        builder = (
            x509.CertificateBuilder(subject_name=name, issuer_name=name, public_key=public)
            .serial_number(_serial(identifier.digest)).not_valid_before(FIRST).not_valid_after(LAST)
            .add_extension(_key_usage(("digital_signature", "key_cert_sign", "crl_sign")), critical=True)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(identifier, critical=False))
        return builder.sign(self._key, hashes.SHA256(), ecdsa_deterministic=True)

    def server(self, names: Iterable[str]) -> Signed:
        """A certificate for a server that is known by these names and IP addresses."""
        import trustme

        authority = trustme.CA.from_pem(self.certificate.encode(), _key_in_pem(self._key))
        leaf = authority.issue_cert(*names, common_name="kube-apiserver", not_before=FIRST, not_after=LAST)
        return Signed(b"".join(pem.bytes() for pem in leaf.cert_chain_pems), leaf.private_key_pem.bytes())

    def client(self, user: str, groups: Iterable[str] = (), *, valid: tuple[float, float], uid: str = "") -> Signed:
        """A certificate for a user: the common name; its groups are the organizations.

        ``valid`` are the first and the last of its Unix seconds. Raises ValueError for a name that
        no certificate can hold.
        """
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._issue(_name(user, groups, uid), key.public_key(), CLIENT, valid, b"")
        return Signed(certificate.encode(), _key_in_pem(key))

    def sign(self, request: bytes, usages: Usages, *, valid: tuple[float, float]) -> str:
        """The certificate, in PEM, that a request (PKCS #10, PEM) asks for.

        Subject, key and alternative names are the request's; usages and times are not, and no
        certificate outlives the authority's own. Raises ValueError for a request that is none, or
        whose signature does not fit its key.
        """
        from cryptography import x509

        from fakekube.util.certificaterequests import loaded

        asked = loaded(request)
        if not asked.is_signature_valid:
            raise ValueError("the signature of the request does not fit its key")
        names = [(each.value, each.critical) for each in asked.extensions if isinstance(each.value, x509.SubjectAlternativeName)]
        return self._issue(
            asked.subject, asked.public_key(), usages, (valid[0], min(valid[1], LAST.timestamp())), request, names)

    def _issue(
        self, subject: "x509.Name", public: object, usages: Usages, valid: tuple[float, float], salt: bytes,
        more: "Iterable[tuple[x509.ExtensionType, bool]]" = (),
    ) -> str:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization

        begin, end = (datetime.fromtimestamp(int(seconds), UTC) for seconds in valid)
        spki = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined]
        builder = (
            x509.CertificateBuilder(subject_name=subject, issuer_name=self._own.subject, public_key=public)  # type: ignore[arg-type]
            .serial_number(_serial(spki + salt + repr(valid).encode())).not_valid_before(begin).not_valid_after(end))
        if usages.key:  # an empty one would be good for nothing
            builder = builder.add_extension(_key_usage(usages.key), critical=True)
        if usages.extended:
            builder = builder.add_extension(
                x509.ExtendedKeyUsage([x509.ObjectIdentifier(oid) for oid in usages.extended]), critical=False)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        for value, critical in more:
            builder = builder.add_extension(value, critical=critical)
        signed = builder.sign(self._key, hashes.SHA256(), ecdsa_deterministic=True)
        return signed.public_bytes(serialization.Encoding.PEM).decode()


def _name(common_name: str, organizations: Iterable[str], uid: str = "") -> "x509.Name":
    from cryptography import x509

    for text in (common_name, *organizations):
        if not 0 < len(text) <= MAX_NAME_CHARACTERS:
            raise ValueError(f"{text!r}: a name in a certificate has 1 to {MAX_NAME_CHARACTERS} characters")
    found = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, each) for each in organizations]
    found.append(x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name))
    if uid:
        found.append(x509.NameAttribute(x509.ObjectIdentifier(UID), uid))
    return x509.Name(found)


def _key_usage(names: Iterable[str]) -> "x509.KeyUsage":
    from cryptography import x509

    chosen = dict.fromkeys(KEY_USAGES, False) | dict.fromkeys(names, True)
    return x509.KeyUsage(**chosen)


def _serial(data: bytes) -> int:
    """A positive number of 127 bits that follows from what is signed."""
    return int.from_bytes(hashlib.sha256(data).digest()[:16], "big") >> 1 | 1


def _key_in_pem(key: "EllipticCurvePrivateKey") -> bytes:
    from cryptography.hazmat.primitives import serialization

    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
