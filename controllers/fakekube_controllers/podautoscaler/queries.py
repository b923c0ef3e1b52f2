"""What the callback for metrics is asked: ``Cluster(on_metric=...)``.

Upstream has adapters of metrics APIs in its place.
"""

from typing import Any, NamedTuple

from fakekube.apimachinery.labels import Selector


class MetricQuery(NamedTuple):
    """One metric of one thing.

    ``type`` is Pods, Object or External; ``object`` the pod or the described object (a tree,
    read-only), None for External; ``selector`` what the autoscaler asks of the metric's own labels.
    """

    type: str
    name: str
    namespace: str
    object: Any
    selector: Selector
