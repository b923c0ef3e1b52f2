"""Where ``fakekube serve`` listens, and whom it answers."""

import http.client
import json
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
