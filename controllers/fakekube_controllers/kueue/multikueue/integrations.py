"""Which kinds of jobs MultiKueue sends to other clusters: those of the frameworks that the
configuration enables, and its ``multiKueue.externalFrameworks``.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from fakekube.client.client import Client
from fakekube.client.resources import JOBS, PODS, STATEFUL_SETS, Resource
from fakekube_controllers.kueue.jobs import builtin, kinds
from fakekube_controllers.kueue.multikueue import external
from fakekube_controllers.kueue.multikueue.adapters import ManagedByAdapter, MultiKueueAdapter
from fakekube_controllers.kueue.multikueue.jobs import JobAdapter, PodAdapter
from fakekube_controllers.kueue.multikueue.ray import RayClusterAdapter
from fakekube_controllers.kueue.multikueue.serving import LeaderWorkerSetAdapter, StatefulSetAdapter
from fakekube_controllers.kueue.names import WORKLOADS

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

BUILT_IN = (JOBS, PODS, STATEFUL_SETS)


def adapters_of(kueue: "Kueue") -> Iterator[MultiKueueAdapter]:
    """One for each kind."""
    features = kueue.features
    made: dict[str, Callable[[], MultiKueueAdapter]] = {
        "batch/job": lambda: JobAdapter(features),
        "jobset.x-k8s.io/jobset": lambda: ManagedByAdapter(kinds.JOBSETS, features),
        "pod": lambda: PodAdapter(features),
        kinds.STATEFUL_SET: lambda: StatefulSetAdapter(features),
        kinds.LEADER_WORKER_SET: lambda: LeaderWorkerSetAdapter(features, kueue.ctx.lister(WORKLOADS)),
        "ray.io/raycluster": lambda: RayClusterAdapter(features),
        "ray.io/rayjob": lambda: ManagedByAdapter(kinds.RAY_JOBS, features)}
    frameworks = kueue.configuration.integrations.frameworks
    yield from (make() for framework, make in made.items() if framework in frameworks)
    if features.MultiKueueAdaptersForCustomJobs:
        known = builtin.options_of(kueue.configuration, kueue).integrations.known
        yield from external.adapters_of(kueue.configuration.multi_kueue.external_frameworks, known.values(), features)


async def is_served(client: Client, resource: Resource) -> bool:
    """Whether a cluster has a kind.

    Upstream asks workers for all kinds that are enabled, those that the manager lacks included:
    with the shipped configuration no worker would do.
    """
    if resource in BUILT_IN:
        return True
    try:
        await client.for_kind(resource.gvk)
    except KeyError:
        client.forget_resources()
        return False
    return True
