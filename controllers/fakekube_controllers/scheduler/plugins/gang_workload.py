"""Gangs of 1.35: groups are parts of a Workload, and pods name the Workload and the group.

Upstream: plugins/gangscheduling and backend/workloadmanager of 1.35.
"""

from collections.abc import Mapping
from typing import Any

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.client.resources import Resource
from fakekube_controllers.scheduler.framework.events import EventResource
from fakekube_controllers.scheduler.framework.handle import Handle
from fakekube_controllers.scheduler.framework.queued import EntityKey
from fakekube_controllers.scheduler.plugins.gang_permit import GangPermit, Missing, Policy

WORKLOADS = Resource("scheduling.k8s.io", "v1alpha1", "workloads", "Workload")


class GangWorkload(GangPermit):
    """PreEnqueue and Permit of 1.35."""

    _waits = "waiting for minCount pods from a gang to be waiting on permit"
    _object, _resource = EventResource.WORKLOAD, WORKLOADS

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """Takes no arguments."""
        super().__init__(args, handle)
        self._workloads = handle.lister(self._resource)
        self._deadlines: dict[EntityKey, float] = {}  # of groups with a pod that waits or has waited

    def object_name_of(self, pod: ReadOnlyTree) -> str | None:
        """The name of a pod's Workload."""
        return (pod["spec"].get("workloadRef") or {}).get("name")

    def policy_of(self, pod: ReadOnlyTree) -> Policy | Missing:
        """The policy of a pod's group within its Workload."""
        reference, namespace = pod["spec"]["workloadRef"], meta.namespace_of(pod)
        name, group = reference["name"], reference["podGroup"]
        workload = self._workloads.get(namespace, name)
        if workload is None:
            return self._no_workload(namespace, name)
        for each in workload["spec"]["podGroups"]:
            if each["name"] == group:
                gang = each["policy"].get("gang")
                return Policy() if gang is None else Policy(gang["minCount"])
        return self._no_group(name, group)

    def _no_workload(self, namespace: str, name: str) -> Missing:
        return Missing(
            f'waiting for pods\'s workload "{name}" to appear in scheduling queue',
            f'failed to get workload {namespace}/{name}: workload.{self._resource.group} "{name}" not found')

    @staticmethod
    def _no_group(name: str, group: str) -> Missing:
        text = f'pod group "{group}" doesn\'t exist for a workload "{name}"'
        return Missing(text, text)

    def seconds_left(self, key: EntityKey, policy: Policy) -> float:
        """What is left of the time since the first pod of the group waited; all of it, once that is
        over.
        """
        now = self._handle.clock.time()
        for old, deadline in list(self._deadlines.items()):
            if deadline > now:
                break
            del self._deadlines[old]
        deadline = self._deadlines.get(key, 0.0)
        if deadline <= now:  # upstream: earlier; on a clock that stands still that would never end
            self._deadlines.pop(key, None)
            deadline = self._deadlines[key] = now + policy.timeout_seconds
        return deadline - now
