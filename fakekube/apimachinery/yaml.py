"""YAML as all of Kubernetes reads it, bodies and files alike: turned into JSON first, with the
words of Go's YAML package.

Scalars follow YAML 1.1 for booleans and octal numbers, times stay texts, base 60 does not exist.
Keys become texts and are sorted, for that is what upstream's way through JSON does to them. A whole
number stays whole however it was written. What is nested deeper than MAX_LEVELS is refused while it
is read: libyaml's own way of making values overruns the stack there. Nothing else calls its
readers; files are read by ``yamlfiles``.

Upstream: sigs.k8s.io/yaml (YAMLToJSON and YAMLToJSONStrict) on go.yaml.in/yaml/v2. Left out: Go's
spelling of floats and large numbers where an error quotes the value of a null key.
"""

import base64
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson
import yaml

from fakekube.apimachinery import duplicates
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json
from fakekube.util.nesting import MAX_LEVELS, is_deep, may_be_deep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, Json] = {
    word: value
    for value, words in (
        (True, "y Y yes Yes YES true True TRUE on On ON"),
        (False, "n N no No NO false False FALSE off Off OFF"),
        (None, "~ null Null NULL"),
        (math.nan, ".nan .NaN .NAN"),
        (math.inf, ".inf .Inf .INF +.inf +.Inf +.INF"),
        (-math.inf, "-.inf -.Inf -.INF"),
    )
    for word in words.split()
}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_BASES = ((re.compile(r"[-+]?0[xX][0-9a-fA-F]+"), 16), (re.compile(r"[-+]?0[bB][01]+"), 2),
          (re.compile(r"[-+]?0[oO]?[0-7]+"), 8),
          (re.compile(r"[-+]?(0|[1-9][0-9]*)"), 10))  # fmt: skip
_ALIASES_ALWAYS, _VALUES_ALWAYS = 100, 1000
_LARGEST_INTEGER = 1 << 63
_LONGEST_INTEGER = 70  # 64 bits written in binary, and some signs
_ALWAYS_INTEGER = 18  # so many digits fit into 63 bits, whatever they are
_TOO_DEEP = "exceeded max depth of 10000"
_PARSERS_LIMIT = "exceeded maximum nesting depth"
"""libyaml's own words, from PyYAML 6.0.4 on: it takes 1000 levels, Go's 10000."""
_FEW_VALUES, _MANY_VALUES = 400_000, 4_000_000


class YAMLError(ValueError):
    """The body is no YAML, or none that JSON can hold: ``yaml: line 3: did not find expected key``,
    as Go says it.

    ``problem`` is the end of that, and ``line`` where it is, counted from 1, where Go often tells
    another; 0 where it is not known.
    """

    def __init__(self, problem: str, *, line: int = 0, told_line: int = 0, package: str = "yaml") -> None:
        super().__init__(": ".join(part for part in (package, told_line and f"line {told_line}", problem) if part))
        self.problem, self.line = problem, line


def load(body: bytes, *, canonical: bool = False) -> tuple[Json, list[str]]:
    """The JSON value of a body's first document, and what is to be said of keys given twice:
    ``line 10: key "foo" already set in map``. Keys are in order.

    Raises YAMLError. A body that is plain JSON, as clients send for server-side apply, takes a
    short way; ``canonical`` says that it gives no key twice.
    """
    tree = _json(body)
    if tree is not None and (canonical or not duplicates.may_repeat(body, tree)):
        return _through_json(tree) if _has_float(tree) else _sorted(tree), []
    reader = _Reader(body)
    value = next(reader.documents(), None)
    return _through_json(value) if reader.has_floats else _sorted(value), reader.repeated


def load_all(body: bytes, *, aliases: bool = True) -> list[Json]:
    """The JSON values of all documents, their keys in the order of the text; of a repeated key the
    last value counts.

    Raises YAMLError, for any alias too where there may be none.
    """
    tree = _json(body)
    if tree is not None:
        return [tree]
    reader = _Reader(body, aliases=aliases)
    values = list(reader.documents())
    return [_through_json(value, sort=False) for value in values] if reader.has_floats else values


def _json(body: bytes) -> Json:
    """The object in a body that is JSON; None for any other. Raises YAMLError for a deep one."""
    if body[:1] != b"{":
        return None
    try:
        tree: Json = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if may_be_deep(body) and is_deep(tree):
        raise YAMLError(_TOO_DEEP)
    return tree


def _has_float(value: Json) -> bool:
    """Whether there is a float anywhere in a value, as a number is that 64 bits do not hold."""
    for item in value.values() if isinstance(value, dict) else value:
        kind = item.__class__
        if kind is float or ((kind is dict or kind is list) and _has_float(item)):
            return True
    return False


def _sorted(value: Json) -> Json:
    """What is left of a value without floats after Go has written it as JSON and read it again: the
    keys are in order.
    """
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


def _through_json(value: Json, *, sort: bool = True) -> Json:
    """What is left after Go has written a value as JSON and read it again."""
    if isinstance(value, dict):
        return {key: _through_json(value[key], sort=sort) for key in (sorted(value) if sort else value)}
    if isinstance(value, list):
        return [_through_json(item, sort=sort) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            name = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
            raise YAMLError(f"unsupported value: {name}", package="json")
        # Go writes whole floats without an exponent up to a point, and reads them again as integers
        # if they fit.
        return int(Decimal(repr(value))) if value.is_integer() and abs(value) < _LARGEST_INTEGER else value
    return value


def _loader(body: bytes) -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)(body)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _check_syntax(body: bytes, before: int) -> None:
    """Parse all of the document after so many others, and look at no value of it. Raises YAMLError.
    """
    loader = _loader(body)
    anchors: dict[str, None] = {}
    level = 0
    try:
        while not isinstance(event := loader.get_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentEndEvent):
                before -= 1
                if before < 0:
                    return
                anchors.clear()
            anchor = getattr(event, "anchor", None)
            if isinstance(event, yaml.AliasEvent) and anchor not in anchors:
                raise YAMLError(f"unknown anchor '{anchor}' referenced", line=_line(event))
            if anchor:
                anchors[anchor] = None
            if isinstance(event, yaml.CollectionStartEvent):
                level += 1
                if level > MAX_LEVELS:  # the parser takes a time that grows with the square of it
                    raise YAMLError(_TOO_DEEP, line=_line(event))
            elif isinstance(event, yaml.CollectionEndEvent):
                level -= 1
    except yaml.reader.ReaderError as error:
        raise YAMLError(error.reason) from None
    except yaml.MarkedYAMLError as error:
        raise _worded(error) from None
    finally:
        loader.dispose()


class _Reader:
    """Builds one value from the parser's events, as they come: a list of them would cost more than
    all the rest.
    """

    def __init__(self, body: bytes, *, aliases: bool = True) -> None:
        self.repeated: list[str] = []
        self.has_floats = False
        self._anchors: dict[str, Json] = {}
        self._open: set[str] = set()
        self._values = self._aliased = self._level = 0
        self._aliases = aliases
        self._body = body
        self._loader = _loader(body)
        self._next: Callable[[], Any] = self._loader.get_event

    def documents(self) -> "Iterator[Json]":
        """The values of the documents, one after the other.

        Upstream parses all of a document first, so what is wrong with that is told first.
        """
        before = 0
        try:
            self._next()  # the start of the stream
            while isinstance(self._next(), yaml.DocumentStartEvent):
                self._values = self._aliased = 0
                self._anchors.clear()
                value = self._value(self._next())
                self._next()  # the end of the document, which may be none
                if self._aliased and is_deep(value):
                    raise YAMLError(_TOO_DEEP)
                yield value
                before += 1
        except (YAMLError, yaml.YAMLError):
            _check_syntax(self._body, before)
            raise
        finally:
            self._loader.dispose()

    def _value(self, event: Any) -> Json:
        self._values += 1
        if self._aliased:
            self._weigh()
        anchor = event.anchor
        if anchor is None:
            return self._scalar(event) if event.__class__ is yaml.ScalarEvent else self._container(event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(anchor, _line(event))
        self._open.add(anchor)
        value = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else self._container(event)
        self._open.discard(anchor)
        self._anchors[anchor] = value
        return value

    def _scalar(self, event: Any) -> Json:
        value = _plain(event.value) if event.tag is None and event.implicit[0] else _tagged(event)
        if value.__class__ is float:
            self.has_floats = True
        return value

    def _container(self, event: Any) -> Json:
        self._level += 1
        if self._level > MAX_LEVELS:
            raise YAMLError(_TOO_DEEP, line=_line(event))
        value = self._sequence() if isinstance(event, yaml.SequenceStartEvent) else self._mapping()
        self._level -= 1
        return value

    def _sequence(self) -> list[Json]:
        out: list[Json] = []
        following, value_of, end = self._next, self._value, yaml.SequenceEndEvent
        while (event := following()).__class__ is not end:
            out.append(value_of(event))
        return out

    def _mapping(self) -> dict[str, Json]:
        out: dict[str, Json] = {}
        seen: set[str | tuple[str, str]] = set()  # 1 and "1" are different keys to YAML
        following, value_of, end = self._next, self._value, yaml.MappingEndEvent
        while (event := following()).__class__ is not end:
            if event.__class__ is yaml.ScalarEvent and event.value == "<<" and event.implicit[0]:
                if event.anchor:
                    self._anchors[event.anchor] = event.value
                self._merge(out, seen, following())
                continue
            name = value_of(event)
            if isinstance(name, dict | list):
                raise YAMLError(f"invalid map key: {_go_syntax(name)}", line=_line(event))
            event = following()
            value = value_of(event)
            key = name if name.__class__ is str else _key(name, value)
            self._note(name, key, seen, event)
            out[key] = value
        return out

    def _note(self, name: Json, key: str, seen: set[str | tuple[str, str]], event: Any) -> None:
        mark = key if name.__class__ is str else (type(name).__name__, key)
        if mark in seen:
            self.repeated.append(f"line {event.start_mark.line + 1}: key {_go_syntax(name)} already set in map")
        seen.add(mark)

    def _merge(self, out: dict[str, Json], seen: set[str | tuple[str, str]], event: Any) -> None:
        merged = self._value(event)
        parts = merged[::-1] if isinstance(merged, list) else [merged]
        for part in parts:
            if not isinstance(part, dict):
                raise YAMLError("map merge requires map or sequence of maps as the value", line=_line(event))
            for key, value in part.items():
                self._note(key, key, seen, event)
                out[key] = value

    def _alias(self, anchor: str, line: int) -> Json:
        if not self._aliases:
            raise YAMLError("aliases are not allowed here", line=line)
        if anchor in self._open:
            raise YAMLError(f"anchor '{anchor}' value contains itself", line=line)
        if anchor not in self._anchors:
            raise YAMLError(f"unknown anchor '{anchor}' referenced", line=line)
        if is_deep(self._anchors[anchor]):
            raise YAMLError(_TOO_DEEP, line=line)
        return self._copied(self._anchors[anchor])

    def _copied(self, value: Json) -> Json:
        self._values += 1
        self._aliased += 1
        self._weigh()
        if isinstance(value, dict):
            return {key: self._copied(item) for key, item in value.items()}
        return [self._copied(item) for item in value] if isinstance(value, list) else value

    def _weigh(self) -> None:
        """Refuse a small document that aliases blow up into a huge one."""
        if self._aliased <= _ALIASES_ALWAYS or self._values <= _VALUES_ALWAYS:
            return
        span = (min(max(self._values, _FEW_VALUES), _MANY_VALUES) - _FEW_VALUES) / (_MANY_VALUES - _FEW_VALUES)
        if self._aliased / self._values > 0.99 - 0.89 * span:
            raise YAMLError("document contains excessive aliasing")


def _worded(error: yaml.MarkedYAMLError) -> YAMLError:
    told = line = 0
    if error.problem_mark is not None:
        line = error.problem_mark.line + 1
    if error.problem == _PARSERS_LIMIT:
        return YAMLError(_TOO_DEEP, line=line)
    if line > 1:
        # Upstream counts from one only where its scanner complains.
        told = line - 1 + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        told = error.context_mark.line
    return YAMLError(error.problem or "unknown problem parsing YAML content", line=line, told_line=told)


def _tagged(event: yaml.ScalarEvent) -> Json:
    """The value of a scalar with quotes or a tag."""
    text: str = event.value
    tag = event.tag
    if tag is None or tag == "!":
        return text
    if tag == _TAG + "binary":
        try:
            return base64.b64decode(text, validate=True).decode("utf-8", "replace")
        except ValueError:
            raise YAMLError("!!binary value contains invalid base64 data", line=_line(event)) from None
    wanted = tag.removeprefix(_TAG)
    if wanted not in ("bool", "int", "float", "null"):
        return text
    value = _plain(text)
    found = _tag_of(value)
    if wanted == found:
        return value
    if (wanted, found) == ("float", "int"):
        return float(value)
    raise YAMLError(f"cannot decode !!{found} `{text}` as a !!{wanted}", line=_line(event))


def _tag_of(value: Json) -> str:
    if value is None:
        return "null"
    return {bool: "bool", int: "int", float: "float"}.get(type(value), "str")


def _plain(text: str) -> Json:
    """The value of a scalar without quotes."""
    if not text:
        return None
    first = text[0]
    if first in "123456789" and len(text) <= _ALWAYS_INTEGER and text.isascii() and text.isdigit():
        return int(text)
    if text in _WORDS:
        return _WORDS[text]
    if first == ".":
        return _as_float(text, text)
    if first not in "+-0123456789":
        return text
    digits = text.replace("_", "")
    for pattern, base in _BASES:
        if len(digits) <= _LONGEST_INTEGER and pattern.fullmatch(digits):
            value = int(digits.lower().replace("0o", "0") if base == 8 else digits, base)
            if -(1 << 63) <= value < 1 << 64:
                return value
    return _as_float(digits, text)


def _as_float(digits: str, text: str) -> Json:
    if not _FLOAT.fullmatch(digits):
        return text
    value = float(digits)
    return text if math.isinf(value) else value


def _key(name: Json, value: Json) -> str:
    """The text of a key that is none."""
    if isinstance(name, bool):
        return "true" if name else "false"
    if isinstance(name, float):
        if not math.isfinite(name):
            return ".nan" if math.isnan(name) else ".inf" if name > 0 else "-.inf"
        return f"{name:.8g}" if not name.is_integer() else str(int(name))
    if isinstance(name, int):
        return str(name)
    shown = "<nil>" if value is None else _go_syntax(value)
    raise YAMLError(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {shown}", package="")


def _go_syntax(value: Json) -> str:
    """A value as Go would spell it in a program."""
    if isinstance(value, dict):
        inner = ", ".join(f"{go_quote(key)}:{_go_syntax(item)}" for key, item in sorted(value.items()))
        return f"map[interface {{}}]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(_go_syntax(item) for item in value)}}}"
    if isinstance(value, str):
        return go_quote(value)
    return "interface {}(nil)" if value is None else orjson.dumps(value).decode()


def line_of(text: str, place: "Sequence[str | int]") -> int:
    """The line, from 1, on which a place of the first document begins, or the nearest around it
    that is there; 1 for a text that is no YAML.

    A place is told inwards: by names of fields, and numbers in lists, counted from 0.
    """
    found, deepest = 1, 0
    path: list[str | int | None] = []  # where the next value stands; None: a key comes
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            mark: Any = event.start_mark
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if isinstance(event, yaml.CollectionEndEvent):
                path.pop()
            elif path and path[-1] is None:
                if not isinstance(event, yaml.ScalarEvent):  # a key that JSON has not
                    break
                path[-1] = event.value
                if _is_around(path, place) and len(path) > deepest:
                    found, deepest = mark.line + 1, len(path)
                continue
            elif isinstance(event, yaml.NodeEvent):
                if path and isinstance(path[-1], int) and _is_around(path, place) and len(path) > deepest:
                    found, deepest = mark.line + 1, len(path)
                if isinstance(event, yaml.CollectionStartEvent):
                    path.append(0 if isinstance(event, yaml.SequenceStartEvent) else None)
                    continue
            else:
                continue
            _step(path)
    except yaml.YAMLError:
        return found
    return found


def _is_around(path: list[str | int | None], place: "Sequence[str | int]") -> bool:
    return len(path) <= len(place) and all(str(one) == str(two) for one, two in zip(path, place, strict=False))


def _step(path: list[str | int | None]) -> None:
    """A value has ended: what comes next in the collection around it."""
    if path:
        path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
