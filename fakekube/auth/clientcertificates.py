"""Who shows a client certificate: the common name is the user, organizations are its groups.

Who speaks TLS has checked by then that a known authority signed it, and for clients. Upstream:
apiserver/pkg/authentication/request/x509.
"""

import hashlib
from typing import NamedTuple

from fakekube.apimachinery.http import UserInfo
from fakekube.auth.tokens import CREDENTIAL_ID
from fakekube.util.certificates import UID
from fakekube.util.memory import memoized


class InvalidCertificate(Exception):
    """A certificate that does not count; the text says why."""


class Holder(NamedTuple):
    """The user of a certificate, and from when to when it is valid, in Unix seconds."""

    user: UserInfo
    begin: float
    end: float


def user_of(certificate: bytes, now: float) -> UserInfo | None:
    """The user of a certificate (DER); None for one without a common name.

    ``now`` is in Unix seconds. Raises InvalidCertificate.
    """
    holder = _holder(certificate)
    if not holder.user.name:
        return None
    if not holder.begin <= now <= holder.end:
        raise InvalidCertificate("x509: certificate has expired or is not yet valid")
    return holder.user


@memoized(256, longest=16 * 1024)
def _holder(certificate: bytes) -> Holder:
    from cryptography import x509

    try:
        parsed = x509.load_der_x509_certificate(certificate)
        subject = parsed.subject
        names, groups, uids = (
            [str(each.value) for each in subject.get_attributes_for_oid(x509.ObjectIdentifier(oid))]
            for oid in (x509.NameOID.COMMON_NAME.dotted_string, x509.NameOID.ORGANIZATION_NAME.dotted_string, UID))
        begin, end = parsed.not_valid_before_utc.timestamp(), parsed.not_valid_after_utc.timestamp()
    except (ValueError, OverflowError, x509.InvalidVersion) as error:
        raise InvalidCertificate(str(error)) from error
    if len(uids) > 1:
        raise InvalidCertificate(f"expected 1 UID, but found multiple: [{' '.join(uids)}]")
    if uids == [""]:
        raise InvalidCertificate("UID cannot be an empty string")
    extra = {CREDENTIAL_ID: (f"X509SHA256={hashlib.sha256(certificate).hexdigest()}",)}
    return Holder(UserInfo(names[-1] if names else "", tuple(groups), uids[0] if uids else "", extra), begin, end)
