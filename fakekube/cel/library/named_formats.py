"""Formats by name: ``format.dns1123Label().validate('a_b')`` gives the complaints, or none.

Upstream: apiserver/pkg/cel/library/format.go.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from fakekube.apimachinery import gourl, names, strfmt
from fakekube.cel import costs, types, values
from fakekube.cel.functions import Node, Sizes, function, member, overload
from fakekube.cel.libraries import Library
from fakekube.cel.library import costing

FORMAT_TYPE = types.object_type("kubernetes.NamedFormat", {})
MAX_EXPRESSION_SIZE = 128


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """The value of ``format.dns1123Label()``; ``expression_size`` counts for costs."""

    cel_type: ClassVar[types.Type] = FORMAT_TYPE
    name: str
    complaints: Callable[[str], list[str]]
    expression_size: int

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def library() -> Library:
    """The functions, since 1.31."""
    return Library("format", (
        function("validate", member(
            "format-validate", [FORMAT_TYPE, types.STRING], types.optional_of(types.list_of(types.STRING)), validate,
            cost=_validate_cost, estimate=_estimate_validate)),
        function("format.named", overload(
            "format-named", [types.STRING], types.optional_of(FORMAT_TYPE), named,
            cost=costing.nominal_cost, estimate=costing.nominal)),
        *(function(f"format.{name}", overload(f"format.{name}", [], FORMAT_TYPE, _constant(value)))
          for name, value in formats().items()),
    ))


def _constant(value: Format) -> Callable[[], Format]:
    return lambda: value


@cache
def formats() -> dict[str, Format]:
    """All formats by the names that expressions use."""
    return {
        "dns1123Label": Format("DNS1123Label", names.dns1123_label, 30),
        "dns1123Subdomain": Format("DNS1123Subdomain", names.dns1123_subdomain, 60),
        "dns1035Label": Format("DNS1035Label", names.dns1035_label, 30),
        "qualifiedName": Format("QualifiedName", names.qualified_name, 60),
        "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _prefix("label"), 30),
        "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _prefix("subdomain"), 60),
        "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _prefix("label1035"), 30),
        "labelValue": Format("LabelValue", names.label_value, 40),
        "uri": Format("URI", _uri, 1103),
        "uuid": Format("uuid", _told(strfmt.is_uuid, "does not match the UUID format"), 70),
        "byte": Format("byte", _told(strfmt.is_base64, "invalid base64"), 84),
        "date": Format("date", _told(strfmt.is_date, "invalid date"), 71),
        "datetime": Format("datetime", _told(strfmt.is_date_time, "invalid datetime"), 71),
    }


def named(name: str) -> values.OptionalValue:
    """The format of a name, if there is one."""
    found = formats().get(name)
    return values.OptionalValue(found) if found is not None else values.NONE


def validate(chosen: Format, text: str) -> values.OptionalValue:
    """What is wrong with a text; none if nothing is."""
    found = chosen.complaints(text)
    return values.OptionalValue(found) if found else values.NONE


def _prefix(rule: str) -> Callable[[str], list[str]]:
    return lambda text: names.object_name_prefix(rule, text)


def _told(test: Callable[[str], bool], complaint: str) -> Callable[[str], list[str]]:
    return lambda text: [] if test(text) else [complaint]


def _uri(text: str) -> list[str]:
    try:
        gourl.parse_request_uri(text)
    except gourl.URLError as error:
        return [str(error)]
    return []


def _validate_cost(arguments: Sequence[Any], _result: Any) -> int:
    text = costs.scaled(1 + values.size(arguments[1]), costing.FACTOR)
    return text * costs.scaled(arguments[0].expression_size, costs.REGEX_LENGTH_FACTOR)


def _estimate_validate(sizes: Sizes, _receiver: Node | None, arguments: Sequence[Node]) -> costs.CallEstimate:
    walked = sizes.size(arguments[0]).cost(costing.FACTOR)
    return costs.CallEstimate(walked.scaled(MAX_EXPRESSION_SIZE * costs.REGEX_LENGTH_FACTOR))
