"""What admission plugins see of a write, and the interface of the admission chain.

Upstream: apiserver/pkg/admission/attributes.go, interfaces.go. The plugins themselves live in
``fakekube/admission``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Kind
from fakekube.registry.strategy import WriteContext


@dataclass(slots=True, eq=False)
class Attributes:
    """One write as admission sees it. ``obj`` is None on DELETE, ``old`` on CREATE.

    A mutating plugin may change ``obj``. Parts that ``obj`` has in common with ``old`` are shared:
    replace such a part by a copy before changing it.
    """

    kind: Kind
    namespace: str
    name: str
    operation: str  # CREATE, UPDATE, DELETE or CONNECT
    subresource: str
    obj: Tree | None
    old: Tree | None
    options: Mapping[str, Any]
    ctx: WriteContext


class Admission(Protocol):
    """The two passes around validation. Both raise APIError to refuse."""

    async def admit(self, attrs: Attributes) -> None:
        """The mutating pass: may change ``attrs.obj`` in place."""

    async def validate(self, attrs: Attributes) -> None:
        """The validating pass: sees the final object and changes nothing."""


class AdmitAll:
    """Admission that lets everything through as it is."""

    async def admit(self, attrs: Attributes) -> None:
        """Change nothing."""

    async def validate(self, attrs: Attributes) -> None:
        """Refuse nothing."""
