"""Names of kinds and resources. Upstream: apimachinery/pkg/runtime/schema/group_version.go."""

import re
from typing import NamedTuple

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STAGES = {"alpha": 0, "beta": 1, None: 2}


def api_version(group: str, version: str) -> str:
    """``apps/v1``, or ``v1`` for the core group."""
    return f"{group}/{version}" if group else version


def split_api_version(text: str) -> tuple[str, str]:
    """The group and the version of an apiVersion. ValueError when it has more than one slash."""
    parts = text.split("/")
    if len(parts) > 2:
        raise ValueError(f"unexpected GroupVersion string: {text}")
    return (parts[0], parts[1]) if len(parts) == 2 else ("", text)


def version_order(version: str) -> tuple[int, int, int]:
    """A key that sorts versions as upstream ranks them: v2 over v1 over v1beta2 over v1beta1 over
    v1alpha1.
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return (-1, 0, 0)
    return (_STAGES[match[2]], int(match[1]), int(match[3] or 0))


class GroupKind(NamedTuple):
    """``Job.batch``; the core group has no suffix."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class GroupResource(NamedTuple):
    """``jobs.batch``; the core group has no suffix."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


class GroupVersionKind(NamedTuple):
    """A kind as a body names it."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """``batch/v1``, as it stands in a body."""
        return api_version(self.group, self.version)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"


class GroupVersionResource(NamedTuple):
    """A resource as a path names it."""

    group: str
    version: str
    resource: str
