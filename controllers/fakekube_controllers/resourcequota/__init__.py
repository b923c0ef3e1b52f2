"""Quotas: how much of what they limit a namespace holds.

Read ``controller.py``. Admission refuses what exceeds a quota and charges what does not; this gives back what is gone, and a
quota binds once its limits have been copied to its status here. Upstream: pkg/controller/resourcequota.
"""

from functools import partial

from fakekube.client.resources import RESOURCE_QUOTAS
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "resourcequota", "fakekube_controllers.resourcequota.controller:ResourceQuotaController", RESOURCE_QUOTAS)
