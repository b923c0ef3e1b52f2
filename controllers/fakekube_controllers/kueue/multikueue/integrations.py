"""Which kinds of jobs MultiKueue sends to other clusters: those of the frameworks that the
configuration enables.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fakekube.client.client import Client
from fakekube.client.resources import JOBS, Resource
from fakekube_controllers.kueue.multikueue.adapters import ManagedByAdapter, MultiKueueAdapter
from fakekube_controllers.kueue.multikueue.jobs import JobAdapter, PodAdapter

if TYPE_CHECKING:
    from fakekube_controllers.kueue.manager import Kueue

JOBSETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")


def adapters_of(kueue: "Kueue") -> Iterator[MultiKueueAdapter]:
    """One for each kind."""
    frameworks, features = kueue.configuration.integrations.frameworks, kueue.features
    if "batch/job" in frameworks:
        yield JobAdapter(features)
    if "jobset.x-k8s.io/jobset" in frameworks:
        yield ManagedByAdapter(JOBSETS, features)
    if "pod" in frameworks:
        yield PodAdapter(features)


async def is_served(client: Client, resource: Resource) -> bool:
    """Whether a cluster has a kind.

    Upstream asks workers for all kinds that are enabled, those that the manager lacks included:
    with the shipped configuration no worker would do.
    """
    if not resource.group or resource == JOBS:
        return True
    try:
        await client.for_kind(resource.gvk)
    except KeyError:
        client.forget_resources()
        return False
    return True
