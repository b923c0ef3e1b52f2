"""Which fields a write cannot own, because the endpoint puts them back: status on the object, spec on its status.

Upstream: GetResetFields of the strategies (kubernetes/pkg/registry). Left out: the filters of pods/resize and
pods/ephemeralcontainers, whose writes cannot change anything else anyway.
"""

from collections.abc import Mapping, Sequence

from fakekube.managedfields.fieldset import Path
from fakekube.schema.structural import Schema

STATUS: Path = ("f:status",)
SPEC: Path = ("f:spec",)
METADATA: Path = ("f:metadata",)

# Kinds whose status endpoint puts metadata back as well.
KEEP_METADATA = (
    "ValidatingAdmissionPolicy",
    "StorageVersion",
    "PodCertificateRequest",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "Eviction",
    "EvictionRequest",
    "ServiceCIDR",
    "DeviceTaintRule",
    "ResourceClaim",
    "ResourcePoolStatusRequest",
    "CompositePodGroup",
    "PodGroup",
    "CSINode",
    "VolumeAttachment",
    "StorageVersionMigration",
)


def reset_fields_of(schema: Schema | None) -> Mapping[str, Sequence[Path]]:
    """What upstream resets for a built-in kind, by sub-resource; nothing for kinds without a status."""
    if schema is None or "status" not in schema.properties:
        return {}
    kind = schema.kinds[0].kind if schema.kinds else ""
    if kind == "CertificateSigningRequest":
        return {
            "": (SPEC, STATUS), "status": (SPEC, ("f:status", "f:conditions")),
            "approval": (SPEC, ("f:status", "f:certificate")),
        }  # fmt: skip
    if kind == "Namespace":
        return {"": (STATUS,), "status": (SPEC,), "finalize": (STATUS,)}
    if kind == "Deployment":
        return {"": (STATUS,), "status": (SPEC, ("f:metadata", "f:labels"))}
    if kind == "Pod":
        metadata = (("f:metadata", "f:deletionTimestamp"), ("f:metadata", "f:ownerReferences"))
        return {"": (STATUS,), "status": (SPEC, *metadata)}
    return {"": (STATUS,), "status": (SPEC, METADATA) if kind in KEEP_METADATA else (SPEC,)}


def custom_reset_fields(*, has_status: bool) -> Mapping[str, Sequence[Path]]:
    """What a custom resource's writes cannot own; ``has_status`` when its status is a sub-resource."""
    return {"": (STATUS,), "status": (METADATA, SPEC)} if has_status else {}
