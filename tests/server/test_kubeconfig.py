"""The file that leads clients to a server."""

import json

from fakekube.server.kubeconfig import kubeconfig


def cluster(url: str, **options: bytes) -> dict[str, str | bool]:
    found: dict[str, str | bool] = json.loads(kubeconfig(url, "token", **options))["clusters"][0]["cluster"]
    return found


def test_plain_http_says_so() -> None:
    """Given a server without TLS, when its kubeconfig is read, then it says that nothing is
    verified, without which the client of Node refuses to speak; one with TLS is verified.
    """
    assert cluster("http://127.0.0.1:1") == {"server": "http://127.0.0.1:1", "insecure-skip-tls-verify": True}
    assert cluster("https://127.0.0.1:1", certificate_authority=b"x") == {
        "server": "https://127.0.0.1:1", "certificate-authority-data": "eA=="}
