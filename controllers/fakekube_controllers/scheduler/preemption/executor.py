"""Evicts the victims of a preemption, beside the scheduling cycles.

A victim is told why in a condition, deleted, and has an Event. What waits for the evictions is not
tried until the last of them was asked for.

Upstream: pkg/scheduler/framework/preemption/executor.go (gate SchedulerAsyncPreemption).
"""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS
from fakekube.client.transport import TransportError
from fakekube.runtime.podconditions import DISRUPTION_TARGET, condition_patch, pod_condition
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.queued import EntityType
from fakekube_controllers.scheduler.framework.types import PodInfo
from fakekube_controllers.scheduler.plugins.releases import minor_version

log = logging.getLogger(__name__)


class Preemptor(NamedTuple):
    """For whom pods go: a pod or a group, and the uids of the pods that wait."""

    type: EntityType
    object: ReadOnlyTree
    priority: int
    pods: tuple[str, ...]

    @property
    def uid(self) -> str:
        """Its uid."""
        return meta.uid_of(self.object)


class Executor:
    """The evictions of one profile that are under way."""

    def __init__(self, handle: Handle, plugin_name: str) -> None:
        self._handle, self._plugin_name = handle, plugin_name
        self._preempting: dict[str, None] = {}  # uids of preemptors

    def is_preempting(self, uid: str) -> bool:
        """Whether evictions for a pod or a group are still to be asked for."""
        return uid in self._preempting

    def start(self, preemptor: Preemptor, victims: Sequence[tuple[PodInfo, str]], place: str) -> None:
        """Evict pods; ``place``: the node's name, or what stands for all of them."""
        going = [info for info, _ in victims if not meta.is_deleting(info.pod)]
        if not going:
            return
        self._preempting[preemptor.uid] = None
        self._handle.spawn(self._evict_all(preemptor, going, place), f"preemption for {meta.name_of(preemptor.object)}")

    async def _evict_all(self, preemptor: Preemptor, victims: Sequence[PodInfo], place: str) -> None:
        try:
            await self._clear_lower_nominations(preemptor, place)
            in_memory = False
            for number, victim in enumerate(victims, 1):
                if number == len(victims):
                    # the event of this deletion has to find the preemptor in the queue
                    self._preempting.pop(preemptor.uid, None)
                in_memory = await self._evict(preemptor, victim, place)
            if in_memory:
                self._handle.activate(preemptor.pods)
        except (APIError, TransportError) as error:
            log.debug("a preemption for %s was not carried out: %s", meta.name_of(preemptor.object), error)
            self._handle.activate(preemptor.pods)
        finally:
            self._preempting.pop(preemptor.uid, None)

    async def _clear_lower_nominations(self, preemptor: Preemptor, place: str) -> None:
        """Pods of lower priority that wait for the same node have to look for another."""
        for info in self._handle.nominator.nominated_pods_for_node(place):
            if info.priority < preemptor.priority and info.uid not in preemptor.pods:
                pod = info.pod
                body = {"status": {"nominatedNodeName": None}}
                await self._patch(pod, body)

    async def _evict(self, preemptor: Preemptor, victim: PodInfo, place: str) -> bool:
        """Evict one pod. Whether it was not bound yet, so that nothing had to be deleted."""
        pod = victim.pod
        text = f"Preempted by {preemptor.type.value} {preemptor.uid} on node {place}"
        if self._leaves_by_itself(victim):
            self._record(preemptor, pod, f"{text} (in kube-scheduler memory).")
            return True
        status = self._condition(preemptor, pod)
        if status:
            await self._patch(pod, {"status": status})
        try:
            await self._handle.client.delete(PODS, meta.name_of(pod), meta.namespace_of(pod))
        except APIError as error:
            if error.code != 404:
                raise
            return False
        self._record(preemptor, pod, text)
        return False

    def _leaves_by_itself(self, victim: PodInfo) -> bool:
        """Whether a pod that is not bound yet gives its node up."""
        waiting = self._handle.get_waiting_pod(victim.uid)
        if waiting is not None:
            return waiting.preempt(self._plugin_name, "preempted")
        return self._handle.cancel_pod_in_pre_bind(victim.uid, f"preempted by {self._plugin_name}")

    def _record(self, preemptor: Preemptor, pod: ReadOnlyTree, text: str) -> None:
        # upstream names a preempting pod in a form that it cannot make a reference of since 1.37
        is_named = preemptor.type is not EntityType.POD or minor_version(self._handle.version) < 37
        self._handle.recorder.report(
            pod, "Normal", "Preempted", "Preempting", text, related=preemptor.object if is_named else None)

    def _condition(self, preemptor: Preemptor, pod: ReadOnlyTree) -> Tree:
        """The change of the pod's status; empty where it says so already."""
        text = f"{self._handle.profile_name}: preempting to accommodate a higher priority {preemptor.type.value}"
        condition = pod_condition(
            self._handle, pod, DISRUPTION_TARGET, "True", reason="PreemptionByScheduler", message=text)
        present = meta.find_condition(pod, DISRUPTION_TARGET) or {}
        told = ("status", "reason", "message")
        return {} if [present.get(key) for key in told] == [condition[key] for key in told] else condition_patch(pod, condition)

    async def _patch(self, pod: ReadOnlyTree, body: Tree) -> None:
        """Write to a pod's status; harmless when the pod is gone."""
        try:
            await self._handle.client.patch(
                PODS, meta.name_of(pod), meta.namespace_of(pod), body, type="strategic", subresource="status")
        except APIError as error:
            if error.code != 404:
                raise
