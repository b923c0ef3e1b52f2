"""Who somebody is: static tokens, bootstrap tokens, certificates, nothing."""

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from fakekube.composition.options import OptionError
from fakekube.util.certificates import CertificateAuthority
from tests.authentication.conftest import Server

SECRETS = "/api/v1/namespaces/kube-system/secrets"


def der(pem: bytes) -> bytes:
    return x509.load_pem_x509_certificate(pem).public_bytes(serialization.Encoding.DER)


@pytest.mark.spec("API-168")
@pytest.mark.parametrize(("anonymous", "name"), [
    (None, "kubernetes-admin"), (True, "system:anonymous"), (False, None)])
async def test_nobody(anonymous: bool | None, name: str | None) -> None:
    """Given each value of anonymous_auth / when a request has no credentials / then it is the
    administrator's, the anonymous user's, or refused; a wrong token is refused with all of them.
    """
    server = Server(anonymous_auth=anonymous)
    user = await server.who()
    assert (user if name is None else user["username"]) == (name or 401)
    if anonymous:
        assert user["groups"] == ["system:unauthenticated"]
    assert await server.who("guess") == 401
    assert (await server.who(server.identity.token))["username"] == "kubernetes-admin"


async def test_an_address_that_others_reach() -> None:
    """Given a request by an address that other machines reach / when it has no credentials / then
    it is refused, as nobody else may be the administrator.
    """
    server = Server()
    assert await server.who(exposed=True) == 401
    assert (await server.who(server.identity.token, exposed=True))["username"] == "kubernetes-admin"
    assert await Server(anonymous_auth=True).who(exposed=True) == 401
    secured = await Server(authorization_mode="RBAC").send("GET", "/version", exposed=True)
    assert secured.status == 200


async def test_static_tokens(tmp_path: Path) -> None:
    """Given a file of tokens / when they are used / then they name their users and groups."""
    (tmp_path / "tokens").write_text('a,alice,1001,"devs,testers"\nb,bob,1002\n\n,nobody,1\nc,carol,,\n')
    server = Server(token_auth_file=str(tmp_path / "tokens"))
    assert await server.who("a") == {"username": "alice", "uid": "1001", "groups": ["devs", "testers", "system:authenticated"]}
    assert await server.who("b") == {"username": "bob", "uid": "1002", "groups": ["system:authenticated"]}
    assert await server.who("c") == {"username": "carol", "groups": ["system:authenticated"]}
    assert (await server.review("a"))["user"]["username"] == "alice"
    assert (await server.review("a", "other"))["error"] == "invalid bearer token"


@pytest.mark.parametrize(("text", "why"), [
    ("a,alice\n", r"must have at least 3 columns \(token, user name, user uid\), found 2"),
    ('a,"alice\n', "unexpected end of data"), ("\xff", "codec"), (None, "No such file")])
def test_files_that_cannot_be_used(tmp_path: Path, text: str | None, why: str) -> None:
    """Given a file that is none of tokens / when a cluster is to be made / then one sentence names
    the option and says why not.
    """
    if text is not None:
        (tmp_path / "tokens").write_bytes(text.encode("latin-1"))
    with pytest.raises(OptionError, match=rf"^token_auth_file: .*{why}"):
        Server(token_auth_file=str(tmp_path / "tokens"))


@pytest.mark.parametrize(("header", "status"), [
    ("Bearer  x", 200), ("Bearer", 200), ("Bearer ", 200), ("Basic YTpi", 200), ("x", 200), ("", 200), ("bearer x", 401),
    ("Bearer x y", 401), ("Bearer " + "x" * 500_000, 401)])
async def test_headers(header: str, status: int) -> None:
    """Given Authorization headers / when they hold no bearer token / then they are ignored."""
    assert (await Server().send("GET", "/api", headers={"authorization": header})).status == status


async def test_the_first_of_two_headers_counts() -> None:
    """Given two Authorization headers / when they come joined / then the first one counts."""
    server = Server()
    token = server.identity.token
    for headers, status in ((f"Bearer {token}, Bearer x", 200), (f"Bearer x, Bearer {token}", 401)):
        assert (await server.send("GET", "/api", headers={"authorization": headers})).status == status


def bootstrap(**changes: str) -> Any:
    data = {
        "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
        "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token", "expiration": "2999-01-01T00:00:00Z"}
    wanted = {name: value for name, value in {**data, **changes}.items() if value}
    return {
        "metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token",
        "data": {name: base64.b64encode(value.encode()).decode() for name, value in wanted.items()}}


async def test_bootstrap_tokens() -> None:
    """Given a Secret with a bootstrap token / when it is used / then it names a bootstrapper."""
    server = Server()
    assert (await server.send("POST", SECRETS, bootstrap())).status == 201
    assert await server.who("abcdef.0123456789abcdef") == {
        "username": "system:bootstrap:abcdef",
        "groups": ["system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token", "system:authenticated"]}
    assert await server.who("abcdef.0123456789abcdeg") == 401


@pytest.mark.parametrize("changes", [
    {"expiration": "2001-01-01T00:00:00Z"}, {"expiration": "soon"}, {"usage-bootstrap-authentication": "no"},
    {"token-id": "abcdeg"}, {"auth-extra-groups": "system:masters"}, {"auth-extra-groups": "system:bootstrappers:a,"},
    {"token-secret": ""}])
async def test_bootstrap_tokens_that_do_not_count(changes: dict[str, str]) -> None:
    """Given a Secret that has expired, is for something else or gives foreign groups / when its
    token is used / then 401.
    """
    server = Server()
    assert (await server.send("POST", SECRETS, bootstrap(**changes))).status == 201
    assert await server.who("abcdef.0123456789abcdef") == 401


async def test_client_certificates() -> None:
    """Given a client certificate / when a request comes with it / then the common name is the user,
    organizations are groups, and it goes before a token.
    """
    server, authority = Server(), CertificateAuthority(b"any")
    now = server.clock.time()
    shown = der(authority.client("ann", ["devs", "ops"], valid=(now - 10, now + 10), uid="u-1").certificate)
    user = await server.who(certificate=shown)
    assert (user["username"], user["uid"], user["groups"]) == ("ann", "u-1", ["devs", "ops", "system:authenticated"])
    [fingerprint] = user["extra"]["authentication.kubernetes.io/credential-id"]
    assert fingerprint.startswith("X509SHA256=")
    assert (await server.who(server.identity.token, certificate=shown))["username"] == "ann"


async def test_certificates_that_do_not_count() -> None:
    """Given a certificate that has expired, or is not valid yet / when it comes alone / then 401,
    by the cluster's clock; beside a good token the token counts.
    """
    server, authority = Server(), CertificateAuthority(b"any")
    now = server.clock.time()
    for valid in ((now - 20, now - 10), (now + 10, now + 20)):
        shown = der(authority.client("ann", valid=valid).certificate)
        assert await server.who(certificate=shown) == 401
        assert (await server.who(server.identity.token, certificate=shown))["username"] == "kubernetes-admin"
    assert await server.who(certificate=b"garbage") == 401
