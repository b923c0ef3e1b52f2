"""VolumeAttachment: the wish to have a volume at a node.

Upstream: pkg/apis/storage/validation, pkg/registry/storage/volumeattachment.
"""

from fakekube.apimachinery import names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, child, declared, forbidden, invalid, required, too_long
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import DECLARATIVE_SINCE, IMMUTABLE, declared_name
from fakekube.apis.base import StatusStrategy
from fakekube.apis.checks import caseless_subdomain, ruled
from fakekube.apis.core.persistentvolume import default_sources, inline_spec_errors
from fakekube.apis.core.storage_systems import validate_csi_driver_name
from fakekube.registry.strategy import WriteContext

MAX_METADATA_BYTES, MAX_MESSAGE_BYTES, MAX_INT32 = 256 * 1024, 1024, 2**31 - 1
ATTACHER = "spec.attacher"
ONE_OF = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


class VolumeAttachmentStrategy(StatusStrategy):
    """What is particular to VolumeAttachments."""

    def new_status(self, obj: Tree, ctx: WriteContext) -> Tree:
        """Not attached."""
        return {"attached": False}

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        """An inline volume is as a PersistentVolume."""
        inline = ((obj.get("spec") or {}).get("source") or {}).get("inlineVolumeSpec")
        if inline is not None:
            default_sources(inline)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        """Who attaches what to where."""
        name = (obj.get("spec") or {}).get("attacher", "")
        attacher = _attacher(name) if ctx.minor >= DECLARATIVE_SINCE else validate_csi_driver_name(name, ATTACHER)
        return attacher + self._validate_rest(obj)

    def _validate_rest(self, obj: Tree) -> list[FieldError]:
        """Whatever stands beside the attacher."""
        spec, found = obj.get("spec") or {}, list[FieldError]()
        source = spec.get("source") or {}
        volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
        if volume is None and inline is None:
            found.append(required("spec.source", ONE_OF))
        elif volume is not None and inline is not None:
            found.append(forbidden("spec.source", ONE_OF))
        elif volume is not None and not volume:
            found.append(required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"))
        elif inline is not None:
            found += inline_spec_errors(inline, "spec.source.inlineVolumeSpec")
        found += ruled("spec.nodeName", spec.get("nodeName", ""), names.dns1123_subdomain)
        if volume is not None:
            found += ruled("spec.source.persistentVolumeName", volume, names.dns1123_subdomain)
        return found

    def validate_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """As for a new one; the spec stays."""
        new, before = obj.get("spec") or {}, old.get("spec") or {}
        if same(new, before):
            return self.validate(obj, ctx)
        source = new.get("source") or {}
        shown = {
            "Attacher": new.get("attacher", ""), "NodeName": new.get("nodeName", ""), "Source": {
                "PersistentVolumeName": source.get("persistentVolumeName"), "InlineVolumeSpec": source.get("inlineVolumeSpec")}}
        changed = declared(invalid("spec", None, IMMUTABLE), invalid("spec", shown, IMMUTABLE))
        # declarative rules look no further at a spec that may not change
        attacher = validate_csi_driver_name(new.get("attacher", ""), ATTACHER)
        return [*attacher, *self._validate_rest(obj), changed]

    def validate_status_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> list[FieldError]:
        """What the attacher tells of the volume, and of what went wrong."""
        status, path = obj.get("status") or {}, "status.attachmentMetadata"
        told = status.get("attachmentMetadata") or {}
        size = sum(len(name.encode()) + len(value.encode()) for name, value in told.items())
        found = [too_long(path, MAX_METADATA_BYTES)] if size > MAX_METADATA_BYTES else []
        for name in ("attachError", "detachError"):
            found += _failure(child("status", name), status.get(name) or {})
        return found


def _attacher(name: str) -> list[FieldError]:
    limit = names.MAX_LABEL_LENGTH
    if not name:
        return [declared(required(ATTACHER))]
    found = declared_name(ATTACHER, name, caseless_subdomain)
    if len(name) > limit:
        return [*found, declared(too_long(ATTACHER, limit, "characters"))]
    # the declarative rule counts characters, and the older one bytes
    return [too_long(ATTACHER, limit), *found] if names.is_longer(name, limit) else found


def _failure(path: str, error: Tree) -> list[FieldError]:
    found, code = [], error.get("errorCode")
    if len(error.get("message", "").encode()) > MAX_MESSAGE_BYTES:
        # upstream tells the bound of the metadata
        found.append(too_long(child(path, "message"), MAX_METADATA_BYTES))
    if code is not None and code < 0:
        found.append(invalid(child(path, "errorCode"), code, names.between(0, MAX_INT32)))
    return found


STRATEGY = VolumeAttachmentStrategy()
