"""The resources of coordination.k8s.io.

Upstream: pkg/registry/coordination/rest/storage_coordination.go.
"""

from fakekube.apis import late
from fakekube.apis.declaration import Deprecated, Group, Resource, Served

GROUP = Group(
    "coordination.k8s.io",
    16500,
    (
        Resource(
            plural="leasecandidates",
            kind="LeaseCandidate",
            printer=late.columns(
                ("LeaseName", "spec.leaseName"),
                ("BinaryVersion", "spec.binaryVersion"),
                ("EmulationVersion", "spec.emulationVersion"),
            ),
            unconditional_update=False,
            create_on_update=True,
            name_rule="config_map_key",
            versions=(
                Served("v1beta1", since=33, deprecated=Deprecated(36, 39)),
                Served("v1alpha2", since=32, deprecated=Deprecated(35, 38)),
                Served("v1alpha1", since=31, until=31),
            ),
        ),
        Resource(
            plural="leases",
            kind="Lease",
            strategy=late.strategy("coordination.lease"),
            printer=late.columns(("Holder", "spec.holderIdentity")),
            unconditional_update=False,
            create_on_update=True,
        ),
    ),
    version_priorities={"v1beta1": 13, "v1alpha2": 12},
)
