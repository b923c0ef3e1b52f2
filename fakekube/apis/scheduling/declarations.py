"""The resources of scheduling.k8s.io. Upstream: pkg/registry/scheduling/rest/storage_scheduling.go.

Workload-aware scheduling changed shape with every release: 1.35 has groups inside a Workload
(v1alpha1), 1.36 PodGroups of their own (v1alpha2), 1.37 v1beta1 and v1alpha3 with
CompositePodGroups.
"""

from collections.abc import Mapping

from fakekube.apis import late
from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource, Served

GATE = "GenericWorkload"

CURRENT = (Served("v1beta1", since=37, gate=GATE), Served("v1alpha3", since=37, gate=GATE))


def _earlier(version: str, release: int, strategy: str, reset_fields: Mapping[str, tuple[str, ...]] | None = None) -> Served:
    """The version of one release only; a PUT of those days needed no resourceVersion."""
    return Served(
        version, release, release, gate=GATE, strategy=late.strategy(strategy), unconditional_update=True,
        reset_fields=reset_fields,
    )  # fmt: skip


GROUP = Group(
    "scheduling.k8s.io",
    16600,
    (
        Resource(
            plural="compositepodgroups",
            kind="CompositePodGroup",
            status_keeps_metadata=True,
            strategy=late.strategy("scheduling.compositepodgroup"),
            printer=late.printer("scheduling.printers:COMPOSITE_POD_GROUP"),
            unconditional_update=False,
            subresources=(STATUS,),
            versions=(Served("v1alpha3", since=37, gate="CompositePodGroup"),),
        ),
        Resource(
            plural="podgroups",
            kind="PodGroup",
            status_keeps_metadata=True,
            strategy=late.strategy("scheduling.podgroup"),
            printer=late.printer("scheduling.printers:POD_GROUP"),
            unconditional_update=False,
            subresources=(STATUS,),
            versions=(
                *CURRENT,
                # upstream forgot to tell who writes fields that a status given with an object goes
                _earlier("v1alpha2", 36, "scheduling.v1alpha2:POD_GROUP", {"status": ("spec", "metadata")}),
            ),
        ),
        Resource(
            plural="priorityclasses",
            kind="PriorityClass",
            strategy=late.strategy("scheduling.priorityclass"),
            printer=late.printer("scheduling.printers:PRIORITY_CLASS"),
            namespaced=False,
            short_names=("pc",),
            generation_since=ALWAYS,
        ),
        Resource(
            plural="workloads",
            kind="Workload",
            strategy=late.strategy("scheduling.workload"),
            printer=late.columns(),
            unconditional_update=False,
            versions=(
                *CURRENT,
                _earlier("v1alpha2", 36, "scheduling.v1alpha2:WORKLOAD"),
                _earlier("v1alpha1", 35, "scheduling.v1alpha1:WORKLOAD"),
            ),
        ),
    ),
    version_priorities={"v1alpha3": 3},
)
