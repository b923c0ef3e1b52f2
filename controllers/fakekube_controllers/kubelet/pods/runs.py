"""The runs of all pods: as objects while they live, packed once they have ended.

Of a pod that has ended only its logs and its last status are asked for, or nothing at all until it
is deleted. So its run is packed into a few hundred bytes of JSON, which Python's garbage collector
does not look at. Whoever asks for the run gets one that is built again from the pod and from these
bytes. Upstream: the containers that a runtime keeps until the kubelet's garbage collection
(pkg/kubelet/container/container_gc.go).
"""

from collections.abc import Callable, Container, Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.pods import is_sidecar
from fakekube.apimachinery.types import Tree
from fakekube.runtime.pods import Pod
from fakekube_controllers.kubelet.containers import config, container
from fakekube_controllers.kubelet.outcomes import outcome
from fakekube_controllers.kubelet.outcomes.outcome import Callback, Defaults
from fakekube_controllers.kubelet.pods.checkpoint import Checkpoint, Checkpoints
from fakekube_controllers.kubelet.pods.packing import packed, restore, unpacked
from fakekube_controllers.kubelet.pods.references import References
from fakekube_controllers.kubelet.pods.run import OnEvent, PodRun


class RunBuilder:
    """Makes the run of a pod that is about to start.

    ``rules``: whether restart rules count; ``quick``: whether back-off is from 1 s to 60 s;
    ``on_event`` is called for what happens to its containers; ``references`` say what they miss.
    """

    def __init__(
        self, callback: Callback | None, defaults: Defaults, on_event: OnEvent, *, rules: bool, quick: bool,
        references: References | None = None,
    ) -> None:
        self._references = references
        self._callback, self._defaults, self._on_event = callback, defaults, on_event
        self._rules, self._quick = rules, quick

    def build(self, pod: Pod, now: float, attempt: int) -> PodRun:
        """The run of a pod that is accepted now (Unix seconds), as try number ``attempt`` of its
        containers.
        """
        spec, name, asked = pod["spec"], format_pod(pod), pod
        # only a callback asks for more, and this stays for as long as the pod lives
        if self._callback is None:
            asked = {"metadata": {"annotations": meta.annotations_of(pod)}, "spec": spec}
        policy = spec.get("restartPolicy", "Always")
        of_init = "Never" if policy == "Never" else "OnFailure"
        init = [
            self._container(asked, c, "Always" if is_sidecar(c) else of_init, name, attempt)
            for c in spec.get("initContainers") or ()]
        apps = [self._container(asked, c, policy, name, attempt) for c in spec["containers"]]
        if self._references is not None:
            for container, one in zip((*init, *apps), (*(spec.get("initContainers") or ()), *spec["containers"]), strict=True):
                container.missing = self._references.check_of(pod, one)
        run = PodRun(pod, now, now, init, apps, self._on_event)
        if (deadline := spec.get("activeDeadlineSeconds")) is not None:
            run.deadline = now + deadline
        return run

    def _container(
        self, pod: Pod, spec: Mapping[str, Any], restarts_on: str, name: str, attempt: int,
    ) -> container.Container:
        if self._rules:
            restarts_on = spec.get("restartPolicy") or restarts_on
        callback, defaults = self._callback, self._defaults
        return container.container_of(
            spec, lambda number: outcome.decide(pod, number, spec, callback, defaults), restarts_on, name, attempt,
            config.config_of(spec, pod, rules=self._rules, quick=self._quick))


class PodRuns:
    """By the uids of their pods. A pod's run is in ``live`` or has ended."""

    def __init__(self) -> None:
        self.live: dict[str, PodRun] = {}
        self.checkpoints = Checkpoints()
        self._ended: dict[str, bytes] = {}
        self._rebuild: Callable[[Pod], PodRun] | None = None

    def rebuild_with(self, rebuild: Callable[[Pod], PodRun]) -> None:
        """Say how the run of a pod that has ended is built again, before its state is restored."""
        self._rebuild = rebuild

    def __contains__(self, uid: object) -> bool:
        return uid in self.live or uid in self._ended

    def has_ended(self, uid: str) -> bool:
        """Whether all is over, and the API shows it."""
        return uid in self._ended

    def begin(self, uid: str, run: PodRun) -> None:
        """A pod was admitted; if another kubelet ran it, it goes on from where it was."""
        self.live[uid] = run
        if (known := self.checkpoints.run(uid)) is not None:
            restore(run, known)

    def end(self, uid: str) -> None:
        """All is over, and the API shows it."""
        self._ended[uid] = packed(self.live.pop(uid))

    def resume(self, pod: Pod) -> PodRun:
        """Let the run of a pod that has ended live again."""
        uid = meta.uid_of(pod)
        run = self.live[uid] = self._restored(pod, self._ended.pop(uid))
        return run

    def find(self, pod: Pod) -> PodRun | None:
        """The run of a pod, to be read only: of one that has ended, it is a copy."""
        data = self._ended.get(meta.uid_of(pod))
        return self.live.get(meta.uid_of(pod)) if data is None else self._restored(pod, data)

    def find_for_change(self, pod: Pod) -> PodRun | None:
        """The same for who may change it."""
        run = self.find(pod)
        if run is not None:
            self.checkpoints.before_change(meta.uid_of(pod), run)
        return run

    def forget(self, uid: str) -> None:
        """Forget a pod that was deleted."""
        self.live.pop(uid, None)
        self._ended.pop(uid, None)

    def forget_all_but(self, uids: Container[str]) -> None:
        """Forget the pods that are not among these uids."""
        self.live = {uid: run for uid, run in self.live.items() if uid in uids}
        self._ended = {uid: data for uid, data in self._ended.items() if uid in uids}

    def dump(self, rest: Tree) -> Checkpoint:
        """All runs as they are now, and ``rest``, what is kept beside them."""
        return self.checkpoints.take(self.live, rest, self._ended)

    def _restored(self, pod: Pod, data: bytes) -> PodRun:
        assert self._rebuild is not None, "a kubelet that runs has said how"
        run = self._rebuild(pod)
        restore(run, unpacked(data))
        return run


def format_pod(pod: Pod) -> str:
    """A pod as the kubelet's texts name it: ``name_namespace(uid)``, as pkg/kubelet/util/format
    does.
    """
    return f"{meta.name_of(pod)}_{meta.namespace_of(pod)}({meta.uid_of(pod)})"
