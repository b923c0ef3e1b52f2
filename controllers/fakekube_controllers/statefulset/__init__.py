"""StatefulSets: pods with names, an order, and storage of their own. Read ``update.py``. Upstream: pkg/controller/statefulset."""

from functools import partial

from fakekube.client.resources import STATEFUL_SETS
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "statefulset", "fakekube_controllers.statefulset.controller:StatefulSetController", STATEFUL_SETS)
