"""What admission plugins see of a write, and the interface of the admission chain.

Upstream: apiserver/pkg/admission/attributes.go, interfaces.go. The plugins themselves live in
``fakekube/admission``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Kind
from fakekube.registry.strategy import WriteContext


@dataclass(slots=True, eq=False)
class Reinvocation:
    """What mutating plugins that call somebody leave behind for a second round of the whole pass.

    ``wanted`` says that one changed the object after another might have looked at it, ``again``
    that the second round is under way. ``states`` is each plugin's own, by its name.
    Upstream: admission/reinvocation.go.
    """

    wanted: bool = False
    again: bool = False
    states: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Attributes:
    """One write as admission sees it. ``obj`` is None on DELETE, ``old`` on CREATE.

    A mutating plugin may change ``obj``, or put another in its place. Parts that ``obj`` has in
    common with ``old`` are shared: replace such a part by a copy before changing it.
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
    reinvocation: Reinvocation | None = None  # until somebody outside of the server was asked
    # what somebody outside has converted: by identity and version the tree, and what it became
    converted: dict[tuple[int, str], tuple[Tree, Tree]] | None = None

    def reinvocable(self) -> Reinvocation:
        """The state for a second round, made if there is none."""
        if self.reinvocation is None:
            self.reinvocation = Reinvocation()
        return self.reinvocation


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
