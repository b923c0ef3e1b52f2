"""Whether a value is all that its schema asks, told as quickly as Python can.

Nearly every object that is written fits. So each node becomes a function that says yes in a few
nanoseconds a field; what it does not say yes to is looked at by ``violations``, which finds the
words or finds nothing wrong. The functions are made when a value is first met and kept on the
nodes. Upstream has no counterpart: it validates by walking the schema each time.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fakekube.apiextensions.objects.constraints import Constraints, Number
from fakekube.apiextensions.objects.violations import is_valid
from fakekube.apimachinery.types import Json
from fakekube.util.regex import RegexError, compiled

if TYPE_CHECKING:
    from fakekube.apiextensions.objects.formats import Format

Acceptor = Callable[[Any], bool]

INT64 = 1 << 63


def fits(constraints: Constraints, value: Json) -> bool:
    """Whether a value is surely right. False says nothing: ask ``violations``."""
    return acceptor(constraints)(value)


def acceptor(node: Constraints) -> Acceptor:
    """The function of a node."""
    found = node.fits
    if found is None:
        found = node.fits = _made(node)
    return found


def any_text(value: Any) -> bool:
    """The acceptor of texts of which nothing more is asked: known by identity, to spare calls."""
    return value.__class__ is str


def anything(value: Any) -> bool:
    """The acceptor of nodes that ask nothing."""
    return value is not None


def _made(node: Constraints) -> Acceptor:
    plain = _by_types(node)
    if node.enum:
        plain = _one_of(plain, node)
    return _with_junctors(plain, node) if node.has_junctors else plain


def _by_types(node: Constraints) -> Acceptor:
    if not node.types:
        return _untyped(node)
    if len(node.types) > 1:
        whole, text = _integer(node), _text(node)
        return lambda value: text(value) if value.__class__ is str else whole(value)
    kind = node.types[0]
    if kind == "string":
        return _text(node)
    if kind == "integer":
        return _integer(node)
    if kind == "number":
        return _number(node)
    if kind == "boolean":
        return lambda value: value is True or value is False
    return _list(node) if kind == "array" else _object(node)


def _untyped(node: Constraints) -> Acceptor:
    """A node that takes values of all types, and may ask something of those of some."""
    text, number, of_list, of_object = _text(node), _number(node), _list(node), _object(node)
    by_class: Mapping[type, Acceptor] = {str: text, int: number, float: number, list: of_list, dict: of_object}
    if node.format:
        return lambda value: value.__class__ is str and text(value)

    def accept(value: Any) -> bool:
        rule = by_class.get(value.__class__)
        return value is True or value is False or (rule is not None and rule(value))

    return accept


def _text(node: Constraints) -> Acceptor:
    low, high = node.min_length or 0, node.max_length
    is_format: Format | None = node.is_format
    has_pattern: Callable[[str], bool] | None = None
    if node.pattern:
        try:
            has_pattern = compiled(node.pattern).is_in
        except RegexError:
            return lambda _: False
    if not low and high is None and has_pattern is None:
        if is_format is None:
            return any_text
        return lambda value: value.__class__ is str and is_format(value)
    most = high if high is not None else 1 << 62
    if has_pattern is None and is_format is None:
        return lambda value: value.__class__ is str and low <= len(value) <= most

    def accept(value: Any) -> bool:
        return (
            value.__class__ is str and low <= len(value) <= most and (has_pattern is None or has_pattern(value))
            and (is_format is None or is_format(value)))

    return accept


def _integer(node: Constraints) -> Acceptor:
    limit = 1 << 31 if node.format == "int32" and node.number_type else INT64
    if _has_odd_bounds(node) or (node.number_type and not all(-limit <= bound < limit for bound in _given_bounds(node))):
        return lambda _: False
    low, high, factor = _bounds(node, -limit, limit - 1)
    if factor is None:
        return lambda value: value.__class__ is int and low <= value <= high
    return lambda value: value.__class__ is int and low <= value <= high and value % factor == 0


def _has_odd_bounds(node: Constraints) -> bool:
    """Whether a bound is not an integer: what upstream makes of that is for ``violations``."""
    return any(isinstance(bound, float) and not bound.is_integer() for bound in _given_bounds(node)) or (
        node.multiple_of is not None and node.multiple_of < 1)


def _given_bounds(node: Constraints) -> list[Number]:
    return [bound for bound in (node.minimum, node.maximum, node.multiple_of) if bound is not None]


def _bounds(node: Constraints, low: int, high: int) -> tuple[int, int, int | None]:
    if node.minimum is not None:
        low = max(low, int(node.minimum) + node.exclusive_minimum)
    if node.maximum is not None:
        high = min(high, int(node.maximum) - node.exclusive_maximum)
    return low, high, None if node.multiple_of is None else int(node.multiple_of)


def _number(node: Constraints) -> Acceptor:
    if node.multiple_of is not None or node.format or _has_odd_bounds(node):
        return lambda value: (value.__class__ is int or value.__class__ is float) and is_valid(node, value)
    low, high, _ = _bounds(node, -INT64, INT64 - 1)
    bounded = node.has_number_bounds
    least, most = node.minimum, node.maximum

    def accept(value: Any) -> bool:
        if value.__class__ is int:
            return bool(low <= value <= high)
        if value.__class__ is not float:
            return False
        if not bounded:
            return True
        above = least is None or value > least or (value == least and not node.exclusive_minimum)
        return above and (most is None or value < most or (value == most and not node.exclusive_maximum))

    return accept


def _one_of(plain: Acceptor, node: Constraints) -> Acceptor:
    texts = node.allowed[0]
    if plain is any_text:
        return lambda value: value.__class__ is str and value in texts
    return lambda value: plain(value) and ((value.__class__ is str and value in texts) or is_valid(node, value))


def _list(node: Constraints) -> Acceptor:
    low, high = node.min_items or 0, node.max_items if node.max_items is not None else 1 << 62
    below = node.items
    rule: Acceptor | None = None

    def accept(value: Any) -> bool:
        nonlocal rule
        if value.__class__ is not list or not low <= len(value) <= high:
            return False
        if below is None:
            return True
        if rule is None:
            rule = _nullable(below)
        if rule is any_text:
            return all(item.__class__ is str for item in value)
        for item in value:  # noqa: SIM110 - a generator costs as much as the check
            if not rule(item):
                return False
        return True

    return accept


def _object(node: Constraints) -> Acceptor:
    rules: dict[str, Acceptor] = {}
    get = rules.get
    names, required = frozenset(node.property_names), node.required
    extra = node.additional
    low, high = node.min_properties or 0, node.max_properties if node.max_properties is not None else 1 << 62
    counted = low > 0 or node.max_properties is not None

    def rule_of(name: str) -> Acceptor:
        below = node.field(name) if name in names else extra
        if below is None:
            return _ignored
        found = _nullable(below)
        if name in names:
            rules[name] = found
        return found

    def accept(value: Any) -> bool:
        if value.__class__ is not dict or (counted and not low <= len(value) <= high):
            return False
        for name, item in value.items():
            rule = get(name) or rule_of(name)
            if (rule is not any_text or item.__class__ is not str) and not rule(item):
                return False
        for name in required:  # noqa: SIM110 - as above
            if name not in value:
                return False
        return True

    return accept


def _ignored(_: Any) -> bool:
    return True


def _nullable(node: Constraints) -> Acceptor:
    rule = acceptor(node)
    if not node.nullable or node.enum:
        return rule
    return lambda value: value is None or rule(value)


def _with_junctors(plain: Acceptor, node: Constraints) -> Acceptor:
    all_of, any_of, one_of = _exact(node.all_of), _exact(node.any_of), _exact(node.one_of)
    quickly = [acceptor(below) for below in node.any_of]  # whose No takes no words to be found out
    negated = _exact((node.not_,) if node.not_ is not None else ())

    def accept(value: Any) -> bool:
        if not plain(value):
            return False
        for rule in all_of:
            if not rule(value):
                return False
        if any_of and not any(rule(value) for rule in quickly) and not any(rule(value) for rule in any_of):
            return False
        if one_of and sum(1 for rule in one_of if rule(value)) != 1:
            return False
        return not (negated and negated[0](value))

    return accept


def _exact(nodes: Sequence[Constraints]) -> list[Acceptor]:
    """Functions whose No is a No as well."""
    return [_exactly(node) for node in nodes]


def _exactly(node: Constraints) -> Acceptor:
    required = node.required
    if required and not node.asks_besides_required:

        def has_required(value: Any) -> bool:
            return value.__class__ is not dict or all(name in value for name in required)

        return has_required
    rule = acceptor(node)
    return lambda value: rule(value) or is_valid(node, value)
