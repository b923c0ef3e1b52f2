"""Kueue as one component: the controllers that run in it, in the order in which they start.

A folder or module with controllers has a function ``controllers(kueue)`` that gives declarations:

    def controllers(kueue: Kueue) -> Iterable[Declaration]:
        reconciler = partial(WorkloadReconciler, kueue)
        yield builder.controller("kueue-workload").for_(WORKLOADS).complete(reconciler)

and a line in ``_controllers`` below. Each is run with a context of its own; the reconciler is made
as ``WorkloadReconciler(kueue, ctx)``. A declaration whose reconciler is a path, or that has
``starts_with``, waits for its first object; that is how an integration waits for its kind. What
several of them need is an attribute of ``Kueue``, in ``manager.py``.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from fakekube.client.resources import PODS
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube.runtime.parts import Parts
from fakekube_controllers.kueue import core, multikueue, scheduler
from fakekube_controllers.kueue.admissionchecks import provisioning
from fakekube_controllers.kueue.configuration import FRAMEWORKS, Configuration
from fakekube_controllers.kueue.jobframework import setup
from fakekube_controllers.kueue.jobs import builtin
from fakekube_controllers.kueue.manager import Kueue
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from fakekube_controllers.kueue.slices import ungater
from fakekube_controllers.kueue.topology import controllers as topology

if TYPE_CHECKING:
    from fakekube.apimachinery.types import ReadOnlyTree
    from fakekube.client.resources import Resource
    from fakekube.runtime.why import Answer
    from fakekube_controllers.kueue.why.answers import Answers

log = logging.getLogger(__name__)

Controllers = Callable[[Kueue], Iterable[Declaration]]


class Manager:
    """Kueue as a component: made once, and started any number of times."""

    kueue: Kueue | None = None
    """While it runs."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._parts: Parts | None = None

    async def start(self, ctx: Context) -> None:
        """Make what is shared, and start the controllers."""
        self._say_who_is_absent()
        self.kueue = Kueue(ctx, self._configuration)
        answer_why(ctx, self.kueue)
        self._parts = Parts(ctx)
        for declaration in _controllers(self.kueue):
            await self._parts.start(declaration)

    def _say_who_is_absent(self) -> None:
        """Frameworks that somebody named, and that nobody here knows."""
        absent = builtin.options_of(self._configuration).integrations.absent
        if absent and self._configuration.integrations.frameworks != FRAMEWORKS:
            log.warning("kueue: jobs of these frameworks, which are not here, are not managed: %s", ", ".join(absent))

    async def stop(self) -> None:
        """Stop the controllers and forget what they shared."""
        if self._parts is not None:
            await self._parts.stop()
        self.kueue = self._parts = None


def answer_why(ctx: Context, kueue: Kueue) -> None:
    """Answer why objects wait; what is needed for it is imported when somebody asks."""
    @cache
    def answers() -> "Answers":
        from fakekube_controllers.kueue.why.answers import Answers

        return Answers(kueue)

    ctx.why[WORKLOADS.group_resource] = lambda obj: answers().workload(obj)
    ctx.why[CLUSTER_QUEUES.group_resource] = lambda obj: answers().cluster_queue(obj)
    ctx.why[LOCAL_QUEUES.group_resource] = lambda obj: answers().local_queue(obj)
    for integration in builtin.options_of(kueue.configuration).integrations.enabled:
        ctx.why[integration.resource.group_resource] = partial(_of_job, answers, integration.resource)
    ctx.why[PODS.group_resource] = lambda obj: answers().pod(obj)


def _of_job(answers: "Callable[[], Answers]", resource: "Resource", job: "ReadOnlyTree") -> "Answer | None":
    return answers().job(resource, job)


def _integrations(kueue: Kueue) -> Iterable[Declaration]:
    return setup.controllers(builtin.options_of(kueue.configuration, kueue))


def _ungater(kueue: Kueue) -> Iterable[Declaration]:
    return ungater.controllers(kueue.configuration, kueue.metrics)


def _controllers(kueue: Kueue) -> Iterator[Declaration]:
    """All of them, in the order in which they start."""
    parts: tuple[Controllers, ...] = (
        core.controllers, topology.controllers, _integrations, _ungater, scheduler.controllers, multikueue.controllers,
        provisioning.controllers)
    for part in parts:
        yield from part(kueue)
