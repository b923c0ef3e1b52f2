"""The controllers of topologies. They start with the first Topology: a cluster without one does not
look at nodes and pods for them.

Upstream: pkg/controller/tas/controllers.go.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from fakekube.runtime import builder
from fakekube.runtime.builder import Declaration
from fakekube_controllers.kueue.names import TOPOLOGIES
from fakekube_controllers.kueue.topology.flavorcontroller import TASResourceFlavorReconciler
from fakekube_controllers.kueue.topology.nodecontroller import NodeReconciler
from fakekube_controllers.kueue.topology.nontascontroller import NonTASUsageReconciler
from fakekube_controllers.kueue.topology.topologycontroller import TopologyReconciler
from fakekube_controllers.kueue.topology.ungater import TopologyUngater

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue


def controllers(kueue: "Kueue") -> Iterator[Declaration]:
    """All of them, nodes and pods first."""
    if not kueue.features.TopologyAwareScheduling:
        return
    reconcilers: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("tas_resource_flavor_controller", TASResourceFlavorReconciler),
        ("tas-non-tas-usage-controller", NonTASUsageReconciler), ("tas_topology_ungater", TopologyUngater),
        ("tas_node_controller", NodeReconciler), ("tas_topology_controller", TopologyReconciler))
    for name, reconciler in reconcilers:
        yield builder.controller(name).starts_with(TOPOLOGIES).complete(partial(reconciler, kueue))
