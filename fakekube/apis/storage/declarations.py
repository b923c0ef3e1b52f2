"""The resources of storage.k8s.io. Upstream: pkg/registry/storage/rest/storage_storage.go."""

from fakekube.apis.declaration import STATUS, Group, Resource, Served, Sub
from fakekube.apis.storage import (
    csidriver,
    csinode,
    csistoragecapacity,
    printers,
    storageclass,
    volumeattachment,
    volumeattributesclass,
)

GROUP = Group(
    "storage.k8s.io",
    16800,
    (
        Resource(
            plural="csidrivers",
            kind="CSIDriver",
            strategy=csidriver.STRATEGY,
            printer=printers.CSI_DRIVER,
            namespaced=False,
            unconditional_update=False,
            delete_returns_object=True,
        ),
        Resource(
            plural="csinodes",
            kind="CSINode",
            strategy=csinode.STRATEGY,
            printer=printers.CSI_NODE,
            namespaced=False,
            unconditional_update=False,
            delete_returns_object=True,
            subresources=(Sub("status", since=37),),
        ),
        Resource(
            plural="csistoragecapacities",
            kind="CSIStorageCapacity",
            strategy=csistoragecapacity.STRATEGY,
            unconditional_update=False,
            versions=(Served("v1"), Served("v1beta1", until=26, on=True)),
        ),
        Resource(
            plural="storageclasses",
            kind="StorageClass",
            strategy=storageclass.STRATEGY,
            printer=printers.STORAGE_CLASS,
            namespaced=False,
            short_names=("sc",),
            delete_returns_object=True,
        ),
        Resource(
            plural="volumeattachments",
            kind="VolumeAttachment",
            strategy=volumeattachment.STRATEGY,
            printer=printers.VOLUME_ATTACHMENT,
            namespaced=False,
            unconditional_update=False,
            delete_returns_object=True,
            subresources=(STATUS,),
        ),
        Resource(
            plural="volumeattributesclasses",
            kind="VolumeAttributesClass",
            strategy=volumeattributesclass.STRATEGY,
            printer=printers.VOLUME_ATTRIBUTES_CLASS,
            namespaced=False,
            short_names=("vac",),
            delete_returns_object=True,
            versions=(
                Served("v1", since=34, gate="VolumeAttributesClass"),
                Served("v1beta1", since=31, until=36, gate="VolumeAttributesClass"),
                Served("v1alpha1", since=29, until=34, gate="VolumeAttributesClass"),
            ),
        ),
    ),
)
