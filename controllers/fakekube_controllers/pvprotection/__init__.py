"""Volumes that are bound are not deleted under their claims. Upstream: pkg/controller/volume/pvprotection."""

from functools import partial

from fakekube.client.resources import PERSISTENT_VOLUMES
from fakekube.runtime.lazy import LazyController

component = partial(
    LazyController, "persistentvolume-protection", "fakekube_controllers.pvprotection.controller:controls", PERSISTENT_VOLUMES)
