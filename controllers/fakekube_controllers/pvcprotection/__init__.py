"""Claims that pods use are not deleted under them. Upstream: pkg/controller/volume/pvcprotection."""

from fakekube_controllers.pvcprotection.controller import PersistentVolumeClaimProtection

__all__ = ["PersistentVolumeClaimProtection"]
