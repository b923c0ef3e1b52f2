"""PersistentVolumeClaimResize: a claim grows only where its class lets it.

Upstream: plugin/pkg/admission/storage/persistentvolume/resize.
"""

from fakekube.admission.plugin import Plugin, forbidden, is_resource
from fakekube.apimachinery import quantity
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
NOT_ALLOWED = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


class PersistentVolumeClaimResize(Plugin):
    """Refuses to grow claims that are not bound, or whose class does not allow it."""

    name = "PersistentVolumeClaimResize"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """Changed claims."""
        return operation == "UPDATE" and not subresource and is_resource(kind, "", "persistentvolumeclaims")

    def validate(self, attrs: Attributes) -> None:
        """Whether it grows, and may."""
        if attrs.obj is None or attrs.old is None or _size(attrs.obj) <= _size(attrs.old):
            return
        if (attrs.old.get("status") or {}).get("phase") != "Bound":
            raise forbidden(attrs, "Only bound persistent volume claims can be expanded")
        name, before = _class(attrs.obj), _class(attrs.old)
        found = attrs.ctx.cluster.lookup("storage.k8s.io", "storageclasses", "", name) if name else None
        if name != before or not (found or {}).get("allowVolumeExpansion"):
            raise forbidden(attrs, NOT_ALLOWED)


def _size(claim: Tree) -> int:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return quantity.parse(requests.get("storage", "0")).nano


def _class(claim: Tree) -> str:
    annotations = claim["metadata"].get("annotations") or {}
    name: str = annotations.get(CLASS_ANNOTATION) or claim["spec"].get("storageClassName") or ""
    return name
