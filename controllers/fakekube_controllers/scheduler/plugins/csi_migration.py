"""Volumes of drivers that were part of Kubernetes once, as the CSI drivers that took their place
know them.

Upstream: csi-translation-lib. Left out: everything but the driver, the handle and the zones.
"""

from collections.abc import Mapping
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.types import ReadOnlyTree, Tree

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
TOPOLOGY_LABELS = ((ZONE, REGION), (BETA_ZONE, BETA_REGION))
DELIMITER = "__"  # of several zones in one label

class Migrated(NamedTuple):
    """A driver of old: its name, that of the CSI driver, the field with the volume's handle, and
    the label in which the nodes of the CSI driver have their zone; empty: it has none.
    """

    plugin: str
    driver: str
    handle_field: str
    zone_label: str = ""


DRIVERS: Mapping[str, Migrated] = {
    "awsElasticBlockStore": Migrated("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "volumeID", "topology.ebs.csi.aws.com/zone"),
    "gcePersistentDisk": Migrated("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "pdName", "topology.gke.io/zone"),
    "azureDisk": Migrated("kubernetes.io/azure-disk", "disk.csi.azure.com", "diskURI"),
    "cinder": Migrated("kubernetes.io/cinder", "cinder.csi.openstack.org", "volumeID", "topology.cinder.csi.openstack.org/zone"),
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


def on_node(volume: ReadOnlyTree, csi_node: ReadOnlyTree | None) -> ReadOnlyTree:
    """A PersistentVolume with the node affinity by which it is looked for on a node, whose CSINode
    says which drivers have moved to CSI there.

    Upstream: tryTranslatePVToCSI, translateTopologyFromInTreeToCSI.
    """
    migrated = next((each for field, each in DRIVERS.items() if field in volume["spec"]), None)
    if migrated is None or csi_node is None or not migrated.zone_label:
        return volume
    if migrated.plugin not in meta.annotations_of(csi_node).get(MIGRATED_PLUGINS, "").split(","):
        return volume
    terms = ((volume["spec"].get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    named = {each["key"]: None for term in terms for each in term.get("matchExpressions") or () if each.get("values")}
    own = meta.labels_of(volume)
    zone, region = next((pair for known in (named, own) for pair in TOPOLOGY_LABELS if pair[0] in known), TOPOLOGY_LABELS[0])
    renamed = {zone: migrated.zone_label, BETA_REGION: REGION} if region == BETA_REGION else {zone: migrated.zone_label}
    found = [_renamed(term, renamed) for term in terms]
    zones = sorted(dict.fromkeys(each.strip() for each in own.get(zone, "").split(DELIMITER) if each.strip()))
    if zone not in named and zones:
        wanted = {"key": migrated.zone_label, "operator": "In", "values": zones}
        found = [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), wanted]} for term in found or [{}]]
    if not found:
        return volume
    return {**volume, "spec": {**volume["spec"], "nodeAffinity": {"required": {"nodeSelectorTerms": found}}}}


def _renamed(term: ReadOnlyTree, keys: Mapping[str, str]) -> Tree:
    """A term with other names of labels."""
    expressions = [{**each, "key": keys.get(each["key"], each["key"])} for each in term.get("matchExpressions") or ()]
    return {**term, "matchExpressions": expressions}
