"""One reconcile of one Workload with the admission check of MultiKueue: the order of decisions.

Upstream: wlReconciler in pkg/controller/admissionchecks/multikueue/workload.go; its steps have its
numbers.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, Result
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.multikueue import checks, group, nomination, owners
from fakekube_controllers.kueue.multikueue.adapters import MultiKueueAdapter
from fakekube_controllers.kueue.multikueue.clusters import Clusters
from fakekube_controllers.kueue.multikueue.group import Group
from fakekube_controllers.kueue.multikueue.nomination import Nomination
from fakekube_controllers.kueue.multikueue.parts import parts_of
from fakekube_controllers.kueue.multikueue.serving import ServingAdapter, copy_pods_ready
from fakekube_controllers.kueue.names import MULTIKUEUE_CONFIGS, WORKLOADS
from fakekube_controllers.kueue.workload import admissionchecks, finish, patching, reasons, reservation, states

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

SYNC_DEFERRED, NOT_SYNCED = timedelta(seconds=2), timedelta(seconds=1)
OUT_OF_SYNC, EVICTED_ON_MANAGER = "OutOfSync", "EvictedOnManagerCluster"


class WorkloadReconciler:
    """Reconciles one Workload."""

    def __init__(self, kueue: "Kueue", clusters: Clusters, ctx: Context) -> None:
        self._kueue, self._clusters, self._ctx, self._client = kueue, clusters, ctx, ctx.client
        self._features, self._settings = kueue.features, kueue.configuration.multi_kueue
        self._workloads = ctx.lister(WORKLOADS)
        self._deleted: dict[Request, ReadOnlyTree] = {}
        self._recorder = kueue.recorder(names.WORKLOAD_CONTROLLER_NAME)
        self._nomination = Nomination(kueue, ctx, self._look_at)
        self._admitted = ctx.metrics.counter(
            "multikueue_workloads_admitted_total", "The total number of workloads admitted on worker clusters",
            ("cluster_queue", "worker_cluster", "replica_role"))

    def setup(self, queue: WorkQueue[Request]) -> None:
        """Hear of copies that change, and of other clusters in a MultiKueueConfig."""
        def changed(key: Request) -> None:
            if self._workloads.get(key.namespace, key.name) is not None:
                queue.add_after(key, names.UPDATES_BATCH_PERIOD_SECONDS)

        def added(workload: Tree) -> None:
            # the first part waits for all others to be there
            if names.COMPONENT_WORKLOAD_INDEX_ANNOTATION in meta.annotations_of(workload):
                adapter, _ = self._clusters.adapters.of_workload(workload)
                first = parts_of(workload, self._workloads, adapter).first()
                if first is not None:
                    changed(first)

        def connected(cluster: str) -> None:
            for workload in self._workloads.list():
                chosen = states.cluster_name(workload)
                # also what waits for any worker: upstream forgets such, if it found none before
                is_open = not chosen and states.has_quota_reservation(workload) and not states.is_finished(workload)
                if is_open or (chosen == cluster and not states.is_admitted(workload)):
                    changed(meta.key_of(workload))

        def reconfigured(config: Tree) -> None:
            of = {meta.name_of(check) for check in checks.checks_naming(meta.name_of(config), self._ctx)}
            for workload in self._workloads.list():
                if any(state["name"] in of for state in admissionchecks.states_of(workload)):
                    key = Request(meta.namespace_of(workload), meta.name_of(workload))
                    queue.add_after(key, names.UPDATES_BATCH_PERIOD_SECONDS)

        def updated(old: Tree, new: Tree) -> None:
            if old.get("spec") != new.get("spec"):
                reconfigured(new)

        def deleted(workload: Tree) -> None:
            self._deleted[Request(meta.namespace_of(workload), meta.name_of(workload))] = workload

        self._clusters.on_workload, self._clusters.on_connected = changed, connected
        self._ctx.add_handler(MULTIKUEUE_CONFIGS, None, updated, reconfigured)
        self._ctx.add_handler(WORKLOADS, added, None, deleted)

    def _look_at(self, key: Request) -> None:
        self._clusters.on_workload(key)

    async def reconcile(self, request: Request) -> Result | None:
        """Bring a Workload and its copies a step forward.

        Raises APIError, TransportError, BadParameters, NotOwned, NotConnected, DifferentClusters.
        """
        workload: ReadOnlyTree | None = self._workloads.get(request.namespace, request.name)
        if workload is None:
            workload = self._deleted.get(request)
            if workload is None:
                return None
            is_deleted = True
        else:
            is_deleted = meta.is_deleting(workload)
        check = checks.multikueue_check(workload, self._ctx)
        if check is None or check.get("state") == reasons.CHECK_REJECTED:
            self._deleted.pop(request, None)
            return None
        adapter, owner = self._clusters.adapters.of_workload(workload)
        if adapter is None or owner is None:
            kind = f' for owner kind "{owners.gvk_text(owner)}"' if owner is not None else ""
            await self._update_check(workload, check, reasons.CHECK_REJECTED, f"No multikueue adapter found{kind}")
            return None
        if not self._ctx.informer(adapter.resource).has_synced:
            return Result(NOT_SYNCED)
        job = Request(meta.namespace_of(workload), owner["name"])
        if not is_deleted:
            why_not = self._why_not_managed(adapter, job)
            if why_not:
                text = f"The owner is not managed by Kueue: {why_not}"
                await self._update_check(workload, check, reasons.CHECK_REJECTED, text)
                return None
        found = await self._read_group(workload, check["name"], adapter, job)
        if not is_deleted:
            return await self._reconcile_group(found, check)
        for cluster in found.remotes:
            await found.remove_remote_objects(cluster)
        self._deleted.pop(request, None)
        return None

    def _why_not_managed(self, adapter: MultiKueueAdapter, job: Request) -> str:
        found = self._ctx.lister(adapter.resource).get(job.namespace, job.name)
        return adapter.is_managed_by_kueue(found) if found is not None else ""

    async def _read_group(self, local: ReadOnlyTree, check: str, adapter: MultiKueueAdapter, job: Request) -> Group:
        clients, remotes, sides, unavailable = {}, {}, {}, []
        for name in checks.clusters_of_check(check, self._ctx):
            client = self._clusters.connected(name)
            if client is None:
                unavailable.append(name)
                continue
            clients[name], sides[name] = client, self._clusters.sides(client, adapter)
            remotes[name] = await client.client.get(
                WORKLOADS, meta.name_of(local), meta.namespace_of(local), missing_ok=True)
        parts = parts_of(local, self._workloads, adapter)
        return Group(local, remotes, clients, sides, check, adapter, job, unavailable, parts)

    async def _reconcile_group(self, found: Group, check: ReadOnlyTree) -> Result | None:
        local, elastic = found.local, group.is_elastic(found.local, self._features)
        is_finished, is_reserved = states.is_finished(local), states.has_quota_reservation(local)
        # 1. slices that were replaced, or wait to replace another, keep what is on the worker
        if elastic and is_finished and group.is_replaced(local):
            present = self._cluster_of_present_slice(local)
            if present:
                await found.remove_from_others(present)
            return None
        if elastic and not is_finished and not is_reserved and group.replaces_another(local):
            return None
        # 2. what is over, or has no quota, has nothing on workers
        if is_finished or not is_reserved:
            for cluster in found.remotes:
                await found.remove_remote_objects(cluster)
            return Result(self._worker_lost_timeout, daemon=True) if found.unavailable else None
        # 3. what is over on a worker is over here
        finished, cluster = found.first_with(reasons.FINISHED)
        if finished is not None:
            await self._finish(found, check, finished, cluster, is_elastic=elastic)
            return None
        # 4. what was evicted on a worker has to find another one
        evicted, cluster = found.first_with(reasons.EVICTED)
        if evicted is not None:
            if states.is_evicted(local):
                return Result(SYNC_DEFERRED) if await found.sync_job(cluster) else None
            if check.get("state") == reasons.CHECK_READY:
                await self._retry_after_eviction(found, check, cluster)
                return None
        # 5. copies follow the local Workload, or go
        for cluster, remote in found.remotes.items():
            if remote is not None and group.is_out_of_sync(local, remote):
                await self._update_or_remove(found, cluster, remote, is_elastic=elastic)
        # 6. the first that was admitted is the one
        admitted, cluster = found.first_with(reasons.QUOTA_RESERVED if self._features.KEPTexts else reasons.ADMITTED)
        if admitted is not None:
            return await self._converge(found, check, cluster)
        if check.get("state") == reasons.CHECK_READY:
            return await self._admitting_is_gone(found, check)
        # 8. workers are nominated while the check is pending
        if check.get("state") != reasons.CHECK_PENDING or (not elastic and states.cluster_name(local)):
            return None
        if states.cluster_name(local) in found.unavailable:
            # a larger slice has to go to the worker of the one before; upstream waits for ever
            return await self._admitting_is_lost(found, check, states.cluster_name(local))
        job = self._ctx.lister(found.adapter.resource).get(*found.job)
        await self._nomination.nominate_and_synchronize(found, job, is_elastic=elastic)
        return None

    def _slices(self, local: ReadOnlyTree) -> list[Tree]:
        """All slices of the job that one is of."""
        owner = meta.controller_of(local)
        return self._workloads.owned_by(owner["uid"]) if owner is not None else []

    def _cluster_of_present_slice(self, local: ReadOnlyTree) -> str:
        """The worker that a job has gone on on; empty while it is between two."""
        running = [states.cluster_name(each) for each in self._slices(local) if not states.is_finished(each)]
        return running[0] if len(running) == 1 else ""

    @property
    def _worker_lost_timeout(self) -> timedelta:
        return timedelta(seconds=self._settings.worker_lost_timeout_seconds)

    async def _finish(self, found: Group, check: ReadOnlyTree, finished: Tree, cluster: str, *, is_elastic: bool) -> None:
        if finished["reason"] == OUT_OF_SYNC and not is_elastic:
            if check.get("state") != reasons.CHECK_READY:
                return
            text = (
                f'Remote workload on worker cluster "{cluster}" is out of sync with its user job, resetting for re-dispatch')
            message = await self._update_check(found.local, check, reasons.CHECK_RETRY, text)
            self._event(found.local, "Warning", message)
            return
        await found.sync_job(cluster)
        await finish.finish(
            self._client, found.local, finished["reason"], finished["message"], now=self._now, features=self._features)

    async def _retry_after_eviction(self, found: Group, check: ReadOnlyTree, cluster: str) -> None:
        admitting = states.cluster_name(found.local) or cluster
        message = (
            f'Workload evicted on worker cluster: "{admitting}", resetting for re-admission. Previously: "{check["state"]}"')

        def update(changed: Tree) -> bool:
            self._set_check(changed, check, reasons.CHECK_RETRY, message)
            return True

        await patching.patch_admission_status(self._client, found.local, update, features=self._features)
        self._event(found.local, "Normal", message)

    async def _update_or_remove(self, found: Group, cluster: str, remote: Tree, *, is_elastic: bool) -> None:
        local, is_changed = found.local, False
        if is_elastic and group.is_scaled_down(group.counts(remote), group.counts(local)):
            remote["spec"], is_changed = dict(local["spec"]), True
        if group.is_priority_changed(local, remote):
            for field in ("priorityClassRef", "priority"):
                remote["spec"][field] = local["spec"].get(field)
            is_changed = True
        if is_changed:
            await found.clients[cluster].client.update(WORKLOADS, remote)
        else:
            await found.remove_remote_objects(cluster)

    async def _admitting_is_gone(self, found: Group, check: ReadOnlyTree) -> Result | None:
        """6a: none of the copies is admitted any more, or the one that is cannot be reached."""
        admitting = states.cluster_name(found.local)
        if admitting in found.unavailable:
            return await self._admitting_is_lost(found, check, admitting)
        if not admitting:
            text = "Admission check is Ready but no admitting cluster is recorded; this is unexpected, please report it"
        else:
            text = "Admitting remote no longer exists"
        await self._update_check(found.local, check, reasons.CHECK_RETRY, text)
        return None

    async def _admitting_is_lost(self, found: Group, check: ReadOnlyTree, admitting: str) -> Result | None:
        """The worker cannot be reached: it is waited for, and then another one is looked for."""
        remote = self._clusters.remotes.get(admitting)
        lost_since = remote.lost_since if remote is not None and remote.lost_since is not None else self._now
        left = self._settings.worker_lost_timeout_seconds - (self._now - lost_since)
        if left > 0:
            return Result.after(left)
        await self._update_check(found.local, check, reasons.CHECK_RETRY, "Admitting remote lost")
        return None

    async def _converge(self, found: Group, check: ReadOnlyTree, cluster: str) -> Result | None:
        """6b: the job runs on one worker, and nowhere else."""
        for other, remote in found.remotes.items():
            if remote is not None and other != cluster:
                await found.remove_remote_objects(other)
        evicted = states.condition(found.local, reasons.EVICTED)
        if evicted is not None and evicted["status"] == "True":
            await self._evict_remote(found, cluster, evicted["message"])
            return None
        job = self._ctx.lister(found.adapter.resource).get(*found.job)
        if job is not None and names.STOPPING_ANNOTATION in meta.annotations_of(job):
            # what is heard of it is late: a copy of this state is never started; upstream makes one
            return Result(SYNC_DEFERRED)
        is_deferred = await found.sync_job(cluster)
        if check.get("state") not in (reasons.CHECK_RETRY, reasons.CHECK_REJECTED):
            await self._set_ready(found, check, cluster)
        await self._bring_pods_ready(found, cluster)
        return Result(SYNC_DEFERRED) if is_deferred else Result(self._worker_lost_timeout, daemon=True)

    async def _bring_pods_ready(self, found: Group, cluster: str) -> None:
        """Only of what is admitted here: all else waits for its start, and its job says so."""
        waits = self._kueue.configuration.wait_for_pods_ready is not None
        if waits and isinstance(found.adapter, ServingAdapter) and states.is_admitted(found.local):
            await copy_pods_ready(
                self._client, found.local, found.remotes[cluster] or {}, now=self._now, features=self._features)

    async def _evict_remote(self, found: Group, cluster: str, message: str) -> None:
        remote = found.remotes[cluster]
        assert remote is not None, "it was admitted there"

        def update(changed: Tree) -> bool:
            return reservation.set_deactivation_target(
                changed, EVICTED_ON_MANAGER, reservation.truncate_condition_message(f"Evicted on manager: {message}"),
                now=self._now)

        await patching.patch_admission_status(found.clients[cluster].client, remote, update, features=self._features)

    async def _set_ready(self, found: Group, check: ReadOnlyTree, cluster: str) -> None:
        what = "got reservation" if self._features.KEPTexts else "was admitted"
        message = f'The workload {what} on "{cluster}"'
        present = states.status_of(found.local)
        is_same = check.get("state") == reasons.CHECK_READY and check.get("message") == message
        if is_same and present.get("clusterName") == cluster and not present.get("nominatedClusterNames"):
            return
        if not present.get("clusterName") and cluster not in (present.get("nominatedClusterNames") or ()):
            await self._nominate_again(found, cluster)
            return

        def update(changed: Tree) -> bool:
            self._set_check(changed, check, reasons.CHECK_READY, message)
            changed["status"].setdefault("clusterName", cluster)
            changed["status"].pop("nominatedClusterNames", None)
            return True

        await patching.patch_admission_status(self._client, found.local, update, features=self._features)
        self._event(found.local, "Normal", message)
        past = self._slices(found.local) if group.replaces_another(found.local) else ()
        for each in (*found.parts.others, *(each for each in past if states.is_finished(each))):
            self._look_at(meta.key_of(each))
        if check.get("state") != reasons.CHECK_READY:
            self._admitted.inc(nomination.cluster_queue_of(found.local), cluster, "leader")

    async def _nominate_again(self, found: Group, cluster: str) -> None:
        """Nominate a worker that has admitted a copy from before it was away, and is none of those
        that were nominated since: the webhook lets no other be the one. Upstream is stuck then.
        """
        def update(changed: Tree) -> bool:
            status = changed.setdefault("status", {})
            status["nominatedClusterNames"] = [*(status.get("nominatedClusterNames") or ()), cluster]
            return True

        await patching.patch_admission_status(self._client, found.local, update, features=self._features)

    # the check

    @property
    def _now(self) -> float:
        return self._ctx.clock.time()

    def _set_check(self, workload: Tree, check: ReadOnlyTree, state: str, message: str) -> None:
        changed = {**check, "state": state, "message": message, "lastTransitionTime": times.format_time(self._now)}
        found = workload.setdefault("status", {}).setdefault("admissionChecks", [])
        admissionchecks.set_admission_check_state(found, changed, now=self._now)

    async def _update_check(self, workload: ReadOnlyTree, check: ReadOnlyTree, state: str, text: str) -> str:
        """Write the state of the check, as a field manager of its own; the message."""
        message = reservation.truncate_condition_message(f'{text}, Previously: "{check.get("state")}"')

        def update(changed: Tree) -> bool:
            self._set_check(changed, check, state, message)
            return True

        await patching.patch_status(
            self._client, workload, names.MULTIKUEUE_CONTROLLER_NAME, update, features=self._features)
        return message

    def _event(self, workload: ReadOnlyTree, type_: Literal["Normal", "Warning"], message: str) -> None:
        self._recorder.event(workload, type_, "MultiKueue", reservation.truncate_event_message(message))
