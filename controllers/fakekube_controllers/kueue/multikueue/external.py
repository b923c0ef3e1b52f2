"""Kinds that the configuration names in ``multiKueue.externalFrameworks``: of them is known that
they have a ``spec.managedBy``, and a status.

Upstream: pkg/controller/admissionchecks/multikueue/externalframeworks. It finds the resource of a
kind by discovery; here it is that of the integration, or has the regular plural.
"""

from collections.abc import Iterable, Iterator

from fakekube.client.resources import Resource
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework.integrations import Integration, parsed_kind
from fakekube_controllers.kueue.multikueue.adapters import ManagedByAdapter


class ExternalAdapter(ManagedByAdapter):
    """One such kind."""

    managed_by_path = ".spec.managedBy"


def adapters_of(kinds: Iterable[str], known: Iterable[Integration], features: Features) -> Iterator[ExternalAdapter]:
    """One for each kind, ``Kind.version.group``; ``known`` are the integrations there are."""
    resources = {each.resource.gvk: each.resource for each in known}
    for text in kinds:
        gvk = parsed_kind(text)
        resource = resources.get(gvk) or Resource(gvk.group, gvk.version, regular_plural(gvk.kind), gvk.kind)
        yield ExternalAdapter(resource, features)


def regular_plural(kind: str) -> str:
    """The resource that a kind most likely has. Upstream: UnsafeGuessKindToResource in
    apimachinery/pkg/api/meta.
    """
    singular = kind.lower()
    if singular.endswith("s"):
        return f"{singular}es"
    return f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s"
