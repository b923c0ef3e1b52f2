"""The StorageClass that a cluster has by an option, as a newcomer finds one on any cluster;
upstream makes none by itself.
"""

from fakekube.apimachinery.errors import APIError
from fakekube.client.client import Client
from fakekube.client.resources import STORAGE_CLASSES

CLASS = {
    "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "fakekube.dev/provisioner", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate",
    "allowVolumeExpansion": True,
}


async def create(client: Client) -> None:
    """Create it, unless a cluster that goes on from a snapshot has it. Raises APIError."""
    try:
        await client.create(STORAGE_CLASSES, CLASS)
    except APIError as error:
        if error.reason != "AlreadyExists":
            raise
