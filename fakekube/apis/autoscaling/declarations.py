"""The resources of autoscaling. Upstream: pkg/registry/autoscaling/rest/storage_autoscaling.go."""

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis.autoscaling import conversion, horizontalpodautoscaler, printers
from fakekube.apis.declaration import ALL, STATUS, Group, Resource, Served

GROUP = Group(
    "autoscaling",
    17500,
    (
        Resource(
            plural="horizontalpodautoscalers",
            kind="HorizontalPodAutoscaler",
            strategy=horizontalpodautoscaler.STRATEGY,
            printer=printers.HORIZONTAL_POD_AUTOSCALER,
            short_names=("hpa",),
            categories=ALL,
            generation_since=37,
            subresources=(STATUS,),
            stored=GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
            versions=(
                Served("v2"),
                Served(
                    "v1",
                    to_stored=conversion.to_v2,
                    from_stored=conversion.from_v2,
                    strategy=horizontalpodautoscaler.STRATEGY,
                ),
                Served("v2beta2", until=25, on=True),
            ),
        ),
    ),
)
