"""The runs of all pods: whole while they live, and as data once they have ended.

Of a pod that has ended only its logs and its last status are asked for, or nothing at all until it is deleted. So what is left
of its run is JSON, of what differs from a container that never ran: a few hundred bytes, which Python's collector does not look
at. Whoever asks gets a run that is built again from the pod and from that. Upstream: the containers that a runtime keeps until
the kubelet's garbage collection (pkg/kubelet/container/container_gc.go).
"""

import weakref
from collections.abc import Callable, Container, Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.runtime.pods import Pod
from fakekube_controllers.kubelet.containers import config, container
from fakekube_controllers.kubelet.outcomes import annotations, outcome
from fakekube_controllers.kubelet.outcomes.outcome import Callback, Defaults
from fakekube_controllers.kubelet.pods.checkpoint import Memory, expanded, memory_of, packed, take_up
from fakekube_controllers.kubelet.pods.run import Happened, PodRun


class Builder:
    """Makes the run of a pod that is about to start.

    ``rules``: whether restart rules count; ``quick``: whether back-off is from 1 s to 60 s; ``happened`` is told of its life.
    """

    def __init__(
        self, callback: Callback | None, defaults: Defaults, happened: Happened, *, rules: bool, quick: bool,
    ) -> None:
        self._callback, self._defaults, self._happened = callback, defaults, happened
        self._rules, self._quick = rules, quick

    def run(self, pod: Pod, now: float, attempt: int) -> PodRun:
        """The run of a pod that is accepted now (Unix seconds), as try number ``attempt`` of its containers."""
        spec, called, asked = pod["spec"], name_in_texts(pod), pod
        if self._callback is None:  # only a callback asks for more, and this stays for as long as the pod lives
            asked = {"metadata": {"annotations": annotations.of_pod(pod)}, "spec": spec}
        policy = spec.get("restartPolicy", "Always")
        of_init = "Never" if policy == "Never" else "OnFailure"
        init = [
            self._container(asked, c, "Always" if c.get("restartPolicy") == "Always" else of_init, called, attempt)
            for c in spec.get("initContainers") or ()]
        apps = [self._container(asked, c, policy, called, attempt) for c in spec["containers"]]
        run = PodRun(pod, now, now, init, apps, self._happened)
        if (deadline := spec.get("activeDeadlineSeconds")) is not None:
            run.deadline = now + deadline
        return run

    def _container(
        self, pod: Pod, spec: Mapping[str, Any], restarts_on: str, called: str, attempt: int,
    ) -> container.Container:
        if self._rules:
            restarts_on = spec.get("restartPolicy") or restarts_on
        callback, defaults = self._callback, self._defaults
        return container.container_of(
            spec, lambda number: outcome.decide(pod, number, spec, callback, defaults), restarts_on, called, attempt,
            config.traits_of(spec, pod, rules=self._rules, quick=self._quick))


class PodRuns:
    """By the uids of their pods. A pod's run is in ``live`` or has ended."""

    def __init__(self) -> None:
        self.live: dict[str, PodRun] = {}
        self._ended: dict[str, bytes] = {}
        self._memories: list[weakref.ref[Memory]] = []  # those that somebody still has
        self._recalled = Memory({}, {})  # what another kubelet knew, of pods that were not looked at yet

    def __contains__(self, uid: object) -> bool:
        return uid in self.live or uid in self._ended

    def has_ended(self, uid: str) -> bool:
        """Whether all is over, and the API shows it."""
        return uid in self._ended

    def begin(self, uid: str, run: PodRun) -> None:
        """A pod was accepted; if another kubelet knew it, it goes on from where it was."""
        self.live[uid] = run
        if (known := self._recalled.run(uid)) is not None:
            take_up(run, known)

    def end(self, uid: str) -> None:
        """All is over, and the API shows it."""
        self._ended[uid] = packed(self.live.pop(uid))

    def resume(self, uid: str, run: PodRun) -> PodRun:
        """Let a run that was just built be the one that has ended, and look after it again."""
        take_up(run, expanded(self._ended.pop(uid)))
        self.live[uid] = run
        return run

    def find(self, pod: Pod, build: Callable[[Pod], PodRun]) -> PodRun | None:
        """What is known of a pod, to be looked at; a run that has ended is built for who asks."""
        uid = meta.uid_of(pod)
        if (data := self._ended.get(uid)) is None:
            return self.live.get(uid)
        run = build(pod)
        take_up(run, expanded(data))
        return run

    def changes(self, uid: str, run: PodRun) -> None:
        """Whoever remembers this run has to put it down now."""
        for known in self._memories:
            if (memory := known()) is not None:
                memory.keep(uid, run)

    def forget(self, uid: str) -> None:
        """A pod has gone."""
        self.live.pop(uid, None)
        self._ended.pop(uid, None)

    def forget_all_but(self, uids: Container[str]) -> None:
        """Pods that went while nobody looked."""
        self.live = {uid: run for uid, run in self.live.items() if uid in uids}
        self._ended = {uid: data for uid, data in self._ended.items() if uid in uids}

    # what one kubelet hands to another

    def was_known(self, uid: str) -> bool:
        """Whether another kubelet ran the pod."""
        return uid in self._recalled

    def dump(self, rest: Tree) -> Memory:
        """All runs as they are now, and what is kept beside them."""
        memory = Memory(self.live, rest, self._ended)
        self._memories = [known for known in self._memories if known() is not None] + [weakref.ref(memory)]
        return memory

    def load(self, state: Memory | Tree) -> Tree:
        """Know the runs that another kubelet knew; what it kept beside them is returned."""
        self._recalled = memory_of(state)
        return self._recalled.rest


def name_in_texts(pod: Pod) -> str:
    """A pod as the kubelet's texts call it."""
    return f"{meta.name_of(pod)}_{meta.namespace_of(pod)}({meta.uid_of(pod)})"
