"""The controllers of topologies. They start with the first Topology: a cluster without one does not
look at nodes and pods for them. Where there is one when Kueue starts, they start with it, so that
no ClusterQueue is said to miss what is there.

Upstream: pkg/controller/tas/controllers.go.
"""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fakekube.runtime import builder
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Reconciler
from fakekube_controllers.kueue.names import TOPOLOGIES

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

RECONCILERS = (
    ("tas_resource_flavor_controller", "flavorcontroller", "TASResourceFlavorReconciler"),
    ("tas_topology_ungater", "ungater", "TopologyUngater"),
    ("tas_node_controller", "nodecontroller", "NodeReconciler"),
    ("tas_topology_controller", "topologycontroller", "TopologyReconciler"))
"""Names, modules and classes. What feeds the cache with nodes comes first."""


def controllers(kueue: "Kueue") -> Iterator[Declaration]:
    """All of them."""
    if kueue.features.TopologyAwareScheduling:
        usage = partial(_made, "nontascontroller", "NonTASUsage", kueue)
        yield builder.controller("tas-non-tas-usage-controller").starts_with(TOPOLOGIES, is_needed=_are_there).runs(usage)
    for name, module, reconciler in RECONCILERS if kueue.features.TopologyAwareScheduling else ():
        made = partial(_reconciler, kueue, module, reconciler)
        yield builder.controller(name).starts_with(TOPOLOGIES, is_needed=_are_there).complete(made)


def _are_there(ctx: Context) -> bool:
    """Whether there are Topologies, as far as somebody knows already."""
    if ctx.presence is None:
        return False
    cancel = ctx.presence.await_first(TOPOLOGIES.group_resource, lambda _: None, whole=True)
    if cancel is not None:
        cancel()
    return cancel is None


def _reconciler(kueue: "Kueue", module: str, name: str, ctx: Context) -> Reconciler:
    made: Reconciler = _made(module, name, kueue, ctx)
    return made


def _made(module: str, name: str, *arguments: Any) -> Any:
    return getattr(import_module(f"fakekube_controllers.kueue.topology.{module}"), name)(*arguments)
