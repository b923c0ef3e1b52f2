"""The in-cluster configuration of a pod, for a test of what runs in one.

A kubelet gives containers two environment variables and three files. Clients look for the files at
a path that nobody but root can write to: where a client keeps that path in a constant of a module
that is imported by then, the constant is another one in the block; others are told the folder, or
``folder`` is the fixed path itself, in a container whose tests may write there. Upstream:
client-go/rest (InClusterConfig), pkg/kubelet/kubelet_pods.go.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fakekube.composition.options import OptionError

if TYPE_CHECKING:
    from fakekube.composition.cluster import Cluster
    from fakekube.testing.background import BackgroundCluster

LONGEST_SECONDS = 1 << 32
"""For how long the token lasts: a test may let months pass."""
TOKEN, AUTHORITY, NAMESPACE = "token", "ca.crt", "namespace"
OF_THE_OFFICIAL_CLIENTS = {"SERVICE_TOKEN_FILENAME": TOKEN, "SERVICE_CERT_FILENAME": AUTHORITY}
CONSTANTS: Mapping[str, Mapping[str, str]] = {
    "kubernetes.config.incluster_config": OF_THE_OFFICIAL_CLIENTS,
    "kubernetes.aio.config.incluster_config": OF_THE_OFFICIAL_CLIENTS,
    "kubernetes_asyncio.config.incluster_config": OF_THE_OFFICIAL_CLIENTS,
    "fakekube.client.kubeconfig": {"SERVICE_ACCOUNT_FOLDER": ""},
}
"""The modules of clients that keep the path in constants, and the file that each names."""


@contextmanager
def in_cluster(
    where: "BackgroundCluster", *, service_account: str = "default", namespace: str = "default",
    folder: Path | str | None = None,
) -> Iterator[Path]:
    """Let clients of this process find the cluster as in a pod of a service account.

    ``KUBERNETES_SERVICE_HOST`` and ``KUBERNETES_SERVICE_PORT`` are set in the block, and the folder
    that it yields has ``token``, ``ca.crt`` and ``namespace``; it is a temporary one, or
    ``folder``, whose files of these names are replaced and removed at the end. Raises OptionError
    for a cluster without TLS, which in-cluster clients insist on; APIError for an account that is
    not there; OSError.
    """
    parts = urlsplit(where.url)
    if parts.scheme != "https":
        raise OptionError("in_cluster: clients in pods speak TLS only: give the cluster tls=True")

    async def ask(cluster: "Cluster") -> tuple[str, str]:
        answer = await cluster.client.create_token(service_account, namespace, {"expirationSeconds": LONGEST_SECONDS})
        return str(answer["status"]["token"]), cluster.root_ca

    token, authority = where.call(ask)
    with ExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory(prefix="fakekube-")) if folder is None else folder)
        place.mkdir(parents=True, exist_ok=True)
        for name, text in ((TOKEN, token), (AUTHORITY, authority), (NAMESPACE, namespace)):
            stack.callback((place / name).unlink, missing_ok=True)
            (place / name).write_text(text)
        _environment(stack, {
            "KUBERNETES_SERVICE_HOST": parts.hostname or "", "KUBERNETES_SERVICE_PORT": str(parts.port)})
        for module, names in CONSTANTS.items():
            if (found := sys.modules.get(module)) is not None:
                _constants(stack, found, {name: place / file for name, file in names.items()})
        yield place


def _environment(stack: ExitStack, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        before = os.environ.get(name)
        if before is None:
            stack.callback(os.environ.pop, name, None)
        else:
            stack.callback(os.environ.__setitem__, name, before)
        os.environ[name] = value


def _constants(stack: ExitStack, module: ModuleType, values: Mapping[str, Path]) -> None:
    for name, value in values.items():
        before: Any = getattr(module, name, None)
        if before is not None:
            stack.callback(setattr, module, name, before)
            setattr(module, name, value if isinstance(before, Path) else str(value))
