"""What all pods of a tree of groups must have in common before they are tried.

Upstream: Scheduler.validatePodGroup of pkg/scheduler/schedule_one_podgroup.go.
"""

from collections.abc import Collection, Iterable

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
from fakekube_controllers.scheduler.groups.entities import priority_of

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"


def inconsistency(
    root: PodGroupInfo, placed: Iterable[ReadOnlyTree], profiles: Collection[str], *, has_policy: bool,
) -> str | None:
    """What is wrong with the pods to be tried and those that are ``placed`` already, or None.

    ``profiles``: the scheduler names that there are. ``has_policy``: whether groups have a
    preemption policy (gate PodGroupPreemptionPolicy); else the first pod's counts.
    """
    scheduler_name: str | None = None
    policy = root.group["spec"].get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY if has_policy else ""
    waiting = [queued.info.pod for leaf in root.leaves() for queued in leaf.unscheduled_pods]
    for pod in (*waiting, *placed):
        spec = pod["spec"]
        name = str(spec.get("schedulerName") or "")
        if scheduler_name is None:
            scheduler_name = name
        if name != scheduler_name:
            return ("all pods in a single pod group should have the same .spec.schedulerName set, "
                    f'got: "{name}" and "{scheduler_name}"')
        priority = int(spec.get("priority") or 0)
        if priority != priority_of(root.group):
            return ("all pods in a single pod group should have the same priority as the pod group's priority, "
                    f"got {priority} and {priority_of(root.group)}")
        own = spec.get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY
        policy = policy or own
        if own != policy:
            whose = " as the pod group's preemption policy" if has_policy else ""
            return f"all pods in a single pod group should have the same preemption policy{whose}, got {own} and {policy}"
    if scheduler_name not in profiles:
        return f'profile not found for scheduler name "{scheduler_name or ""}"'
    return None
