"""What signers have against requests, when requests go, and what certificates are for."""

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.util.certificaterequests import RequestedNames
from fakekube_controllers.certificates import requests
from fakekube_controllers.certificates.cleaner import ends
from fakekube_controllers.certificates.signing import usages_of

SIGNS, ENCIPHERS, CLIENT, SERVER = "digital signature", "key encipherment", "client auth", "server auth"


def asked(
    name: str = "system:node:n",
    organizations: tuple[str, ...] = ("system:nodes",),
    *,
    dns: tuple[str, ...] = (),
    email: tuple[str, ...] = (),
    ip: tuple[str, ...] = (),
    uri: tuple[str, ...] = (),
) -> RequestedNames:
    return RequestedNames(
        common_name=name, organizations=organizations, dns_names=dns, email_addresses=email, ip_addresses=ip, uris=uri
    )


@pytest.mark.parametrize(
    ("usages", "complaint"),
    [
        ([CLIENT], ""),
        ([SIGNS, ENCIPHERS, CLIENT], ""),
        ([], "missing required usage for client certificate: client auth"),
        ([SIGNS], "missing required usage for client certificate: client auth"),
        ([CLIENT, SERVER], "invalid usage for client certificate: server auth"),
    ],
)
def test_usages_of_clients(usages: list[str], complaint: str) -> None:
    """Given usages / then a client's certificate is for clients, and for little else."""
    assert requests.client_complaint(usages) == complaint


ORGANIZATION = "subject organization is not system:nodes"
COMMON_NAME = "subject common name does not begin with system:node:"


@pytest.mark.parametrize(
    ("names", "usages", "complaint"),
    [
        (asked(), [SIGNS, CLIENT], ""),
        (asked(), [SIGNS, ENCIPHERS, CLIENT], ""),
        (asked(), [CLIENT, SIGNS, CLIENT], ""),
        (asked(organizations=()), [SIGNS, CLIENT], ORGANIZATION),
        (asked(organizations=("system:nodes", "x")), [SIGNS, CLIENT], ORGANIZATION),
        (asked(dns=("d",)), [SIGNS, CLIENT], "DNS subjectAltNames are not allowed"),
        (asked(email=("e",)), [SIGNS, CLIENT], "Email subjectAltNames are not allowed"),
        (asked(ip=("10.0.0.1",)), [SIGNS, CLIENT], "IP subjectAltNames are not allowed"),
        (asked(uri=("u:u",)), [SIGNS, CLIENT], "URI subjectAltNames are not allowed"),
        (asked("node:n"), [SIGNS, CLIENT], COMMON_NAME),
        (asked(), [SIGNS], "usages did not match [client auth digital signature key encipherment]"),
        (asked(), [SIGNS, CLIENT, SERVER], "usages did not match [client auth digital signature key encipherment]"),
        (asked(), [], "usages did not match [client auth digital signature key encipherment]"),
    ],
)
def test_client_certificates_of_kubelets(names: RequestedNames, usages: list[str], complaint: str) -> None:
    """Given names and usages / then a kubelet's client certificate has a node's name and group, no
    other names, and a client's usages.
    """
    assert requests.kubelet_client_complaint(names, usages) == complaint


@pytest.mark.parametrize(
    ("names", "usages", "complaint"),
    [
        (asked(dns=("d",)), [SIGNS, SERVER], ""),
        (asked(ip=("10.0.0.1",)), [SIGNS, ENCIPHERS, SERVER], ""),
        (asked(), [SIGNS, SERVER], "DNS or IP subjectAltName is required"),
        (asked(organizations=("x",), dns=("d",)), [SIGNS, SERVER], ORGANIZATION),
        (asked(dns=("d",), email=("e",)), [SIGNS, SERVER], "Email subjectAltNames are not allowed"),
        (asked(dns=("d",), uri=("u:u",)), [SIGNS, SERVER], "URI subjectAltNames are not allowed"),
        (asked("n", dns=("d",)), [SIGNS, SERVER], COMMON_NAME),
        (asked("n", dns=("d",)), [SIGNS, CLIENT], "usages did not match [digital signature key encipherment server auth]"),
    ],
)
def test_serving_certificates_of_kubelets(names: RequestedNames, usages: list[str], complaint: str) -> None:
    """Given names and usages / then a kubelet's serving certificate has an address or a DNS name
    besides, and a server's usages.
    """
    assert requests.kubelet_serving_complaint(names, usages) == complaint


def test_what_certificates_are_for() -> None:
    """Given every usage there is / then these key usages in their order, and these identifiers, the
    same one once.
    """
    keys = (
        "signing",
        SIGNS,
        "content commitment",
        ENCIPHERS,
        "key agreement",
        "data encipherment",
        "cert sign",
        "crl sign",
        "encipher only",
        "decipher only",
    )
    extended = (
        "any",
        SERVER,
        CLIENT,
        "code signing",
        "email protection",
        "s/mime",
        "ipsec end system",
        "ipsec tunnel",
        "ipsec user",
        "timestamping",
        "ocsp signing",
        "microsoft sgc",
        "netscape sgc",
    )
    found = usages_of([*extended[::-1], *keys, "other"])
    assert found[0] == (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "key_agreement",
        "data_encipherment",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    )
    assert found[1] == (
        "2.5.29.37.0",
        *(f"1.3.6.1.5.5.7.3.{number}" for number in range(1, 10)),
        "1.3.6.1.4.1.311.10.3.3",
        "2.16.840.1.113730.4.1",
    )
    assert usages_of(["s/mime"])[1] == usages_of(["email protection"])[1] == ("1.3.6.1.5.5.7.3.4",)
    assert [usages_of([name])[1][0].rpartition(".")[2] for name in extended[6:11]] == ["5", "6", "7", "8", "9"]
    assert [usages_of([name])[0] for name in ("key agreement", "crl sign", "signing", "any")] == [
        ("key_agreement",),
        ("crl_sign",),
        ("digital_signature",),
        (),
    ]


def request(*kinds: str, certificate: str = "", at: str = "1970-01-01T00:01:40Z") -> Tree:
    conditions = [{"type": kind, "status": "True", "lastUpdateTime": at} for kind in kinds]
    status: Tree = {"conditions": conditions} | ({"certificate": certificate} if certificate else {})
    return {"metadata": {"name": "r", "creationTimestamp": "1970-01-01T00:00:10Z"}, "spec": {}, "status": status}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (request(), [86410.0]),
        (request("Denied"), [3700.0]),
        (request("Failed"), [3700.0]),
        (request("Approved"), [86500.0]),
        (request("Approved", certificate="eA=="), [3700.0]),
        (request("Approved", "Failed"), [3700.0, 86500.0]),
        (request("Other"), []),
        ({"metadata": {"creationTimestamp": "1970-01-01T00:00:10Z"}}, [86410.0]),
        ({"metadata": {}, "status": {"conditions": [{"type": "Denied"}]}}, []),
    ],
)
def test_when_requests_go(found: Tree, expected: list[float]) -> None:
    """Given requests / then those that are decided go an hour after that, others after a day."""
    assert list(ends(found)) == expected


def test_conditions_of_requests() -> None:
    """Given conditions / then those of a type are found, be they true or not."""
    found: Tree = {
        "status": {"conditions": [{"type": "A", "status": "False"}, {"type": "A", "status": "Unknown"}, {"status": "True"}]}
    }
    assert requests.conditions(found, "A") == found["status"]["conditions"][:2]
    assert (requests.has(found, "A"), requests.has(request("A"), "A"), requests.has({}, "A")) == (False, True, False)
    assert (requests.is_issued(request()), requests.is_issued(request(certificate="x")), requests.is_issued({})) == (
        False,
        True,
        False,
    )
    assert (requests.pem_of({"spec": {"request": "eHk="}}), requests.pem_of({"spec": {}})) == (b"xy", b"")
