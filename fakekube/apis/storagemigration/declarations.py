"""The resources of storagemigration.k8s.io.

Upstream: pkg/registry/storagemigration/rest/storage_storagemigration.go.
"""

from fakekube.apis import late
from fakekube.apis.declaration import STATUS, WHOLE_AND_UPDATE, Deprecated, Group, Resource, Served

GATE = "StorageVersionMigrator"

GROUP = Group(
    "storagemigration.k8s.io",
    15800,
    (
        Resource(
            plural="storageversionmigrations",
            kind="StorageVersionMigration",
            status_keeps_metadata=True,
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("storagemigration.storageversionmigration"),
            printer=late.printer("storagemigration.printers:STORAGE_VERSION_MIGRATION"),
            namespaced=False,
            unconditional_update=False,
            subresources=(STATUS,),
            versions=(
                Served("v1", since=37, gate=GATE),
                Served("v1beta1", since=35, gate=GATE, deprecated=Deprecated(37, 40, "storagemigration.k8s.io/v1")),
                Served("v1alpha1", since=30, until=34, gate=GATE),
            ),
        ),
    ),
)
