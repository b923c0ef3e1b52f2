"""Claims that pods use are not deleted under them. Upstream: pkg/controller/volume/pvcprotection."""

from functools import partial

from fakekube.client.resources import PERSISTENT_VOLUME_CLAIMS
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "persistentvolumeclaim-protection",
    "fakekube_controllers.pvcprotection.controller:PersistentVolumeClaimProtection", PERSISTENT_VOLUME_CLAIMS)
