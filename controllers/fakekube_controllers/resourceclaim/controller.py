"""Makes ResourceClaims from templates, says in the pod's status which, and cleans up after pods
that have ended.

Upstream: pkg/controller/resourceclaim/controller.go. Left out: reservations for pods that were
bound by hand, claims of PodGroups, extended resources, metrics. No scheduler here allocates
devices: a pod is scheduled without.
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS, Resource
from fakekube.runtime import pods
from fakekube.runtime.context import Context
from fakekube.runtime.controller import Worker
from fakekube_controllers.resourceclaim import has_resource_claims

CLAIMS, TEMPLATES = "resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io"
POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
FINALIZER = "resource.kubernetes.io/delete-protection"
FIELD_MANAGER = "ResourceClaimController"
MAX_BASE = 57  # characters of a generated name before its hyphen and suffix
POD, CLAIM = "pod", "claim"

Key = tuple[str, ObjectKey]
"""A pod or a claim: which of them, and where."""


class ResourceClaims:
    """A component for the manager: of which version claims are is asked of the server first."""

    name = "resourceclaim"
    user_agent = "kube-controller-manager"
    user: UserInfo | None = None

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
        self.queue = ctx.queue("resource_claim")
        ctx.add_handler(PODS, self._pod_seen, lambda _, new: self._pod_seen(new), self._pod_gone)
        ctx.add_handler(claims, self._claim_seen, lambda _, new: self._claim_seen(new), self._claim_gone)
        Worker(ctx, self.queue, self._sync).start()

    async def stop(self) -> None:
        """Everything belongs to the context."""

    # events

    def _pod_seen(self, pod: Tree) -> None:
        if not has_resource_claims(pod):
            return
        if _is_done(pod):
            self._pod_gone(pod)
        elif not meta.is_deleting(pod):
            self.queue.add((POD, meta.key_of(pod)))

    def _pod_gone(self, pod: Tree) -> None:
        for name in _claim_names(pod):
            self.queue.add((CLAIM, ObjectKey(meta.namespace_of(pod), name)))

    def _claim_seen(self, claim: Tree) -> None:
        self.queue.add((CLAIM, meta.key_of(claim)))

    def _claim_gone(self, claim: Tree) -> None:
        """A pod whose claim is gone gets another."""
        owner = meta.controller_of(claim)
        if owner is not None and owner["kind"] == "Pod":
            self.queue.add((POD, ObjectKey(meta.namespace_of(claim), owner["name"])))

    # a step

    async def _sync(self, key: Key) -> None:
        what, at = key
        if what == POD:
            await self._sync_pod(self.pods.get(at.namespace, at.name))
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
            statuses = [{"name": name, "resourceClaimName": claim} for name, claim in made.items()]
            body = {"metadata": {"name": meta.name_of(pod)}, "status": {"resourceClaimStatuses": statuses}}
            await self.client.patch(
                PODS, meta.name_of(pod), meta.namespace_of(pod), body, type="apply", subresource="status", force=True,
                field_manager=FIELD_MANAGER)

    async def _ensure(self, pod: Tree, wanted: Tree) -> str:
        """The name of a claim that the pod's status does not name yet, made if need be; empty when
        nothing is missing.

        Raises APIError, and LookupError without a template.
        """
        template_name = wanted.get("resourceClaimTemplateName")
        if template_name is None:
            return ""
        known = _names_in_status(pod).get(wanted["name"])
        if known:
            claim = self.claims.get(meta.namespace_of(pod), known)
            if claim is not None and meta.is_controlled_by(claim, pod):
                return ""
        for claim in self.claims.controlled_by(meta.uid_of(pod)):
            if meta.annotations_of(claim).get(POD_CLAIM_NAME) == wanted["name"]:
                return meta.name_of(claim)
        template = self.templates.get(meta.namespace_of(pod), template_name)
        if template is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{template_name}" not found'
            raise LookupError(f'resource claim template "{template_name}": {missing}')
        made = await self.client.create(self.resource, _claim(pod, wanted["name"], template))
        return meta.name_of(made)

    async def _sync_claim(self, claim: Tree | None) -> None:
        if claim is None:
            return
        status = claim.get("status") or {}
        reserved = status.get("reservedFor") or []
        valid = [each for each in reserved if self._is_valid(claim, each)]
        if len(valid) < len(reserved):
            status = {**status, "reservedFor": valid}
            if not valid:
                status.pop("allocation", None)
            claim = await self.client.update_status(self.resource, {**claim, "status": status})
        if FINALIZER in meta.finalizers_of(claim) and meta.is_deleting(claim) and not status.get("allocation"):
            await self.client.update(self.resource, meta.without_finalizer(claim, FINALIZER))
            return
        if not valid and not meta.is_deleting(claim) and self._has_ended(claim):
            await self.client.delete(
                self.resource, meta.name_of(claim), meta.namespace_of(claim), uid=meta.uid_of(claim), missing_ok=True)

    def _is_valid(self, claim: Tree, reserved: ReadOnlyTree) -> bool:
        """Whether what a claim is reserved for may still use it."""
        if reserved.get("apiGroup") or reserved.get("resource") != "pods":
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


def _names_in_status(pod: ReadOnlyTree) -> dict[str, str]:
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    return {each["name"]: each.get("resourceClaimName", "") for each in statuses}


def _claim_names(pod: ReadOnlyTree) -> list[str]:
    """The claims of a pod, by the names that they have."""
    named = [each.get("resourceClaimName") for each in pod["spec"].get("resourceClaims") or ()]
    return [name for name in (*named, *_names_in_status(pod).values()) if name]


def _claim(pod: ReadOnlyTree, name: str, template: ReadOnlyTree) -> Tree:
    spec = template["spec"]
    found = spec.get("metadata") or {}
    metadata: Tree = {
        "generateName": _base(meta.name_of(pod), name), "namespace": meta.namespace_of(pod),
        "annotations": {**(found.get("annotations") or {}), POD_CLAIM_NAME: name},
        "ownerReferences": [meta.controller_reference(pod)]}
    if found.get("labels"):
        metadata["labels"] = dict(found["labels"])
    return {"metadata": metadata, "spec": spec["spec"]}


def _base(pod: str, name: str) -> str:
    """``pod-name-``, or as much of both as there is room for."""
    base = f"{pod}-{name}-"
    if len(base) <= MAX_BASE:
        return base
    return f"{pod[:len(pod) * MAX_BASE // len(base)]}-{name[:len(name) * MAX_BASE // len(base)]}"
