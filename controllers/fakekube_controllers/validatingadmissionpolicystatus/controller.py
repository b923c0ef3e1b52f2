"""Writes into the status of a ValidatingAdmissionPolicy what the check of its types says.

The types are the server's: the check is ``expression_warnings`` among the context's options, from a
policy to the list for its status. In a cluster that offers none, nothing is written.
Upstream: pkg/controller/validatingadmissionpolicystatus.
"""

from typing import TYPE_CHECKING

from fakekube.client.resources import VALIDATING_ADMISSION_POLICIES
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakekube.apimachinery.types import Tree

FIELD_MANAGER = "validatingadmissionpolicy-status"


class PolicyStatusReconciler:
    """Looks at one policy."""

    def __init__(self, ctx: Context) -> None:
        self.client, self.policies = ctx.client, ctx.lister(VALIDATING_ADMISSION_POLICIES)
        self._warnings: Callable[[Tree], list[Tree]] | None = ctx.options.get("expression_warnings")

    async def reconcile(self, request: Request) -> None:
        """Apply the status of a generation that was not checked yet. Raises APIError."""
        policy = self.policies.get("", request.name)
        if policy is None or self._warnings is None:
            return
        generation: int = policy["metadata"].get("generation", 0)
        if generation <= (policy.get("status") or {}).get("observedGeneration", 0):
            return
        found = self._warnings(policy)
        status = {"observedGeneration": generation, "typeChecking": {"expressionWarnings": found} if found else {}}
        await self.client.patch(
            VALIDATING_ADMISSION_POLICIES, request.name, body={"metadata": {"name": request.name}, "status": status},
            type="apply", subresource="status", field_manager=FIELD_MANAGER, force=True)
