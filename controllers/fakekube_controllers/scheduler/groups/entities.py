"""What the specs of pods, pod groups and composite pod groups say of who belongs to whom.

Upstream: pkg/scheduler/util (podgroup.go), framework/types.go (EntityKey).
"""

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.queued import EntityKey, composite_pod_group_key, pod_group_key


def group_key_of(pod: ReadOnlyTree) -> EntityKey | None:
    """The group that a pod names: a PodGroup, before 1.36 one within a Workload; None: it names
    none.
    """
    group = pod["spec"].get("schedulingGroup")
    if group:
        return pod_group_key(meta.namespace_of(pod), group.get("podGroupName") or "")
    reference = pod["spec"].get("workloadRef")
    if reference:
        return member_key(meta.namespace_of(pod), reference["name"], reference["podGroup"], reference.get("podGroupReplicaKey"))
    return None


def member_key(namespace: str, workload: str, group: str, replica: str | None) -> EntityKey:
    """The group of a pod that names its Workload, as in 1.35: a group for each replica."""
    return pod_group_key(namespace, f"{workload}/{group}/{replica or ''}")  # no name has a slash


def parent_key_of(group: ReadOnlyTree) -> EntityKey | None:
    """The CompositePodGroup that a group of either kind names as its parent."""
    parent = group["spec"].get("parentCompositePodGroupName")
    return composite_pod_group_key(meta.namespace_of(group), parent) if parent else None


def minimum_of(group: ReadOnlyTree) -> int:
    """How many pods of a PodGroup, or children of a CompositePodGroup, go together.

    One for a basic policy.
    """
    gang = (group["spec"].get("schedulingPolicy") or {}).get("gang")
    if gang is None:
        return 1
    return int(gang.get("minCount") or gang.get("minGroupCount") or 1)


def is_gang(group: ReadOnlyTree) -> bool:
    """Whether its policy is gang, rather than basic."""
    return (group["spec"].get("schedulingPolicy") or {}).get("gang") is not None


def topology_key_of(group: ReadOnlyTree) -> str | None:
    """The label of nodes that all pods of the group share; there is one constraint at most."""
    topology = (group["spec"].get("schedulingConstraints") or {}).get("topology")
    return str(topology[0]["key"]) if topology else None


def priority_of(group: ReadOnlyTree) -> int:
    """Of a group; that of its root counts."""
    return int(group["spec"].get("priority") or 0)
