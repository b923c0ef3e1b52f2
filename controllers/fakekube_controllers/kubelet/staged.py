"""Which pods and nodes KWOK's Stages look after, in place of the kubelet.

Pods that the kubelet runs already stay its own; so do nodes and pods that no Stage of their kind is
for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import NODES, PODS
from fakekube.runtime.context import Context
from fakekube_controllers.kubelet.node.addresses import Addresses
from fakekube_controllers.kubelet.node.mode import KubeletModes

if TYPE_CHECKING:
    from fakekube_controllers.kubelet.stages.configuration import Managed
    from fakekube_controllers.kubelet.stages.player import Player
    from fakekube_controllers.kubelet.stages.stage import Stage


class Staged:
    """``runs(uid)`` says whether the kubelet runs a pod itself."""

    def __init__(self, runs: Callable[[str], bool]) -> None:
        self._runs = runs
        self._stages: list[Stage] = []
        self._manifests: list[Mapping[str, Any]] = []  # of what is in force
        self._recalled: Tree = {}  # what another player was about to do
        self._managed: Managed | None = None  # None: all nodes, and everything on them
        self._player: Player | None = None
        self._ctx: Context | None = None
        self._addresses: Addresses | None = None
        self._modes: KubeletModes | None = None

    def start(self, ctx: Context, addresses: Addresses, modes: KubeletModes) -> None:
        """Begin to play the Stages that were added before, and those that are added from now on."""
        self._ctx, self._addresses, self._modes = ctx, addresses, modes
        self._player = None
        if self._stages:
            self._begin(ctx)

    def _begin(self, ctx: Context) -> None:
        assert self._addresses is not None, "it was started"
        from fakekube_controllers.kubelet.stages.player import Player

        self._player = Player(ctx, self._stages, self._addresses, self._recalled)
        ctx.add_handler(NODES, self._node_seen, lambda _, new: self._node_seen(new), self._node_gone)

    def dump(self) -> Tree | None:
        """The manifests in force, and the player's state; None when none were ever added."""
        if not self._manifests:
            return None
        return {"manifests": list(self._manifests), "player": self._recalled if self._player is None else self._player.dump()}

    def load(self, state: Tree | None) -> None:
        """Add what another dumped, and go on from there once this is started."""
        if state is not None:
            self.add(state["manifests"])
            self._recalled = state["player"]

    def close(self) -> None:
        """Play nothing more until the next start."""
        if self._player is not None:
            self._recalled = self._player.dump()
            self._player.close()
        self._player = self._ctx = None

    def add(self, manifests: Sequence[Mapping[str, Any]]) -> None:
        """Add Stages, and a KwokConfiguration, which says which nodes they are for; all of them or,
        where one is invalid, none.

        A Stage of a name that is known replaces it. Raises StageError.
        """
        if not manifests:
            return
        from fakekube_controllers.kubelet.stages import configuration
        from fakekube_controllers.kubelet.stages.player import read_all

        stages = read_all([each for each in manifests if each["kind"] == "Stage"])
        said = [configuration.read(each) for each in manifests if each["kind"] == "KwokConfiguration"]
        names = {(stage.kind, stage.name) for stage in stages}
        self._stages[:] = [known for known in self._stages if (known.kind, known.name) not in names] + stages
        self._managed = said[-1] if said else self._managed
        self._manifests = _in_force([*self._manifests, *manifests])
        if self._ctx is None or not self._stages:
            return
        if self._player is None:
            self._begin(self._ctx)
        for node in self._ctx.lister(NODES).list():
            self._node_seen(node)
        for pod in self._ctx.lister(PODS).list():
            self.take(pod)

    def has_node(self, node: Mapping[str, Any]) -> bool:
        """Whether Stages write a node's status."""
        return self._plays("Node") and self._manages(node)

    def take(self, pod: Tree) -> bool:
        """Whether Stages look after a pod; then the player looks at it."""
        if not self._plays("Pod") or self._runs(meta.uid_of(pod)) or not (name := pod["spec"].get("nodeName")):
            return False
        node = self._ctx.lister(NODES).get("", name) if self._ctx is not None else None
        if node is None or not self._manages(node):
            return False
        if self._player is not None and not self._is_stopped(name) and not self._disregards(pod):
            self._player.look("Pod", pod)
        return True

    def forget(self, pod: Tree) -> None:
        """A pod is gone."""
        if self._player is not None:
            self._player.forget("Pod", pod)

    def _is_stopped(self, node: str) -> bool:
        return self._modes is not None and self._modes.is_stopped(node)

    def _manages(self, node: Mapping[str, Any]) -> bool:
        return self._managed is None or self._managed.node(node)

    def _disregards(self, tree: Mapping[str, Any]) -> bool:
        return self._managed is not None and self._managed.disregards(tree)

    def _plays(self, kind: str) -> bool:
        return any(stage.kind == kind for stage in self._stages)

    def _node_seen(self, node: Tree) -> None:
        if self._player is not None and self.has_node(node) and not self._is_stopped(meta.name_of(node)) and (
                not self._disregards(node)):
            self._player.look("Node", node)

    def _node_gone(self, node: Tree) -> None:
        if self._player is not None:
            self._player.forget("Node", node)


def _in_force(manifests: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The manifests without those that a later one replaces: a Stage of the same name, and any
    other configuration.
    """
    last: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for manifest in manifests:
        key: tuple[str, ...] = (manifest["kind"],)
        if manifest["kind"] == "Stage":
            key = ("Stage", manifest["spec"]["resourceRef"]["kind"], manifest["metadata"]["name"])
        last.pop(key, None)
        last[key] = manifest
    return list(last.values())
