"""WorkloadPriorityClasses: Workloads have the value that their class has now.

Upstream: pkg/controller/core/workloadpriorityclass_controller.go.
"""

from typing import TYPE_CHECKING

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube.runtime.reconcile import Request, Result
from fakekube_controllers.kueue.names import WORKLOAD_PRIORITY_CLASSES, WORKLOADS
from fakekube_controllers.kueue.workload import states

if TYPE_CHECKING:
    from fakekube.runtime.context import Context
    from fakekube.workqueue.queue import WorkQueue
    from fakekube_controllers.kueue.core.watchers import Watchers
    from fakekube_controllers.kueue.manager import Kueue


class WorkloadPriorityClassReconciler:
    """Reconciles one WorkloadPriorityClass."""

    queue: "WorkQueue[Request]"

    def __init__(self, kueue: "Kueue", watchers: "Watchers", ctx: "Context") -> None:
        self.kueue, self.ctx = kueue, ctx
        self._classes = ctx.lister(WORKLOAD_PRIORITY_CLASSES)

    def setup(self, queue: "WorkQueue[Request]") -> None:
        """Follow classes. A class may come again, with another value."""
        self.queue = queue
        self.ctx.add_handler(WORKLOAD_PRIORITY_CLASSES, self._add, self._update)

    def _add(self, priority_class: ReadOnlyTree) -> None:
        self.queue.add(Request("", meta.name_of(priority_class)))

    def _update(self, old: ReadOnlyTree, new: ReadOnlyTree) -> None:
        if old.get("value") != new.get("value"):
            self._add(new)

    async def reconcile(self, request: Request) -> Result | None:
        """Give each Workload of the class its value. Raises APIError: the first of several."""
        priority_class = self._classes.get(*request)
        if priority_class is None:
            return None
        value, errors = priority_class.get("value", 0), list[APIError]()
        for workload in self.kueue.objects.workloads_of_priority_class(request.name):
            if states.spec_of(workload).get("priority") != value:
                try:
                    await self.kueue.client.update(WORKLOADS, {**workload, "spec": {**workload["spec"], "priority": value}})
                except APIError as error:
                    if error.code != 404:
                        errors.append(error)
        if errors:
            raise errors[0]
        return None
