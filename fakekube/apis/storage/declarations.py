"""The resources of storage.k8s.io. Upstream: pkg/registry/storage/rest/storage_storage.go."""

from fakekube.apis import late
from fakekube.apis.declaration import STATUS, WHOLE, WHOLE_AND_UPDATE, Deprecated, Group, Resource, Served, Sub

GROUP = Group(
    "storage.k8s.io",
    16800,
    (
        Resource(
            plural="csidrivers",
            kind="CSIDriver",
            strategy=late.strategy("storage.csidriver"),
            printer=late.printer("storage.printers:CSI_DRIVER"),
            namespaced=False,
            unconditional_update=False,
            delete_returns_object=True,
        ),
        Resource(
            plural="csinodes",
            kind="CSINode",
            status_keeps_metadata=True,
            metadata_checks=WHOLE,
            strategy=late.strategy("storage.csinode"),
            printer=late.printer("storage.printers:CSI_NODE"),
            namespaced=False,
            unconditional_update=False,
            delete_returns_object=True,
            subresources=(Sub("status", since=37),),
        ),
        Resource(
            plural="csistoragecapacities",
            kind="CSIStorageCapacity",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("storage.csistoragecapacity"),
            unconditional_update=False,
            versions=(Served("v1"), Served("v1beta1", until=26, on=True, deprecated=Deprecated(24, 27, "storage.k8s.io/v1"))),
        ),
        Resource(
            plural="storageclasses",
            kind="StorageClass",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("storage.storageclass"),
            printer=late.printer("storage.printers:STORAGE_CLASS"),
            namespaced=False,
            short_names=("sc",),
            delete_returns_object=True,
        ),
        Resource(
            plural="volumeattachments",
            kind="VolumeAttachment",
            status_keeps_metadata=True,
            metadata_checks=WHOLE,
            strategy=late.strategy("storage.volumeattachment"),
            printer=late.printer("storage.printers:VOLUME_ATTACHMENT"),
            namespaced=False,
            unconditional_update=False,
            delete_returns_object=True,
            subresources=(STATUS,),
        ),
        Resource(
            plural="volumeattributesclasses",
            kind="VolumeAttributesClass",
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("storage.volumeattributesclass"),
            printer=late.columns(("DriverName", "driverName")),
            namespaced=False,
            short_names=("vac",),
            delete_returns_object=True,
            versions=(
                Served("v1", since=34, gate="VolumeAttributesClass"),
                Served(
                    "v1beta1", since=31, until=36, gate="VolumeAttributesClass",
                    deprecated=Deprecated(34, 37, "storage.k8s.io/v1"),
                ),
                Served(
                    "v1alpha1", since=29, until=34, gate="VolumeAttributesClass",
                    deprecated=Deprecated(32, 35, "storage.k8s.io/v1"),
                ),
            ),
        ),
    ),
)
