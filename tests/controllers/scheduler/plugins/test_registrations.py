"""Which plugins a release has, at which points, and which events each of them listens to."""

import pytest

from fakekube_controllers.scheduler.framework.events import ActionType
from fakekube_controllers.scheduler.plugins.registry import default_plugins, in_tree_registry
from tests.controllers.scheduler.contexts import framework
from tests.controllers.scheduler.plugins.cases import Handle, plugin_of

# an event, and whether a hint is asked about it
EVENTS = {
    "SchedulingGates": "TargetPod/UPDATE_POD_SCHEDULING_GATES_ELIMINATED?",
    "NodeName": "Node/ADD",
    "NodeUnschedulable": "Node/ADD,UPDATE_NODE_TAINT? TargetPod/UPDATE_POD_TOLERATION?",
    "TaintToleration": "Node/ADD,UPDATE_NODE_TAINT? TargetPod/UPDATE_POD_TOLERATION?",
    "NodeAffinity": "Node/ADD,UPDATE_NODE_LABEL?",
    "NodePorts": "AssignedPod/DELETE? Node/ADD",
    "NodeResourcesFit": "AssignedPod/DELETE? Node/ADD,UPDATE_NODE_ALLOCATABLE?",
    "VolumeRestrictions": "AssignedPod/DELETE? Node/ADD PersistentVolumeClaim/ADD?",
    "NodeVolumeLimits": "CSINode/ADD CSINode/UPDATE? AssignedPod/DELETE? PersistentVolumeClaim/ADD? VolumeAttachment/DELETE?",
    "VolumeBinding": (
        "StorageClass/ADD,UPDATE? PersistentVolumeClaim/ADD,UPDATE? PersistentVolume/ADD,UPDATE Node/ADD,UPDATE_NODE_LABEL "
        "CSINode/ADD,UPDATE? CSIDriver/UPDATE? CSIStorageCapacity/ADD,UPDATE?"),
    "VolumeZone": "StorageClass/ADD? Node/ADD,UPDATE_NODE_LABEL PersistentVolumeClaim/ADD,UPDATE? PersistentVolume/ADD,UPDATE?",
    "PodTopologySpread": (
        "AssignedPod/ADD,DELETE,UPDATE_POD_LABEL? TargetPod/UPDATE_POD_LABEL,UPDATE_POD_TOLERATION? "
        "Node/ADD,DELETE,UPDATE_NODE_LABEL,UPDATE_NODE_TAINT?"),
    "InterPodAffinity": "AssignedPod/ADD,DELETE,UPDATE_POD_LABEL? TargetPod/UPDATE_POD_LABEL Node/ADD,UPDATE_NODE_LABEL?",
    "DefaultPreemption": "AssignedPod/DELETE?",
    "NodeDeclaredFeatures": "Node/ADD,UPDATE_NODE_DECLARED_FEATURE? TargetPod/UPDATE?",
    "TopologyPlacementGenerator": "Node/ADD,UPDATE_NODE_LABEL",
    "PodGroupPodsCount": "",
}
GANGS = "UnscheduledPod/ADD? AssignedPod/ADD? "
OF_RELEASE = {
    "1.37": GANGS + "PodGroup/ADD? PodGroup/UPDATE? CompositePodGroup/ADD?", "1.36": GANGS + "PodGroup/ADD?",
    "1.35": GANGS + "Workload/ADD?"}


def shown(plugin: object) -> str:
    """The events that a plugin registers, in order."""
    texts = []
    for event, hint, _ in plugin.events_to_register():  # type: ignore[attr-defined]  # those that have it
        names, action = [], event.action_type
        if action & ActionType.UPDATE == ActionType.UPDATE:
            names, action = ["UPDATE"], action & ~ActionType.UPDATE
        names = [str(each.name) for each in ActionType if each in action and each.value.bit_count() == 1] + names
        texts.append(f"{event.resource.value.rpartition('/')[2]}/{','.join(names)}{'?' if hint is not None else ''}")
    return " ".join(texts)


@pytest.mark.parametrize("version", ["1.37", "1.36", "1.35"])
def test_plugins_listen_to_what_upstreams_do(version: str) -> None:
    """Given the plugins of a release / then each registers upstream's events, with a hint or
    without one, in its order; the others register none.
    """
    expected = EVENTS | {"GangScheduling": OF_RELEASE[version]}
    registry = in_tree_registry(version)
    assert sorted(registry) == sorted((
        *expected, "PrioritySort", "NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder", "DynamicResources"))
    for name, made in registry.items():
        plugin = plugin_of(made, Handle(version=version))
        assert plugin.name == name
        if name != "DynamicResources":
            text = shown(plugin) if hasattr(plugin, "events_to_register") else None
            assert text == expected.get(name), name


@pytest.mark.parametrize(("gates", "events"), [
    (["InPlacePodVerticalScaling"], " AssignedPod/UPDATE_POD_SCALE_DOWN? TargetPod/UPDATE_POD_SCALE_DOWN"),
    (["DynamicResourceAllocation"], ""), (["DRAExtendedResource"], ""),
])
def test_gates_add_events(gates: list[str], events: str) -> None:
    """Given gates / then NodeResourcesFit listens to resizes where pods may be resized."""
    plugin = plugin_of(in_tree_registry()["NodeResourcesFit"], Handle(gates=gates))
    assert shown(plugin) == EVENTS["NodeResourcesFit"] + events


ALL = {
    "SchedulingGates": 0, "PrioritySort": 0, "NodeName": 0, "NodeUnschedulable": 0, "TaintToleration": 3, "NodeAffinity": 2,
    "NodePorts": 0, "NodeResourcesFit": 1, "VolumeRestrictions": 0, "NodeVolumeLimits": 0, "VolumeBinding": 0, "VolumeZone": 0,
    "PodTopologySpread": 2, "InterPodAffinity": 2, "DynamicResources": 2, "DefaultPreemption": 0,
    "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1, "DefaultBinder": 0, "NodeDeclaredFeatures": 0, "GangScheduling": 0,
    "TopologyPlacementGenerator": 0, "PodGroupPodsCount": 1}


@pytest.mark.parametrize(("version", "off", "without"), [
    ("1.37", "", []), ("1.37", "DynamicResourceAllocation", ["DynamicResources"]),
    ("1.37", "NodeDeclaredFeatures", ["NodeDeclaredFeatures"]), ("1.37", "GenericWorkload", ["GangScheduling"]),
    ("1.37", "TopologyAwareWorkloadScheduling", ["TopologyPlacementGenerator", "PodGroupPodsCount"]),
    ("1.36", "GangScheduling", ["GangScheduling"]), ("1.35", "GangScheduling", ["GangScheduling"]),
    ("1.36", "GenericWorkload", []),
    ("1.37", "GangScheduling", []),
])
def test_the_default_plugins_follow_the_gates(version: str, off: str, without: list[str]) -> None:
    """Given a release and a gate that is off / then the profile has upstream's plugins but those,
    with upstream's weights, in upstream's order.
    """
    found = default_plugins(lambda gate: gate != off, version)
    assert list(found.items()) == [(name, weight) for name, weight in ALL.items() if name not in without]


POINTS = {
    "preEnqueue": "SchedulingGates DefaultPreemption", "queueSort": "PrioritySort",
    "preFilter": (
        "NodeName NodeAffinity NodePorts VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
        "InterPodAffinity"),
    "filter": (
        "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits "
        "VolumeBinding VolumeZone PodTopologySpread InterPodAffinity"),
    "postFilter": "DefaultPreemption",
    "preScore": (
        "TaintToleration NodeAffinity VolumeBinding PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation "
        "ImageLocality"),
    "score": (
        "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity "
        "NodeResourcesBalancedAllocation ImageLocality"),
    "reserve": "VolumeBinding", "permit": "", "preBind": "VolumeBinding", "bind": "DefaultBinder", "postBind": "VolumeBinding",
    "placementGenerate": "", "placementScore": "NodeResourcesFit", "podGroupPostFilter": "DefaultPreemption"}


def test_each_point_calls_its_plugins_in_order() -> None:
    """Given the default profile without the gates of groups and devices / then these plugins are
    called at each of its points.
    """
    points = {point: " ".join(plugin.name for plugin in plugins) for point, plugins in framework().points.items()}
    assert points == POINTS
