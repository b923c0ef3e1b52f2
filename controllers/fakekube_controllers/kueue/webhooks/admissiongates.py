"""Rules for the annotation that names what must be gone before a job is admitted.

Upstream: pkg/util/webhook/admission_gated_by.go.
"""

from collections.abc import Iterator

from fakekube.apimachinery import meta
from fakekube.apimachinery.field_errors import FieldError, forbidden, invalid, key, too_long
from fakekube.apimachinery.field_names import domain_prefixed_path
from fakekube.apimachinery.types import ReadOnlyTree
from fakekube_controllers.kueue.names import ADMISSION_GATED_BY_ANNOTATION

PATH = key("metadata.annotations", ADMISSION_GATED_BY_ANNOTATION)
MAX_GATE_LENGTH = 63


def gates(value: str) -> list[str]:
    """The gates that the annotation names."""
    return [gate.strip() for gate in value.split(",")] if value.strip() else []


def on_create(obj: ReadOnlyTree) -> Iterator[FieldError]:
    """Complaints about a new object."""
    yield from _format(meta.annotations_of(obj).get(ADMISSION_GATED_BY_ANNOTATION, ""))


def on_update(old: ReadOnlyTree, new: ReadOnlyTree) -> Iterator[FieldError]:
    """Complaints about a change: gates can only be removed."""
    before, now = (meta.annotations_of(obj).get(ADMISSION_GATED_BY_ANNOTATION, "") for obj in (old, new))
    if now and not before:
        yield forbidden(PATH, "cannot add admission gate after creation")
    if before and not {*gates(now)} <= {*gates(before)}:
        yield forbidden(PATH, "can only remove gates, not add new ones")
    yield from _format(now)


def _format(value: str) -> Iterator[FieldError]:
    seen = set[str]()
    for gate in gates(value):
        if not gate:
            yield invalid(PATH, value, "cannot contain empty gate names")
            continue
        if gate in seen:
            yield invalid(PATH, value, f"duplicate gate name: {gate}")
            continue
        seen.add(gate)
        yield from domain_prefixed_path(PATH, gate)
        if len(gate) > MAX_GATE_LENGTH:
            yield too_long(PATH, MAX_GATE_LENGTH)
