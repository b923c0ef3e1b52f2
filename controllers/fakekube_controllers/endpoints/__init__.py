"""Which pods are behind a Service: EndpointSlices, the older Endpoints, and slices that mirror
hand-written Endpoints.

Three controllers that share what an endpoint is. ``backends.py`` says which pods, ports and
addresses a Service has; ``slices.py`` spreads them over slices, ``slicecontroller.py`` listens for
it; ``subsets.py`` and ``endpointscontroller.py`` do the same for Endpoints; ``mirroring.py`` copies
Endpoints of Services without a selector. ``hashes.py`` gives upstream's order.
Upstream: k8s.io/endpointslice, pkg/controller/{endpointslice,endpoint,endpointslicemirroring}. Left
out: hints by the annotation ``service.kubernetes.io/topology-mode``, which are worked out from the
CPUs of zones; metrics.
"""

from fakekube.apimachinery.types import Tree
from fakekube.client.resources import ENDPOINTS, SERVICES
from fakekube.workqueue.ratelimit import ExponentialBackoff
from fakekube_controllers import kube_controller

MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 1000.0  # of a Service whose slices could not be written


def _selects(service: Tree) -> bool:
    return bool(service["spec"].get("selector"))


for_endpoints = (
    kube_controller("endpoint", "endpoint-controller")
    .for_(SERVICES)
    .starts_with((SERVICES, _selects), ENDPOINTS)
    .complete("fakekube_controllers.endpoints.endpointscontroller:EndpointsReconciler")
)
for_slices = (
    kube_controller("endpointslice", "endpointslice-controller")
    .for_(SERVICES)
    .starts_with((SERVICES, _selects))
    .with_options(queue="endpoint_slice", limiter=lambda _: ExponentialBackoff(MIN_RETRY_SECONDS, MAX_RETRY_SECONDS))
    .complete("fakekube_controllers.endpoints.slicecontroller:EndpointSliceReconciler")
)
for_mirrors = (
    kube_controller("endpointslicemirroring", "endpointslicemirroring-controller")
    .starts_with(ENDPOINTS)
    .with_options(queue="endpoint_slice_mirroring")
    .complete("fakekube_controllers.endpoints.mirroring:MirroringReconciler")
)
