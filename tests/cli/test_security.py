"""Where ``fakekube serve`` listens, and whom it answers."""

import base64
import http.client
import json
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Serve = Callable[..., Any]
Run = Callable[..., subprocess.CompletedProcess[str]]


def status(server: Any, **headers: str) -> int:
    """What a GET with these headers is answered with."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
    connection.request("GET", "/api", headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.0.10"])
def test_other_machines_need_a_word(fakekube: Run, tmp_path: Path, address: str) -> None:
    """Given an address that other machines reach / when a cluster is to be served there / then one
    sentence says why not and names the option, and there is no kubeconfig.
    """
    done = fakekube("serve", "--bind-address", address, "--kubeconfig", "k", "--nodes", "0")
    assert done.returncode == 1
    assert done.stderr == (
        f"Error: bind_address: other machines could reach {address}, and whoever reaches the server is the cluster's "
        "administrator: bind to 127.0.0.1, say --tls so that a token is needed, or --insecure if that is meant\n")
    assert not (tmp_path / "k").exists()


def test_options_let_in(serve: Serve, tmp_path: Path) -> None:
    """Given a host on the command line and an origin in the file / when requests come by them, and
    by others / then those are answered, the others refused.
    """
    (tmp_path / "fakekube.json").write_text(json.dumps({"nodes": 0, "allowOrigin": "http://board.example"}))
    server = serve("--config", str(tmp_path / "fakekube.json"), "--allow-host", "fake.example")
    assert status(server) == 200
    assert status(server, Host="fake.example:80", Origin="http://board.example") == 200
    assert status(server, Host="evil.example") == 403
    assert status(server, Origin="http://evil.example") == 403


def test_tls(serve: Serve, fakekube: Run, tmp_path: Path) -> None:
    """Given ``--tls``, in a file, with tokens and an audit log / when the commands and a second
    server use its kubeconfig / then they find it over TLS; the events are in the log.
    """
    (tmp_path / "tokens.csv").write_text("secret,ann,1,devs\n")
    (tmp_path / "fakekube.json").write_text(json.dumps({
        "nodes": 0, "tls": True, "anonymousAuth": False, "tokenAuthFile": "tokens.csv", "auditLog": "audit.log"}))
    server = serve("--config", str(tmp_path / "fakekube.json"), "--clock", "manual")
    assert server.url.startswith("https://127.0.0.1:")
    found = json.loads(server.kubeconfig.read_text())["clusters"][0]["cluster"]
    assert "certificate-authority-data" in found
    told = fakekube("clock", "now", "--kubeconfig", str(server.kubeconfig))
    assert told.returncode == 0, told.stderr
    refused = fakekube("serve", "--kubeconfig", str(server.kubeconfig), "--nodes", "0")
    assert "which still answers" in refused.stderr
    context = ssl.create_default_context(cadata=base64.b64decode(found["certificate-authority-data"]).decode())
    for token, code in (("secret", 200), ("guess", 401), ("", 401)):
        connection = http.client.HTTPSConnection(server.url.removeprefix("https://"), timeout=20, context=context)
        connection.request("GET", "/api", headers={"Authorization": f"Bearer {token}"} if token else {})
        assert connection.getresponse().status == code
        connection.close()
    events = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    assert [event["user"].get("username") for event in events if event["requestURI"] == "/api"] == ["ann", None, None]
