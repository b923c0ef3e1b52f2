"""The plugins that a profile can name, and those that it has unless it says otherwise.

An import and a line in each of the two lists; there is no other wiring.
Upstream: framework/plugins/registry.go, apis/config/v1/default_plugins.go.
"""

from collections.abc import Callable

from fakekube_controllers.scheduler.framework.interface import PluginFactory
from fakekube_controllers.scheduler.plugins.default_binder import DefaultBinder
from fakekube_controllers.scheduler.plugins.default_preemption import DefaultPreemption
from fakekube_controllers.scheduler.plugins.dynamic_resources import DynamicResources
from fakekube_controllers.scheduler.plugins.gang_scheduling import GangScheduling
from fakekube_controllers.scheduler.plugins.image_locality import ImageLocality
from fakekube_controllers.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from fakekube_controllers.scheduler.plugins.node_affinity import NodeAffinity
from fakekube_controllers.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from fakekube_controllers.scheduler.plugins.node_name import NodeName
from fakekube_controllers.scheduler.plugins.node_ports import NodePorts
from fakekube_controllers.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from fakekube_controllers.scheduler.plugins.node_resources_fit import NodeResourcesFit
from fakekube_controllers.scheduler.plugins.node_unschedulable import NodeUnschedulable
from fakekube_controllers.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from fakekube_controllers.scheduler.plugins.pod_group_pods_count import PodGroupPodsCount
from fakekube_controllers.scheduler.plugins.pod_topology_spread import PodTopologySpread
from fakekube_controllers.scheduler.plugins.priority_sort import PrioritySort
from fakekube_controllers.scheduler.plugins.releases import minor_version
from fakekube_controllers.scheduler.plugins.scheduling_gates import SchedulingGates
from fakekube_controllers.scheduler.plugins.taint_toleration import TaintToleration
from fakekube_controllers.scheduler.plugins.topology_placement import TopologyPlacement
from fakekube_controllers.scheduler.plugins.volume_binding import VolumeBinding
from fakekube_controllers.scheduler.plugins.volume_restrictions import VolumeRestrictions
from fakekube_controllers.scheduler.plugins.volume_zone import VolumeZone

GATES = {
    "DynamicResources": "DynamicResourceAllocation", "NodeDeclaredFeatures": "NodeDeclaredFeatures",
    "GangScheduling": "GenericWorkload",
    "TopologyPlacementGenerator": "TopologyAwareWorkloadScheduling", "PodGroupPodsCount": "TopologyAwareWorkloadScheduling",
}
"""The feature gates of plugins that are not always there."""
GANG_GATE = "GangScheduling"  # before 1.37


def in_tree_registry(version: str = "") -> dict[str, PluginFactory]:
    """The factories of a release by name."""
    if version in ("1.35", "1.36"):
        # only these releases load what is theirs
        from fakekube_controllers.scheduler.plugins.older import plugins_of_1_35, plugins_of_1_36

        return in_tree_registry() | (plugins_of_1_35() if version == "1.35" else plugins_of_1_36())
    return {
        "SchedulingGates": SchedulingGates,
        "PrioritySort": PrioritySort,
        "NodeName": NodeName,
        "NodeUnschedulable": NodeUnschedulable,
        "TaintToleration": TaintToleration,
        "NodeAffinity": NodeAffinity,
        "NodePorts": NodePorts,
        "NodeResourcesFit": NodeResourcesFit,
        "VolumeRestrictions": VolumeRestrictions,
        "NodeVolumeLimits": NodeVolumeLimits,
        "VolumeBinding": VolumeBinding,
        "VolumeZone": VolumeZone,
        "PodTopologySpread": PodTopologySpread,
        "InterPodAffinity": InterPodAffinity,
        "DynamicResources": DynamicResources,
        "DefaultPreemption": DefaultPreemption,
        "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocation,
        "ImageLocality": ImageLocality,
        "DefaultBinder": DefaultBinder,
        "NodeDeclaredFeatures": NodeDeclaredFeatures,
        "GangScheduling": GangScheduling,
        "TopologyPlacementGenerator": TopologyPlacement,
        "PodGroupPodsCount": PodGroupPodsCount,
    }


def default_plugins(enabled: Callable[[str], bool], version: str = "") -> dict[str, int]:
    """The plugins of a profile that says nothing of them, at every point that they extend, in
    upstream's order, with the weights of their scores (0: none is given).

    ``enabled`` says of a feature gate whether it is on.
    """
    plugins = {
        "SchedulingGates": 0,
        "PrioritySort": 0,
        "NodeName": 0,
        "NodeUnschedulable": 0,
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodePorts": 0,
        "NodeResourcesFit": 1,
        "VolumeRestrictions": 0,
        "NodeVolumeLimits": 0,
        "VolumeBinding": 0,
        "VolumeZone": 0,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,  # its text comes before that of preemption
        "DefaultPreemption": 0,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "DefaultBinder": 0,
        "NodeDeclaredFeatures": 0,
        "GangScheduling": 0,
        "TopologyPlacementGenerator": 0,
        "PodGroupPodsCount": 1,
    }
    gates = GATES if minor_version(version) >= 37 else GATES | {"GangScheduling": GANG_GATE}
    return {name: weight for name, weight in plugins.items() if name not in gates or enabled(gates[name])}
