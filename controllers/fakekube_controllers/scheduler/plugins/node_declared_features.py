"""A pod that needs a feature of its node goes only to nodes that declare it.

Upstream: plugins/nodedeclaredfeatures, component-helpers/nodedeclaredfeatures.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import SKIP, Status, unresolvable
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo
from fakekube_controllers.scheduler.plugins.hints import hint

NOT_MATCHED = "node(s) didn't match Pod's required features"
RESTART_ALL, HOST_NETWORK = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"
BIND_OPTIONS = "VolumeBindMountOptions"


def required_features(pod: ReadOnlyTree) -> tuple[str, ...]:
    """The features that a pod needs of its node, sorted."""
    spec = pod["spec"]
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    found = []
    if any(rule.get("action") == "RestartAllContainers" for each in containers for rule in each.get("restartPolicyRules") or ()):
        found.append(RESTART_ALL)
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        found.append(HOST_NETWORK)
    containers += spec.get("ephemeralContainers") or ()
    if any(mount.get("bindMountOptions") for each in containers for mount in each.get("volumeMounts") or ()):
        found.append(BIND_OPTIONS)
    return tuple(found)


class NodeDeclaredFeatures:
    """PreFilter and Filter."""

    name = "NodeDeclaredFeatures"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """What may help a pod that was rejected here."""
        declares = ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, declares), _after_node),
            ClusterEventWithHint(ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE), _after_target_pod))

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> Status | None:
        """SKIP for a pod that needs no feature."""
        found = required_features(pod.pod)
        if not found:
            return SKIP
        state[self.name] = found
        return None

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """Why the pod does not fit the node, or None."""
        found: tuple[str, ...] = state.get(self.name) or ()
        declared = _declared(node.node)
        return None if all(name in declared for name in found) else unresolvable(NOT_MATCHED)

    # one answer for nodes that declare the same

    def sign_pod(self, pod: PodInfo) -> tuple[str, ...]:
        """The features that it needs."""
        return required_features(pod.pod)

    def node_fields(self, pod: PodInfo) -> bool:
        """Whether it needs any."""
        return bool(required_features(pod.pod))

    def sign_node(self, node_fields: bool, node: NodeInfo) -> tuple[str, ...]:
        """What it declares."""
        return tuple(_declared(node.node)) if node_fields else ()


def _declared(node: ReadOnlyTree | None) -> Sequence[str]:
    return ((node or {}).get("status") or {}).get("declaredFeatures") or ()


def _after_node(_pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(old is None or list(_declared(old)) != list(_declared(new)))


def _after_target_pod(_pod: PodInfo, old: ReadOnlyTree | None, new: ReadOnlyTree | None) -> QueueingHint:
    return hint(old is None or new is None or required_features(old) != required_features(new))
