"""What an admission plugin is, and the errors that plugins raise.

What a plugin wants to know it asks of ``attrs.ctx.cluster``, which is never stale; ``initialize``
hands it what else it needs of the server. Upstream: apiserver/pkg/admission/interfaces.go,
errors.go. Left out: readiness.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import errors, names
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

if TYPE_CHECKING:
    from fakekube.admission.services import Services


class Plugin:
    """One admission plugin: the base of all of them, that handles nothing.

    A plugin overrides ``handles`` and at least one pass; the chain calls only the passes that are
    overridden. A pass raises APIError to refuse. It may return an awaitable, which the chain
    awaits; built-in plugins answer at once.
    """

    name = ""

    def initialize(self, services: "Services") -> None:
        """Take what is needed of the server, once, before the first write."""

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Whether the plugin wants to see such writes.

        Asked once a combination: it must always say the same.
        """
        return False

    def admit(self, attrs: Attributes) -> Awaitable[None] | None:
        """The mutating pass, before validation: may change ``attrs.obj`` in place."""
        return None

    def validate(self, attrs: Attributes) -> Awaitable[None] | None:
        """The validating pass, after validation: changes nothing."""
        return None


def is_resource(kind: Kind, group: str, *plurals: str) -> bool:
    """Whether a kind is one of these resources."""
    return kind.group == group and kind.plural in plurals


def unaskable(name: str) -> str:
    """Why upstream's client does not even ask for an object of this name; nothing when it does."""
    if not name:
        return "resource name may not be empty"
    why = names.path_segment(name)
    return f"invalid resource name {go_quote(name)}: [{' '.join(why)}]" if why else ""


def forbidden(attrs: Attributes, why: str, causes: Sequence[Mapping[str, str]] = ()) -> APIError:
    """403 ``pods "p" is forbidden: why``, naming the object as well as it can be named by now."""
    name = attrs.name
    if not name and attrs.obj is not None:
        metadata = attrs.obj.get("metadata") or {}
        name = metadata.get("name") or metadata.get("generateName") or ""
    return errors.forbidden(attrs.kind.group_resource, name or "Unknown", why, causes)
