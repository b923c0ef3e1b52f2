"""Holds the gangs of draft Workloads together: as 1.35 does, by Permit, with a timeout of each
group's own.

A gang that has too few pods with nodes when its time is over gives all of these nodes back.
Upstream has nothing of the kind.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import JOBS
from fakekube_controllers.scheduler.draft import groups
from fakekube_controllers.scheduler.draft.definition import WORKLOADS
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.queued import EntityKey
from fakekube_controllers.scheduler.groups.cycle import PodScheduler
from fakekube_controllers.scheduler.groups.entities import member_key
from fakekube_controllers.scheduler.groups.release_1_35 import count_members
from fakekube_controllers.scheduler.plugins.gang_permit import Missing, Policy
from fakekube_controllers.scheduler.plugins.gang_workload import GangWorkload


def key_of(pod: ReadOnlyTree) -> EntityKey | None:
    """The group that a pod is in, one for each replica."""
    reference = groups.reference_of(pod)
    return member_key(meta.namespace_of(pod), *reference) if reference is not None else None


def follow(scheduler: PodScheduler) -> None:
    """Count the pods of draft groups."""
    count_members(scheduler, key_of)


class DraftGangs(GangWorkload):
    """PreEnqueue and Permit."""

    name = "DraftWorkload"
    _resource = WORKLOADS

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        super().__init__(args, handle)
        self._jobs = handle.lister(JOBS)

    def object_name_of(self, pod: ReadOnlyTree) -> str | None:
        """The name of a pod's Workload."""
        reference = groups.reference_of(pod)
        return reference.workload if reference is not None else None

    def policy_of(self, pod: ReadOnlyTree) -> Policy | Missing:
        """The policy of a pod's group within its Workload."""
        reference, namespace = groups.reference_of(pod), meta.namespace_of(pod)
        assert reference is not None, "a pod of a group"
        workload = self._workloads.get(namespace, reference.workload)
        if workload is None:
            return self._no_workload(namespace, reference.workload)
        group = groups.group_named(workload, reference.group)
        if group is None:
            return self._no_group(reference.workload, reference.group)
        if not groups.is_gang(group):
            return Policy()
        seconds = groups.number(group, "schedulingTimeoutSeconds")
        minimum = groups.number(group, "minCount") or self._parallelism(namespace, workload)
        return Policy(minimum, groups.TIMEOUT_SECONDS if seconds is None else float(seconds))

    def _parallelism(self, namespace: str, workload: ReadOnlyTree) -> int:
        """Of the Job that the Workload is controlled by; else one."""
        reference = workload["spec"].get("controllerRef") or {}
        job = self._jobs.get(namespace, reference.get("name") or "") if reference.get("kind") == "Job" else None
        return int(job["spec"].get("parallelism") or 1) if job is not None else 1
