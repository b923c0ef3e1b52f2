"""The resources of scheduling.k8s.io. Upstream: pkg/registry/scheduling/rest/storage_scheduling.go.

Workload-aware scheduling changed shape with every release: 1.35 has groups inside a Workload (v1alpha1), 1.36
PodGroups of their own (v1alpha2), 1.37 v1beta1 and v1alpha3 with CompositePodGroups. Left out: the rules of 1.35 and
1.36, whose objects are kept as they come.
"""

from fakekube.apis.base import StatusStrategy
from fakekube.apis.declaration import ALWAYS, STATUS, Group, Resource, Served
from fakekube.apis.scheduling import compositepodgroup, podgroup, printers, priorityclass, workload
from fakekube.registry.strategy import Strategy

GATE = "GenericWorkload"

CURRENT = (Served("v1beta1", since=37, gate=GATE), Served("v1alpha3", since=37, gate=GATE))

GROUP = Group(
    "scheduling.k8s.io",
    16600,
    (
        Resource(
            plural="compositepodgroups",
            kind="CompositePodGroup",
            strategy=compositepodgroup.STRATEGY,
            printer=printers.COMPOSITE_POD_GROUP,
            unconditional_update=False,
            subresources=(STATUS,),
            versions=(Served("v1alpha3", since=37, gate="CompositePodGroup"),),
        ),
        Resource(
            plural="podgroups",
            kind="PodGroup",
            strategy=podgroup.STRATEGY,
            printer=printers.POD_GROUP,
            unconditional_update=False,
            subresources=(STATUS,),
            versions=(*CURRENT, Served("v1alpha2", since=36, until=36, gate=GATE, strategy=StatusStrategy())),
        ),
        Resource(
            plural="priorityclasses",
            kind="PriorityClass",
            strategy=priorityclass.STRATEGY,
            printer=printers.PRIORITY_CLASS,
            namespaced=False,
            short_names=("pc",),
            generation_since=ALWAYS,
        ),
        Resource(
            plural="workloads",
            kind="Workload",
            strategy=workload.STRATEGY,
            printer=printers.WORKLOAD,
            unconditional_update=False,
            versions=(
                *CURRENT,
                Served("v1alpha2", since=36, until=36, gate=GATE, strategy=Strategy()),
                Served("v1alpha1", since=35, until=35, gate=GATE, strategy=Strategy()),
            ),
        ),
    ),
)
