"""MultiKueue: Workloads that run on another cluster.

``clusters.py`` keeps the connections (``remote.py``) to worker clusters, ``checks.py`` the state of
the admission check, ``workloads.py`` sends a Workload and its job to a worker and brings back what
becomes of it (``group.py`` are its copies), ``dispatcher.py`` nominates workers a few at a time.
``adapters.py`` says what each kind of job needs. Upstream:
pkg/controller/admissionchecks/multikueue and pkg/controller/workloaddispatcher.

Left out: ClusterProfiles, quotas taken over from workers (MultiKueueManagerQuotaAutomation),
preemption that the manager orders (MultiKueueOrchestratedPreemption).
"""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from fakekube.client.resources import SECRETS
from fakekube.runtime import builder
from fakekube.runtime.builder import Declaration
from fakekube_controllers.kueue.configuration import INCREMENTAL
from fakekube_controllers.kueue.names import ADMISSION_CHECKS, MULTIKUEUE_CLUSTERS, MULTIKUEUE_CONFIGS, WORKLOADS

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue


def controllers(kueue: "Kueue") -> Iterable[Declaration]:
    """They start with the first MultiKueueCluster or MultiKueueConfig."""
    if not kueue.features.MultiKueue:
        return
    from fakekube_controllers.kueue.multikueue.checks import CheckReconciler, checks_of_cluster, checks_of_config
    from fakekube_controllers.kueue.multikueue.clusters import ClusterReconciler, Clusters, clusters_of_secret
    from fakekube_controllers.kueue.multikueue.dispatcher import IncrementalDispatcher
    from fakekube_controllers.kueue.multikueue.workloads import WorkloadReconciler

    clusters = Clusters(kueue)
    starts = (MULTIKUEUE_CLUSTERS, MULTIKUEUE_CONFIGS)
    yield (
        builder.controller("kueue-multikueue-cluster").for_(MULTIKUEUE_CLUSTERS).starts_with(*starts)
        .watches(SECRETS, partial(clusters_of_secret, kueue)).complete(partial(ClusterReconciler, kueue, clusters)))
    yield (
        builder.controller("kueue-multikueue-admissioncheck").for_(ADMISSION_CHECKS).starts_with(*starts)
        .watches(MULTIKUEUE_CONFIGS, partial(checks_of_config, kueue))
        .watches(MULTIKUEUE_CLUSTERS, partial(checks_of_cluster, kueue)).complete(partial(CheckReconciler, kueue)))
    yield (
        builder.controller("kueue-multikueue-workload").for_(WORKLOADS).starts_with(*starts)
        .complete(partial(WorkloadReconciler, kueue, clusters)))
    if kueue.configuration.multi_kueue.dispatcher_name == INCREMENTAL:
        yield (
            builder.controller("kueue-multikueue-dispatcher").for_(WORKLOADS).starts_with(*starts)
            .complete(partial(IncrementalDispatcher, kueue)))
