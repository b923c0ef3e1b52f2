"""What Workloads have in common of which none fits where one of them does not.

Upstream: the scheduling equivalence hash of pkg/workload/workload.go.
"""

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fakekube_controllers.kueue.workload.info import PodSetResources

SCHEDULING_HASH_UNKNOWN = "unknown"
_SPEC_FIELDS = (
    "nodeSelector", "affinity", "tolerations", "runtimeClassName", "priority", "topologySpreadConstraints", "overhead",
    "resourceClaims",
)


def _spec_shape(spec: ReadOnlyTree) -> dict[str, Any]:
    shape: dict[str, Any] = {name: spec.get(name) for name in _SPEC_FIELDS}
    for name in ("initContainers", "containers"):
        shape[name] = [
            ((container.get("resources") or NOTHING).get("requests"), container.get("ports"))
            for container in spec.get(name) or ()
        ]
    shape["resources"] = (spec.get("resources") or NOTHING).get("requests")
    return shape


def scheduling_hash(
    obj: ReadOnlyTree, total_requests: "Sequence[PodSetResources]", priority: int, features: Features,
) -> str:
    """The hash of a Workload with these requests and this effective priority."""
    if not features.SchedulingEquivalenceHashing:
        return SCHEDULING_HASH_UNKNOWN
    podsets = []
    for index, podset in enumerate(obj["spec"]["podSets"]):
        known = total_requests[index] if index < len(total_requests) else None
        podsets.append((
            podset["name"], _spec_shape(podset["template"]["spec"]), known.count if known else podset["count"],
            known.requests if known else None, podset.get("minCount"), podset.get("topologyRequest"),
        ))
    allowed = None
    if features.ConcurrentAdmission:
        allowed = meta.annotations_of(obj).get(names.WORKLOAD_ALLOWED_RESOURCE_FLAVORS_ANNOTATION)
    shape = (podsets, priority, allowed)
    return sha256(orjson.dumps(shape, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
