"""Other plugins that are off by default.

Upstream: plugin/pkg/admission/{admit,deny,gc,namespace,network/denyserviceexternalips}.
"""

from collections.abc import Awaitable, Iterator
from dataclasses import replace

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.admission.services import Services
from fakekube.apimachinery import errors
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource, split_api_version
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Access
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind


class AlwaysAdmit(Plugin):
    """Lets everything pass."""

    name = "AlwaysAdmit"


class AlwaysDeny(Plugin):
    """Lets nothing pass."""

    name = "AlwaysDeny"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Everything."""
        return True

    def admit(self, attrs: Attributes) -> None:
        """Refuse."""
        raise forbidden(attrs, "admission control is denying all modifications")


class DenyServiceExternalIPs(Plugin):
    """No service gets another external address."""

    name = "DenyServiceExternalIPs"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Services."""
        return operation in ("CREATE", "UPDATE") and not subresource and is_resource(kind, "", "services")

    def validate(self, attrs: Attributes) -> None:
        """Refuse addresses that were not there before."""
        before = ((attrs.old or {}).get("spec") or {}).get("externalIPs") or ()
        if any(address not in before for address in ((attrs.obj or {}).get("spec") or {}).get("externalIPs") or ()):
            raise forbidden(attrs, "Use of external IPs is denied by admission control")


class NamespaceExists(Plugin):
    """Nothing is written in a namespace that is not there."""

    name = "NamespaceExists"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """What is in namespaces."""
        return operation in ("CREATE", "UPDATE", "DELETE") and kind.namespaced

    def validate(self, attrs: Attributes) -> None:
        """Refuse where it is missing."""
        if attrs.ctx.cluster.lookup("", "namespaces", "", attrs.namespace) is None:
            raise errors.not_found(GroupResource("", "namespaces"), attrs.namespace)


class NamespaceAutoProvision(Plugin):
    """A namespace is made when something is created in it."""

    name = "NamespaceAutoProvision"

    def __init__(self) -> None:
        self._services: Services | None = None

    def initialize(self, services: Services) -> None:
        """Write through the server's stores."""
        self._services = services

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """What is created in namespaces."""
        return operation == "CREATE" and kind.namespaced

    def admit(self, attrs: Attributes) -> Awaitable[None] | None:
        """Make the namespace if it is missing, but not on a dry run."""
        known = attrs.ctx.dry_run or attrs.ctx.cluster.lookup("", "namespaces", "", attrs.namespace) is not None
        return None if known or self._services is None else self._make(self._services, attrs)

    async def _make(self, services: Services, attrs: Attributes) -> None:
        tree = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": attrs.namespace}, "spec": {}, "status": {}}
        ctx = replace(attrs.ctx, operation="CREATE", subresource="", options={}, warnings=[])
        try:
            await services.stores.named("", "v1", "namespaces").create(ctx, "", tree)
        except APIError as error:
            if error.reason != "AlreadyExists":
                raise forbidden(attrs, error.message) from None


class OwnerReferencesPermissionEnforcement(Plugin):
    """Who names owners may delete the object; who blocks their deletion may change their
    finalizers.
    """

    name = "OwnerReferencesPermissionEnforcement"

    def __init__(self) -> None:
        self._services: Services | None = None

    def initialize(self, services: Services) -> None:
        """Ask the server's authorizer."""
        self._services = services

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Everything that may have owners."""
        return operation in ("CREATE", "UPDATE") and not (is_resource(kind, "", "pods") and subresource == "status")

    def validate(self, attrs: Attributes) -> None:
        """Refuse owners that the user may not name."""
        services, owners, before = self._services, _owners(attrs.obj), _owners(attrs.old)
        if services is None or owners == before:
            return
        user, kind = attrs.ctx.user, attrs.kind
        if attrs.operation != "CREATE":
            access = Access(
                "delete", kind.group, kind.version, kind.plural, attrs.subresource, attrs.namespace, attrs.name)
            decision = services.authorizer.decide(user, access)
            if not decision.allowed:
                raise forbidden(attrs, f"cannot set an ownerRef on a resource you can't delete: {decision.reason}, <nil>")
        blocking = [owner for owner in owners if owner.get("blockOwnerDeletion") and owner.get("uid") not in _blocked(before)]
        if not blocking:
            return
        anything = Access("update", "*", "*", "*", "finalizers", "", "*")
        if services.authorizer.decide(user, anything).allowed:
            return
        for owner in blocking:
            for access in _finalizing(services, attrs, owner):
                decision = services.authorizer.decide(user, access)
                if not decision.allowed:
                    raise forbidden(attrs, (
                        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: "
                        f"{decision.reason}, <nil>"))


def _owners(tree: Tree | None) -> list[Tree]:
    return list(((tree or {}).get("metadata") or {}).get("ownerReferences") or ())


def _blocked(owners: list[Tree]) -> list[str]:
    return [owner.get("uid", "") for owner in owners if owner.get("blockOwnerDeletion")]


def _finalizing(services: Services, attrs: Attributes, owner: Tree) -> Iterator[Access]:
    """What one has to be allowed to block the deletion of an owner."""
    group, version = split_api_version(owner.get("apiVersion", ""))
    wanted = (group, version, owner.get("kind", ""))
    kinds = [kind for kind in services.resources.kinds if (kind.group, kind.version, kind.kind) == wanted]
    if not kinds:
        told = owner.get("apiVersion", "")
        raise forbidden(attrs, (
            f"cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {told} Kind {wanted[2]}: "
            f'no matches for kind "{wanted[2]}" in version "{told}"'))
    for kind in kinds:
        namespace = attrs.namespace if kind.namespaced else ""
        yield Access("update", kind.group, kind.version, kind.plural, "finalizers", namespace, owner.get("name", ""))
