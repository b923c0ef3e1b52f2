"""The webhooks of Kueue's own kinds; those of jobs are in ``jobframework`` and ``jobs``.

``declaring.py`` says how a webhook is declared with upstream's names, and how it refuses.
Upstream: pkg/webhooks.
"""

from collections.abc import Iterator
from functools import partial

from fakekube.runtime.addon import Webhook
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.names import CLUSTER_QUEUES, COHORTS, RESOURCE_FLAVORS, WORKLOADS
from fakekube_controllers.kueue.webhooks import clusterqueue, cohort, resourceflavor, workload
from fakekube_controllers.kueue.webhooks.declaring import mutating, validating


def webhooks(configuration: Configuration) -> Iterator[Webhook]:
    """Those of all kinds that have any."""
    features = configuration.features
    yield mutating("clusterqueue", clusterqueue.default, CLUSTER_QUEUES)
    yield mutating("resourceflavor", resourceflavor.default, RESOURCE_FLAVORS)
    yield mutating("workload", partial(workload.default, features=features), WORKLOADS)
    yield validating("clusterqueue", partial(clusterqueue.validate, features=features), CLUSTER_QUEUES)
    yield validating("cohort", cohort.validate, COHORTS)
    yield validating("resourceflavor", resourceflavor.validate, RESOURCE_FLAVORS)
    yield validating("workload", partial(workload.validate, features=features), WORKLOADS, subresources=("status",))
