"""What goes on in containers, kept for a snapshot, and restored by another kubelet from where it
was.

The API's status says when a container started, and not how long it is going to run. A snapshot must
cost next to nothing though thousands of pods run: so it holds the runs themselves, and each is made
JSON just before it changes, or when somebody reads. Upstream: pkg/kubelet/checkpointmanager, and
what a container runtime knows while its kubelet is down.
"""

import weakref
from collections.abc import Mapping

from fakekube.apimachinery.types import Tree
from fakekube_controllers.kubelet.pods.packing import as_json, unpacked
from fakekube_controllers.kubelet.pods.run import PodRun


class Checkpoint:
    """What a kubelet knew at one moment.

    ``runs`` were live then, ``saved`` are JSON already, or packed; ``rest`` is what the kubelet
    keeps beside its runs.
    """

    def __init__(self, runs: Mapping[str, PodRun], rest: Tree, saved: "Mapping[str, Tree | bytes] | None" = None) -> None:
        self._runs = dict(runs)
        self._saved: dict[str, Tree | bytes] = dict(saved or {})
        self.rest = rest

    def save(self, uid: str, run: PodRun) -> None:
        """A run is about to change."""
        if self._runs.get(uid) is run:
            self._saved[uid] = as_json(run)
            del self._runs[uid]

    def __contains__(self, uid: str) -> bool:
        return uid in self._runs or uid in self._saved

    def run(self, uid: str) -> Tree | None:
        """A pod's run as JSON, or None."""
        run = self._runs.get(uid)
        if run is not None:
            return as_json(run)
        saved = self._saved.get(uid)
        return unpacked(saved) if isinstance(saved, bytes) else saved

    def __json__(self) -> Tree:
        return {"rest": self.rest, "runs": {uid: self.run(uid) for uid in (*self._runs, *self._saved)}}


class Checkpoints:
    """The checkpoints that were taken and that somebody still has, and the one that this kubelet
    began with.
    """

    def __init__(self) -> None:
        self._taken: list[weakref.ref[Checkpoint]] = []
        self._loaded = Checkpoint({}, {})

    def take(self, runs: Mapping[str, PodRun], rest: Tree, packed: Mapping[str, bytes]) -> Checkpoint:
        """A checkpoint of all runs, ``packed`` being those that have ended."""
        checkpoint = Checkpoint(runs, rest, packed)
        self._taken = [known for known in self._taken if known() is not None] + [weakref.ref(checkpoint)]
        return checkpoint

    def before_change(self, uid: str, run: PodRun) -> None:
        """A run is about to change: whatever holds it as it is now makes it JSON."""
        for known in self._taken:
            if (checkpoint := known()) is not None:
                checkpoint.save(uid, run)

    def load(self, state: Checkpoint | Tree) -> Tree:
        """Begin with what another kubelet knew; what it kept beside its runs is returned."""
        self._loaded = state if isinstance(state, Checkpoint) else Checkpoint({}, state["rest"], state["runs"])
        return self._loaded.rest

    def has_run(self, uid: str) -> bool:
        """Whether another kubelet ran the pod."""
        return uid in self._loaded

    def run(self, uid: str) -> Tree | None:
        """The run that another kubelet had of a pod, as JSON, or None."""
        return self._loaded.run(uid)
