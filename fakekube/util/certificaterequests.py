"""What a request for a certificate (PKCS #10) says, and until when a certificate is valid.

Read by the package cryptography, of the extra ``tls``. Upstream: crypto/x509.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cryptography import x509


class RequestedNames(NamedTuple):
    """The subject of a request, and its alternative names by kind, as texts."""

    common_name: str
    organizations: tuple[str, ...]
    dns_names: tuple[str, ...] = ()
    email_addresses: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    uris: tuple[str, ...] = ()


def loaded(request: bytes) -> "x509.CertificateSigningRequest":
    """A request (PEM). Raises ValueError for what is none, ImportError where the package lacks."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    unreadable = (UnsupportedAlgorithm, x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)
    try:
        found = x509.load_pem_x509_csr(request)
        found.public_key()
        list(found.extensions)
        list(found.subject)
        found.is_signature_valid  # noqa: B018 - it may be of an algorithm that nobody knows
    except unreadable as error:
        raise ValueError(str(error)) from error
    return found


def names_in(request: bytes) -> RequestedNames:
    """Whom a request (PEM) is for. Raises as ``loaded``."""
    from cryptography import x509

    found = loaded(request)
    subject = found.subject
    common, organizations = (
        [str(each.value) for each in subject.get_attributes_for_oid(oid)]
        for oid in (x509.NameOID.COMMON_NAME, x509.NameOID.ORGANIZATION_NAME))
    alternative = [each.value for each in found.extensions if isinstance(each.value, x509.SubjectAlternativeName)]
    kinds = (x509.DNSName, x509.RFC822Name, x509.IPAddress, x509.UniformResourceIdentifier)
    listed = [tuple(str(name) for each in alternative for name in each.get_values_for_type(kind)) for kind in kinds]
    return RequestedNames(common[-1] if common else "", tuple(organizations), *listed)


def valid_until(certificate: bytes) -> float | None:
    """Until when a certificate (PEM) is valid, in Unix seconds; None for what cannot be read."""
    try:
        from cryptography import x509
    except ImportError:
        return None
    try:
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc.timestamp()
    except (ValueError, x509.InvalidVersion):
        return None
