"""Approves the client certificates of kubelets, where whoever asks may have them.

Whether they may is asked of the API server. Upstream: pkg/controller/certificates/approver.
"""


from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.util.certificaterequests import names_in
from fakekube_controllers.certificates import requests

AGAIN_SECONDS = 60
"""After a no: a role may have come meanwhile. Upstream backs off from 0.2 to 1,000 seconds."""


class ApprovingReconciler:
    """Looks at one request."""

    def __init__(self, ctx: Context) -> None:
        self.client, self.requests = ctx.client, ctx.lister(CERTIFICATE_SIGNING_REQUESTS)

    async def reconcile(self, request: Request) -> Result | None:
        """Approve what is a kubelet's, and what it may have. Raises APIError."""
        found = self.requests.get("", request.name)
        if found is None or requests.is_issued(found):
            return None
        if requests.conditions(found, "Approved") or requests.conditions(found, "Denied"):
            return None
        spec = found["spec"]
        if spec.get("signerName") != requests.KUBELET_CLIENT_SIGNER:
            return None
        try:
            names = names_in(requests.pem_of(found))
        except (ValueError, ImportError):
            return None
        if requests.kubelet_client_complaint(names, spec.get("usages") or ()):
            return None
        if spec.get("username") == names.common_name and await self._may(spec, "selfnodeclient"):
            await self._approve(found, "Auto approving self kubelet client certificate after SubjectAccessReview.")
        elif await self._may(spec, "nodeclient"):
            await self._approve(found, "Auto approving kubelet client certificate after SubjectAccessReview.")
        else:
            return Result.after(AGAIN_SECONDS, daemon=True)
        return None

    async def _may(self, spec: Tree, subresource: str) -> bool:
        attributes = {
            "group": CERTIFICATE_SIGNING_REQUESTS.group, "resource": CERTIFICATE_SIGNING_REQUESTS.plural, "verb": "create",
            "subresource": subresource, "version": "*"}
        user = {name: spec[field] for name, field in (
            ("user", "username"), ("uid", "uid"), ("groups", "groups"), ("extra", "extra")) if spec.get(field)}
        answer = await self.client.create(SUBJECT_ACCESS_REVIEWS, {"spec": {**user, "resourceAttributes": attributes}})
        return bool(answer["status"].get("allowed"))

    async def _approve(self, found: Tree, message: str) -> None:
        approved = {"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}
        status = found.get("status") or {}
        status = {**status, "conditions": [*(status.get("conditions") or ()), approved]}
        await self.client.update(CERTIFICATE_SIGNING_REQUESTS, {**found, "status": status}, subresource="approval")
