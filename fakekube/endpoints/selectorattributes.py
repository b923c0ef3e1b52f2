"""Selectors in access reviews: what may be wrong with one, and the text that it comes to.

Upstream: pkg/apis/authorization/validation, pkg/registry/authorization/util/helpers.go.
"""

from collections.abc import Callable
from typing import NamedTuple

from fakekube.apimachinery import fields, labels
from fakekube.apimachinery.field_errors import FieldError, child, index, invalid, required
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import selector_requirement

PATH = "spec.resourceAttributes"
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


class SelectorText(NamedTuple):
    """A selector as a query writes it, and what is to be said of parts that do not count."""

    text: str
    ignored: str = ""


def selector_errors(attributes: Tree | None) -> list[FieldError]:
    """What is wrong with the selectors of resourceAttributes."""
    found: list[FieldError] = []
    for name in ("fieldSelector", "labelSelector"):
        selector = (attributes or {}).get(name)
        if selector is not None:
            found += _errors(selector, child(PATH, name), of_fields=name == "fieldSelector")
    return found


def _errors(selector: Tree, path: str, *, of_fields: bool) -> list[FieldError]:
    raw, requirements = selector.get("rawSelector", ""), selector.get("requirements") or []
    found: list[FieldError] = []
    if raw and requirements:
        found.append(invalid(child(path, "rawSelector"), raw, "may not specified at the same time as requirements"))
    if not raw and not requirements:
        found.append(required(child(path, "requirements"), f"when {path} is specified, requirements or rawSelector is required"))
    for number, requirement in enumerate(requirements):
        found += _requirement_errors(requirement, index(child(path, "requirements"), number), of_fields=of_fields)
    return found


def _requirement_errors(requirement: Tree, path: str, *, of_fields: bool) -> list[FieldError]:
    found = selector_requirement(requirement, path)
    if requirement.get("operator") not in OPERATORS:  # one of a newer client may count for nothing
        found = [error for error in found if error.field != child(path, "operator")]
    if not of_fields:
        return found
    kept = [error for error in found if error.field == child(path, "values")]
    return kept if requirement.get("key") else [required(child(path, "key"), "must be specified"), *kept]


def _as_given(
    selector: Tree | None, parse: Callable[[str], object], error: type[Exception], name: str,
) -> SelectorText | None:
    """A selector that is given as text, if it is one; None where it is given in requirements."""
    raw = (selector or {}).get("rawSelector", "")
    if not raw:
        return None
    try:
        parse(raw)
    except error:
        return _told("", name)
    return SelectorText(raw)


def field_selector_text(selector: Tree | None) -> SelectorText:
    """A field selector as text."""
    given = _as_given(selector, fields.parse, fields.SelectorError, "fieldSelector")
    if given is not None or not selector:
        return given or SelectorText("")
    requirements, terms = selector.get("requirements") or [], []
    for one in requirements:
        values, sign = one.get("values") or [], {"In": "=", "NotIn": "!="}.get(one.get("operator", ""))
        if sign and len(values) == 1:
            terms.append(f"{one.get('key', '')}{sign}{fields.escape(values[0])}")
    text = ",".join(terms)
    return SelectorText(text) if len(terms) == len(requirements) else _told(text, "fieldSelector")


def label_selector_text(selector: Tree | None) -> SelectorText:
    """A label selector as text."""
    given = _as_given(selector, labels.parse, labels.SelectorError, "labelSelector")
    if given is not None or not selector:
        return given or SelectorText("")
    requirements = selector.get("requirements") or []
    known = [one for one in requirements if one.get("operator") in OPERATORS]
    text = str(labels.from_label_selector({"matchExpressions": known}))
    return SelectorText(text) if len(known) == len(requirements) else _told(text, "labelSelector")


def _told(text: str, name: str) -> SelectorText:
    return SelectorText(text, f"{PATH}.{name} {'partially ' if text else ''}ignored due to parse error")
