"""The condition of a PodGroup that tells whether it was scheduled.

Upstream: updatePodGroupCondition of pkg/scheduler/schedule_one_podgroup.go. Composite groups have
none.
"""

import logging
from typing import TYPE_CHECKING

from fakekube.apimachinery import meta, times
from fakekube.apimachinery.conditions import transition_time
from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import Resource
from fakekube.client.transport import TransportError
from fakekube.runtime.context import Context
from fakekube_controllers.scheduler.failure import SCHEDULER_ERROR, UNSCHEDULABLE
from fakekube_controllers.scheduler.framework.queued import PodGroupInfo
from fakekube_controllers.scheduler.framework.status import Status

if TYPE_CHECKING:
    from fakekube.apimachinery.types import Tree

log = logging.getLogger(__name__)

SCHEDULED = "Scheduled"
TYPES = {"v1alpha2": "PodGroupScheduled"}
INITIALLY_SCHEDULED = "PodGroupInitiallyScheduled"


class GroupConditions:
    """Writes them; ``resource`` is the PodGroup of the release."""

    def __init__(self, ctx: Context, resource: Resource) -> None:
        self._ctx, self._resource = ctx, resource
        self._pod_groups = ctx.lister(resource)
        self._type = TYPES.get(resource.version, INITIALLY_SCHEDULED)

    async def write(self, info: PodGroupInfo, status: Status | None) -> None:
        """Tell how an attempt ended.

        What is True does not become False again, by what the cache shows. Nothing is written where
        it says so already; what cannot be written is logged.
        """
        group = self._pod_groups.get(info.key.namespace, info.key.name) or info.group
        value = "True" if status is None else "False"
        reason = SCHEDULED if status is None else UNSCHEDULABLE if status.is_rejection else SCHEDULER_ERROR
        message = status.message if status is not None else ""
        present = meta.find_condition(group, self._type) or {}
        if present.get("status") == "True" and value != "True":
            return
        if (present.get("status"), present.get("reason"), present.get("message")) == (value, reason, message):
            return
        now = times.format_time(self._ctx.clock.time())
        condition: Tree = {
            "type": self._type, "status": value, "reason": reason, "message": message,
            "lastTransitionTime": transition_time(present, value, now),
        }
        body = {"status": {"conditions": [condition]}}
        try:
            await self._ctx.client.patch(
                self._resource, info.key.name, info.key.namespace, body, type="strategic", subresource="status")
        except (APIError, TransportError) as error:
            log.debug("the status of pod group %s/%s was not written: %s", info.key.namespace, info.key.name, error)
