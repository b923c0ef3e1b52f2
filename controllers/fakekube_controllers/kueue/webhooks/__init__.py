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
from fakekube_controllers.kueue.webhooks.declaring import webhook


def webhooks(configuration: Configuration) -> Iterator[Webhook]:
    """Those of all kinds that have any."""
    features = configuration.features
    yield webhook("mclusterqueue.kb.io", clusterqueue.default, CLUSTER_QUEUES, mutating=True)
    yield webhook("mresourceflavor.kb.io", resourceflavor.default, RESOURCE_FLAVORS, mutating=True)
    yield webhook("mworkload.kb.io", partial(workload.default, features=features), WORKLOADS, mutating=True)
    yield webhook("vclusterqueue.kb.io", partial(clusterqueue.validate, features=features), CLUSTER_QUEUES)
    yield webhook("vcohort.kb.io", cohort.validate, COHORTS)
    yield webhook("vresourceflavor.kb.io", resourceflavor.validate, RESOURCE_FLAVORS)
    yield webhook("vworkload.kb.io", partial(workload.validate, features=features), WORKLOADS, subresources=("status",))
