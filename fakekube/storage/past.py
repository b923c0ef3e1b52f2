"""A bucket as it was: for lists at an exact version, and for pages of a list that was begun before."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fakekube.storage.keyspace import Match, read_page
from fakekube.storage.record import Page, Record

if TYPE_CHECKING:
    from fakekube.storage.eventlog import Overlay
    from fakekube.storage.memory import Bucket


class PastState:
    """A bucket as it was at ``revision``: what is there now, with what changed since then undone."""

    def __init__(self, bucket: "Bucket", revision: int, overlay: "Overlay") -> None:
        self.revision = revision
        self._bucket, self._overlay = bucket, overlay

    def get(self, namespace: str, name: str) -> Record | None:
        """The record of then."""
        changed = self._overlay.get(namespace)
        if changed is not None and name in changed:
            return changed[name]
        return self._bucket.get(namespace, name)

    def page(self, namespace: str = "", *, start: str = "", limit: int = 0, match: Match | None = None) -> Page:
        """As ``Bucket.page``."""
        return read_page(self, namespace, start, limit, match)

    def namespaces(self) -> list[str]:
        """The namespaces that had objects, and perhaps others."""
        return list(dict.fromkeys([*self._bucket.namespaces(), *self._overlay]))

    def names(self, namespace: str) -> list[str]:
        """The names of then in a namespace, sorted."""
        names, changed = self._bucket.names(namespace), self._overlay.get(namespace)
        if not changed:
            return names
        records = self._bucket.lookup(namespace)
        kept = [name for name in names if changed.get(name, self) is not None]
        kept.extend(name for name, record in changed.items() if record is not None and name not in records)
        kept.sort()
        return kept

    def lookup(self, namespace: str) -> Mapping[str, Record]:
        """The records of a namespace by name, with those of then where they differ."""
        changed = self._overlay.get(namespace)
        if not changed:
            return self._bucket.lookup(namespace)
        then = {name: record for name, record in changed.items() if record is not None}
        return {**self._bucket.lookup(namespace), **then}
