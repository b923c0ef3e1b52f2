"""Divides nodes into the domains of a group's topology constraint.

Upstream: plugins/topologyaware (KEP-5732). Placements are in the order of their names.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import meta
from fakekube_controllers.scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.placements import Placement
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
from fakekube_controllers.scheduler.framework.snapshot import Snapshot
from fakekube_controllers.scheduler.framework.state import CycleState
from fakekube_controllers.scheduler.framework.status import Status, error
from fakekube_controllers.scheduler.groups.entities import topology_key_of


class TopologyPlacement:
    """PlacementGenerate."""

    name = "TopologyPlacementGenerator"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Nodes and labels of nodes: they make placements."""
        return [ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL))]

    def generate_placements(
        self, state: CycleState, group: PodGroupInfo, parent: Placement, snapshot: Snapshot,
    ) -> Sequence[Placement] | Status:
        """A placement for each value of the label, within the parent's nodes.

        Only that of the pods which are on nodes already, where there are such.
        """
        key = topology_key_of(group.group)
        if key is None:
            return [parent]
        required = self._domain_of_placed(key, group, snapshot)
        if isinstance(required, Status):
            return required
        nodes = snapshot.all_nodes
        found: dict[str, dict[str, None]] = {}
        for name in nodes if parent.node_names is None else parent.node_names:
            node = nodes[name].node
            domain = meta.labels_of(node).get(key) if node is not None else None
            if domain is not None and required in (None, domain):
                found.setdefault(domain, {})[name] = None
        return [Placement(domain, found[domain]) for domain in sorted(found)]

    def _domain_of_placed(self, key: str, group: PodGroupInfo, snapshot: Snapshot) -> str | Status | None:
        """The domain of the group's pods that are on nodes; None where there are none."""
        groups = self._handle.groups
        assert groups is not None, "the plugin runs where there are groups"
        found: str | None = None
        for placed in groups.all_placed(group.key):
            pod = placed.info.pod
            name = f"{meta.namespace_of(pod)}/{meta.name_of(pod)}"
            info = snapshot.all_nodes.get(placed.node_name)
            if info is None or info.node is None:
                return _undetermined(f'getting node for pod {name}: nodeinfo not found for node name "{placed.node_name}"')
            domain = meta.labels_of(info.node).get(key)
            if domain is None:
                return _undetermined(f"no topology domain found for pod {name}")
            if found not in (None, domain):
                return _undetermined(f"more than 1 domain found for pod group: {found}, {domain}")
            found = domain
        return found


def _undetermined(text: str) -> Status:
    return error(f"cannot determine domain for already scheduled pods: {text}")
