"""A kubeconfig of one cluster, whole, and which hosts and origins a server takes for its own."""

import json
import os
import socket
from pathlib import Path

import orjson
import pytest
import yaml

from fakekube.apimachinery.http import Request, Response
from fakekube.apimachinery.types import Tree
from fakekube.server import kubeconfig
from fakekube.server.crossorigin import CrossOriginProtection
from fakekube.server.kubeconfigfile import KubeconfigFile, Owner


@pytest.mark.parametrize(("url", "authority", "cluster"), [
    ("http://h:1", b"", {"server": "http://h:1", "insecure-skip-tls-verify": True}),
    ("https://h:1", b"", {"server": "https://h:1"}),
    ("https://h:1", b"pem", {"server": "https://h:1", "certificate-authority-data": "cGVt"})])
def test_a_whole_kubeconfig(url: str, authority: bytes, cluster: Tree) -> None:
    """Given a URL, a token and perhaps an authority / then the kubeconfig has one of each."""
    assert json.loads(kubeconfig.kubeconfig(url, "tok", certificate_authority=authority, namespace="n")) == {
        "apiVersion": "v1", "kind": "Config", "current-context": "fakekube", "preferences": {},
        "clusters": [{"name": "fakekube", "cluster": cluster}], "users": [{"name": "fakekube", "user": {"token": "tok"}}],
        "contexts": [{"name": "fakekube", "context": {"cluster": "fakekube", "user": "fakekube", "namespace": "n"}}]}
    assert kubeconfig.tree("https://h", "t", name="other")["contexts"] == [
        {"name": "other", "context": {"cluster": "other", "user": "other", "namespace": "default"}}]


def test_what_is_added_to_a_file(tmp_path: Path) -> None:
    """Given a kubeconfig with names that are no ASCII / when a server adds itself / then the file
    has the marker with the context of before and its process, others' entries, and their letters.
    """
    path = tmp_path / "config"
    path.write_text(
        "clusters: [{name: ä, cluster: {server: 'https://h'}}]\nusers: []\ncontexts: [{name: ä, context: {cluster: ä}}]\n"
                    "current-context: ä\nother: 1\n")
    KubeconfigFile(path).add(kubeconfig.tree("http://127.0.0.1:1", "tok"))
    assert "ä" in path.read_text()
    found = yaml.safe_load(path.read_text())
    process = f"{socket.gethostname()}/{os.getpid()}"
    assert found["clusters"] == [{"name": "ä", "cluster": {"server": "https://h"}}, {"name": "fakekube", "cluster": {
        "server": "http://127.0.0.1:1", "insecure-skip-tls-verify": True, "extensions": [
            {"name": "fakekube.dev", "extension": {"currentContextBefore": "ä", "process": process}}]}}]
    assert found["users"] == [{"name": "fakekube", "user": {"token": "tok"}}]
    assert [each["name"] for each in found["contexts"]] == ["ä", "fakekube"]
    assert (found["current-context"], found["other"]) == ("fakekube", 1)
    owner = KubeconfigFile(path).owner()
    assert owner == Owner("http://127.0.0.1:1", "tok", process)
    assert owner is not None
    assert not owner.has_died


@pytest.mark.parametrize("process", ["", "x", "x/1", f"{socket.gethostname()}/", f"{socket.gethostname()}/x", "/1"])
def test_a_process_that_cannot_be_known(process: str) -> None:
    """Given a process of another host, or none / then it has not surely died."""
    assert not Owner("u", "t", process).has_died


def status(protection: CrossOriginProtection, target: str = "/", **headers: str) -> tuple[int, str]:
    """Code and message of the refusal; (0, "") where it is answered."""
    refusal = protection.refusal(target, {name.replace("_", "-"): value for name, value in headers.items()})
    return (0, "") if refusal is None else (refusal.status, orjson.loads(refusal.body)["message"])


@pytest.mark.parametrize(("bind", "host", "passes"), [
    ("127.0.0.1", "kubernetes", True), ("127.0.0.1", "kubernetes.default:443", True), ("127.0.0.1", "10.0.0.1", False),
    ("10.0.0.1", "10.0.0.1:80", True), ("10.0.0.1", "10.0.0.2", False), ("10.0.0.1", "localhost", True),
    ("0.0.0.0", "10.0.0.2", True),
    ("::", "[fd00::1]:80", True), ("", "10.0.0.2", True), ("", "example.com", False), ("fd00::1", "[fd00::1]:1", True),
    ("myhost", "myhost:1", True), ("myhost", "myhost:x", False)])
def test_whose_name_a_host_is(bind: str, host: str, passes: bool) -> None:
    """Given the address that is listened on / then the hosts that lead there are answered."""
    assert status(CrossOriginProtection(bind), host=host)[0] == (0 if passes else 403)


@pytest.mark.parametrize(("headers", "passes"), [
    ({}, True), ({"sec_fetch_site": "none"}, True), ({"sec_fetch_site": "same-origin"}, True),
    ({"sec_fetch_site": "same-site"}, True),
    ({"sec_fetch_site": "cross-site"}, False), ({"origin": "http://localhost:5"}, True), ({"origin": "http://h:1"}, False),
    ({"origin": "http://localhost:5", "sec_fetch_site": "cross-site"}, False), ({"origin": "ftp://localhost"}, False),
    ({"origin": "localhost"}, False), ({"origin": "null"}, False), ({"origin": "https://ok.example"}, True),
    ({"origin": "https://ok.example", "sec_fetch_site": "cross-site"}, True), ({"origin": "http://ok.example"}, False)])
def test_whose_page_asks(headers: dict[str, str], passes: bool) -> None:
    """Given what a browser says of a page / then those of this machine and allowed ones may ask."""
    protection = CrossOriginProtection(allow_origins=["https://ok.example"])
    assert status(protection, host="localhost", **headers)[0] == (0 if passes else 403)
    assert status(protection, "http://evil.example/x", host="localhost")[0] == 403
    assert status(protection, "http://localhost/x", host="localhost") == (0, "")


def test_whole_refusals() -> None:
    """Given each reason to refuse / then the whole message says what to do, and quotes no more than
    is needed.
    """
    protection = CrossOriginProtection(allow_hosts=["other"], names=["named"])
    assert [status(protection, host=host)[0] for host in ("other", "named", "other:8")] == [0, 0, 0]
    assert status(protection, host="evil:1") == (403, (
        'this server is not known as "evil:1", and a page that rebinds a name of its own would ask like this: start it with '
        "--allow-host evil if it is to be"))
    assert status(protection, host="a b")[1].endswith("start it with --allow-host NAME if it is to be")
    assert status(protection, sec_fetch_site="cross-site") == (403, (
        "a page of another site has sent this request (Sec-Fetch-Site), and without an Origin it cannot be allowed: "
        "open the address by hand, or start the server with --allow-origin and let the page ask by CORS"))
    assert status(protection, origin="http://evil") == (403, (
        'a page of origin "http://evil" has sent this request, and pages of other sites may not use this server: '
        "start it with --allow-origin http://evil if this one may"))
    long = f"http://{'e' * 93}"
    assert status(protection, origin=long)[1].endswith(f"--allow-origin {long} if this one may")
    assert status(protection, origin=f"{long}e")[1] == (
        f'a page of origin "{long}" has sent this request, and pages of other sites may not use this server: '
        "start it with --allow-origin ORIGIN if this one may")
    refusal = protection.refusal("/", {"host": "evil"})
    assert refusal is not None
    assert refusal.headers == [("X-Content-Type-Options", "nosniff")]


def test_what_a_page_may_read() -> None:
    """Given allowed origins / then a preflight is answered and answers carry upstream's headers;
    for others nothing happens.
    """
    protection = CrossOriginProtection(allow_origins=["https://ok.example"])
    asked = Request("OPTIONS", "/", headers={"origin": "https://ok.example"})
    answer = protection.preflight(asked)
    assert answer is not None
    assert (answer.status, answer.content_type) == (204, "")
    for other in (Request("GET", "/", headers=asked.headers), Request("OPTIONS", "/"), Request("OPTIONS", "/", headers={
            "origin": "https://evil.example"})):
        assert protection.preflight(other) is None
    response = Response(200, headers=[("A", "b")])
    protection.let_read(asked, response)
    assert response.headers == [
        ("A", "b"), ("Access-Control-Allow-Origin", "https://ok.example"),
        ("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH"),
        ("Access-Control-Allow-Headers", (
            "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since")),
        ("Access-Control-Expose-Headers", "Date"), ("Access-Control-Allow-Credentials", "true"), ("Vary", "Origin")]
    plain = Response(200)
    protection.let_read(Request("GET", "/", headers={"origin": "https://evil.example"}), plain)
    protection.let_read(Request("GET", "/"), plain)
    assert plain.headers == []
    assert CrossOriginProtection(allow_origins=["*"]).allows_origin("https://any.example")
    assert not CrossOriginProtection().allows_origin("https://any.example")
    assert not protection.allows_origin("nonsense")
