"""The definitions of one Kubernetes release, read from a table that ships with the package.

A table has one line for each definition, so that opening it costs a split and not a parse: a
definition is parsed when somebody first asks for it. The first line names the kinds.
``tools/schemas.py`` makes the tables. ``Definitions.define`` adds a kind that no release has,
``Definitions.install`` one that a single cluster serves for a while.

Upstream: api/openapi-spec/swagger.json. Left out: descriptions, and the path part of that document.
"""

import pkgutil
import zlib
from collections.abc import Callable, Mapping
from copy import copy

import orjson

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.releases import RELEASES
from fakekube.schema.fields import Node, definitions_for
from fakekube.schema.structural import Schema

GZIP = 31  # the window of zlib that means gzip's format


def releases() -> list[str]:
    """The releases there are tables for, oldest first: ``["1.25", ..., "1.37"]``."""
    return [release.name for release in RELEASES]


def load(release: str) -> "Definitions":
    """The definitions of a release such as ``1.37``. ValueError when there is no table for it.

    Every call reads anew; who serves a release keeps what it got.
    """
    try:
        table = pkgutil.get_data(__package__, f"tables/{release}.gz")
    except OSError:
        table = None
    if table is None:
        raise ValueError(f"unknown Kubernetes release {release!r}, known are {', '.join(releases())}")
    return Definitions(release, zlib.decompress(table, GZIP))


class Definitions:
    """Schemas by kind and by definition name; each is made once and shared."""

    def __init__(self, release: str, table: bytes) -> None:
        head, *lines = table.splitlines()
        self.release = release
        self._lines: dict[str, bytes] = {}
        for line in lines:
            name, _, raw = line.partition(b"\t")
            self._lines[name.decode()] = raw
        self._kinds = {GroupVersionKind(*kind): name for name, *kind in orjson.loads(head)}
        self._made: dict[str, Schema] = {}
        self._installed: dict[GroupVersionKind, Callable[[], Schema]] = {}
        self.shared = self
        """Those that clusters share, of which ``named`` gives the same."""
        self.added = ""  # what ``define`` was given, for whoever names documents by what is in them

    def names(self) -> list[str]:
        """All definition names: sorted, but for those that were added."""
        return list(self._lines)

    def kinds(self) -> list[GroupVersionKind]:
        """All kinds that have a definition: sorted, but for those that were added."""
        return list(self._kinds)

    def schema(self, gvk: GroupVersionKind) -> Schema | None:
        """The schema of a kind, or None for one that is neither of the release nor installed."""
        if gvk in self._installed:
            return self._installed[gvk]()
        name = self._kinds.get(gvk)
        return None if name is None else self.named(name)

    def is_installed(self, gvk: GroupVersionKind) -> bool:
        """Whether a kind came while the server served: it is in no scheme of upstream's."""
        return gvk in self._installed

    def named(self, name: str) -> Schema:
        """The schema of a definition such as ``io.k8s.api.core.v1.PodSpec``.

        KeyError when there is none.
        """
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = Schema(orjson.loads(self._lines[name]), self._resolve, name)
        return made

    def define(self, gvk: GroupVersionKind, fields: Mapping[str, Node]) -> None:
        """Add a kind that no release has, and its list; ``fields`` says in what notation.

        ValueError for another one.
        """
        self.added += orjson.dumps([list(gvk), fields]).decode()
        for name, raw in definitions_for(gvk, fields).items():
            self._lines[name] = orjson.dumps(raw)
            self._kinds.update({GroupVersionKind(*kind): name for kind in raw.get("kinds", ())})

    def of_cluster(self) -> "Definitions":
        """The same definitions, to which one cluster may add its own: what was made is shared."""
        other = copy(self)
        other._installed = {}
        return other

    def install(self, gvk: GroupVersionKind, load: Callable[[], Schema]) -> None:
        """Add a custom kind, or replace it; ``load`` gives the same schema each time."""
        self._installed[gvk] = load

    def remove(self, gvk: GroupVersionKind) -> None:
        """Forget a custom kind; harmless for one that is not there."""
        self._installed.pop(gvk, None)

    def _resolve(self, node: str) -> Schema:
        """A node that the table writes as a text: a definition's name, or a scalar as in ``integer
        int32``.
        """
        if "." in node:
            return self.named(node)
        made = self._made.get(node)
        if made is None:
            made = self._made[node] = Schema(dict(zip(("type", "format"), node.split(), strict=False)), self._resolve)
        return made
