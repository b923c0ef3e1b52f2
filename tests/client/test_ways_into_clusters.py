"""How a kubeconfig or a pod's service account leads over TLS to a server, and as whom."""

import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import trustme
from aiohttp import web

from fakekube.apimachinery.types import Json
from fakekube.client import kubeconfig
from fakekube.client.client import Client
from fakekube.client.http import HTTP
from fakekube.client.kubeconfig import ConfigError, client_of, load_client
from fakekube.client.transport import TransportError

AUTHORITY = trustme.CA()
PEM = AUTHORITY.cert_pem.bytes()
LEAF = AUTHORITY.issue_cert("me.example.com", common_name="me")
CERTIFICATE, KEY = LEAF.cert_chain_pems[0].bytes(), LEAF.private_key_pem.bytes()
CREDENTIALS = {
    "client-certificate-data": b64encode(CERTIFICATE).decode(), "client-key-data": b64encode(KEY).decode()}


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """A server that says who asks: the name in the client's certificate, and what it sends."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=PEM.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        certificate = request.transport.get_extra_info("peercert") or {}
        names = [value for part in certificate.get("subject", ()) for name, value in part if name == "commonName"]
        return web.json_response([*names, request.headers.get("Authorization"), request.headers["User-Agent"]])

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


def config(cluster: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    return {
        "current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u", "namespace": "ns"}}],
        "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}]}


async def said(client: Client) -> Json:
    try:
        answer: Json = orjson.loads((await client.request("GET", "/who")).body)
        return answer
    finally:
        await client.close()


@pytest.mark.parametrize(("trust", "user", "who"), [
    ({"certificate-authority-data": b64encode(PEM).decode()}, {"token": "t"}, ["Bearer t", "me/1"]),
    ({"certificate-authority": "ca.pem"}, {"tokenFile": "token"}, ["Bearer of a file", "me/1"]),
    ({"certificate-authority": "ca.pem"}, {"username": "n", "password": "p"}, ["Basic bjpw", "me/1"]),
    ({"certificate-authority": "ca.pem"}, {"username": "n"}, ["Basic bjo=", "me/1"]),
    ({"insecure-skip-tls-verify": True}, {}, [None, "me/1"]),
    ({"insecure-skip-tls-verify": True}, CREDENTIALS, ["me", None, "me/1"]),
    ({"certificate-authority": "ca.pem"}, {"client-certificate": "c.pem", "client-key": "k.pem"}, ["me", None, "me/1"]),
    # what the kubeconfig has itself is before what it names
    ({"certificate-authority": "none", "certificate-authority-data": b64encode(PEM).decode()},
     {**CREDENTIALS, "client-certificate": "none", "client-key": "none"}, ["me", None, "me/1"]),
    # half a pair is none
    ({"certificate-authority": "ca.pem"}, {"client-certificate": "c.pem"}, [None, "me/1"]),
    ({"certificate-authority": "ca.pem"}, {"client-key": "k.pem"}, [None, "me/1"]),
])
async def test_credentials(
    url: str, tmp_path: Path, trust: dict[str, Any], user: dict[str, Any], who: list[str | None],
) -> None:
    """Given a kubeconfig whose cluster and user have files, or their content / when its client asks
    / then the server is trusted, and knows who asks.
    """
    for name, content in (("ca.pem", PEM), ("c.pem", CERTIFICATE), ("k.pem", KEY), ("token", b" of a file\n")):
        (tmp_path / name).write_bytes(content)
    client = client_of(config({"server": url, **trust}, user), "here", folder=tmp_path, user_agent="me/1")
    assert client.namespace == "ns"
    assert await said(client) == who


async def test_servers_of_others_are_not_trusted(url: str) -> None:
    """Given a kubeconfig that trusts no authority, or another one / when its client asks / then
    there is no answer.
    """
    other = b64encode(trustme.CA().cert_pem.bytes()).decode()
    for trust in ({}, {"certificate-authority-data": other}):
        with pytest.raises(TransportError) as failed:
            await said(client_of(config({"server": url, **trust}, {}), "here"))
        assert str(failed.value).startswith(f"GET {url}/who: Cannot connect to host 127.0.0.1:")
        assert "certificate verify failed" in str(failed.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Given a kubeconfig that names a file which is not there / when it is read / then that is said
    of the kubeconfig.
    """
    wanted = config({"server": "https://x", "certificate-authority": "ca.pem"}, {})
    with pytest.raises(ConfigError) as refused:
        client_of(wanted, "here", folder=tmp_path)
    assert str(refused.value) == f"here: [Errno 2] No such file or directory: '{tmp_path / 'ca.pem'}'"


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a service account, where a client in a pod looks; there is no kubeconfig."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT_FOLDER", tmp_path)
    for name, content in (("ca.crt", PEM), ("token", b"t\n"), ("namespace", b"mine\n")):
        (tmp_path / name).write_bytes(content)
    return tmp_path


async def test_in_a_pod(url: str, pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the files and the environment of a pod, and no kubeconfig / when a client is made /
    then it asks the server of the environment with the token, in the pod's namespace.
    """
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", url.rpartition(":")[2])
    client = load_client(user_agent="me/1")
    assert client.namespace == "mine"
    assert await said(client) == ["Bearer t", "me/1"]


def test_a_pod_whose_server_has_an_address_of_ipv6(pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server at an address of IPv6 / when a client is made in a pod / then the URL has it
    in brackets.
    """
    made: list[str] = []

    class Seen(HTTP):
        def __init__(self, url: str, **values: Any) -> None:
            super().__init__(url, **values)
            made.append(url)

    monkeypatch.setattr(kubeconfig, "HTTP", Seen)
    for host in ("fd00::1", "10.0.0.1"):
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
        load_client()
    assert made == ["https://[fd00::1]:443", "https://10.0.0.1:443"]


@pytest.mark.parametrize("missing", ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "token"])
def test_no_pod(pod: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Given a part of a pod's environment that is not there / when a client is wanted / then what
    is needed is told.
    """
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    if missing == "token":
        (pod / "token").unlink()
    else:
        monkeypatch.delenv(missing)
    with pytest.raises(ConfigError) as refused:
        load_client()
    assert str(refused.value) == "no kubeconfig: give a path, set KUBECONFIG, or run in a pod"
