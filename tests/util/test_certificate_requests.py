"""What requests for certificates say, and what the authority makes of them."""

from datetime import UTC, datetime
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fakekube.util import certificates
from fakekube.util.certificaterequests import RequestedNames, loaded, names_in, valid_until
from fakekube.util.certificates import CLIENT, LAST, CertificateAuthority, Usages

ONE_HOUR = (1767225600.0, 1767229200.0)
ALTERNATIVE = x509.SubjectAlternativeName([
    x509.DNSName("a.example"), x509.DNSName("b.example"), x509.RFC822Name("m@example"), x509.IPAddress(ip_address("10.0.0.1")),
    x509.UniformResourceIdentifier("spiffe://a")])


def subject(*names: tuple[x509.ObjectIdentifier, str]) -> x509.Name:
    """A subject of these."""
    return x509.Name([x509.NameAttribute(oid, text) for oid, text in names])


def request(name: x509.Name, *more: x509.ExtensionType) -> tuple[bytes, ec.EllipticCurvePrivateKey]:
    """A request in PEM, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateSigningRequestBuilder().subject_name(name)
    for each in more:
        builder = builder.add_extension(each, critical=True)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM), key


COMMON, ORGANIZATION = x509.NameOID.COMMON_NAME, x509.NameOID.ORGANIZATION_NAME
NODE = subject((ORGANIZATION, "system:nodes"), (ORGANIZATION, "more"), (COMMON, "first"), (COMMON, "system:node:a"))


def test_whom_a_request_is_for() -> None:
    """Given requests with all kinds of names, and with none / when they are read / then the last
    common name counts, and each kind of alternative name is told apart.
    """
    assert names_in(request(NODE, ALTERNATIVE)[0]) == RequestedNames(
        "system:node:a", ("system:nodes", "more"), ("a.example", "b.example"), ("m@example",), ("10.0.0.1",), ("spiffe://a",))
    assert names_in(request(subject())[0]) == RequestedNames("", ())


@pytest.mark.parametrize("body", [
    b"", b"no PEM", b"-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"])
def test_what_is_no_request(body: bytes) -> None:
    """Given bytes that are no request / when they are read / then a ValueError says so."""
    with pytest.raises(ValueError, match=r"."):
        loaded(body)


def test_a_request_that_nobody_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a request with something that the package does not know / when it is read / then it is
    a ValueError with the package's words.
    """
    def unreadable(_: bytes) -> None:
        raise x509.InvalidVersion("7 is not a valid CSR version", 7)

    monkeypatch.setattr(x509, "load_pem_x509_csr", unreadable)
    with pytest.raises(ValueError, match=r"^7 is not a valid CSR version$"):
        names_in(b"")


def test_until_when_a_certificate_is_valid() -> None:
    """Given certificates, and what is none / when they are asked / then the end of the hour is
    told, or nothing.
    """
    authority = CertificateAuthority(b"secret")
    assert valid_until(authority.client("a", valid=ONE_HOUR).certificate) == ONE_HOUR[1]
    assert valid_until(authority.certificate.encode()) == LAST.timestamp()
    assert (valid_until(b""), valid_until(b"no PEM")) == (None, None)


def test_a_request_is_signed_with_its_own_names_and_our_usages() -> None:
    """Given a request / when it is signed / then subject, key and alternative names are its own,
    usages and times ours; and the same again for the same.
    """
    authority, (asked, key) = CertificateAuthority(b"secret"), request(NODE, ALTERNATIVE)
    text = authority.sign(asked, CLIENT, valid=ONE_HOUR)
    assert text == CertificateAuthority(b"secret").sign(asked, CLIENT, valid=ONE_HOUR)
    found = x509.load_pem_x509_certificate(text.encode())
    assert (found.subject, found.public_key()) == (NODE, key.public_key())
    assert found.issuer == subject((COMMON, "kubernetes"))
    assert [at.timestamp() for at in (found.not_valid_before_utc, found.not_valid_after_utc)] == list(ONE_HOUR)
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert (names.value, names.critical) == (ALTERNATIVE, True)
    extended = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    assert [each.dotted_string for each in extended.value] == ["1.3.6.1.5.5.7.3.2"]
    basic = found.extensions.get_extension_for_class(x509.BasicConstraints)
    assert (basic.value.ca, basic.critical) == (False, True)
    found.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.certificate.encode()))


def test_no_certificate_outlives_the_authority() -> None:
    """Given a request for longer than the authority lasts, and for nothing / when it is signed /
    then it ends with that, and there is no extension for usages.
    """
    late = datetime(3500, 1, 1, tzinfo=UTC).timestamp()
    text = CertificateAuthority(b"secret").sign(request(NODE)[0], Usages((), ()), valid=(ONE_HOUR[0], late))
    found = x509.load_pem_x509_certificate(text.encode())
    assert found.not_valid_after_utc == LAST
    assert sorted(type(each.value).__name__ for each in found.extensions) == ["AuthorityKeyIdentifier", "BasicConstraints"]


def test_a_request_that_somebody_changed_is_not_signed() -> None:
    """Given a request whose signature is another's / when it is to be signed / then it is refused.
    """
    der = x509.load_pem_x509_csr(request(subject((COMMON, "somebody")))[0]).public_bytes(serialization.Encoding.DER)
    changed = x509.load_der_x509_csr(der.replace(b"somebody", b"somewhat")).public_bytes(serialization.Encoding.PEM)
    with pytest.raises(ValueError, match=r"^the signature of the request does not fit its key$"):
        CertificateAuthority(b"secret").sign(changed, CLIENT, valid=ONE_HOUR)


def test_names_of_certificates_have_a_length() -> None:
    """Given names of a user and its groups / when one has none or too many letters / then it is
    refused; a uid is an attribute of its own.
    """
    authority = CertificateAuthority(b"secret")
    for user, groups, wrong in (("", (), ""), ("u" * 65, (), "u" * 65), ("u", ("g", ""), "")):
        with pytest.raises(ValueError, match=r".") as error:
            authority.client(user, groups, valid=ONE_HOUR)
        assert str(error.value) == f"{wrong!r}: a name in a certificate has 1 to 64 characters"
    signed = authority.client("u" * 64, ("g",), valid=ONE_HOUR, uid="id")
    found = x509.load_pem_x509_certificate(signed.certificate).subject
    assert [(each.oid.dotted_string, each.value) for each in found] == [
        ("2.5.4.10", "g"), ("2.5.4.3", "u" * 64), ("1.3.6.1.4.1.57683.2", "id")]


def test_whether_the_packages_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a package that is not installed / when it is asked / then certificates are not
    available.
    """
    assert certificates.is_available()

    def lacking(name: str) -> None:
        if name == "trustme":
            raise ImportError(name)

    monkeypatch.setattr(certificates, "import_module", lacking)
    assert not certificates.is_available()
