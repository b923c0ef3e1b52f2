"""What is wrong with a value, in upstream's words and with upstream's choice of what to tell.

``acceptors`` says quickly whether there is anything wrong; this is asked when there is. Of the
alternatives of anyOf and oneOf that fail, the one is told that passed most checks, so checks are
counted as upstream counts them. Upstream: kube-openapi/pkg/validation/validate and errors, with
apiextensions-apiserver's ratcheting. Fields are looked at in the order of the schema, where
upstream's is that of a Go map.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fakekube.apiextensions.objects.constraints import Constraints, Number
from fakekube.apiextensions.objects.correlation import Correlation
from fakekube.apiextensions.objects.goprinting import as_shown, fits_float32, is_whole
from fakekube.apimachinery import field_errors
from fakekube.apimachinery.equality import same
from fakekube.apimachinery.field_errors import FieldError, go_quote
from fakekube.apimachinery.gotext import float_text
from fakekube.apimachinery.types import Json
from fakekube.util.regex import RegexError, compiled

TYPE_INVALID = "FieldValueTypeInvalid"
INT64 = 1 << 63
# from so many on no more items and fields are looked at, where upstream goes on
MOST_FOUND = 1000
TYPE_META = ("kind", "apiVersion")


class Violation(NamedTuple):
    """One complaint: upstream's text, or what stands for a long one, and the error that it becomes.
    """

    text: str | tuple[str, str]
    error: FieldError


class Outcome:
    """What was found wrong, each text once, and how many checks were passed."""

    __slots__ = ("found", "passed")

    def __init__(self, *found: Violation, passed: int = 0) -> None:
        self.found = {violation.text: violation for violation in found}
        self.passed = passed

    def add(self, *violations: Violation) -> None:
        for violation in violations:
            self.found.setdefault(violation.text, violation)

    def merge(self, other: "Outcome") -> None:
        for text, violation in other.found.items():
            self.found.setdefault(text, violation)
        self.passed += other.passed


def violations(constraints: Constraints, value: Json, correlation: Correlation | None = None) -> list[FieldError]:
    """All that is wrong with a value, at paths below it (``spec.replicas``).

    With ``correlation``, what was wrong before and has not changed is not told.
    """
    outcome = _checked(constraints, value, "", correlation)
    return [violation.error for violation in outcome.found.values()]


def is_valid(constraints: Constraints, value: Json) -> bool:
    """Whether there is nothing wrong with a value."""
    return not _checked(constraints, value, "", None).found


def _checked(node: Constraints, value: Json, path: str, correlation: Correlation | None) -> Outcome:
    outcome = _null_outcome(node, path) if value is None else _outcome(node, value, path, correlation)
    if correlation is not None and outcome.found and correlation.unchanged:
        return Outcome(passed=outcome.passed)
    return outcome


def _null_outcome(node: Constraints, path: str) -> Outcome:
    outcome = Outcome(passed=1)
    if node.types and not node.nullable:
        outcome = Outcome(_invalid_type(path, ",".join(node.types), "null"))
    outcome.add(*_about_enum(node, None, path))
    return outcome


def _outcome(node: Constraints, value: Json, path: str, correlation: Correlation | None) -> Outcome:
    """Each part that has something to say of the value counts as a check, the whole as one more."""
    outcome = Outcome(passed=1)
    if node.types or node.format:
        about_type = _about_type(node, value, path)
        outcome.add(*about_type)
        outcome.passed += 1 if about_type else 2
    if node.has_junctors:
        outcome.merge(_of_junctors(node, value, path))
    outcome.passed += 2
    if isinstance(value, str):
        outcome.add(*_about_text(node, value, path))
        outcome.passed += 2 if node.is_format else 1
    elif isinstance(value, int | float) and not isinstance(value, bool):
        outcome.add(*_about_number(node, value, path))
        outcome.passed += 2
    elif isinstance(value, list):
        outcome.merge(_of_items(node, value, path, correlation))
        outcome.passed += 2
    outcome.add(*_about_enum(node, value, path))
    outcome.passed += 1
    if isinstance(value, dict):
        outcome.merge(_of_fields(node, value, path, correlation))
        outcome.passed += 1
    return outcome


# types and enums


def _about_type(node: Constraints, value: Json, path: str) -> list[Violation]:
    kind, its_format = type_of(value)
    types = node.types
    whole_float = kind == "number" and "integer" in types and is_whole(value)
    numeric = "number" in types or "integer" in types
    fits = kind in types or whole_float or (kind == "integer" and "number" in types)
    textual = isinstance(value, str | list)
    if not textual and node.format and not fits and its_format != node.format:
        return [_invalid_type(path, node.format, its_format)]
    if fits or (textual and node.format and not numeric):
        return []  # upstream takes a list for a text with a format, too
    return [_invalid_type(path, ",".join(types), kind)]


def type_of(value: Json) -> tuple[str, str]:
    """The type of a value as schemas name it, and its format."""
    if isinstance(value, bool):
        return "boolean", ""
    if isinstance(value, str):
        return "string", ""
    if isinstance(value, int):
        return "integer", "int64"
    if isinstance(value, float):
        return "number", "float64"
    return ("array", "") if isinstance(value, list) else ("object", "")


def _about_enum(node: Constraints, value: Json, path: str) -> list[Violation]:
    if not node.enum:
        return []
    texts, others, error = node.allowed
    if (isinstance(value, str) and value in texts) or any(_equals(value, allowed) for allowed in others):
        return []
    told = error._replace(field=_at(path), value=as_shown(value))
    return [Violation((f"{path} in body should be one of", error.detail), told)]


def _equals(value: Json, allowed: Json) -> bool:
    """Whether a value is the allowed one, made a number of its kind before."""
    if value is None or allowed is None:
        return False
    if isinstance(value, float) and isinstance(allowed, int) and not isinstance(allowed, bool):
        return int(value) == allowed
    return same(value, allowed)


# texts and numbers


def _about_text(node: Constraints, value: str, path: str) -> list[Violation]:
    found = _about_length(node, value, path) or _about_pattern(node, value, path)
    if node.is_format is not None and not node.is_format(value):
        found.append(_invalid_type(path, node.format, value))
    return found


def _about_length(node: Constraints, value: str, path: str) -> list[Violation]:
    length = len(value)
    if node.max_length is not None and length > node.max_length:
        error = field_errors.too_long(_at(path), node.max_length)
        return [Violation(f"{path} in body should be at most {node.max_length} chars long", error)]
    if node.min_length is not None and length < node.min_length:
        return [_invalid(path, value, f"{path} in body should be at least {node.min_length} chars long")]
    return []


def _about_pattern(node: Constraints, value: str, path: str) -> list[Violation]:
    if not node.pattern:
        return []
    try:
        if compiled(node.pattern).is_in(value):
            return []
        pattern = node.pattern
    except RegexError as error:
        pattern = f"{node.pattern}, but pattern is invalid: {error}"
    return [_invalid(path, value, f"{path} in body should match '{pattern}'")]


def _about_number(node: Constraints, value: Number, path: str) -> list[Violation]:
    found = list(_out_of_range(node, value, "Checked", path))
    for bound, name, check in (
        (node.multiple_of, "MultipleOf", _about_multiple), (node.minimum, "Minimum boundary", _about_minimum),
        (node.maximum, "Maximum boundary", _about_maximum),
    ):
        if bound is not None:
            wrong_bound = list(_out_of_range(node, bound, name, path))
            found += wrong_bound
            # a bound that is none of the type is compared with as a float
            found += check(node, float(value) if wrong_bound else value, bound, path)
    return found


def _out_of_range(node: Constraints, value: Number, what: str, path: str) -> Iterable[Violation]:
    """Whether a number is one of the type and format of the node."""
    if node.number_type == "integer":
        limit = 1 << 31 if node.format == "int32" else INT64
        fits = (isinstance(value, int) or value.is_integer()) and -limit <= value < limit
    else:
        fits = node.format != "float" or not node.number_type or fits_float32(value)
    if not fits:
        suffix = f"with format {node.format}" if node.format else "(default format)"
        text = f"{what} value must be of type {node.number_type} {suffix} in {path}"
        yield Violation(text, field_errors.invalid("", "", text))


def _about_multiple(_: Constraints, value: Number, factor: Number, path: str) -> list[Violation]:
    if isinstance(value, int):
        factor = int(factor)  # as upstream does: of a factor below one nothing is left
        fits = factor > 0 and value % factor == 0
    elif factor > 0:
        fits = is_whole(1 / factor * value if factor < 1 else value / factor)
    else:
        fits = False
    if factor <= 0:
        return [_invalid(path, as_shown(factor), f"factor MultipleOf declared for {path} must be positive: {float_text(factor)}")]
    return [] if fits else [_invalid(path, as_shown(value), f"{path} in body should be a multiple of {float_text(factor)}")]


def _about_minimum(node: Constraints, value: Number, bound: Number, path: str) -> list[Violation]:
    bound = int(bound) if isinstance(value, int) else float(bound)
    if value > bound or (value == bound and not node.exclusive_minimum):
        return []
    relation = "greater than" if node.exclusive_minimum else "greater than or equal to"
    return [_invalid(path, as_shown(value), f"{path} in body should be {relation} {float_text(bound)}")]


def _about_maximum(node: Constraints, value: Number, bound: Number, path: str) -> list[Violation]:
    bound = int(bound) if isinstance(value, int) else float(bound)
    if value < bound or (value == bound and not node.exclusive_maximum):
        return []
    relation = "less than" if node.exclusive_maximum else "less than or equal to"
    return [_invalid(path, as_shown(value), f"{path} in body should be {relation} {float_text(bound)}")]


# lists and objects


def _of_items(node: Constraints, values: Sequence[Json], path: str, correlation: Correlation | None) -> Outcome:
    outcome, below = Outcome(), node.items
    if below is not None:
        for place, value in enumerate(values):
            if len(outcome.found) >= MOST_FOUND:
                break
            old = correlation.index(place) if correlation is not None else None
            outcome.merge(_checked(below, value, f"{path}[{place}]", old))
    count = len(values)
    if node.min_items is not None and count < node.min_items:
        outcome.add(_invalid(path, count, f"{path} in body should have at least {node.min_items} items"))
    if node.max_items is not None and count > node.max_items:
        outcome.add(_too_many(path, count, node.max_items, "items"))
    return outcome


def _of_fields(node: Constraints, tree: dict[str, Json], path: str, correlation: Correlation | None) -> Outcome:
    outcome, count = Outcome(), len(tree)
    if node.min_properties is not None and count < node.min_properties:
        outcome.add(_invalid(path, count, f"{path} in body should have at least {node.min_properties} properties"))
    if node.max_properties is not None and count > node.max_properties:
        outcome.add(_too_many(path, count, node.max_properties, "properties"))
    if node.additional is not None:
        for name, value in tree.items():
            if len(outcome.found) >= MOST_FOUND:
                break
            if node.field(name) is None:
                old = _old_field(correlation, name, path)
                outcome.merge(_checked(node.additional, value, f"{path}.{name}", old))
    for name in node.property_names:
        below = node.field(name)
        if below is not None and name in tree:
            old = _old_field(correlation, name, path)
            outcome.merge(_checked(below, tree[name], f"{path}.{name}" if path else name, old))
    for name in node.required:
        if name not in tree:
            outcome.add(Violation(f"{path}.{name} in body is required", field_errors.required(_at(f"{path}.{name}"))))
    return outcome


def _old_field(correlation: Correlation | None, name: str, path: str) -> Correlation | None:
    """Where the field comes from; kind and apiVersion are never taken for what they were."""
    return None if correlation is None or (not path and name in TYPE_META) else correlation.field(name)


def _too_many(path: str, count: int, limit: int, what: str) -> Violation:
    error = field_errors.too_many(_at(path), count, limit)
    return Violation(f"{path} in body should have at most {limit} {what}", error)


# allOf, anyOf, oneOf, not: no part of them is compared with old values


def _of_junctors(node: Constraints, value: Json, path: str) -> Outcome:
    outcome = Outcome()
    if node.any_of:
        valid, told = _choice(node.any_of, value, path, first=True)
        if not valid:
            outcome.add(_plain(f"{go_quote(path)} must validate at least one schema (anyOf)"))
        outcome.merge(told)
    if node.one_of:
        valid, told = _choice(node.one_of, value, path, first=False)
        if valid != 1:
            count = f"Found {valid} valid alternatives" if valid else "Found none valid"
            outcome.add(_plain(f"{go_quote(path)} must validate one and only one schema (oneOf). {count}"))
        if valid <= 1:
            outcome.merge(told)
    if node.all_of:
        results = [_checked(below, value, path, None) for below in node.all_of]
        for result in results:
            outcome.merge(result)
        if failed := sum(1 for result in results if result.found):
            none = ". None validated" if failed == len(results) else ""
            outcome.add(_plain(f"{go_quote(path)} must validate all the schemas (allOf){none}"))
    if node.not_ is not None and not _checked(node.not_, value, path, None).found:
        outcome.add(_plain(f"{go_quote(path)} must not validate the schema (not)"))
    return outcome


def _choice(alternatives: Sequence[Constraints], value: Json, path: str, *, first: bool) -> tuple[int, Outcome]:
    """How many alternatives are valid, and what is told: the first that is, else the best that is
    not. ``first`` stops at the first that is valid.
    """
    valid, success, best = 0, Outcome(), Outcome(passed=-1)
    for alternative in alternatives:
        outcome = _checked(alternative, value, path, None)
        if not outcome.found:
            success = success if valid else outcome
            valid += 1
            if first:
                break
        elif outcome.passed > best.passed:
            best = outcome
    return valid, success if valid else best


# errors


def _at(path: str) -> str:
    return path.removeprefix(".")


def _invalid(path: str, value: Json, text: str) -> Violation:
    return Violation(text, field_errors.invalid(_at(path), value, text))


def _invalid_type(path: str, wanted: str, value: str) -> Violation:
    text = f"{path} in body must be of type {wanted}: {go_quote(value)}"
    return Violation(text, field_errors.invalid(_at(path), value, text)._replace(reason=TYPE_INVALID))


def _plain(text: str) -> Violation:
    """A complaint that names its place in its text alone."""
    return Violation(text, field_errors.invalid("", "", text))
