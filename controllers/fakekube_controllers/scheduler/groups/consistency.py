"""What all pods of a tree of groups must have in common before they are tried.

Upstream: Scheduler.validatePodGroup of pkg/scheduler/schedule_one_podgroup.go.
"""

from collections.abc import Collection, Iterable

from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
from fakekube_controllers.scheduler.groups.entities import priority_of

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
DIFFERENT_SCHEDULERS = 'all pods in a single pod group should have the same .spec.schedulerName set, got: "{}" and "{}"'
NO_PROFILE = 'profile not found for scheduler name "{}"'


def inconsistency(
    root: PodGroupInfo, placed: Iterable[ReadOnlyTree], profiles: Collection[str], *, has_policy: bool,
) -> str | None:
    """What is wrong with the pods to be tried and those that are ``placed`` already, or None.

    ``profiles``: the scheduler names that there are. ``has_policy``: whether groups have a
    preemption policy (gate PodGroupPreemptionPolicy); else the first pod's counts.
    """
    waiting = [queued.info.pod for leaf in root.leaves() for queued in leaf.unscheduled_pods]
    policy = root.group["spec"].get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY if has_policy else ""
    scheduler_name: str | None = None
    for pod in (*waiting, *placed):
        spec = pod["spec"]
        name = _scheduler_name(pod)
        if scheduler_name is None:
            scheduler_name = name
        if name != scheduler_name:
            return DIFFERENT_SCHEDULERS.format(name, scheduler_name)
        priority = int(spec.get("priority") or 0)
        if priority != priority_of(root.group):
            return ("all pods in a single pod group should have the same priority as the pod group's priority, "
                    f"got {priority} and {priority_of(root.group)}")
        own = spec.get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY
        policy = policy or own
        if own != policy:
            whose = " as the pod group's preemption policy" if has_policy else ""
            return f"all pods in a single pod group should have the same preemption policy{whose}, got {own} and {policy}"
    return None if scheduler_name in profiles else NO_PROFILE.format(scheduler_name or "")


def different_schedulers(root: PodGroupInfo, profiles: Collection[str]) -> str | None:
    """All that 1.36 asks of the pods to be tried: that they name one scheduler, which there is."""
    names = list(dict.fromkeys(_scheduler_name(queued.info.pod) for leaf in root.leaves() for queued in leaf.unscheduled_pods))
    if len(names) > 1:
        return DIFFERENT_SCHEDULERS.format(names[1], names[0])
    return None if names[0] in profiles else NO_PROFILE.format(names[0])


def _scheduler_name(pod: ReadOnlyTree) -> str:
    return str(pod["spec"].get("schedulerName") or "")
