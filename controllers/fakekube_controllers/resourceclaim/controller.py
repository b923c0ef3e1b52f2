"""Makes ResourceClaims from templates, says in the pod's status which, and cleans up after pods
that have ended.

``groups.py`` makes those of PodGroups, where the gate DRAWorkloadResourceClaims is on. Pods that
have a node get their claims reserved, should the scheduler not have done so.
Upstream: pkg/controller/resourceclaim/controller.go. Left out: metrics.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.consistency import Consistency
from fakekube.client.resources import PODS, Resource
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube_controllers.resourceclaim import GATE, generated, has_resource_claims
from fakekube_controllers.resourceclaim.generated import check_seen

if TYPE_CHECKING:
    from fakekube_controllers.resourceclaim.groups import GroupClaims

CLAIMS, TEMPLATES = "resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io"
FINALIZER = "resource.kubernetes.io/delete-protection"
FIELD_MANAGER = "ResourceClaimController"
POD, CLAIM, GROUP = "pod", "claim", "group"
USERS = "pods by their claims"
MOST_CONSUMERS = 256

Key = tuple[str, ObjectKey]
"""A pod, a claim or a PodGroup: which of them, and where."""


class ResourceClaims:
    """A component for the manager: of which version claims are is asked of the server first."""

    async def start(self, ctx: Context) -> None:
        """Register with the caches and start to work, where there are such claims at all."""
        try:
            claims: Resource = await ctx.client.resource(CLAIMS)
            templates: Resource = await ctx.client.resource(TEMPLATES)
        except KeyError:
            return
        self.ctx, self.client, self.recorder = ctx, ctx.client, ctx.recorder("resource_claim")
        self.resource = claims
        self.claims, self.templates, self.pods = ctx.lister(claims), ctx.lister(templates), ctx.lister(PODS)
        self.pods.add_index(USERS, _claim_keys)
        self.consistency = Consistency()
        self.groups: GroupClaims | None = None
        self.queue = ctx.queue("resource_claim")
        ctx.add_handler(PODS, self._pod_seen, lambda _, new: self._pod_seen(new), self._pod_gone)
        ctx.add_handler(claims, self._claim_seen, lambda _, new: self._claim_seen(new), self._claim_gone)
        if ctx.enabled(GATE):
            self.groups = await self._group_claims()
        Worker(ctx, self.queue, self._sync).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    async def _group_claims(self) -> "GroupClaims | None":
        """What makes the claims of PodGroups, where there are such."""
        from fakekube_controllers.resourceclaim.groups import POD_GROUPS, GroupClaims

        try:
            groups: Resource = await self.client.resource(POD_GROUPS)
        except KeyError:
            return None
        made = GroupClaims(self.ctx, groups, self.resource, self.templates)
        self.ctx.add_handler(groups, self._group_seen, lambda _, new: self._group_seen(new), self._group_gone)
        return made

    # events

    def _pod_seen(self, pod: Tree) -> None:
        if not has_resource_claims(pod):
            return
        if _is_done(pod):
            self._pod_gone(pod)
        elif not meta.is_deleting(pod):
            self.queue.add((POD, meta.key_of(pod)))

    def _pod_gone(self, pod: Tree) -> None:
        self.consistency.forget(meta.key_of(pod))
        for name in _claim_names(pod):
            self.queue.add((CLAIM, ObjectKey(meta.namespace_of(pod), name)))

    def _claim_seen(self, claim: Tree) -> None:
        self.queue.add((CLAIM, meta.key_of(claim)))
        for pod in self.pods.by_index(USERS, str(meta.key_of(claim))):
            if any(self._lacks(pod, one) for one in pod["spec"].get("resourceClaims") or ()):
                self._pod_seen(pod)
        for pod in self.groups.members_of_owner(claim) if self.groups is not None else ():
            if meta.name_of(claim) not in generated.names_in_status(pod).values():
                self._pod_seen(pod)

    def _claim_gone(self, claim: Tree) -> None:
        """A pod or a group whose claim is gone gets another."""
        owner = meta.controller_of(claim)
        if owner is not None and owner["kind"] in ("Pod", "PodGroup"):
            self.queue.add((POD if owner["kind"] == "Pod" else GROUP, ObjectKey(meta.namespace_of(claim), owner["name"])))

    def _group_seen(self, group: Tree) -> None:
        """A group's claims are made, and its pods are told of them."""
        if self.groups is None or not group["spec"].get("resourceClaims") or meta.is_deleting(group):
            return
        self.queue.add((GROUP, meta.key_of(group)))
        for pod in self.groups.members(group):
            self._pod_seen(pod)

    def _group_gone(self, group: Tree) -> None:
        from fakekube_controllers.resourceclaim.groups import claim_names

        for name in claim_names(group):
            self.queue.add((CLAIM, ObjectKey(meta.namespace_of(group), name)))

    # a step

    async def _sync(self, key: Key) -> None:
        what, at = key
        if what == POD:
            check_seen(self.consistency, at)
            await self._sync_pod(self.pods.get(at.namespace, at.name))
        elif what == GROUP and self.groups is not None:
            await self.groups.sync(self.groups.groups.get(at.namespace, at.name))
        else:
            await self._sync_claim(self.claims.get(at.namespace, at.name))

    async def _sync_pod(self, pod: Tree | None) -> None:
        if pod is None or meta.is_deleting(pod) or _is_done(pod):
            return
        made: dict[str, str] = {}
        for wanted in pod["spec"].get("resourceClaims") or ():
            try:
                name = await self._ensure(pod, wanted)
            except (APIError, LookupError) as error:
                text = f"PodResourceClaim {wanted['name']}: {error.args[0] if error.args else error}"
                self.recorder.event(pod, "Warning", "FailedResourceClaimCreation", text)
                raise
            if name:
                made[wanted["name"]] = name
        if made:
            await self.client.patch(
                PODS, meta.name_of(pod), meta.namespace_of(pod), generated.status_of(pod, made), type="apply",
                subresource="status", force=True, field_manager=FIELD_MANAGER)
        for wanted in pod["spec"].get("resourceClaims") or ():
            if (lacking := self._lacks(pod, wanted)) is not None:
                claim, consumer = lacking
                status = {**claim["status"], "reservedFor": [*(claim["status"].get("reservedFor") or ()), consumer]}
                await self.client.update_status(self.resource, {**claim, "status": status})

    def _lacks(self, pod: Tree, wanted: Tree) -> tuple[Tree, Tree] | None:
        """The claim that is to be reserved for a pod that has a node, and what it is to be reserved
        for: the pod, or its group; None where it is so already, or cannot be.
        """
        name = wanted.get("resourceClaimName") or generated.names_in_status(pod).get(wanted["name"])
        claim = self.claims.get(meta.namespace_of(pod), name) if name and pod["spec"].get("nodeName") else None
        if claim is None or not (claim.get("status") or {}).get("allocation"):
            return None
        group = self.groups.shared(pod, wanted) if self.groups is not None else None
        if wanted.get("resourceClaimName") is None and not meta.is_controlled_by(claim, group or pod):
            return None
        reserved = claim["status"].get("reservedFor") or []
        consumer: Tree = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups"} if group else {"resource": "pods"}
        consumer |= {"name": meta.name_of(group or pod), "uid": meta.uid_of(group or pod)}
        if len(reserved) >= MOST_CONSUMERS or any(one["uid"] == consumer["uid"] for one in reserved):
            return None
        return claim, consumer

    async def _ensure(self, pod: Tree, wanted: Tree) -> str:
        """The name of a claim that the pod's status does not name yet, made if need be; empty when
        nothing is missing.

        Raises APIError, and LookupError without a template.
        """
        if wanted.get("resourceClaimTemplateName") is None:
            return ""
        group = self.groups.shared(pod, wanted) if self.groups is not None else None
        owner = group or pod
        known = generated.names_in_status(pod).get(wanted["name"])
        claim = self.claims.get(meta.namespace_of(pod), known) if known else None
        if claim is not None and meta.is_controlled_by(claim, owner):
            return ""
        claim = generated.claim_for(self.claims, owner, wanted["name"])
        if claim is None and group is not None:
            return ""  # the group's next change tells its pods
        if claim is None:
            reference = meta.controller_reference(pod)
            claim = await self.client.create(self.resource, generated.claim_from(self.templates, pod, wanted, reference))
            self.consistency.wrote(meta.key_of(pod), self.ctx.informer(self.resource), claim)
        return meta.name_of(claim)

    async def _sync_claim(self, claim: Tree | None) -> None:
        if claim is None:
            return
        status = claim.get("status") or {}
        reserved = status.get("reservedFor") or []
        valid = [each for each in reserved if self._is_valid(claim, each)]
        held, deleting = FINALIZER in meta.finalizers_of(claim), meta.is_deleting(claim)
        if len(valid) < len(reserved) or (held and deleting and not valid and status.get("allocation")):
            status = {**status, "reservedFor": valid}
            if held and not valid:
                status.pop("allocation", None)
            claim = await self.client.update_status(self.resource, {**claim, "status": status})
        released = len(valid) < len(reserved) or (deleting and not valid)
        if held and released and not status.get("allocation"):
            claim = await self.client.update(self.resource, meta.without_finalizer(claim, FINALIZER))
            if deleting:
                return
        if not valid and not meta.is_deleting(claim) and self._has_ended(claim):
            await self.client.delete(
                self.resource, meta.name_of(claim), meta.namespace_of(claim), uid=meta.uid_of(claim), missing_ok=True)

    def _is_valid(self, claim: Tree, reserved: ReadOnlyTree) -> bool:
        """Whether what a claim is reserved for may still use it."""
        what = reserved.get("apiGroup", ""), reserved.get("resource")
        if what == ("scheduling.k8s.io", "podgroups") and self.groups is not None:
            return self.groups.exists(meta.namespace_of(claim), reserved)
        if what != ("", "pods"):
            return True
        pod = self.pods.get(meta.namespace_of(claim), reserved["name"])
        return pod is not None and meta.uid_of(pod) == reserved["uid"] and not _is_done(pod)

    def _has_ended(self, claim: Tree) -> bool:
        """Whether the pod that a claim was made for will not run any more."""
        owner = meta.controller_of(claim)
        if owner is None or owner["kind"] != "Pod":
            return False
        pod = self.pods.get(meta.namespace_of(claim), owner["name"])
        return pod is not None and meta.uid_of(pod) == owner["uid"] and _is_done(pod)


def _is_done(pod: ReadOnlyTree) -> bool:
    """Whether no container of a pod runs any more, nor will."""
    return pods.is_finished(pod) or (meta.is_deleting(pod) and not pod["spec"].get("nodeName"))


def _claim_keys(pod: Tree) -> list[str]:
    if not has_resource_claims(pod):
        return []
    return [str(ObjectKey(meta.namespace_of(pod), name)) for name in _claim_names(pod)]


def _claim_names(pod: ReadOnlyTree) -> list[str]:
    """The claims of a pod, by the names that they have."""
    named = [each.get("resourceClaimName") for each in pod["spec"].get("resourceClaims") or ()]
    special = (pod.get("status") or {}).get("extendedResourceClaimStatus") or {}
    return [name for name in (*named, *generated.names_in_status(pod).values(), special.get("resourceClaimName")) if name]
