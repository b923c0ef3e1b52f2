"""The resources of autoscaling. Upstream: pkg/registry/autoscaling/rest/storage_autoscaling.go."""

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apis import late
from fakekube.apis.declaration import ALL, STATUS, Deprecated, Group, Resource, Served

GROUP = Group(
    "autoscaling",
    17500,
    (
        Resource(
            plural="horizontalpodautoscalers",
            kind="HorizontalPodAutoscaler",
            strategy=late.strategy("autoscaling.horizontalpodautoscaler"),
            printer=late.printer("autoscaling.printers:HORIZONTAL_POD_AUTOSCALER"),
            short_names=("hpa",),
            categories=ALL,
            generation_since=37,
            subresources=(STATUS,),
            stored=GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
            versions=(
                Served("v2"),
                Served(
                    "v1",
                    to_stored=late.convert("autoscaling.conversion:to_v2"),
                    from_stored=late.convert("autoscaling.conversion:from_v2"),
                    strategy=late.strategy("autoscaling.v1"),
                ),
                Served("v2beta2", until=25, on=True, deprecated=Deprecated(23, 26, "autoscaling/v2")),
            ),
        ),
    ),
    version_priorities={"v2": 30},
)
