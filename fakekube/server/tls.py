"""TLS as the API server speaks it: its certificate, and the authorities whose clients it knows.

A client may show a certificate or not. One that no known authority signed ends the handshake, where
kube-apiserver would answer 401: the ssl module takes either no certificate or one that it can
verify. Whether it is valid by now is not asked here, since the cluster has a clock of its own.
HTTP/2 is not offered. Upstream: apiserver/pkg/server/options/serving.go.
"""

import ssl
from collections.abc import Iterable
from tempfile import NamedTemporaryFile

from fakekube.util.certificates import CertificateAuthority

PROTOCOLS = ("http/1.1",)
NO_CHECK_TIME = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which the ssl module has no name for."""


def server_context(authority: CertificateAuthority, names: Iterable[str], client_authorities: str) -> ssl.SSLContext:
    """What a server that is known by ``names`` needs to speak TLS.

    ``client_authorities`` are certificates in PEM. Raises ValueError for what is none.
    """
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=client_authorities)
    except ssl.SSLError as error:
        raise ValueError(str(error)) from error
    context.verify_mode = ssl.CERT_OPTIONAL
    context.verify_flags |= NO_CHECK_TIME
    context.set_alpn_protocols(list(PROTOCOLS))
    signed = authority.server(names)
    with NamedTemporaryFile(suffix=".pem") as file:  # the ssl module reads a key from files only
        file.write(signed.key + signed.certificate)
        file.flush()
        context.load_cert_chain(file.name)
    return context
