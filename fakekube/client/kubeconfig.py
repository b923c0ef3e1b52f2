"""How to reach a cluster and with which credentials, from a kubeconfig file.

Upstream: client-go/tools/clientcmd.

Left out: merging of several files, auth provider plugins and exec credentials; a kubeconfig that
has those is refused by name.
"""

import base64
import os
import ssl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fakekube.apimachinery import yamlfiles
from fakekube.apimachinery.types import Json, Tree
from fakekube.client.client import Client
from fakekube.client.http import HTTP
from fakekube.client.transport import Authenticated, Transport
from fakekube.util.activity import Activity

Find = Callable[[str], Transport | None]
"""What leads to the server at a URL, where that is in this process."""
SERVICE_ACCOUNT_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class ConfigError(Exception):
    """The kubeconfig cannot be used; the text says which entry and why."""


def load_client(
    path: str | os.PathLike[str] | None = None, *, context: str = "", user_agent: str = "fakekube",
    activity: Activity | None = None, impersonate: bool = False,
) -> Client:
    """A client for the cluster of a kubeconfig's context, the current one unless named.

    With ``impersonate`` requests that name a user are sent as that user's.

    Without ``path``: the first file of $KUBECONFIG, or ~/.kube/config, or else the service account
    of the pod that this runs in. Raises ConfigError.
    """
    file = _find(path)
    if file is None:
        return _in_cluster(user_agent, activity, impersonate=impersonate)
    try:
        config = yamlfiles.read(file)
    except yamlfiles.FileError as error:
        raise ConfigError(str(error)) from error
    return client_of(config, str(file), folder=file.parent, context=context, user_agent=user_agent, activity=activity,
        impersonate=impersonate)


def client_of(
    config: Json, source: str, *, folder: Path = Path(), context: str = "", user_agent: str = "fakekube",
    activity: Activity | None = None, find: Find | None = None, impersonate: bool = False,
) -> Client:
    """A client for the cluster of a kubeconfig that has been read.

    ``source`` names it in errors; files that it names are below ``folder``. ``find`` gives the
    transport to a server's URL where that is in this process. Raises ConfigError.
    """
    if not isinstance(config, dict):
        raise ConfigError(f"{source}: not a kubeconfig")
    try:
        return _client_of(config, source, folder, context, user_agent, activity, find, impersonate=impersonate)
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise ConfigError(f"{source}: {error}") from error


def _client_of(
    config: Tree, source: str, folder: Path, context: str, user_agent: str, activity: Activity | None, find: Find | None, *,
    impersonate: bool,
) -> Client:
    """What is of another type than it should be raises ValueError, TypeError, AttributeError or
    KeyError.
    """
    chosen = _named(config, "context", context or config.get("current-context") or "")
    cluster = _named(config, "cluster", chosen.get("cluster", ""))
    user = _named(config, "user", chosen["user"]) if chosen.get("user") else {}
    if "server" not in cluster:
        raise ConfigError(f"{source}: cluster {chosen['cluster']!r} has no server")
    url, headers = str(cluster["server"]), _headers(user, folder)
    found = find(url) if find is not None else None
    transport: Transport = Authenticated(found, headers) if found is not None else HTTP(
        url, tls=_tls(cluster, user, folder), headers=headers, activity=activity, impersonate=impersonate)
    return Client(transport, user_agent=user_agent, namespace=chosen.get("namespace") or "default")


def _find(path: str | os.PathLike[str] | None) -> Path | None:
    if path is not None:
        return Path(path)
    for candidate in os.environ.get("KUBECONFIG", "").split(os.pathsep):
        if candidate and Path(candidate).exists():
            return Path(candidate)
    default = Path.home() / ".kube" / "config"
    return default if default.exists() else None


def _in_cluster(user_agent: str, activity: Activity | None, *, impersonate: bool) -> Client:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    token = SERVICE_ACCOUNT_FOLDER / "token"
    if not host or not port or not token.exists():
        raise ConfigError("no kubeconfig: give a path, set KUBECONFIG, or run in a pod")
    tls = ssl.create_default_context(cafile=str(SERVICE_ACCOUNT_FOLDER / "ca.crt"))
    headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
    namespace = (SERVICE_ACCOUNT_FOLDER / "namespace").read_text().strip()
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    transport = HTTP(url, tls=tls, headers=headers, activity=activity, impersonate=impersonate)
    return Client(transport, user_agent=user_agent, namespace=namespace)


def _named(config: Tree, what: str, name: str) -> Tree:
    for entry in config.get(f"{what}s") or ():
        if entry.get("name") == name:
            result: Tree = entry.get(what) or {}
            return result
    raise ConfigError(f"the kubeconfig has no {what} {name!r}")


def _headers(user: Tree, folder: Path) -> dict[str, str]:
    for unsupported in ("exec", "auth-provider"):
        if user.get(unsupported):
            raise ConfigError(f"credentials by {unsupported!r} are not supported: put a token or a certificate there")
    headers: dict[str, str] = {}
    if user.get("tokenFile"):
        headers["Authorization"] = f"Bearer {(folder / user['tokenFile']).read_text().strip()}"
    elif user.get("token"):
        headers["Authorization"] = f"Bearer {user['token']}"
    elif user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    if user.get("as"):
        headers["Impersonate-User"] = user["as"]
    return headers


def _tls(cluster: Tree, user: Tree, folder: Path) -> ssl.SSLContext | bool:
    if not cluster["server"].startswith("https:"):
        return True
    authority = _bytes(cluster, "certificate-authority", folder)
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = _bytes(user, "client-certificate", folder), _bytes(user, "client-key", folder)
    if certificate and key:
        # The ssl module reads a certificate's key from files only.
        with _file(certificate) as certificate_path, _file(key) as key_path:
            context.load_cert_chain(certificate_path, key_path)
    return context


def _bytes(section: Tree, key: str, folder: Path) -> bytes:
    data: Any = section.get(f"{key}-data")
    if data:
        return base64.b64decode(data)
    return (folder / section[key]).read_bytes() if section.get(key) else b""


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        yield file.name
