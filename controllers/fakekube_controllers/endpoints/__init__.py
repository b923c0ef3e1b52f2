"""Which pods are behind a Service: EndpointSlices, the older Endpoints, and slices that mirror hand-written Endpoints.

Three controllers that share what an endpoint is. ``backends.py`` says which pods, ports and addresses a Service has;
``slices.py`` spreads them over slices, ``slicecontroller.py`` listens for it; ``subsets.py`` and ``endpointscontroller.py`` do
the same for Endpoints; ``mirroring.py`` copies Endpoints of Services without a selector. ``hashes.py`` gives upstream's order.
Upstream: k8s.io/endpointslice, pkg/controller/{endpointslice,endpoint,endpointslicemirroring}. Left out: hints by the annotation
``service.kubernetes.io/topology-mode``, which are worked out from the CPUs of zones; metrics.
"""

from functools import partial
from typing import Any

from fakekube.client.resources import ENDPOINTS, SERVICES
from fakekube.runtime.lazy import LazyController


def _selects(service: dict[str, Any]) -> bool:
    return bool(service["spec"].get("selector"))


for_endpoints = partial(
    LazyController, "endpoint", "fakekube_controllers.endpoints.endpointscontroller:EndpointsController", (SERVICES, _selects),
    ENDPOINTS)
for_slices = partial(
    LazyController, "endpointslice", "fakekube_controllers.endpoints.slicecontroller:EndpointSliceController",
    (SERVICES, _selects))
for_mirrors = partial(
    LazyController, "endpointslicemirroring", "fakekube_controllers.endpoints.mirroring:EndpointSliceMirroring", ENDPOINTS)
