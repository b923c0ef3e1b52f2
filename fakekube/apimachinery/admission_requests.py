"""What a webhook that is a Python function gets, and how it refuses.

A function gets an AdmissionRequest. It returns nothing to let the write pass, raises Denied to
refuse it, and, if it may mutate, changes ``request.object`` in place. Upstream: admission/v1 types.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree


class Denied(Exception):
    """A webhook refuses a write: its message, the HTTP code (400 unless one is given), reason and
    details of the Status.
    """

    def __init__(self, message: str = "", *, code: int = 0, reason: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message, self.code, self.reason, self.details = message, code, reason, details


class AdmissionRequest:
    """One write that a function is asked about.

    ``object`` and ``old_object`` are the function's own: None where there is none. ``kind`` is what
    they are; ``resource`` and ``subresource`` say where the request went. ``operation`` is CREATE,
    UPDATE, DELETE or CONNECT.
    """

    __slots__ = (
        "_object", "_old", "_shown", "_shown_old", "annotations", "dry_run", "kind", "name", "namespace", "operation", "options",
        "resource", "subresource", "uid", "user", "warnings")

    def __init__(
        self, *, uid: str, kind: GroupVersionKind, resource: str, subresource: str, name: str, namespace: str, operation: str,
        user: UserInfo, dry_run: bool, options: Mapping[str, Any], shown: Tree | None, shown_old: Tree | None,
    ) -> None:
        self.uid, self.kind, self.resource, self.subresource = uid, kind, resource, subresource
        self.name, self.namespace, self.operation, self.user = name, namespace, operation, user
        self.dry_run, self.options = dry_run, options
        self._shown, self._shown_old = shown, shown_old
        self._object: Tree | None = None
        self._old: Tree | None = None
        self.warnings: list[str] = []
        self.annotations: dict[str, str] = {}

    @property
    def object(self) -> Any:
        """The object as it will be; None for a DELETE. A mutating webhook changes it in place."""
        if self._object is None and self._shown is not None:
            self._object = orjson.loads(orjson.dumps(self._shown))
        return self._object

    @property
    def shown(self) -> Tree | None:
        """The object as it came, shared and read-only: to see what it is before it is copied."""
        return self._shown

    @property
    def old_object(self) -> Any:
        """The object as it is stored; None for a CREATE."""
        if self._old is None and self._shown_old is not None:
            self._old = orjson.loads(orjson.dumps(self._shown_old))
        return self._old

    @property
    def shown_old(self) -> Tree | None:
        """The object as it is stored, shared and read-only."""
        return self._shown_old

    @property
    def changed(self) -> Tree | None:
        """The object that the function has looked at, which it may have changed; None when it has
        not.
        """
        return self._object

    def warn(self, text: str) -> None:
        """Send the client a Warning header."""
        self.warnings.append(text)

    def annotate(self, key: str, value: str) -> None:
        """Add an audit annotation."""
        self.annotations[key] = value
