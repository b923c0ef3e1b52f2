"""Claims and volumes are bound to each other. Read ``controller.py``.

Upstream: pkg/controller/volume/persistentvolume.
"""

from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from fakekube_controllers import kube_controller

component = (
    kube_controller("persistentvolume-binder", "persistent-volume-binder")
    .starts_with(PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES)
    .complete("fakekube_controllers.persistentvolume.controller:PersistentVolumeBinder")
)
