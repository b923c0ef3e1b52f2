"""How pods and Workloads are found: by the Workload that pods belong to, and by nodes.

Upstream: pkg/controller/tas/indexer, IndexPodWorkloadSliceName in pkg/controller/core/indexer.
"""

from collections.abc import Iterable, Sequence

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.client.resources import PODS
from fakekube.runtime.context import Context
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.names import WORKLOADS
from fakekube_controllers.kueue.slices import chains
from fakekube_controllers.kueue.topology.assignments import HOSTNAME, nodes_of_podset
from fakekube_controllers.kueue.topology.requests import is_tas
from fakekube_controllers.kueue.workload import states

_SLICE, _SELECTED_NODE, _ASSIGNED_NODES = "kueue workload slice", "kueue selected node", "kueue assigned nodes"


class TASObjects:
    """Reads shared caches: what it gives is read-only."""

    def __init__(self, ctx: Context) -> None:
        self.pods = ctx.lister(PODS)
        self.workloads = ctx.lister(WORKLOADS)
        self.pods.add_index(_SLICE, _slice)
        self.pods.add_index(_SELECTED_NODE, _selected_node)
        self.workloads.add_index(_ASSIGNED_NODES, _assigned_nodes)

    def pods_of(self, workload: ReadOnlyTree) -> Sequence[Tree]:
        """The pods of a Workload, or of the chain of slices that it belongs to."""
        name = f"{meta.namespace_of(workload)}/{chains.slice_name(workload)}"
        return self.pods.by_index(_SLICE, name)

    def pods_selecting(self, node: str) -> Sequence[Tree]:
        """The pods that a topology has put on a node, whether they are there or not."""
        return self.pods.by_index(_SELECTED_NODE, node)

    def workloads_on(self, node: str) -> Sequence[Tree]:
        """The admitted Workloads, neither finished nor evicted, that have a node assigned."""
        return self.workloads.by_index(_ASSIGNED_NODES, node)


def is_admitted_by_tas(workload: ReadOnlyTree) -> bool:
    """Whether the job of a Workload may run, and some of its pods have their domains."""
    admission = states.admission(workload)
    return admission is not None and states.is_admitted(workload) and any(
        each.get("topologyAssignment") is not None for each in admission["podSetAssignments"])


def _slice(pod: Tree) -> Iterable[str]:
    annotations = meta.annotations_of(pod)
    name = annotations.get(names.WORKLOAD_SLICE_NAME_ANNOTATION) or annotations.get(names.WORKLOAD_ANNOTATION)
    return () if name is None else (f"{meta.namespace_of(pod)}/{name}",)


def _selected_node(pod: Tree) -> Iterable[str]:
    node = (pod["spec"].get("nodeSelector") or meta.EMPTY).get(HOSTNAME)
    return (node,) if node is not None and is_tas(pod) else ()


def _assigned_nodes(workload: Tree) -> Iterable[str]:
    if states.is_finished(workload) or states.is_evicted(workload) or not is_admitted_by_tas(workload):
        return ()
    assigned = states.admission(workload) or meta.EMPTY
    return dict.fromkeys(node for each in assigned["podSetAssignments"] for node in nodes_of_podset(each))
