"""Nominates workers a few at a time: three, and three more every five minutes while none of them
has admitted the Workload.

Upstream: pkg/controller/workloaddispatcher/incrementaldispatcher.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue.multikueue import checks, group
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, MULTIKUEUE_CONFIGS, WORKLOADS
from fakekube_controllers.kueue.workload import patching, reasons, states

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

ROUND_SECONDS = 300.0
DEFAULT_STEP_SIZE = 3


class IncrementalDispatcher:
    """Reconciles one Workload."""

    def __init__(self, kueue: "Kueue", ctx: Context) -> None:
        self._ctx, self._features = ctx, kueue.features
        self._workloads = ctx.lister(WORKLOADS)
        for resource in (ADMISSION_CHECKS, MULTIKUEUE_CONFIGS):
            ctx.lister(resource)
        has_size = kueue.features.MultiKueueIncrementalDispatcherConfig
        self._step = kueue.configuration.multi_kueue.incremental_step_size if has_size else DEFAULT_STEP_SIZE
        self._began: dict[Request, float] = {}

    async def reconcile(self, request: Request) -> Result | None:
        """Nominate the next workers when it is time. Raises APIError, BadParameters."""
        workload = self._workloads.get(request.namespace, request.name)
        if workload is None or meta.is_deleting(workload):
            self._began.pop(request, None)
            return None
        check = checks.multikueue_check(workload, self._ctx)
        is_elastic = group.is_elastic(workload, self._features)
        if check is None or check.get("state") != reasons.CHECK_PENDING or (not is_elastic and states.cluster_name(workload)):
            return None
        if states.is_finished(workload) or not states.has_quota_reservation(workload):
            self._began.pop(request, None)
            return None
        return await self._nominate(request, workload, checks.clusters_of_check(check["name"], self._ctx))

    async def _nominate(self, request: Request, workload: ReadOnlyTree, clusters: list[str]) -> Result | None:
        now = self._ctx.clock.time()
        present: list[str] = states.status_of(workload).get("nominatedClusterNames") or []
        left = [cluster for cluster in clusters if cluster not in present]
        began = self._began.get(request)
        if began is not None and now - began < ROUND_SECONDS:
            return Result.after(ROUND_SECONDS - (now - began), daemon=not left)
        if not left:
            return None
        if not self._features.MultiKueueIncrementalDispatcherRespectConfigOrder:
            left.sort()
        nominated = [*present, *left[:self._step]]

        def update(changed: Tree) -> bool:
            changed.setdefault("status", {})["nominatedClusterNames"] = nominated
            return True

        await patching.patch_admission_status(self._ctx.client, workload, update, features=self._features)
        self._began[request] = now
        return None
