"""What templates may call: Go's own functions, those of sprig that Stages use, and how values are
printed.

Upstream: text/template/funcs.go, Masterminds/sprig, kwok/pkg/utils/gotpl. Left out: sprig's
functions of dates, cryptography, paths and the environment; what is left to chance (``randInt`` and
its like) would make two histories of one seed.
"""

import base64
import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from fakekube.util import regex

VERB = re.compile(r"%([-+# 0]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])")


def shown(value: Any) -> str:
    """A value as Go's ``%v`` prints it."""
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{shown(part)}" for key, part in sorted(value.items())) + "]"
    if isinstance(value, list | tuple):
        return "[" + " ".join(shown(part) for part in value) + "]"
    return str(value)


def quote(value: Any) -> str:
    """A text in double quotes; what is none as its JSON in quotes, as KWOK has it."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return orjson.dumps(text).decode()


def to_yaml(value: Any, indent: int = 0) -> str:
    """YAML, indented by so many steps of two, then on a line of its own."""
    import yaml

    text = yaml.safe_dump(value, default_flow_style=False, sort_keys=True)
    return "\n".join(["", *text.splitlines(), ""]).replace("\n", "\n" + "  " * indent) if indent else text


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if value is None:
            return None
        value = value.get(key) if isinstance(value, dict) else value[key]
    return value


def _equal(first: Any, *others: Any) -> bool:
    return any(_comparable(first) == _comparable(other) for other in others)


def _comparable(value: Any) -> Any:
    return ("bool", value) if isinstance(value, bool) else value


def _printf(form: str, *values: Any) -> str:
    left = list(values)

    def one(match: re.Match[str]) -> str:
        flags, width, precision, verb = match.groups()
        if verb == "%":
            return "%"
        if not left:
            return f"%!{verb}(MISSING)"
        value = left.pop(0)
        if verb == "d":
            text = str(int(value))
        elif verb in "feg":
            text = format(float(value), f".{precision or 6}{verb}")
        elif verb == "q":
            text = quote(shown(value))
        elif verb in "xX":
            text = format(value if isinstance(value, int) else int.from_bytes(str(value).encode(), "big"), verb)
        else:
            text = shown(value)[:int(precision)] if precision and verb == "s" else shown(value)
        fill = "0" if "0" in flags and "-" not in flags else " "
        return text.ljust(int(width or 0)) if "-" in flags else text.rjust(int(width or 0), fill)

    return VERB.sub(one, form)


def _print(*values: Any) -> str:
    """As Go's Sprint: a space between two values of which neither is a text."""
    parts = [shown(value) for value in values[:1]]
    for before, value in itertools.pairwise(values):
        parts += ["" if isinstance(before, str) or isinstance(value, str) else " ", shown(value)]
    return "".join(parts)


def _integer(value: Any) -> int:
    """As sprig converts: what is no number is nothing."""
    try:
        return int(float(value)) if isinstance(value, str) else int(value or 0)
    except ValueError:
        return 0


def _divided(left: Any, right: Any) -> int:
    quotient = abs(_integer(left)) // abs(_integer(right))
    return quotient if (_integer(left) < 0) == (_integer(right) < 0) else -quotient


def _product(*factors: Any) -> int:
    result = 1
    for factor in factors:
        result *= _integer(factor)
    return result


def _dict(*pairs: Any) -> dict[str, Any]:
    return {shown(key): value for key, value in zip(pairs[::2], [*pairs[1::2], *([""] * (len(pairs) % 2))], strict=True)}


def _changed(tree: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    tree[key] = value
    return tree


def _without(tree: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in tree.items() if key not in keys}


def _merged(*trees: dict[str, Any]) -> dict[str, Any]:
    return {key: value for tree in reversed(trees) for key, value in tree.items()}


def _matches(pattern: str, text: str) -> bool:
    """As sprig has it: what is no expression matches nothing."""
    try:
        return regex.compiled(pattern).is_in(text)
    except regex.RegexError:
        return False


def _truncated(length: int, text: str) -> str:
    return text[length:] if length < 0 else text[:length]


def _indented(spaces: int, text: str) -> str:
    return "\n".join(" " * spaces + line for line in text.split("\n"))


def _kind(value: Any) -> str:
    names = {bool: "bool", int: "int", float: "float64", str: "string", list: "slice", dict: "map"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "invalid")


BUILT_IN: Mapping[str, Callable[..., Any]] = {
    # Go's own; ``and`` and ``or`` are the renderer's
    "and": lambda *values: values[-1], "or": lambda *values: values[-1], "not": lambda value: not value,
    "eq": _equal, "ne": lambda left, right: not _equal(left, right), "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right, "gt": lambda left, right: left > right, "ge": lambda left, right: left >= right,
    "index": _index, "len": lambda value: len(value or ()), "print": _print, "printf": _printf,
    "println": lambda *values: " ".join(shown(value) for value in values) + "\n",
    "slice": lambda value, start=0, end=None: value[start:end],
    # sprig's
    "default": lambda fallback, value=None: value or fallback, "empty": lambda value: not value,
    "coalesce": lambda *values: next((value for value in values if value), None),
    "ternary": lambda yes, no, condition: yes if condition else no,
    "dict": _dict, "list": lambda *values: list(values), "get": lambda tree, key: (tree or {}).get(key, ""),
    "set": _changed, "unset": _without, "omit": _without,
    "pick": lambda tree, *keys: {key: value for key, value in tree.items() if key in keys}, "merge": _merged,
    "hasKey": lambda tree, key: key in (tree or {}), "keys": sorted,
    "values": lambda tree: list(tree.values()),
    "first": lambda values: values[0] if values else None, "last": lambda values: values[-1] if values else None,
    "rest": lambda values: values[1:], "initial": lambda values: values[:-1], "has": lambda value, values: value in values,
    "append": lambda values, value: [*values, value], "concat": lambda *lists: [value for values in lists for value in values],
    "uniq": lambda values: list(dict.fromkeys(values)), "until": lambda count: list(range(count)),
    "add": lambda *values: sum(_integer(value) for value in values), "add1": lambda value: _integer(value) + 1,
    "sub": lambda left, right: _integer(left) - _integer(right), "mul": _product, "div": _divided,
    "mod": lambda left, right: _integer(left) - _integer(right) * _divided(left, right),
    "max": lambda *values: max(_integer(value) for value in values), "min": lambda *values: min(
        _integer(value) for value in values),
    "int": _integer, "int64": _integer, "atoi": _integer, "float64": lambda value: float(value or 0),
    "toString": lambda value: "" if value is None else shown(value), "toJson": lambda value: orjson.dumps(value).decode(),
    "fromJson": orjson.loads, "toYaml": lambda value: to_yaml(value).rstrip("\n"),
    "quote": lambda *values: " ".join(quote(shown(value)) for value in values if value is not None),
    "squote": lambda *values: " ".join(f"'{shown(value)}'" for value in values if value is not None),
    "upper": lambda text: str(text).upper(), "lower": lambda text: str(text).lower(), "title": lambda text: str(text).title(),
    "trim": lambda text: str(text).strip(), "trimPrefix": lambda prefix, text: str(text).removeprefix(prefix),
    "trimSuffix": lambda suffix, text: str(text).removesuffix(suffix), "trunc": _truncated,
    "replace": lambda old, new, text: str(text).replace(old, new), "contains": lambda part, text: part in text,
    "hasPrefix": lambda prefix, text: str(text).startswith(prefix), "hasSuffix": lambda suffix, text: str(text).endswith(suffix),
    "split": lambda separator, text: {f"_{at}": part for at, part in enumerate(str(text).split(separator))},
    "splitList": lambda separator, text: str(text).split(separator), "repeat": lambda count, text: str(text) * count,
    "join": lambda separator, values: separator.join(shown(value) for value in values or ()),
    "indent": _indented, "nindent": lambda spaces, text: "\n" + _indented(spaces, text),
    "b64enc": lambda text: base64.b64encode(str(text).encode()).decode(),
    "b64dec": lambda text: base64.b64decode(text).decode(), "regexMatch": _matches,
    "kindIs": lambda kind, value: kind == _kind(value), "kindOf": _kind,
    # KWOK's
    "Quote": quote, "YAML": to_yaml,
}
