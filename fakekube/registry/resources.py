"""The registry of what a server serves: every kind, in every version, now.

Routes, stores, buckets, codecs, discovery and OpenAPI are answers of this one registry. Kinds are
installed and removed here while the server serves. Who keeps something that it made from a kind
registers with ``on_change`` and drops it then; who keeps a whole document compares ``generation``.
Upstream: apiserver/pkg/endpoints/installer.go and apiextensions-apiserver's customresource handler.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from fakekube.apimachinery.gvk import GroupResource
from fakekube.registry.kind import Kind

Changed = Callable[[Kind, bool], object]
"""Called with a kind that was installed, replaced or removed.

The flag says that no version of its resource is served any more.
"""


def _key(kind: Kind) -> tuple[str, str, str]:
    return (kind.group, kind.version, kind.plural)


class ResourceRegistry:
    """The kinds that are served, ``kinds`` to begin with, in the order of discovery.

    ``generation`` grows with every change. ``pending`` has resources whose objects are being
    brought into another form, and what waits until that is done.
    """

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self.generation = 0
        self.pending: dict[GroupResource, Callable[[], Awaitable[None]]] = {}
        self._kinds = {_key(kind): kind for kind in kinds}
        self._observers: list[Changed] = []
        self._listed: tuple[Kind, ...] | None = None  # this and the next three follow from _kinds
        self._groups: dict[str, bool] = {}
        self._versions: dict[tuple[str, str], None] = {}
        self._stored: dict[GroupResource, Kind] = {}

    # changing what is served

    def install(self, *kinds: Kind) -> None:
        """Serve kinds besides the others, or in place of those of the same group, version and
        plural.
        """
        self._kinds |= {_key(kind): kind for kind in kinds}
        self._changed(kinds)

    def remove(self, *kinds: Kind) -> None:
        """Serve kinds no longer; nothing for one that is not served."""
        for kind in kinds:
            self._kinds.pop(_key(kind), None)
        self._changed(kinds)

    def on_change(self, changed: Changed) -> None:
        """Call ``changed`` after each change, once for each kind in it."""
        self._observers.append(changed)

    def _changed(self, kinds: Iterable[Kind]) -> None:
        self._listed = None
        self.generation += 1
        for kind in kinds:
            resource = kind.storage_resource
            last = all(other.storage_resource != resource for other in self._kinds.values())
            for changed in self._observers:
                changed(kind, last)

    def note_change(self) -> None:
        """Something else than a kind has changed of what is served: documents are to be made
        anew.
        """
        self.generation += 1

    # asking

    def kind(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind that a path names; None when it is not served."""
        return self._kinds.get((group, version, plural))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds, in the order of discovery."""
        return self._listed if self._listed is not None else self._list()

    @property
    def stored(self) -> Mapping[GroupResource, Kind]:
        """The kinds whose version is the one that is stored, by resource."""
        _ = self.kinds
        return self._stored

    def has_group(self, group: str) -> bool:
        """Whether any kind of a group is served."""
        _ = self.kinds
        return group in self._groups

    def is_custom(self, group: str) -> bool:
        """Whether a group has custom kinds alone."""
        _ = self.kinds
        return self._groups.get(group, False)

    def has_version(self, group: str, version: str) -> bool:
        """Whether any kind of a group and version is served."""
        _ = self.kinds
        return (group, version) in self._versions

    def _list(self) -> tuple[Kind, ...]:
        # the built-in ones stay where they are, since nothing tells them apart here
        self._kinds = dict(sorted(self._kinds.items(), key=lambda item: item[1].discovery_order))
        self._versions = {(group, version): None for group, version, _ in self._kinds}
        self._groups = {kind.group: kind.custom for kind in self._kinds.values()}
        self._stored = {kind.group_resource: kind for kind in self._kinds.values() if kind.conversion is None}
        for kind in self._kinds.values():
            if kind.custom:  # what is stored in a version that is not served is told by another one
                self._stored.setdefault(kind.storage_resource, kind)
        self._listed = tuple(self._kinds.values())
        return self._listed
