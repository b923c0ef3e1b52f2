"""Which fields a write cannot own, because the endpoint puts them back: status on the object, spec
on its status.

Upstream: GetResetFields of the strategies (kubernetes/pkg/registry). Left out: the filters of
pods/resize and pods/ephemeralcontainers, whose writes cannot change anything else anyway.
"""

from collections.abc import Mapping, Sequence

from fakekube.managedfields.fieldset import Path
from fakekube.schema.structural import Schema

STATUS: Path = ("f:status",)
SPEC: Path = ("f:spec",)
METADATA: Path = ("f:metadata",)


def reset_fields_of(
    schema: Schema | None, *, status_keeps_metadata: bool = False, declared: Mapping[str, Sequence[str]] | None = None,
) -> Mapping[str, Sequence[Path]]:
    """The paths that a built-in kind resets, by sub-resource; nothing for kinds without a status.

    ``status_keeps_metadata``: the status endpoint puts metadata back as well. ``declared`` is what
    a kind resets that differs from all others: dotted paths of fields (``metadata.labels``).
    """
    if schema is None or "status" not in schema.properties:
        return {}
    if declared is not None:
        return {
            subresource: tuple(tuple(f"f:{field}" for field in path.split(".")) for path in paths)
            for subresource, paths in declared.items()}
    return {"": (STATUS,), "status": (SPEC, METADATA) if status_keeps_metadata else (SPEC,)}


def custom_reset_fields(*, has_status: bool) -> Mapping[str, Sequence[Path]]:
    """What a custom resource's writes cannot own; ``has_status`` when its status is a sub-resource.
    """
    return {"": (STATUS,), "status": (METADATA, SPEC)} if has_status else {}
