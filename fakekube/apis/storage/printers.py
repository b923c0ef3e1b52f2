"""How the kinds of storage.k8s.io print."""

from fakekube.apimachinery.types import Tree
from fakekube.apis.printing import AGE, NAME, NONE, UNSET, Cell, column, count, dig, joined, table
from fakekube.registry.kind import Column

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
BETA_DEFAULT_CLASS = "storageclass.beta.kubernetes.io/is-default-class"


def _class_name(obj: Tree) -> str:
    """Every class that is marked as the default one is shown as such; upstream marks the newest of
    a list.
    """
    name = dig(obj, "metadata", "name") or ""
    annotations = dig(obj, "metadata", "annotations") or {}
    default = "true" in (annotations.get(DEFAULT_CLASS), annotations.get(BETA_DEFAULT_CLASS))
    return f"{name} (default)" if default else name


def _token_requests(obj: Tree) -> str:
    requests = dig(obj, "spec", "tokenRequests")
    return UNSET if requests is None else ",".join(request.get("audience", "") for request in requests)


_attacher = column("Attacher", "spec.attacher")

CSI_DRIVER = table(
    NAME,
    column("AttachRequired:boolean", "spec.attachRequired", default=True),
    column("PodInfoOnMount:boolean", "spec.podInfoOnMount", default=False),
    column("StorageCapacity:boolean", "spec.storageCapacity", default=False),
    column("TokenRequests", _token_requests),
    column("RequiresRepublish:boolean", "spec.requiresRepublish", default=False),
    column("Modes", joined("spec.volumeLifecycleModes", NONE)),
    AGE,
)
CSI_NODE = table(NAME, column("Drivers:integer", count("spec.drivers")), AGE)
STORAGE_CLASS = table(
    column("Name", _class_name),
    column("Provisioner", "provisioner"),
    column("ReclaimPolicy", "reclaimPolicy", "Delete"),
    column("VolumeBindingMode", "volumeBindingMode", "Immediate"),
    column("AllowVolumeExpansion", "allowVolumeExpansion", default=False),
    AGE,
)
VOLUME_ATTACHMENT = table(
    NAME,
    Cell(Column("Attacher", "string", "name", _attacher.column.description), _attacher.value),
    column("PV", "spec.source.persistentVolumeName"),
    column("Node", "spec.nodeName"),
    column("Attached:boolean", "status.attached", default=False),
    AGE,
)
