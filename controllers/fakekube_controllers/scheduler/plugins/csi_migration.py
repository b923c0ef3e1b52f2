"""Volumes of drivers that were part of Kubernetes once, as the CSI drivers that took their place
know them.

Upstream: csi-translation-lib. Left out: everything but the driver and the handle.
"""

from collections.abc import Mapping
from typing import NamedTuple

from fakekube.apimachinery.types import ReadOnlyTree


class Migrated(NamedTuple):
    """A driver of old: its name, that of the CSI driver, and the field with the volume's handle."""

    plugin: str
    driver: str
    handle_field: str


DRIVERS: Mapping[str, Migrated] = {
    "awsElasticBlockStore": Migrated("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "volumeID"),
    "gcePersistentDisk": Migrated("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "pdName"),
    "azureDisk": Migrated("kubernetes.io/azure-disk", "disk.csi.azure.com", "diskURI"),
    "cinder": Migrated("kubernetes.io/cinder", "cinder.csi.openstack.org", "volumeID"),
    "portworxVolume": Migrated("kubernetes.io/portworx-volume", "pxd.portworx.com", "volumeID"),
}
"""By the field of a volume."""


def is_migratable(volume: ReadOnlyTree) -> bool:
    """Whether a volume is one of these."""
    return any(field in volume for field in DRIVERS)


def translated(volume: ReadOnlyTree) -> tuple[str, str] | None:
    """The CSI driver of a volume and its handle there; None for any other volume.

    The volume is one of a pod, or the spec of a PersistentVolume.
    """
    for field, migrated in DRIVERS.items():
        source = volume.get(field)
        if source is not None:
            handle: str = source.get(migrated.handle_field) or ""
            return migrated.driver, handle.rpartition("/")[2] if field == "awsElasticBlockStore" else handle
    return None


def driver_of(provisioner: str) -> str | None:
    """The CSI driver in place of a provisioner of old; None for any other."""
    return next((migrated.driver for migrated in DRIVERS.values() if migrated.plugin == provisioner), None)
