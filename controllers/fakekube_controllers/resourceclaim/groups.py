"""Claims that all pods of a PodGroup share.

Each entry of the group that names a template gets one claim before there is any pod. A pod shares
it when an entry of its own has the same name and the same source. Upstream: syncPodGroup in
pkg/controller/resourceclaim/controller.go, BindTo in dynamic-resource-allocation/resourceclaim.
"""

from collections.abc import Iterable

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.cache.lister import Lister
from fakekube.client.resources import PODS, Resource
from fakekube.runtime.context import Context
from fakekube_controllers.resourceclaim import generated

POD_GROUPS = "podgroups.scheduling.k8s.io"
FIELD_MANAGER = "ResourceClaimController"
MEMBERS = "pods of a group that share claims"
SOURCES = ("resourceClaimName", "resourceClaimTemplateName")


class GroupClaims:
    """Makes the claims of PodGroups, and knows which pods share them."""

    def __init__(self, ctx: Context, resource: Resource, claims: Resource, templates: Lister) -> None:
        self.client, self.recorder = ctx.client, ctx.recorder("resource_claim")
        self.resource, self.claim_resource = resource, claims
        self.groups, self.claims, self.templates = ctx.lister(resource), ctx.lister(claims), templates
        self.pods, self._consistency, self._claim_informer = ctx.lister(PODS), Consistency(), ctx.informer(claims)
        self.pods.add_index(MEMBERS, _group_key)

    def members(self, group: ReadOnlyTree) -> list[Tree]:
        """The pods of a group that have claims."""
        return self.pods.by_index(MEMBERS, f"{meta.namespace_of(group)}/{meta.name_of(group)}")

    def members_of_owner(self, claim: ReadOnlyTree) -> list[Tree]:
        """The pods with claims of the group that a claim was made for."""
        owner = meta.controller_of(claim)
        group = self.groups.get(meta.namespace_of(claim), owner["name"]) if owner and owner["kind"] == "PodGroup" else None
        return [] if group is None else self.members(group)

    def shared(self, pod: ReadOnlyTree, wanted: ReadOnlyTree) -> Tree | None:
        """The group whose claim an entry of a pod means; None where the pod has one of its own."""
        name = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
        group = self.groups.get(meta.namespace_of(pod), name) if name else None
        if group is None:
            return None
        entries: Iterable[Tree] = group["spec"].get("resourceClaims") or ()
        same = any(
            entry["name"] == wanted["name"] and all(entry.get(source) == wanted.get(source) for source in SOURCES)
            for entry in entries)
        return group if same else None

    def exists(self, namespace: str, reserved: ReadOnlyTree) -> bool:
        """Whether a group that a claim is reserved for is there."""
        group = self.groups.get(namespace, reserved["name"])
        return group is not None and meta.uid_of(group) == reserved["uid"]

    async def sync(self, group: Tree | None) -> None:
        """Make the claims that a group has not.

        Raises APIError, and LookupError without a template.
        """
        if group is None or meta.is_deleting(group):
            return
        generated.check_seen(self._consistency, meta.key_of(group))
        made: dict[str, str] = {}
        for wanted in group["spec"].get("resourceClaims") or ():
            try:
                name = await self._ensure(group, wanted)
            except (APIError, LookupError) as error:
                text = f"PodGroupResourceClaim {wanted['name']}: {error.args[0] if error.args else error}"
                self.recorder.event(group, "Warning", "FailedResourceClaimCreation", text)
                raise
            if name:
                made[wanted["name"]] = name
        if made:
            await self.client.patch(
                self.resource, meta.name_of(group), meta.namespace_of(group), generated.status_of(group, made), type="apply",
                subresource="status", force=True, field_manager=FIELD_MANAGER)

    async def _ensure(self, group: Tree, wanted: Tree) -> str:
        """The name of a claim that the group's status does not name yet; empty when nothing is
        missing.
        """
        if wanted.get("resourceClaimTemplateName") is None:
            return ""
        known = generated.names_in_status(group).get(wanted["name"])
        claim = self.claims.get(meta.namespace_of(group), known) if known else None
        if claim is not None and meta.is_controlled_by(claim, group):
            return ""
        claim = generated.claim_for(self.claims, group, wanted["name"])
        if claim is None:
            reference = meta.owner_reference(group, controller=True)
            claim = await self.client.create(
                self.claim_resource, generated.claim_from(self.templates, group, wanted, reference))
            self._consistency.wrote(meta.key_of(group), self._claim_informer, claim)
        return meta.name_of(claim)


def claim_names(group: ReadOnlyTree) -> list[str]:
    """The claims of a group, by the names that they have."""
    named = [each.get("resourceClaimName") for each in group["spec"].get("resourceClaims") or ()]
    return [name for name in (*named, *generated.names_in_status(group).values()) if name]


def _group_key(pod: Tree) -> Iterable[str]:
    name = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
    return (f"{meta.namespace_of(pod)}/{name}",) if name and pod["spec"].get("resourceClaims") else ()
