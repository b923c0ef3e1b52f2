"""The kubeconfig with which clients reach a server. Upstream: client-go/tools/clientcmd/api/v1."""

import base64
import json
from pathlib import Path

NAME = "fakekube"


def kubeconfig(url: str, token: str, *, certificate_authority: bytes = b"", namespace: str = "default") -> str:
    """A kubeconfig of one cluster, user and context, as JSON, which is YAML.

    ``certificate_authority`` is the PEM that an https server's certificate is signed with.
    """
    cluster: dict[str, str | bool] = {"server": url}
    if url.startswith("http://"):  # the client of Node insists that whoever speaks plain HTTP says that there is no TLS
        cluster["insecure-skip-tls-verify"] = True
    if certificate_authority:
        cluster["certificate-authority-data"] = base64.b64encode(certificate_authority).decode()
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": NAME, "preferences": {},
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": namespace}}],
    }, indent=2) + "\n"


def write_kubeconfig(path: Path, url: str, token: str, *, certificate_authority: bytes = b"") -> None:
    """Write a kubeconfig, readable to its owner alone; a reader sees the whole file or none."""
    text = kubeconfig(url, token, certificate_authority=certificate_authority)
    half = path.with_name(f".{path.name}.part")
    half.touch(mode=0o600)
    half.write_text(text)
    half.replace(path)
