"""The pods that a Job controls, by what they are to it: found out once for each state of a pod.

A Job of ten thousand pods is looked at again and again while some of them change. What is known of the others must not be found
out anew: to look into so many trees takes longer than everything else that a sync does. The controller's handlers note what
changed, and the next sync takes that in. Upstream has nothing of the kind.
"""

from collections.abc import Iterable
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.labels import Selector
from fakekube.apimachinery.types import Tree
from fakekube_controllers.job import indexes, pods


class Fact(NamedTuple):
    """One pod. ``number`` tells in which order pods were first seen."""

    number: int
    pod: Tree
    selected: bool
    active: bool
    ready: bool
    terminating: bool  # not finished yet
    tracked: bool
    completion_index: int | None


class JobPods:
    """The pods of one Job, and how many of them are what.

    ``facts`` has those that the Job's selector matches, by uid, in the order in which they were first seen; ``strangers`` has the
    others. All of it is as of the last ``update``, whatever is told meanwhile.
    """

    def __init__(self) -> None:
        self.facts: dict[str, Fact] = {}
        self.strangers: dict[str, Fact] = {}
        self.active = self.ready = self.terminating = 0
        self._ended: dict[str, Fact] = {}
        self._gone: dict[str, None] = {}
        self._changed: dict[str, Tree] = {}  # some of them after they were gone
        self._selector: Selector | None = None
        self._last = 0

    def seen(self, uid: str, pod: Tree) -> None:
        """A pod came or changed."""
        self._changed[uid] = pod

    def gone(self, uid: str) -> None:
        """A pod is the Job's no more."""
        self._changed.pop(uid, None)
        self._gone[uid] = None

    def update(self, selector: Selector) -> None:
        """Take in what has changed; ``selector`` is the Job's."""
        for uid in self._gone:
            self._discount(uid)
            self.facts.pop(uid, None)
            self.strangers.pop(uid, None)
        self._gone.clear()
        if self._selector != selector:
            self._selector = selector
            known = sorted([*self.facts.values(), *self.strangers.values()], key=lambda fact: fact.number)
            self._changed = {meta.uid_of(fact.pod): fact.pod for fact in known} | self._changed
        for uid, pod in self._changed.items():
            self._take_in(uid, pod, selector)
        self._changed.clear()

    def ended(self) -> list[Tree]:
        """The pods that wait to be accounted for and are not active, in order."""
        return [fact.pod for fact in sorted(self._ended.values(), key=lambda fact: fact.number)]

    def with_adopted(self, adopted: Iterable[Tree]) -> "JobPods":
        """These pods and some more, which the caches do not show as the Job's yet."""
        copy = JobPods()
        assert self._selector is not None, "the pods are up to date"
        for pod in [*(fact.pod for fact in self.facts.values()), *adopted]:
            copy.seen(meta.uid_of(pod), pod)
        copy.update(self._selector)
        return copy

    def _take_in(self, uid: str, pod: Tree, selector: Selector) -> None:
        before = self._discount(uid) or self.strangers.get(uid)
        if before is None:
            self._last += 1
        number = self._last if before is None else before.number
        finished, leaving, tracked = pods.is_finished(pod), pods.is_terminating(pod), pods.is_tracked(pod)
        active = not finished and not leaving
        fact = Fact(
            number, pod, selector.matches(meta.labels_of(pod)), active, active and pods.is_ready(pod), leaving and not finished,
            tracked, indexes.index_of(pod))
        here, elsewhere = (self.facts, self.strangers) if fact.selected else (self.strangers, self.facts)
        here[uid] = fact
        elsewhere.pop(uid, None)
        if fact.selected:
            self.active += fact.active
            self.ready += fact.ready
            self.terminating += fact.terminating
            if tracked and not active:
                self._ended[uid] = fact

    def _discount(self, uid: str) -> Fact | None:
        """Count a pod no more, if it was."""
        fact = self.facts.get(uid)
        if fact is not None:
            self.active -= fact.active
            self.ready -= fact.ready
            self.terminating -= fact.terminating
            self._ended.pop(uid, None)
        return fact


class ControlledPods:
    """The pods of all Jobs, as a controller's handlers tell of them."""

    def __init__(self) -> None:
        self._jobs: dict[str, JobPods] = {}
        self._job_of: dict[str, str] = {}  # uids
        self._counts: dict[str, int] = {}

    def of(self, job_uid: str) -> JobPods:
        """The pods of one Job."""
        found = self._jobs.get(job_uid)
        return JobPods() if found is None else found

    def seen(self, pod: Tree, owner: Tree | None) -> None:
        """A pod came or changed; ``owner`` is the reference to its controller."""
        uid = meta.uid_of(pod)
        job_uid = owner["uid"] if owner is not None and owner["kind"] == "Job" else None
        before = self._job_of.get(uid)
        if before != job_uid:
            if before is not None:
                self._leave(uid, before)
            if job_uid is not None:
                self._job_of[uid] = job_uid
                self._counts[job_uid] = self._counts.get(job_uid, 0) + 1
        if job_uid is not None:
            found = self._jobs.get(job_uid)
            if found is None:
                found = self._jobs[job_uid] = JobPods()
            found.seen(uid, pod)

    def gone(self, pod: Tree) -> None:
        """A pod is no more."""
        uid = meta.uid_of(pod)
        job_uid = self._job_of.get(uid)
        if job_uid is not None:
            self._leave(uid, job_uid)

    def _leave(self, uid: str, job_uid: str) -> None:
        del self._job_of[uid]
        self._counts[job_uid] -= 1
        if self._counts[job_uid]:
            self._jobs[job_uid].gone(uid)
        else:
            del self._jobs[job_uid], self._counts[job_uid]
