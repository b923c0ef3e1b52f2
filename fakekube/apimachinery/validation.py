"""Checks that the strategies of many kinds share: each takes a path and a value, returns errors.

Upstream: apimachinery/pkg/api/validation/generic.go, pkg/apis/meta/v1/validation and
pkg/api/validate.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree

IMMUTABLE = "field is immutable"
NEGATIVE = "must be greater than or equal to 0"
SELECTOR_OPERATORS_WITH_VALUES = ("In", "NotIn")
SELECTOR_OPERATORS_WITHOUT_VALUES = ("Exists", "DoesNotExist")
CONDITION_STATUSES = ("False", "True", "Unknown")
CONDITION_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
CONDITION_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'"
)
CONDITION_REASON_EXAMPLES = ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
MAX_REASON_BYTES = 1024
# the minor number of the release in which declarative rules took over from hand-written checks
DECLARATIVE_SINCE = 37
MAX_MESSAGE_BYTES = 32 * 1024
MAX_ANNOTATIONS_BYTES = 256 * 1024


def distinct(errors: Iterable[FieldError]) -> list[FieldError]:
    """The errors without repetitions, which upstream's handlers take out for built-in kinds."""
    return list({(error.type, error.field, error.body): error for error in field_errors.tellable([*errors])}.values())


def as_told(errors: list[FieldError], minor: int, *, custom: bool = False) -> list[FieldError]:
    """The errors in the words and in the order of a release, given by its minor number.

    Since 1.37 handlers take out repetitions of what hand-written checks find, save for ``custom``
    objects.
    """
    if minor < DECLARATIVE_SINCE:
        return [error.before or error for error in errors]
    checked = [error for error in errors if not error.declared]
    return (checked if custom else distinct(checked)) + [error for error in errors if error.declared]


def nonnegative(path: str, value: int | None) -> list[FieldError]:
    """A number below zero. None is fine."""
    return [field_errors.invalid(path, value, NEGATIVE)] if value is not None and value < 0 else []


def nonnegative_fields(obj: Mapping[str, Any], path: str, *fields: str) -> list[FieldError]:
    """Fields of ``obj`` that hold a number below zero, in the order given."""
    return [
        field_errors.invalid(f"{path}.{name}" if path else name, value, NEGATIVE)
        for name in fields if (value := obj.get(name)) is not None and value < 0
    ]


def immutable(path: str, new: Any, old: Any) -> list[FieldError]:
    """A value that an update may not change, and did."""
    return [] if same(new, old) else [field_errors.invalid(path, new, IMMUTABLE)]


def declared_immutable(path: str, new: Any, old: Any) -> list[FieldError]:
    """As ``immutable``, by a declarative rule, which prints no value."""
    if same(new, old):
        return []
    return [field_errors.declared(field_errors.invalid(path, None, IMMUTABLE), field_errors.invalid(path, new, IMMUTABLE))]


def declared_name(path: str, value: str, rule: Callable[[str], list[str]]) -> list[FieldError]:
    """A name that a declarative rule looks at, which tells lengths in bytes; ``rule`` is one of
    ``apimachinery.names``.
    """
    return [
        field_errors.declared(error._replace(detail=names.in_bytes(error.detail)), before=error)
        for error in complaints(path, value, rule(value))]


def one_of(path: str, value: str, allowed: Sequence[str]) -> list[FieldError]:
    """A word that is none of ``allowed``, which print in the order given."""
    return [] if value in allowed else [field_errors.not_supported(path, value, allowed)]


def required_one_of(path: str, value: str, allowed: Sequence[str], detail: str = "") -> list[FieldError]:
    """As ``one_of``, with an error of its own for no word at all."""
    return one_of(path, value, allowed) if value else [field_errors.required(path, detail)]


def labels(values: Mapping[str, str], path: str) -> list[FieldError]:
    """Keys and values of labels; the errors name the map, not the key."""
    found: list[FieldError] = []
    for key, value in values.items():
        if not names.is_qualified_name(key):
            found += complaints(path, key, names.qualified_name(key))
        if not names.is_label_value(value):
            found += complaints(path, value, names.label_value(value))
    return found


def annotations(values: Mapping[str, str], path: str) -> list[FieldError]:
    """Keys of annotations, upper case allowed, and the size of all of them."""
    found: list[FieldError] = []
    size = 0
    for key, value in values.items():
        size += len(key) + len(value)
        if not names.is_qualified_name(key.lower()):
            found += field_errors.complaints(path, key, names.qualified_name(key.lower()))
    if size * 4 > MAX_ANNOTATIONS_BYTES:
        size = sum(len(key.encode()) + len(value.encode()) for key, value in values.items())
    if size > MAX_ANNOTATIONS_BYTES:
        found.append(field_errors.too_long(path, MAX_ANNOTATIONS_BYTES))
    return found


def label_selector(selector: Tree | None, path: str, *, check_values: bool = True) -> list[FieldError]:
    """A LabelSelector.

    ``check_values`` False is for updates of objects whose stored values are bad already.
    """
    if not selector:
        return []
    found: list[FieldError] = []
    if match_labels := selector.get("matchLabels"):
        found += labels(match_labels, f"{path}.matchLabels")
    for position, requirement in enumerate(selector.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{position}]"
        found += selector_requirement(requirement, here, check_values=check_values)
    return found


def selector_requirement(requirement: Tree, path: str, *, check_values: bool = True) -> list[FieldError]:
    """One entry of a LabelSelector's matchExpressions."""
    found: list[FieldError] = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in SELECTOR_OPERATORS_WITH_VALUES:
        if not values:
            what = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(field_errors.required(f"{path}.values", what))
    elif operator in SELECTOR_OPERATORS_WITHOUT_VALUES:
        if values:
            what = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(field_errors.forbidden(f"{path}.values", what))
    else:
        found.append(field_errors.invalid(f"{path}.operator", operator, "not a valid selector operator"))
    found += complaints(f"{path}.key", requirement.get("key", ""), names.qualified_name(requirement.get("key", "")))
    if check_values:
        for position, value in enumerate(values):
            found += complaints(f"{path}.values[{position}]", value, names.label_value(value))
    return found


def is_empty_selector(selector: Tree) -> bool:
    """Whether a LabelSelector asks for nothing, and so selects everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def conditions(items: Sequence[Tree], path: str) -> list[FieldError]:
    """metav1 Conditions: unique, complete, and worded as the rules for them ask."""
    found: list[FieldError] = []
    seen: set[str] = set()
    for position, item in enumerate(items):
        here, kind = f"{path}[{position}]", item.get("type", "")
        if kind in seen:
            found.append(field_errors.duplicate(here, kind)._replace(before=field_errors.duplicate(f"{here}.type", kind)))
        seen.add(kind)
        found += _condition(item, kind, here)
    return found


def _condition(item: Tree, kind: str, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    if not kind:
        found.append(field_errors.required(f"{path}.type", "is required"))
    else:
        found += complaints(f"{path}.type", kind, names.qualified_name(kind))
    status = item.get("status", "")
    before = one_of(f"{path}.status", status, CONDITION_STATUSES)
    found += [error._replace(before=before[0]) for error in required_one_of(f"{path}.status", status, CONDITION_STATUSES)]
    generation = item.get("observedGeneration", 0)
    if generation < 0:
        what = "must be greater than or equal to zero"
        found.append(field_errors.invalid(f"{path}.observedGeneration", generation, what))
    if not item.get("lastTransitionTime"):
        found.append(field_errors.required(f"{path}.lastTransitionTime"))
    reason = item.get("reason", "")
    if not reason:
        found.append(field_errors.required(f"{path}.reason"))
    elif not names.matches(CONDITION_REASON, reason):
        what = names.mismatch(CONDITION_REASON_TEXT, CONDITION_REASON, *CONDITION_REASON_EXAMPLES)
        found.append(field_errors.invalid(f"{path}.reason", reason, what))
    if len(reason.encode()) > MAX_REASON_BYTES:
        found.append(field_errors.too_long(f"{path}.reason", MAX_REASON_BYTES))
    if len(item.get("message", "").encode()) > MAX_MESSAGE_BYTES:
        found.append(field_errors.too_long(f"{path}.message", MAX_MESSAGE_BYTES))
    return found
