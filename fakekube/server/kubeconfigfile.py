"""Our cluster, user and context in a kubeconfig that may hold those of others, while a server
serves.

A file may be somebody's ``~/.kube/config``, or no kubeconfig at all. Entries of ours carry a
marker, an extension of the cluster; nothing without it is replaced or removed. Entries of others
stay as they are; comments do not, as with kubectl. Upstream: client-go/tools/clientcmd (loader.go,
config.go), and what kind and minikube do with it.
"""

import json
import os
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from fakekube.apimachinery.types import Tree
from fakekube.server.kubeconfig import NAME, encoded
from fakekube.util import files
from fakekube.util.files import NotReplaced

MARKER = "fakekube.dev"
BEFORE = "currentContextBefore"
PROCESS = "process"
LISTS = ("clusters", "users", "contexts")
LIMIT_BYTES = 16 << 20
UNBROKEN = 1 << 30  # columns


class Owner(NamedTuple):
    """The server whose entries stand in a file: where it listens or listened, its token, and the
    host and id of its process.
    """

    url: str
    token: str
    process: str = ""

    @property
    def has_died(self) -> bool:
        """Whether its process surely runs no more: it was one of this host, and is not there."""
        host, _, number = self.process.rpartition("/")
        if os.name != "posix" or host != socket.gethostname() or not number.isdecimal():
            return False
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            pass
        return False


class KubeconfigFile:
    """One file, while one server serves.

    Every method raises NotReplaced, with one sentence, for a file that is no kubeconfig, or whose
    entries of our name are not ours; OSError for one that cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._url = ""
        self._removed_at_the_end = False

    def owner(self) -> Owner | None:
        """The server that last wrote its entries here, and did not remove them."""
        return _owner(self._read()[0], self.path)

    def add(self, config: Tree) -> None:
        """Add the entries of ``config``, in place of any of ours, with its current context."""
        url = str(config["clusters"][0]["cluster"]["server"])
        with files.locked(self.path):
            found, text = self._read()
            owner = _owner(found, self.path, [each["name"] for each in config["clusters"]])
            rest = _without_ours(found)
            before = str(rest.get("current-context") or "")
            files.write(self.path, _encoded(_merged(rest, config, before), text))
            self._removed_at_the_end = text is None or (owner is not None and not _has_entries(rest))
        self._url = url

    def remove(self) -> None:
        """Take the entries out, if they are still those that were added; a file of ours alone is
        removed.
        """
        if not self._url or not self.path.exists():
            return
        with files.locked(self.path):
            found, text = self._read()
            owner = _owner(found, self.path)
            if owner is None or owner.url != self._url:
                return
            rest = _without_ours(found)
            if self._removed_at_the_end and not _has_entries(rest):
                files.remove(self.path)
            else:
                files.write(self.path, _encoded(rest, text))
        self._url = ""

    def _read(self) -> tuple[Tree, str | None]:
        """What the file holds, and its text; an empty tree for an empty file or none."""
        data = files.read(self.path, LIMIT_BYTES)
        if data is None:
            return {}, None
        try:
            text = data.decode()
            found = _parsed(text)
        except ValueError:
            raise self._foreign() from None
        if not _is_kubeconfig(found):
            raise self._foreign()
        return found, text

    def _foreign(self) -> NotReplaced:
        return NotReplaced(f"{self.path} is no kubeconfig, and is left as it is")


def _parsed(text: str) -> Any:
    """Raises FileError for what is neither JSON nor YAML."""
    if not text.strip():
        return {}
    if _is_json(text):
        try:
            return json.loads(text)
        except ValueError:
            pass  # YAML in braces
    from fakekube.apimachinery import yamlfiles

    return yamlfiles.one(text, "kubeconfig")


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _encoded(config: Tree, text: str | None) -> bytes:
    """As JSON where the file was that or new, as YAML else."""
    if not text or not text.strip() or _is_json(text):
        return encoded(config).encode()
    import yaml

    return bytes(yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=UNBROKEN, encoding="utf-8"))


def _is_kubeconfig(found: Any) -> bool:
    """Whether it is a Config, or says nothing of what it is and has lists of a Config, which
    client-go takes too.
    """
    if found == {}:
        return True
    if not isinstance(found, dict) or any(not _is_list_of_named(found.get(name)) for name in LISTS):
        return False
    stated = found.get("apiVersion"), found.get("kind")
    return stated == ("v1", "Config") or (stated == (None, None) and any(name in found for name in LISTS))


def _is_list_of_named(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(each, dict) and "name" in each for each in value))


def _entry(config: Tree, kind: str, name: str) -> Tree | None:
    """What a name stands for, in the list of clusters, users or contexts."""
    for each in config.get(f"{kind}s") or ():
        if each["name"] == name:
            found = each.get(kind)
            return found if isinstance(found, dict) else {}
    return None


def _markers(config: Tree) -> dict[str, Tree]:
    """The markers of our clusters, by their names; users and contexts of these names are ours, too.
    """
    found = {str(each["name"]): _marker(each.get("cluster")) for each in config.get("clusters") or ()}
    return {name: marker for name, marker in found.items() if marker is not None}


def _marker(cluster: Any) -> Tree | None:
    extensions = cluster.get("extensions") if isinstance(cluster, dict) else None
    for each in extensions if isinstance(extensions, list) else ():
        if isinstance(each, dict) and each.get("name") == MARKER and isinstance(each.get("extension"), dict):
            marker: Tree = each["extension"]
            return marker
    return None


def _owner(config: Tree, path: Path, names: Iterable[str] = (NAME,)) -> Owner | None:
    """Whose entries are there. Raises NotReplaced for entries of our ``names`` without our marker.
    """
    markers = _markers(config)
    for name in names:
        for kind in ("cluster", "user", "context"):
            if name not in markers and _entry(config, kind, name) is not None:
                raise NotReplaced(f"{path} has a {kind} {name} that no server of ours wrote, and is left as it is")
    for name, marker in markers.items():
        cluster, user = _entry(config, "cluster", name) or {}, _entry(config, "user", name) or {}
        return Owner(str(cluster.get("server", "")), str(user.get("token", "")), str(marker.get(PROCESS, "")))
    return None


def _without_ours(config: Tree) -> Tree:
    """The same without our entries, and with the current context of before."""
    markers = _markers(config)
    if not markers:
        return config
    rest = config | {name: [each for each in config.get(name) or () if each["name"] not in markers] for name in LISTS}
    marker = markers.get(str(rest.get("current-context")))
    if marker is not None:
        before = marker.get(BEFORE, "")
        rest["current-context"] = before if before in [each["name"] for each in rest["contexts"]] else ""
    return rest


def _has_entries(config: Tree) -> bool:
    return any(config.get(name) for name in LISTS)


def _merged(rest: Tree, config: Tree, before: str) -> Tree:
    marked = {"name": MARKER, "extension": {BEFORE: before, PROCESS: f"{socket.gethostname()}/{os.getpid()}"}}
    clusters = [each | {"cluster": each["cluster"] | {"extensions": [marked]}} for each in config["clusters"]]
    ours = config | {"clusters": clusters}
    lists = {name: [*(rest.get(name) or ()), *ours[name]] for name in LISTS}
    return (rest or ours) | lists | {"current-context": config["current-context"]}
