"""The scheduling cycle: which of the first Workloads of all queues get quota, in which flavors, and
who is evicted for them.

Read ``cycle.py`` first: it decides, on a snapshot, and does nothing else. ``scheduler.py`` asks for
the heads, carries out what was decided and puts back who was not admitted. ``flavorassigner`` finds
flavors, ``preemption`` finds victims.

Upstream: pkg/scheduler. Left out: concurrent admission (alpha, off), and the penalties of
AdmissionFairSharing (there are none unless a configuration names it).
"""

from typing import TYPE_CHECKING

from fakekube.runtime import builder
from fakekube_controllers.kueue.names import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fakekube.runtime.builder import Declaration
    from fakekube.runtime.context import Context
    from fakekube.runtime.reconcile import Reconciler
    from fakekube_controllers.kueue.manager import Kueue


def controllers(kueue: "Kueue") -> "Iterator[Declaration]":
    """The scheduler. It starts with the first Workload."""
    def scheduler(ctx: "Context") -> "Reconciler":
        from fakekube_controllers.kueue.scheduler.scheduler import Scheduler

        return Scheduler(kueue, ctx)

    yield builder.controller("kueue-scheduler").starts_with(WORKLOADS).complete(scheduler)
