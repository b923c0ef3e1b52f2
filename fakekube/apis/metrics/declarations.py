"""The resources of metrics.k8s.io. They are read only, and nothing of them is stored.

Upstream: metrics/pkg/apis/metrics, kubernetes-sigs/metrics-server. Left out: watches.
"""

from fakekube.apis import late
from fakekube.apis.declaration import Group, Resource, Served

NAME = "metrics.k8s.io"
READ_ONLY = ("get", "list")

GROUP = Group(
    NAME,
    100,
    (
        Resource(
            plural="nodes",
            kind="NodeMetrics",
            namespaced=False,
            verbs=READ_ONLY,
            printer=late.printer("metrics.printers:NODE_METRICS"),
            versions=(Served("v1beta1", on=True),),
        ),
        Resource(
            plural="pods",
            kind="PodMetrics",
            verbs=READ_ONLY,
            printer=late.printer("metrics.printers:POD_METRICS"),
            versions=(Served("v1beta1", on=True),),
        ),
    ),
    version_priorities={"v1beta1": 100},
)
