"""Which workers get a copy of a Workload that waits for its check.

Upstream: nominateAndSynchronizeWorkers and syncToSingleCluster in
pkg/controller/admissionchecks/multikueue/workload.go.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import ExpectedError, Request
from fakekube_controllers.kueue.configuration import ALL_AT_ONCE
from fakekube_controllers.kueue.multikueue.group import Group
from fakekube_controllers.kueue.workload import admissionchecks, patching, reasons, states

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue


class NotConnected(ExpectedError):
    """A worker that is nominated cannot be reached."""


class Nomination:
    """Nominates workers, and makes the copies there. ``look_at`` has a Workload reconciled soon."""

    def __init__(self, kueue: "Kueue", ctx: Context, look_at: Callable[[Request], None]) -> None:
        self._client, self._features, self._look_at = ctx.client, kueue.features, look_at
        self._all_at_once = kueue.configuration.multi_kueue.dispatcher_name == ALL_AT_ONCE
        self._dispatched = ctx.metrics.counter(
            "multikueue_workloads_dispatched_total", "The total number of workloads dispatched to worker clusters",
            ("cluster_queue", "worker_cluster", "replica_role"))

    async def nominate_and_synchronize(self, found: Group, job: ReadOnlyTree | None, *, is_elastic: bool) -> None:
        """Nominate workers, make a copy on each, and remove those elsewhere.

        Raises NotConnected, DifferentClusters, APIError, TransportError.
        """
        local = found.local
        others = [state for state in admissionchecks.states_of(local) if state["name"] != found.check]
        if any(state.get("state") != reasons.CHECK_READY for state in others) or not found.parts.are_all_there(job):
            return
        assigned = found.parts.cluster()
        if not assigned and (first := found.parts.first()) != meta.key_of(local):
            if first is not None:
                self._look_at(first)
            return
        nominated = await (self._assigned(found, assigned) if assigned else self._nominated(found, is_elastic=is_elastic))
        for cluster, remote in found.remotes.items():
            if cluster not in nominated:
                await found.remove_remote_objects(cluster)
            elif remote is None:
                await found.create_remote(cluster)
                self._dispatched.inc(cluster_queue_of(local), cluster, "leader")
        away = [cluster for cluster in nominated if cluster not in found.clients]
        if away:
            raise NotConnected(f"clusters that are nominated are not connected: {', '.join(away)}")

    async def _assigned(self, found: Group, cluster: str) -> Sequence[str]:
        """The worker that other parts of the job are on, and no other."""
        if cluster not in found.remotes:
            raise NotConnected(f'assigned worker cluster "{cluster}" is not available')
        if cluster not in self._present(found):
            await self._write(found, [cluster])
        return [cluster]

    async def _nominated(self, found: Group, *, is_elastic: bool) -> Sequence[str]:
        """The workers that are to have a copy; written down, where this controller chooses them."""
        cluster = states.cluster_name(found.local)
        if is_elastic and cluster:
            return [cluster]
        if not self._all_at_once:
            return self._present(found)
        nominated = sorted(found.remotes)
        if sorted(self._present(found)) != nominated:
            await self._write(found, nominated)
        return nominated

    def _present(self, found: Group) -> Sequence[str]:
        return states.status_of(found.local).get("nominatedClusterNames") or ()

    async def _write(self, found: Group, nominated: list[str]) -> None:
        def update(changed: Tree) -> bool:
            changed.setdefault("status", {})["nominatedClusterNames"] = nominated
            return True

        await patching.patch_admission_status(self._client, found.local, update, features=self._features)


def cluster_queue_of(workload: ReadOnlyTree) -> str:
    """The ClusterQueue that a Workload has quota in; empty for none."""
    admission = states.admission(workload)
    return str(admission["clusterQueue"]) if admission is not None else ""
