"""Label selectors: the text of ``labelSelector=``, the LabelSelector objects in specs, and what
matches them.

Upstream: apimachinery/pkg/labels/selector.go and pkg/apis/meta/v1/helpers.go, in whose words errors
are. A text is cut into tokens first and read by descent, because upstream's complaints name the
token that it met and what it wanted.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fakekube.apimachinery import field_errors, names, strconv
from fakekube.apimachinery.types import Tree
from fakekube.util.memory import memoized

if TYPE_CHECKING:
    from fakekube.apimachinery.field_errors import FieldError

IN, NOT_IN, EQUALS, DOUBLE_EQUALS, NOT_EQUALS = "in", "notin", "=", "==", "!="
EXISTS, DOES_NOT_EXIST, GREATER_THAN, LESS_THAN = "exists", "!", "gt", "lt"
BINARY_OPERATORS = (IN, NOT_IN, EQUALS, DOUBLE_EQUALS, NOT_EQUALS, GREATER_THAN, LESS_THAN)
_OBJECT_OPERATORS = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST}
_SIGNS = {GREATER_THAN: ">", LESS_THAN: "<"}
_INT64 = 2**63


class SelectorError(ValueError):
    """A selector that cannot be read; the message is upstream's."""


class Requirement(NamedTuple):
    """One condition on one label."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels fulfil it. A missing label fulfils ``!=`` and ``notin``."""
        operator, value = self.operator, labels.get(self.key)
        if operator in (IN, EQUALS, DOUBLE_EQUALS):
            return value in self.values
        if operator in (NOT_IN, NOT_EQUALS):
            return value not in self.values
        if operator in (EXISTS, DOES_NOT_EXIST):
            return (value is not None) == (operator == EXISTS)
        number, limit = _int64(value) if value is not None else None, _int64(self.values[0])
        if number is None or limit is None:
            return False
        return number > limit if operator == GREATER_THAN else number < limit

    def __str__(self) -> str:
        if self.operator == EXISTS:
            return self.key
        if self.operator == DOES_NOT_EXIST:
            return f"!{self.key}"
        values = ",".join(sorted(self.values))
        if self.operator in (IN, NOT_IN):
            return f"{self.key} {self.operator} ({values})"
        return f"{self.key}{_SIGNS.get(self.operator, self.operator)}{values}"


class Selector:
    """Requirements that all have to hold, sorted by key.

    Without any, it matches everything; immutable.
    """

    __slots__ = ("nothing", "requirements")

    def __init__(self, requirements: Iterable[Requirement] = (), *, nothing: bool = False) -> None:
        self.requirements = tuple(sorted(requirements, key=lambda requirement: requirement.key))
        self.nothing = nothing

    @property
    def empty(self) -> bool:
        """Whether it matches everything."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        for requirement in self.requirements:  # a generator costs as much as what it asks for
            if not requirement.matches(labels):
                return False
        return not self.nothing

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selector):
            return NotImplemented
        return self.requirements == other.requirements and self.nothing == other.nothing

    def __hash__(self) -> int:
        return hash((self.requirements, self.nothing))

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"Selector({str(self)!r})"


EVERYTHING = Selector()
NOTHING = Selector(nothing=True)


def requirement(key: str, operator: str, values: Iterable[str]) -> Requirement:
    """A requirement whose key and values are good ones. Raises SelectorError."""
    values = tuple(values)
    if found := requirement_errors(key, operator, values):
        raise SelectorError(field_errors.aggregate(found))
    return Requirement(key, operator, values)


def requirement_errors(key: str, operator: str, values: Sequence[str], path: str = "") -> "list[FieldError]":
    """What is wrong with the key and the values of a requirement at ``path``."""
    found: list[FieldError] = []
    of_values = field_errors.child(path, "values")
    if problems := names.qualified_name(key):
        found.append(field_errors.invalid(field_errors.child(path, "key"), key, "; ".join(problems)))
    if operator in (IN, NOT_IN):
        if not values:
            found.append(field_errors.invalid(of_values, [], "for 'in', 'notin' operators, values set can't be empty"))
    elif operator in (EXISTS, DOES_NOT_EXIST):
        if values:
            found.append(
                field_errors.invalid(of_values, list(values), "values set must be empty for exists and does not exist")
            )
    elif operator in (GREATER_THAN, LESS_THAN):
        if len(values) != 1:
            found.append(
                field_errors.invalid(of_values, list(values), "for 'Gt', 'Lt' operators, exactly one value is required")
            )
        found += [
            field_errors.invalid(f"{of_values}[{number}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
            for number, value in enumerate(values)
            if _int64(value) is None
        ]
    for number, value in enumerate(values):
        if not names.is_label_value(value):
            problems = names.label_value(value)
            found.append(field_errors.invalid(f"{of_values}[{number}][{key}]", value, "; ".join(problems)))
    return found


@memoized(1024, longest=4096)
def parse(text: str) -> Selector:
    """The selector that a text describes: ``a=1,b in (x,y),!c``. Raises SelectorError."""
    return Selector(_Parser(text).requirements()) if text else EVERYTHING


def from_label_selector(selector: Tree | None) -> Selector:
    """The selector of a LabelSelector object; none at all matches nothing, an empty one everything.

    Raises SelectorError.
    """
    if selector is None:
        return NOTHING
    found = [requirement(key, EQUALS, (value,)) for key, value in (selector.get("matchLabels") or {}).items()]
    for expression in selector.get("matchExpressions") or ():
        operator = _OBJECT_OPERATORS.get(expression.get("operator", ""))
        if operator is None:
            raise SelectorError(f'"{expression.get("operator", "")}" is not a valid label selector operator')
        found.append(requirement(expression.get("key", ""), operator, expression.get("values") or ()))
    return Selector(found)


def selects(selector: Tree | None, values: Mapping[str, str]) -> bool:
    """Whether a LabelSelector object selects an object with these labels. Raises SelectorError."""
    wanted = (selector or {}).get("matchLabels")
    if selector is None or not wanted or selector.get("matchExpressions"):
        return from_label_selector(selector).matches(values)
    for key, value in wanted.items():
        if not (names.is_qualified_name(key) and names.is_label_value(value)):
            return from_label_selector(selector).matches(values)
    return bool(wanted.items() <= values.items())


def go_text(selector: Tree | None) -> str:
    """A LabelSelector object as Go prints the struct; ``nil`` for none."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.get('key', '')},Operator:{each.get('operator', '')},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ())
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}")


def from_set(labels: Mapping[str, str]) -> Selector:
    """The selector of exactly these labels; none match everything. Nothing is checked."""
    return Selector(Requirement(key, EQUALS, (value,)) for key, value in labels.items())


def _int64(text: str) -> int | None:
    number = strconv.whole(text)
    return number if number is not None and -_INT64 <= number < _INT64 else None


_END = ""
_TOKEN = re.compile(r"==|!=|[=!(),><]|[^=!(),>< \t\r\n]+", re.ASCII)
_NO_WORDS = frozenset((_END, "==", "!=", "=", "!", "(", ")", ",", ">", "<"))
_OPERATOR_TOKENS = {
    "in": IN,
    "notin": NOT_IN,
    "=": EQUALS,
    "==": DOUBLE_EQUALS,
    "!=": NOT_EQUALS,
    ">": GREATER_THAN,
    "<": LESS_THAN,
}


class _Parser:
    """Reads tokens one by one; ``in`` and ``notin`` are words wherever a value may stand."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = [*_TOKEN.findall(text), _END]
        self.position = 0

    @property
    def ahead(self) -> str:
        return self.tokens[self.position]

    def take(self) -> str:
        piece = self.tokens[self.position]
        if piece:  # beyond the end there is nothing but the end
            self.position += 1
        return piece

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while True:
            piece = self.ahead
            if piece == _END:
                return found
            if piece in _NO_WORDS and piece != "!":
                raise SelectorError(f"found '{piece}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self.requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            piece = self.take()
            if piece == _END:
                return found
            if piece != ",":
                raise SelectorError(f"found '{piece}', expected: ',' or 'end of string'")
            if self.ahead in _NO_WORDS and self.ahead != "!":
                raise SelectorError(f"found '{self.ahead}', expected: identifier after ','")

    def requirement(self) -> Requirement:
        key = self.take()
        absent = key == "!"
        if absent:
            key = self.take()
        if key in _NO_WORDS:
            raise SelectorError(f"found '{key}', expected: identifier")
        if problems := names.qualified_name(key):
            raise SelectorError(str(field_errors.invalid("", key, "; ".join(problems))))
        if absent:
            return Requirement(key, DOES_NOT_EXIST)
        if self.ahead in (_END, ","):
            return Requirement(key, EXISTS)
        operator = self.operator()
        values = self.values() if operator in (IN, NOT_IN) else [self.exact_value()]
        return requirement(key, operator, sorted(dict.fromkeys(values)))

    def operator(self) -> str:
        piece = self.take()
        operator = _OPERATOR_TOKENS.get(piece)
        if operator is None:
            raise SelectorError(f"found '{piece}', expected: {', '.join(BINARY_OPERATORS)}")
        return operator

    def exact_value(self) -> str:
        if self.ahead in (_END, ","):
            return ""
        piece = self.take()
        if piece in _NO_WORDS:
            raise SelectorError(f"found '{piece}', expected: identifier")
        return piece

    def values(self) -> list[str]:
        piece = self.take()
        if piece != "(":
            raise SelectorError(f"found '{piece}' expected: '('")
        piece = self.ahead
        if piece == ")":
            self.take()
            return [""]
        if piece in _NO_WORDS and piece != ",":
            raise SelectorError(f"found '{piece}', expected: ',', ')' or identifier")
        found: list[str] = []
        while True:
            piece = self.take()
            ahead = self.tokens[self.position]
            if piece not in _NO_WORDS:
                found.append(piece)
                if ahead == ")":
                    break
                if ahead != ",":
                    raise SelectorError(f"found '{ahead}', expected: ',' or ')'")
            elif piece == ",":
                # An empty place before, between or after commas is the empty value.
                if not found or ahead == ",":
                    found.append("")
                if ahead == ")":
                    found.append("")
                    break
            else:
                raise SelectorError(f"found '{piece}', expected: ',', or identifier")
        self.take()
        return found
