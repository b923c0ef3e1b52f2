"""VolumeAttachment: the wish to have a volume at a node.

Upstream: pkg/apis/storage/validation, pkg/registry/storage/volumeattachment. Left out: the rules of
inline volumes.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.field_errors import FieldError, declared, forbidden, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import IMMUTABLE
from fakekube.apis.base import StatusStrategy
from fakekube.apis.checks import ruled
from fakekube.apis.storage.csinode import driver_name
from fakekube.registry.strategy import WriteContext

ONE_OF = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


class VolumeAttachmentStrategy(StatusStrategy):
    """What is particular to VolumeAttachments."""

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree:
        """Not attached."""
        return {"attached": False}

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Who attaches what to where."""
        spec = obj.get("spec") or {}
        source = spec.get("source") or {}
        found = driver_name("spec.attacher", spec.get("attacher", ""))
        volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
        if volume is None and inline is None:
            found.append(required("spec.source", ONE_OF))
        elif volume is not None and inline is not None:
            found.append(forbidden("spec.source", ONE_OF))
        elif volume is not None and not volume:
            found.append(required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"))
        found += ruled("spec.nodeName", spec.get("nodeName", ""), names.dns1123_subdomain)
        if volume is not None:
            found += ruled("spec.source.persistentVolumeName", volume, names.dns1123_subdomain)
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the spec stays."""
        new, before = obj.get("spec") or {}, old.get("spec") or {}
        if new == before:
            return self.validate(obj, ctx)
        source = new.get("source") or {}
        shown = {
            "Attacher": new.get("attacher", ""), "NodeName": new.get("nodeName", ""), "Source": {
                "PersistentVolumeName": source.get("persistentVolumeName"), "InlineVolumeSpec": source.get("inlineVolumeSpec")}}
        changed = declared(invalid("spec", None, IMMUTABLE), invalid("spec", shown, IMMUTABLE))
        return [*self.validate(obj, ctx), changed]


STRATEGY = VolumeAttachmentStrategy()
