"""What Workloads have in common of which none fits where one of them does not.

Upstream: the scheduling equivalence hash of pkg/workload/workload.go.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import orjson

from fakekube.apimachinery import meta
from fakekube.apimachinery.pod_resources import NOTHING
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.resources import Requests

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
    obj: ReadOnlyTree, requested: Sequence[tuple[int, Requests]], priority: int, features: Features,
) -> str:
    """The hash of a Workload of this effective priority, each of whose podsets has so many pods
    that request so much in all.
    """
    if not features.SchedulingEquivalenceHashing:
        return SCHEDULING_HASH_UNKNOWN
    podsets = []
    for index, podset in enumerate(obj["spec"]["podSets"]):
        count, requests = requested[index] if index < len(requested) else (podset["count"], None)
        podsets.append((
            podset["name"], _spec_shape(podset["template"]["spec"]), count, requests,
            podset.get("minCount"), podset.get("topologyRequest"),
        ))
    allowed = None
    if features.ConcurrentAdmission:
        allowed = meta.annotations_of(obj).get(names.WORKLOAD_ALLOWED_RESOURCE_FLAVORS_ANNOTATION)
    shape = (podsets, priority, allowed)
    return sha256(orjson.dumps(shape, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
