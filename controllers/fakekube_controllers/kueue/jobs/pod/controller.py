"""Pods as a job: a single one, or all of a group, which are known by their group's name.

A request for a group is in the namespace ``group/NAMESPACE``. Upstream:
pkg/controller/jobs/pod/pod_controller.go. Left out: expectations of what was
finalized; ``Framework`` waits until the caches show what was written.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube.client.resources import PODS
from fakekube_controllers.kueue import names, pods, podset
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import construction, matching, objects
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import (
    WORKLOAD_DELETED,
    ComposableJob,
    Finished,
    Matching,
    UnretryableError,
)
from fakekube_controllers.kueue.jobs.pod import composing, groups, members
from fakekube_controllers.kueue.podset import InvalidPodSetInfo, PodSetInfo
from fakekube_controllers.kueue.workload import states

NOT_FOUND = 404


class Pod(ComposableJob):
    """A single pod, or a group; ``obj`` is the pod, or the first of the group.

    ``group`` are the pods of a group, and None of a single pod; ``absent`` is how many are missing,
    ``rejected`` how many were deleted since they were too many.
    """

    resource = PODS

    def __init__(self, features: Features, obj: Tree | None = None) -> None:
        super().__init__(features, obj)
        self.group: list[Tree] | None = None
        self.is_found = obj is not None
        self.absent, self.rejected = 0, 0
        self._key = ObjectKey("", "")
        self.now = 0.0

    async def load(self, framework: Framework, key: ObjectKey) -> bool:
        """Read it from the cache; whether it is going or gone."""
        self._key, self.now = key, framework.clock.time()
        if not key.namespace.startswith(names.GROUP_PREFIX):
            found = framework.jobs.get(*key)
            self.is_found = found is not None
            self.obj = found if found is not None else {"metadata": {"namespace": key.namespace, "name": key.name}}
            # one that has joined a group since it was queued is looked at with its group
            return found is None or meta.is_deleting(found)
        namespace = key.namespace.removeprefix(names.GROUP_PREFIX)
        self.group = members.group_of(framework.jobs, namespace, key.name, self.features)
        self.is_found = bool(self.group)
        self.obj = self.group[0] if self.group else {"metadata": {"namespace": namespace, "name": key.name}}
        return not self.group

    @property
    def key(self) -> ObjectKey:
        """What is reconciled."""
        return self._key

    def members(self) -> list[Tree]:
        """The pod, or the pods of the group."""
        return [self.obj] if self.group is None else self.group

    def is_top_level(self) -> bool:
        """Its Workload is its own."""
        return True

    def skip(self) -> bool:
        """Whether it is not Kueue's, or is the single pod that a request for a group overtook."""
        if not self.is_found:
            return False
        if meta.labels_of(self.obj).get(names.MANAGED_LABEL) != "true":
            return True
        return self.group is None and bool(pods.pod_group_name(self.obj, self.features))

    def is_suspended(self) -> bool:
        """Whether a pod waits, or is over."""
        return any(map(pods.is_suspended, self.members()))

    def is_active(self) -> bool:
        """Whether a pod of the group runs; a single pod never counts."""
        return self.group is not None and groups.is_active(self.group, self.now, self.features)

    def pods_ready(self) -> bool:
        """Whether there are as many as are wanted, and all are ready."""
        if self.group is not None:
            try:
                wanted = groups.total_count(self.obj, self.features)
            except ValueError:
                return False
            if len(self.group) < wanted:
                return False
        return all(meta.is_condition_true(pod, "Ready") for pod in self.members())

    def finished(self) -> Finished | None:
        """How it ended; None while it has not, and for a group that serves."""
        if self.is_serving:
            return None
        if self.group is not None:
            message = groups.finished(self.group, self.features)
            return Finished(message, success=True) if message else None
        if not pods.is_terminated(self.obj):
            return None
        return Finished(self.status.get("message", ""), success=self.status["phase"] == "Succeeded")

    @property
    def is_serving(self) -> bool:
        """Whether this is a group that runs until its pods are deleted."""
        return self.group is not None and groups.is_serving(self.obj)

    def reclaimable_pods(self) -> list[Tree] | None:
        """The pods of a group that have succeeded, by role."""
        return [] if self.group is None or self.is_serving else groups.reclaimable(self.group)

    async def pod_sets(self, _client: Client | None) -> list[Tree]:
        """One of a single pod, one a role of a group. Raises CannotCompose,
        TopologyRequestError.
        """
        make = partial(composing.pod_set_of, features=self.features)
        if self.group is None:
            return [make(self.obj)]
        if groups.is_fast(self.obj):
            return groups.pod_sets_of_first(self.group, groups.total_count(self.obj, self.features), make)
        return groups.pod_sets(self.group, make)

    # its Workload

    def list_child_workloads(self, framework: Framework, key: ObjectKey) -> Sequence[ReadOnlyTree]:
        """That of the group's name, or those that the pod owns."""
        if self.group is None:
            return framework.workloads_of(PODS.gvk, key)
        found = framework.workloads.get(meta.namespace_of(self.obj), key.name)
        return [] if found is None else [found]

    async def find_matching_workloads(self, framework: Framework) -> Matching:
        """The Workload that the pods make; on the way those that are too many are deleted, and
        those that have been replaced are let go.
        """
        if self.group is None:
            return await matching.find_matching_workloads(framework, self)
        namespace = meta.namespace_of(self.obj)
        workload = framework.workloads.get(namespace, pods.pod_group_name(self.obj, self.features))
        if workload is None:
            return Matching(None, [])
        if workload["spec"].get("maximumExecutionTimeSeconds") != objects.maximum_execution_time_seconds(self.obj):
            return Matching(None, [workload])
        found = groups.sort_out(self.group, workload["spec"]["podSets"], self.now)
        made = groups.pod_sets(found.kept, partial(composing.pod_set_of, features=self.features))
        if not found.kept or not self._is_equivalent(workload, made):
            return Matching(None, [workload])
        return await self.hold_against(framework, workload, found)

    async def hold_against(self, framework: Framework, workload: ReadOnlyTree, found: groups.Sorted) -> Matching:
        """Go on with those of the pods that a Workload is for."""
        self.absent, self.group = found.absent, found.kept
        owned = await self.ensure_workload_owned_by_all_members(framework, workload)
        await self._remove_excess(framework, found.excess)
        for pod in found.replaced:
            await self.let_go(framework, pod)
        return Matching(owned, [])

    async def equivalent_to_workload(self, framework: Framework, workload: ReadOnlyTree) -> bool:
        """Whether a Workload has the roles of the group."""
        if self.group is None:
            return await matching.equivalent_to_workload(framework, self, workload)
        return self._is_equivalent(workload, await self.pod_sets(None))

    def _is_equivalent(self, workload: ReadOnlyTree, made: Sequence[ReadOnlyTree]) -> bool:
        return meta.name_of(workload) == self.workload_name() and groups.is_equivalent(
            workload, made, is_finished=states.is_finished(workload))

    def workload_name(self) -> str:
        """The Workload that the pods name, or else that of the group's name."""
        return objects.prebuilt_workload_name(self.obj, self.features) or pods.pod_group_name(self.obj, self.features)

    async def ensure_workload_owned_by_all_members(self, framework: Framework, workload: ReadOnlyTree) -> ReadOnlyTree:
        """Let every pod own the Workload; the Workload as it is then."""
        if self.group is None:
            return await construction.ensure_prebuilt_workload_ownership(framework, workload, self.obj)
        owners = members.with_owners(meta.owners_of(workload), self.group)
        added = len(owners) - len(meta.owners_of(workload))
        if added <= 0:
            return workload
        changed = {**workload, "metadata": {**workload["metadata"], "ownerReferences": owners}}
        written = await framework.update_workload(self.key, changed)
        framework.event(written, "Normal", "OwnerReferencesAdded", f"Added {added} owner reference(s)")
        return written

    async def construct_workload(self, framework: Framework) -> Tree:
        """The Workload of a pod, or of a group that is whole. UnretryableError for one that is
        not.
        """
        if self.group is None:
            return await self._construct_single(framework)
        active, inactive = groups.partition(self.group)
        for pod in inactive:
            await self.let_go(framework, pod)
        count = composing.checked_count(framework, self, active)
        if len(active) > count:
            active = groups.sorted_active(active)
            await self._remove_excess(framework, active[count:])
            self.group = active[:count]
        return await self.new_workload(framework)

    async def new_workload(self, framework: Framework) -> Tree:
        """The Workload of a group, which all its pods own. Raises UnretryableError,
        CannotCompose.
        """
        pod_sets = await construction.job_pod_sets(framework, self)
        if len(pod_sets) > (roles := groups.max_roles(self.features)):
            raise UnretryableError(f"pod group can't include more than {roles} roles")
        workload = members.new_group_workload(self.workload_name(), self.obj, pod_sets, framework.configuration)
        metadata = workload["metadata"]
        metadata["ownerReferences"] = members.with_owners((), self.members())
        integrations = framework.configuration.integrations
        copied = composing.copied(self.members(), meta.labels_of, integrations.label_keys_to_copy, "label")
        if copied:
            metadata["labels"] = {**(metadata.get("labels") or {}), **copied}
        if self.features.CustomMetricLabels:
            copied = composing.copied(self.members(), meta.annotations_of, integrations.annotation_keys_to_copy, "annotation")
            metadata["annotations"] = {**metadata["annotations"], **copied}
        return workload

    async def _construct_single(self, framework: Framework) -> Tree:
        pod_sets = await construction.job_pod_sets(framework, self)
        name = members.single_workload_name(self.obj) if self.features.KEPTexts else ""
        name = name or construction.new_workload_name(self)
        workload = construction.new_workload(name, self.obj, pod_sets, framework.configuration)
        construction.put_owner(workload, self.obj)
        return workload

    # its life

    async def run(self, framework: Framework, workload: ReadOnlyTree, infos: list[PodSetInfo], message: str) -> None:
        """Let the gated pods go, each with what its role gets. PermanentError where one cannot."""
        if self.group is None:
            podset.expect_podsets(infos, 1)
        by_name = {info.name: info for info in infos}
        for pod in self.members():
            if not pods.is_gated(pod):
                continue
            role = infos[0].name if self.group is None else pods.role_hash(pod)
            if role not in by_name:
                raise InvalidPodSetInfo(f"podSetInfo with the name '{role}' is not found")
            await framework.patch(self.key, PODS, pod, partial(self._prepare, by_name[role]))
            framework.event(pod, "Normal", "Started", message)

    def _prepare(self, info: PodSetInfo, pod: Tree) -> bool:
        podset.merge(pod, info, self.features)
        pods.ungate(pod, names.ADMISSION_GATE)
        if not any(gate["name"] == names.TOPOLOGY_GATE for gate in info.scheduling_gates):
            pods.ungate(pod, names.TOPOLOGY_GATE)
        return True

    async def stop(
        self, framework: Framework, infos: list[PodSetInfo] | None, reason: str, message: str,
    ) -> list[Tree]:
        """Delete the pods that run, or all where the Workload is deleted; those deleted by this
        call.
        """
        stopped: list[Tree] = []
        for pod in self.members():
            if meta.is_deleting(pod) or (reason != WORKLOAD_DELETED and pods.is_suspended(pod)):
                continue
            if await members.mark(framework, self.key, pod, reason, message):
                await self._delete(framework, pod)
            stopped.append(pod)
        if self.group is not None and reason == WORKLOAD_DELETED:
            await self.finalize(framework)
        return stopped

    async def _delete(self, framework: Framework, pod: ReadOnlyTree) -> bool:
        """Delete a pod; whether it was there."""
        answer = await framework.client.delete(PODS, meta.name_of(pod), meta.namespace_of(pod), missing_ok=True)
        if answer is not None and answer.get("kind") == PODS.kind:
            framework.wrote(self.key, PODS, answer)
        return answer is not None

    async def finalize(self, framework: Framework) -> None:
        """Take the finalizer off all its pods."""
        found = [self.obj] if self.is_found else []
        group = pods.pod_group_name(self.obj, self.features)
        if group:
            found = members.group_of(framework.jobs, meta.namespace_of(self.obj), group, self.features)
        for pod in found:
            await self.let_go(framework, pod)

    async def let_go(self, framework: Framework, pod: ReadOnlyTree) -> None:
        """Take Kueue's finalizer off a pod."""
        try:
            await framework.patch(self.key, PODS, pod, members.without_pod_finalizer)
        except APIError as error:
            if error.code != NOT_FOUND:
                raise

    async def _remove_excess(self, framework: Framework, excess: Iterable[ReadOnlyTree]) -> None:
        for pod in excess:
            await self.let_go(framework, pod)
            if not meta.is_deleting(pod) and await self._delete(framework, pod):
                framework.event(pod, "Normal", "ExcessPodDeleted", "Excess pod deleted")
                self.rejected += 1

    def custom_workload_conditions(self, workload: ReadOnlyTree) -> list[Tree]:
        """Whether pods are waited for, where the Workload does not say so."""
        condition = groups.replacement_condition(workload, self.absent) if self.group is not None else None
        return [] if condition is None else [condition]

    def follows_queue_name(self) -> bool:
        """Whether its Workload follows the queue that the pods name; the owner of pods that serve
        sees to that.
        """
        return not self.is_serving

    # of which it has none

    def suspend(self) -> None:
        """A pod cannot be suspended: it is gated, or goes. Raises UnretryableError."""
        raise UnretryableError("a pod cannot be suspended")

    def run_with_podsets_info(self, infos: list[PodSetInfo]) -> None:
        """Pods run one by one, see ``run``. Raises UnretryableError."""
        raise UnretryableError("pods do not start together")

    def restore_podsets_info(self, infos: list[PodSetInfo]) -> bool:
        """A pod that was started is what it is."""
        return False
