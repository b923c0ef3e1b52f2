"""The controllers of Kueue's own kinds: they feed the cache and the queues, and write statuses.

``workloads.py`` reads events of Workloads, ``workload_controller.py`` is one reconcile of one; the
files that begin with ``workload_`` are its steps. Each of the others is one kind. ``objects.py`` is
what all of them look up. Upstream: pkg/controller/core.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from fakekube.runtime import builder
from fakekube.runtime.builder import Declaration
from fakekube.runtime.context import Context
from fakekube_controllers.kueue.core.admission_check import AdmissionCheckReconciler
from fakekube_controllers.kueue.core.cluster_queue import ClusterQueueReconciler
from fakekube_controllers.kueue.core.cohort import CohortReconciler
from fakekube_controllers.kueue.core.gauges import Gauges
from fakekube_controllers.kueue.core.local_queue import LocalQueueReconciler
from fakekube_controllers.kueue.core.resource_flavor import ResourceFlavorReconciler
from fakekube_controllers.kueue.core.watchers import Watchers
from fakekube_controllers.kueue.core.workload_controller import WorkloadReconciler
from fakekube_controllers.kueue.core.workload_priority_class import WorkloadPriorityClassReconciler

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue


def controllers(kueue: "Kueue") -> Iterable[Declaration]:
    """All of them."""
    Gauges(kueue)
    watchers = Watchers()
    kueue.queues.add_workload_update_watcher(watchers.workload_changed)
    kueue.queues.add_topology_update_watcher(watchers.topology_changed)
    kinds: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("resourceflavor_controller", ResourceFlavorReconciler), ("admissioncheck_controller", AdmissionCheckReconciler),
        ("workloadpriorityclass_controller", WorkloadPriorityClassReconciler), ("localqueue_controller", LocalQueueReconciler),
        ("cohort_controller", CohortReconciler), ("clusterqueue_controller", ClusterQueueReconciler),
        ("workload_controller", WorkloadReconciler))
    for name, reconciler in kinds:
        yield builder.controller(name).starts_with(is_needed=_always).complete(partial(reconciler, kueue, watchers))


def _always(_: Context) -> bool:
    return True
