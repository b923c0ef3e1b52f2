"""Events of the cluster that may make a pod schedulable, and what plugins say to them.

An event is a resource and what happened to it. A plugin registers the events that may help the pods
that it rejected, each with a hint: a function that looks at the pod and at the object before and
after, and says whether the pod is worth another try.

Upstream: kube-scheduler/framework/types.go (ClusterEvent), pkg/scheduler/framework/events.go. Left
out: PreQueueingHint.
"""

import enum
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from fakekube.apimachinery import meta, pod_resources
from fakekube.apimachinery.pod_resources import IN_FLIGHT, Options
from fakekube.apimachinery.types import ReadOnlyTree

if TYPE_CHECKING:
    from fakekube_controllers.scheduler.framework.types import PodInfo


class EventResource(enum.StrEnum):
    """What an event is about.

    An ASSIGNED_POD has a node, an UNSCHEDULED_POD has none, the TARGET_POD is the pod itself that
    waits; POD is all three.
    """

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnscheduledPod"
    TARGET_POD = "TargetPod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    WORKLOAD = "scheduling.k8s.io/Workload"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    COMPOSITE_POD_GROUP = "scheduling.k8s.io/CompositePodGroup"
    WILD_CARD = "*"


POD_RESOURCES = (EventResource.ASSIGNED_POD, EventResource.UNSCHEDULED_POD, EventResource.TARGET_POD)


class ActionType(enum.IntFlag):
    """What happened. UPDATE is every kind of update, ALL everything."""

    NONE = 0
    ADD = 1
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4  # or spec.unschedulable
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_NODE_PREEMPTION_POLICY = 1 << 8
    UPDATE_POD_LABEL = 1 << 9
    UPDATE_POD_SCALE_DOWN = 1 << 10
    UPDATE_POD_SCALE_UP = 1 << 11
    UPDATE_POD_TOLERATION = 1 << 12
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 13
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 14
    ALL = (1 << 15) - 1
    UPDATE = ALL & ~(ADD | DELETE)


ACTION_LABELS = {
    ActionType.ADD: "Add", ActionType.DELETE: "Delete", ActionType.UPDATE: "Update", ActionType.ALL: "All",
    ActionType.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable", ActionType.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    ActionType.UPDATE_NODE_TAINT: "UpdateNodeTaint", ActionType.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    ActionType.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    ActionType.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    ActionType.UPDATE_NODE_PREEMPTION_POLICY: "UpdateNodePreemptionPolicy",
    ActionType.UPDATE_POD_LABEL: "UpdatePodLabel", ActionType.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    ActionType.UPDATE_POD_SCALE_UP: "UpdatePodScaleUp", ActionType.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
}


class ClusterEvent(NamedTuple):
    """What happened to which resource. ``custom_label`` names it in metrics."""

    resource: EventResource
    action_type: ActionType
    custom_label: str = ""

    @property
    def label(self) -> str:
        """Its name in metrics and explanations."""
        return self.custom_label or f"{self.resource.value}{ACTION_LABELS.get(self.action_type, '')}"

    @property
    def is_wild_card(self) -> bool:
        """Whether it moves pods whatever rejected them."""
        return self.resource is EventResource.WILD_CARD and self.action_type == ActionType.ALL

    def matches(self, incoming: "ClusterEvent") -> bool:
        """Whether an event is this one, or more specific. Upstream: MatchClusterEvents."""
        if self.is_wild_card:
            return True
        if not self.action_type & incoming.action_type or incoming.action_type > self.action_type:
            return False
        return (self.resource in (EventResource.WILD_CARD, incoming.resource)
                or (self.resource is EventResource.POD and incoming.resource in POD_RESOURCES))


class QueueingHint(enum.IntEnum):
    """Whether an event may make a pod schedulable."""

    QUEUE_SKIP = 0
    QUEUE = 1


SKIP, QUEUE = QueueingHint.QUEUE_SKIP, QueueingHint.QUEUE

QueueingHintFn = Callable[["PodInfo", ReadOnlyTree | None, ReadOnlyTree | None], QueueingHint]
"""From the pod that was rejected, and the object before (None: it was added) and after (None: it is
gone).
"""


class ClusterEventWithHint(NamedTuple):
    """An event that a plugin registers; without a hint every such event helps.

    ``can_help`` says whether an event, by the object before and after it, can help any pod at all.
    """

    event: ClusterEvent
    hint: QueueingHintFn | None = None
    can_help: Callable[[ReadOnlyTree | None, ReadOnlyTree | None], bool] | None = None


SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF_Q = "PopFromBackoffQ"
ASSIGNED_POD_ADD = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULED_POD_ADD = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.ADD)
UNSCHEDULED_POD_UPDATE = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE)
UNSCHEDULED_POD_DELETE = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.DELETE)
NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_DELETE = ClusterEvent(EventResource.NODE, ActionType.DELETE)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(EventResource.WILD_CARD, ActionType.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(EventResource.WILD_CARD, ActionType.ALL, "ForceActivate")
WILD_CARD = ClusterEvent(EventResource.WILD_CARD, ActionType.ALL)

_NODE_EVENTS = {
    action: ClusterEvent(EventResource.NODE, action) for action in ActionType
    if ActionType.UPDATE_NODE_ALLOCATABLE <= action <= ActionType.UPDATE_NODE_PREEMPTION_POLICY}


def matches_any(event: ClusterEvent, registered: Iterable[ClusterEvent]) -> bool:
    """Whether an event is one of those that are registered, or more specific."""
    return any(each.matches(event) for each in registered)


def node_scheduling_properties_change(old: ReadOnlyTree, new: ReadOnlyTree) -> list[ClusterEvent]:
    """What has changed of a node that scheduling may depend on, in upstream's order.

    Upstream: NodeSchedulingPropertiesChange.
    """
    before, now = old["spec"], new["spec"]
    old_status, new_status = old.get("status") or {}, new.get("status") or {}
    found = []
    if before.get("unschedulable") and not now.get("unschedulable"):
        found.append(ActionType.UPDATE_NODE_TAINT)
    if old_status.get("allocatable") != new_status.get("allocatable"):
        found.append(ActionType.UPDATE_NODE_ALLOCATABLE)
    if meta.labels_of(old) != meta.labels_of(new):
        found.append(ActionType.UPDATE_NODE_LABEL)
    if before.get("taints") != now.get("taints"):
        found.append(ActionType.UPDATE_NODE_TAINT)
    if old_status.get("conditions") != new_status.get("conditions") and _conditions(old_status) != _conditions(new_status):
        found.append(ActionType.UPDATE_NODE_CONDITION)
    if meta.annotations_of(old) != meta.annotations_of(new):
        found.append(ActionType.UPDATE_NODE_ANNOTATION)
    if before.get("podPreemptionPolicy") != now.get("podPreemptionPolicy"):
        found.append(ActionType.UPDATE_NODE_PREEMPTION_POLICY)
    if old_status.get("declaredFeatures") != new_status.get("declaredFeatures"):
        found.append(ActionType.UPDATE_NODE_DECLARED_FEATURE)
    return [_NODE_EVENTS[action] for action in found]


def _conditions(status: ReadOnlyTree) -> dict[str, str]:
    return {each["type"]: each["status"] for each in status.get("conditions") or ()}


def pod_scheduling_properties_change(
    old: ReadOnlyTree, new: ReadOnlyTree, *, is_target: bool = False, options: Options = IN_FLIGHT,
) -> list[ClusterEvent]:
    """What has changed of a pod, in upstream's order; a plain UPDATE for all else.

    ``is_target``: it is the pod itself that waits. Upstream: PodSchedulingPropertiesChange.
    """
    resource = EventResource.UNSCHEDULED_POD
    if new["spec"].get("nodeName"):
        resource = EventResource.ASSIGNED_POD
    elif is_target:
        resource = EventResource.TARGET_POD
    found = _pod_actions(old, new, options) or [ActionType.UPDATE]
    return [ClusterEvent(resource, action) for action in found]


def _pod_actions(old: ReadOnlyTree, new: ReadOnlyTree, options: Options) -> list[ActionType]:
    before, now = old["spec"], new["spec"]
    old_status, new_status = old.get("status") or {}, new.get("status") or {}
    found = []
    if meta.labels_of(old) != meta.labels_of(new):
        found.append(ActionType.UPDATE_POD_LABEL)
    if _may_ask_for_other_resources(old, new):
        asked, asks = (pod_resources.whole(pod_resources.requests(pod, options)) for pod in (old, new))
        if any(name not in asks or amount > asks[name] for name, amount in asked.items()):
            found.append(ActionType.UPDATE_POD_SCALE_DOWN)
        if any(name not in asked or amount > asked[name] for name, amount in asks.items()):
            found.append(ActionType.UPDATE_POD_SCALE_UP)
    if before.get("schedulingGates") and not now.get("schedulingGates"):
        found.append(ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    if len(before.get("tolerations") or ()) != len(now.get("tolerations") or ()):
        found.append(ActionType.UPDATE_POD_TOLERATION)
    if any(old_status.get(name) != new_status.get(name) for name in ("resourceClaimStatuses", "extendedResourceClaimStatus")):
        found.append(ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    return found


def _may_ask_for_other_resources(old: ReadOnlyTree, new: ReadOnlyTree) -> bool:
    before, now = old["spec"], new["spec"]
    return (any(before.get(name) != now.get(name) for name in ("containers", "initContainers", "resources", "overhead"))
            or pod_resources.in_flight(old.get("status")) != pod_resources.in_flight(new.get("status")))
