"""A bucket as it was: for lists at an exact version, and for pages of a list that was begun before."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fakekube.storage.keyspace import Match, mended, read_page
from fakekube.storage.record import Page, Record

if TYPE_CHECKING:
    from fakekube.storage.bucket import Bucket
    from fakekube.storage.eventlog import Overlay


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
        came = [name for name, record in changed.items() if record is None and name in records]
        gone = [name for name, record in changed.items() if record is not None and name not in records]
        return mended(names.copy(), came, gone) if came or gone else names

    def lookup(self, namespace: str) -> Mapping[str, Record]:
        """The records of a namespace by name, with those of then where they differ."""
        changed = self._overlay.get(namespace)
        if not changed:
            return self._bucket.lookup(namespace)
        then = _Then((name, record) for name, record in changed.items() if record is not None)
        then.now = self._bucket.lookup(namespace)
        return then


class _Then(dict[str, Record]):
    """The records that were others then; any other is looked up in those of now. A copy of all would cost what all cost."""

    now: Mapping[str, Record]

    def __missing__(self, name: str) -> Record:
        return self.now[name]
