"""Annotations that mean something on a Pod, and on a pod template.

Upstream: ValidatePodSpecificAnnotations.
"""

from fakekube.apimachinery import field_errors, strconv
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.core.pod_profiles import has_profiles, validate_profile_annotations

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
MAX_INT32 = 2**31 - 1


def validate_pod_annotations(annotations: dict[str, str], spec: Tree, path: str) -> list[FieldError]:
    """What is wrong with the annotations at ``path`` of a pod with this spec."""
    found: list[FieldError] = []
    if MIRROR in annotations and not spec.get("nodeName"):
        what = "must set spec.nodeName if mirror pod annotation is set"
        found.append(field_errors.invalid(f"{path}[{MIRROR}]", annotations[MIRROR], what))
    cost = annotations.get(DELETION_COST)
    if cost is not None and not _is_int32(cost):
        found.append(field_errors.invalid(f"{path}[{DELETION_COST}]", cost, "must be a 32bit integer"))
    return found + validate_profile_annotations(annotations, spec, path) if has_profiles(annotations) else found


def _is_int32(text: str) -> bool:
    """A number as Go prints one: no plus, no leading zero."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or (digits[0] == "0" and text != "0"):
        return False
    return -MAX_INT32 - 1 <= (strconv.whole(text) or 0) <= MAX_INT32
