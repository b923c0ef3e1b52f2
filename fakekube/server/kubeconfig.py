"""The kubeconfig with which clients reach a server. Upstream: client-go/tools/clientcmd/api/v1.

``kubeconfigfile.py`` puts it into a file that may hold the clusters of others.
"""

import base64
import json

from fakekube.apimachinery.types import Tree

NAME = "fakekube"


def kubeconfig(url: str, token: str, *, certificate_authority: bytes = b"", namespace: str = "default") -> str:
    """A kubeconfig of one cluster, user and context, as JSON, which is YAML.

    ``certificate_authority`` is the PEM that an https server's certificate is signed with.
    """
    return encoded(tree(url, token, certificate_authority=certificate_authority, namespace=namespace))


def tree(
    url: str, token: str, *, certificate_authority: bytes = b"", namespace: str = "default", name: str = NAME,
) -> Tree:
    """That kubeconfig as a tree; ``name`` is that of all three."""
    cluster: dict[str, str | bool] = {"server": url}
    # the client of Node insists that whoever speaks plain HTTP says that there is no TLS
    if url.startswith("http://"):
        cluster["insecure-skip-tls-verify"] = True
    if certificate_authority:
        cluster["certificate-authority-data"] = base64.b64encode(certificate_authority).decode()
    return {
        "apiVersion": "v1", "kind": "Config", "current-context": name, "preferences": {},
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}],
    }


def encoded(config: Tree) -> str:
    """A kubeconfig as the text of a file."""
    return json.dumps(config, indent=2) + "\n"
