"""One step of a StatefulSet towards what it should be: first the pods that are to be, then those
that are not, then old ones.

In order, unless the set allows to go about it in parallel: no pod before its predecessors are
available, none deleted before its successors are gone. Upstream:
pkg/controller/statefulset/stateful_set_control.go (updateStatefulSet).
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import NamedTuple

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.intstr import scaled
from fakekube.apimachinery.types import Tree
from fakekube.runtime import pods
from fakekube.runtime.podcontrol import slow_start
from fakekube.runtime.revisions import template_of
from fakekube_controllers.statefulset import identity
from fakekube_controllers.statefulset import status as statuses
from fakekube_controllers.statefulset.podcontrol import StatefulPodControl

RECREATING = "RecreateInProgress"
BURST_REPLICAS = 500


class Revisions(NamedTuple):
    """The two revisions of a set, and how often a hash was taken."""

    current: Tree
    update: Tree
    collision_count: int


class Features(NamedTuple):
    """What the release and its gates have of it."""

    max_unavailable: bool
    recreate: bool


class Update:
    """A set, its pods and its revisions at one time; ``run`` does the step, ``status`` is what
    there is to tell then.
    """

    def __init__(
        self, owner: Tree, found: Sequence[Tree], revisions: Revisions, control: StatefulPodControl,
        features: Features, now: float,
    ) -> None:
        self.owner, self.control, self.features, self.now = owner, control, features, now
        self.current, self.update = meta.name_of(revisions.current), meta.name_of(revisions.update)
        self._current_set, self._update_set = _at(owner, revisions.current), _at(owner, revisions.update)
        self.in_order: bool = owner["spec"].get("podManagementPolicy") != "Parallel"
        self.strategy: str = owner["spec"]["updateStrategy"].get("type", "RollingUpdate")
        self.rolling = owner["spec"]["updateStrategy"].get("rollingUpdate")
        ordinals = identity.ordinals_of(owner)
        there = {identity.ordinal_of(pod): pod for pod in found}
        self.replicas = [there.get(ordinal) or self._fresh_pod(ordinal) for ordinal in _within_reach(ordinals, there)]
        beyond = [ordinal for ordinal in there if ordinal >= 0 and ordinal not in ordinals]
        self.condemned = [there[ordinal] for ordinal in sorted(beyond, reverse=True)]
        self.status: Tree = {
            "observedGeneration": meta.generation_of(owner), "currentRevision": self.current, "updateRevision": self.update,
            "collisionCount": revisions.collision_count, **self._counts(found),
        }
        if conditions := (owner.get("status") or meta.EMPTY).get("conditions"):
            self.status["conditions"] = conditions

    def _fresh_pod(self, ordinal: int) -> Tree:
        start = identity.start_of(self.owner)
        if self.rolling is None:
            kept = (self.owner.get("status") or meta.EMPTY).get("currentReplicas", 0) if self.strategy == "RollingUpdate" else 0
        else:
            kept = self.rolling.get("partition", 0)
        if ordinal < start + kept:
            return identity.new_pod(self._current_set, ordinal, self.current)
        return identity.new_pod(self._update_set, ordinal, self.update)

    def _counts(self, found: Sequence[Tree]) -> statuses.Counts:
        return statuses.count(self.owner, found, self.current, self.update, self.now)

    def _is_unavailable(self, pod: Tree) -> bool:
        return identity.is_unavailable(self.owner, pod, self.now)

    async def run(self) -> None:
        """Do what can be done now. Raises APIError; the status is valid then too."""
        if meta.is_deleting(self.owner):
            return
        try:
            done = await self._establish()
        finally:
            self.status |= self._counts([*self.replicas, *self.condemned])
        if done and self.strategy == "RollingUpdate":
            await (self._replace_old() if self.features.max_unavailable else self._replace_one())

    async def _establish(self) -> bool:
        """Every pod that is to be, and none that is not; whether that is so, as far as it has to be
        waited for.
        """
        if self.strategy == "Recreate" and not await self._drop_old():
            return False
        if await self._for_all(self.replicas, self._process):
            return False
        await self._for_all(self.condemned, self._keep_claims)
        return not await self._for_all(self.condemned, self._condemn)

    async def _for_all(self, chosen: Sequence[Tree], act: Callable[[Tree], Awaitable[bool]]) -> bool:
        """Act on pods one after the other until one has to be waited for; in parallel sets on all.

        Whether to wait.
        """
        if not self.in_order:
            _, failure = await slow_start(chosen, act)
            if failure is not None:
                raise failure
            return False
        for pod in chosen:
            if await act(pod):
                return True
        return False

    async def _process(self, pod: Tree) -> bool:
        if identity.is_created(pod) and pods.is_finished(pod):
            if not pods.is_terminating(pod):
                await self.control.delete(self.owner, pod)
            return True
        if not identity.is_created(pod):
            if self.control.has_stale_claim(self.owner, pod):
                return True
            await self.control.create(self.owner, pod)
            return self.in_order
        if pods.phase(pod) == "Pending":
            await self.control.create_missing_claims(self.owner, pod)
        if self.in_order and (
            pods.is_terminating(pod) or not identity.is_running_and_ready(pod) or self._is_unavailable(pod)
        ):
            return True
        await self.control.update_pod(self._update_set, pod)
        return False

    async def _keep_claims(self, pod: Tree) -> bool:
        if not self.control.claims_are_right(self._update_set, pod):
            await self.control.keep_claims(self._update_set, pod)
        return False

    async def _condemn(self, pod: Tree) -> bool:
        if pods.is_terminating(pod):
            return self.in_order
        if self.in_order and pod is not self._first_unavailable() and self._is_unavailable(pod):
            return True
        await self.control.delete(self.owner, pod)
        return True

    def _first_unavailable(self) -> Tree | None:
        waiting = (pod for pod in [*self.replicas, *reversed(self.condemned)] if self._is_unavailable(pod))
        return next(waiting, None)

    # old pods

    async def _delete_old(self, pod: Tree) -> None:
        await self.control.delete(self.owner, pod)
        self.status["currentReplicas"] -= 1

    def _is_old(self, pod: Tree) -> bool:
        return identity.revision_of(pod) != self.update and not pods.is_terminating(pod)

    def _above_partition(self) -> list[Tree]:
        """The pods that may be replaced, the last one first."""
        partition = (self.rolling or meta.EMPTY).get("partition", 0)
        return self.replicas[partition:][::-1]

    async def _replace_one(self) -> None:
        for pod in self._above_partition():
            if self._is_old(pod):
                await self._delete_old(pod)
                return
            if self._is_unavailable(pod):
                return

    async def _replace_old(self) -> None:
        most = 1
        if self.rolling is not None:
            most = max(1, scaled(self.rolling.get("maxUnavailable", 1), len(self.replicas), round_up=False))
        down = [pod for pod in self.replicas if self._is_unavailable(pod)]
        room = most - len(down)
        chosen = [pod for pod in self._above_partition() if self._is_old(pod)]
        if self.in_order:
            for pod in chosen[:max(0, room)]:
                await self._delete_old(pod)
            return
        if room <= 0 and not any(self._is_old(pod) for pod in down):
            return
        # those that are of no use anyway first, so that the room is left for the others
        for pod in [pod for pod in chosen if self._is_unavailable(pod)]:
            await self._delete_old(pod)
        for pod in [pod for pod in chosen if not self._is_unavailable(pod)][:max(0, room)]:
            await self._delete_old(pod)

    async def _drop_old(self) -> bool:
        """Delete all old pods at once; whether none is left."""
        now = times.format_time(self.now)
        if not self.features.recreate:
            text = (f"statefulset {meta.namespace_of(self.owner)}/{meta.name_of(self.owner)} uses Recreate strategy but "
                    "feature gate StatefulSetRecreateStrategy is disabled")
            self.control.recorder.event(self.owner, "Warning", "UnknownStrategy", text)
            raise APIError(422, "Invalid", text)
        there = [pod for pod in [*self.replicas, *self.condemned] if identity.is_created(pod)]
        old = [pod for pod in there if identity.revision_of(pod) != self.update]
        for pod in old:
            if not pods.is_terminating(pod):
                await self.control.delete(self.owner, pod)
        if old:
            statuses.note_progress(self.status, "True", RECREATING, "Deleting old revision pods", now)
            return False
        if self.current != self.update:
            statuses.note_progress(self.status, "True", RECREATING, "Waiting for new-revision pods to be created", now)
        return True


def _within_reach(ordinals: range, there: Collection[int]) -> range:
    """The ordinals that this step can come to: it makes no more pods than a burst, and goes in
    their order.

    Upstream makes an array of all, be they two thousand millions.
    """
    return ordinals[:len(there) + BURST_REPLICAS]


def _at(owner: Tree, revision: Tree) -> Tree:
    """The set as it was at a revision."""
    return {**owner, "spec": {**owner["spec"], "template": template_of(revision)}}
