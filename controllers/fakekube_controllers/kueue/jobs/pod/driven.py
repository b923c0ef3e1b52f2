"""A group of pods whose driver says which pods it will make: see ``sets.py``.

The reconciler takes this class in place of ``Pod`` where the gate PodGroupSets is on. For single
pods and for groups without sets it does what ``Pod`` does.
"""

from collections.abc import Sequence
from functools import partial

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.client import Client
from fakekube_controllers.kueue import names, pods
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import objects
from fakekube_controllers.kueue.jobframework.framework import Framework
from fakekube_controllers.kueue.jobframework.job import Finished, Matching, UnretryableError
from fakekube_controllers.kueue.jobs.pod import composing, groups, sets
from fakekube_controllers.kueue.jobs.pod.controller import Pod
from fakekube_controllers.kueue.topology.requests import TopologyRequestError

EXISTS = 409
WRONG = (400, 403, 422)
"""What the API server answers to a Workload that it will not take, however often it is asked."""


class PodOrGroupWithSets(Pod):
    """A pod or a group; ``sets`` are those of a group that has any, None of all others.

    Where the driver is gone they are the pod sets of the Workload.
    """

    def __init__(self, features: Features, obj: Tree | None = None) -> None:
        super().__init__(features, obj)
        self.sets: Sequence[ReadOnlyTree] | None = None

    async def load(self, framework: Framework, key: ObjectKey) -> bool:
        """Read it from the cache; whether it is going or gone."""
        is_gone = await super().load(framework, key)
        if not self.group or not any(map(sets.is_of_sets, self.group)):
            return is_gone
        self.group = sets.driver_first(self.group)
        self.obj = self.group[0]
        self.sets = self._sets_of_group(framework)
        return is_gone

    def _sets_of_group(self, framework: Framework) -> Sequence[ReadOnlyTree]:
        if sets.has_sets(self.obj):
            try:
                return sets.of_driver(self.obj, self.features)
            except sets.SetsError:
                return ()
        workload = framework.workloads.get(meta.namespace_of(self.obj), self.workload_name())
        return () if workload is None else workload["spec"]["podSets"]

    def pods_ready(self) -> bool:
        """Whether all that are there are ready, or have succeeded."""
        if self.sets is None:
            return super().pods_ready()
        return all(_has_succeeded(pod) or meta.is_condition_true(pod, "Ready") for pod in self.members())

    def finished(self) -> Finished | None:
        """With sets: when as many pods have succeeded as the group has, or the driver has and no
        pod is left that runs, or one that is over says that none is replaced.
        """
        if self.sets is None or self.group is None:
            return super().finished()
        succeeded, wanted = sum(map(_has_succeeded, self.group)), sets.total_count(self.sets)
        drivers = [pod for pod in self.group if sets.has_sets(pod)]
        is_over = all(map(pods.is_terminated, self.group)) and (
            any(map(groups.is_unretriable, self.group)) or (bool(drivers) and all(map(_has_succeeded, drivers))))
        if not self.sets or not (succeeded >= wanted or is_over):
            return None
        return Finished(f"Pods succeeded: {succeeded}/{wanted}.", success=True)

    async def pod_sets(self, client: Client | None) -> list[Tree]:
        """Those of the sets. Raises CannotCompose, TopologyRequestError."""
        if self.sets is None:
            return await super().pod_sets(client)
        return sets.pod_sets(self.sets, self.obj, partial(composing.pod_set_of, features=self.features), self.features)

    async def find_matching_workloads(self, framework: Framework) -> Matching:
        """The Workload of the sets; on the way pods that are too many are deleted."""
        if self.sets is None or self.group is None:
            return await super().find_matching_workloads(framework)
        workload = framework.workloads.get(meta.namespace_of(self.obj), pods.pod_group_name(self.obj, self.features))
        if workload is None:
            return Matching(None, [])
        wanted, has_driver = workload["spec"]["podSets"], sets.has_sets(self.obj)
        seconds = workload["spec"].get("maximumExecutionTimeSeconds")
        if has_driver and (
            seconds != objects.maximum_execution_time_seconds(self.obj) or not sets.is_same(self.sets, wanted)):
            return Matching(None, [workload])
        return await self.hold_against(framework, workload, sets.sort_out(self.group, wanted, self.now))

    async def construct_workload(self, framework: Framework) -> Tree:
        """The Workload of the sets. UnretryableError where there is no driver, or no good one."""
        if self.sets is None or self.group is None:
            return await super().construct_workload(framework)
        active, inactive = groups.partition(self.group)
        for pod in inactive:
            await self.let_go(framework, pod)
        try:
            self._check(active)
            made = await self.new_workload(framework)
        except (groups.CannotCompose, TopologyRequestError) as error:
            raise self._refused(framework, str(error)) from error
        await self._try(framework, made)
        return made

    async def _try(self, framework: Framework, workload: Tree) -> None:
        """Have the API server look at what a user wrote. UnretryableError where it refuses it."""
        try:
            await framework.client.create(names.WORKLOADS, workload, dry_run=True)
        except APIError as error:
            if error.code in WRONG:
                raise self._refused(framework, str(error)) from error
            if error.code != EXISTS:
                raise

    def _refused(self, framework: Framework, message: str) -> UnretryableError:
        framework.event(self.obj, "Warning", "ErrWorkloadCompose", message)
        return UnretryableError(message)

    def _check(self, active: Sequence[ReadOnlyTree]) -> None:
        """Whether the pods agree. Raises CannotCompose."""
        group, queue = pods.pod_group_name(self.obj, self.features), objects.queue_name(self.obj)
        if not self.sets or not sets.has_sets(self.obj) or not groups.is_runnable_or_succeeded(self.obj):
            raise groups.CannotCompose(f"'{group}' group has no pod with its sets")
        told = meta.annotations_of(self.obj)[names.POD_GROUP_SETS_ANNOTATION]
        for pod in active:
            both = f"pods '{meta.name_of(self.obj)}' and '{meta.name_of(pod)}'"
            if objects.queue_name(pod) != queue:
                raise groups.CannotCompose(f"{both} has different queue names: {queue}!={objects.queue_name(pod)}")
            if meta.annotations_of(pod).get(names.POD_GROUP_SETS_ANNOTATION, told) != told:
                raise groups.CannotCompose(f"{both} has different '{names.POD_GROUP_SETS_ANNOTATION}' values")


def _has_succeeded(pod: ReadOnlyTree) -> bool:
    return bool((pod.get("status") or meta.EMPTY).get("phase") == "Succeeded")
