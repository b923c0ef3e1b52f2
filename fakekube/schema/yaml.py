"""YAML bodies as the API server reads them: turned into JSON first, with the words of Go's YAML package.

Scalars follow YAML 1.1 for booleans and octal numbers, times stay texts, base 60 does not exist. Keys become texts and
are sorted, for that is what upstream's way through JSON does to them. A whole number stays whole however it was
written. Only the first document of a stream counts.

Upstream: sigs.k8s.io/yaml (YAMLToJSON and YAMLToJSONStrict) on go.yaml.in/yaml/v2. Left out: Go's printing of keys that
are neither text, number nor bool.
"""

import base64
import math
import re
from typing import Any

import orjson
import yaml

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json
from fakekube.schema import duplicates

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
          (re.compile(r"[-+]?0[oO]?[0-7]+"), 8), (re.compile(r"[-+]?(0|[1-9][0-9]*)"), 10))  # fmt: skip
_ALIASES_ALWAYS, _VALUES_ALWAYS = 100, 1000
_LONGEST_INTEGER = 70  # 64 bits written in binary, and some signs
_FEW_VALUES, _MANY_VALUES = 400_000, 4_000_000


class YAMLError(ValueError):
    """The body is no YAML, or none that JSON can hold: ``yaml: line 3: did not find expected key``, as Go says it."""


def load(body: bytes) -> tuple[Json, list[str]]:
    """The JSON value of a body, and what is to be said of keys given twice: ``line 10: key "foo" already set in map``.

    Raises YAMLError. A body that is plain JSON, as clients send for server-side apply, takes a short way.
    """
    if body[:1] == b"{":
        try:
            tree = orjson.loads(body)
        except orjson.JSONDecodeError:
            pass
        else:
            if not duplicates.may_repeat(body, tree):
                return _through_json(tree), []
    reader = _Reader(body)
    value = reader.document()
    return _through_json(value), reader.repeated


def _through_json(value: Json) -> Json:
    """What is left after Go has written a value as JSON and read it again."""
    if isinstance(value, dict):
        return {key: _through_json(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_through_json(item) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            name = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
            raise YAMLError(f"json: unsupported value: {name}")
        return int(value) if value.is_integer() and abs(value) < 10**18 else value
    return value


class _Reader:
    """Builds one value from parser events."""

    def __init__(self, body: bytes) -> None:
        self.repeated: list[str] = []
        self._anchors: dict[str, Json] = {}
        self._open: set[str] = set()
        self._values = self._aliased = self._alias_depth = 0
        self._loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(body)

    def document(self) -> Json:
        try:
            self._next()  # the start of the stream
            if not isinstance(self._next(), yaml.DocumentStartEvent):
                return None
            return self._value(self._next())
        except yaml.reader.ReaderError as error:
            raise YAMLError(f"yaml: {error.reason}") from None
        except yaml.MarkedYAMLError as error:
            raise YAMLError(_worded(error)) from None
        except RecursionError:
            raise YAMLError("yaml: exceeded max depth of 10000") from None
        finally:
            self._loader.dispose()

    def _next(self) -> Any:
        return self._loader.get_event()

    def _value(self, event: Any) -> Json:
        self._counted()
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor))
        if event.anchor:
            self._open.add(event.anchor)
        value: Json
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = []
            while not isinstance(item := self._next(), yaml.SequenceEndEvent):
                value.append(self._value(item))
        else:
            value = self._mapping()
        if event.anchor:
            self._open.discard(event.anchor)
            self._anchors[event.anchor] = value
        return value

    def _mapping(self) -> dict[str, Json]:
        out: dict[str, Json] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
                self._merge(out, self._next())
                continue
            key = _key(self._value(event))
            event = self._next()
            value = self._value(event)
            if key in out:
                self.repeated.append(f"line {event.start_mark.line + 1}: key {go_quote(key)} already set in map")
            out[key] = value
        return out

    def _merge(self, out: dict[str, Json], event: Any) -> None:
        merged = self._value(event)
        parts = merged[::-1] if isinstance(merged, list) else [merged]
        for part in parts:
            if not isinstance(part, dict):
                raise YAMLError("yaml: map merge requires map or sequence of maps as the value")
            for key, value in part.items():
                if key in out:
                    self.repeated.append(f"line {event.start_mark.line + 1}: key {go_quote(key)} already set in map")
                out[key] = value

    def _alias(self, anchor: str) -> Json:
        if anchor in self._open:
            raise YAMLError(f"yaml: anchor '{anchor}' value contains itself")
        if anchor not in self._anchors:
            raise YAMLError(f"yaml: unknown anchor '{anchor}' referenced")
        self._alias_depth += 1
        copied = self._copied(self._anchors[anchor])
        self._alias_depth -= 1
        return copied

    def _copied(self, value: Json) -> Json:
        self._counted()
        if isinstance(value, dict):
            return {key: self._copied(item) for key, item in value.items()}
        return [self._copied(item) for item in value] if isinstance(value, list) else value

    def _counted(self) -> None:
        """Refuse a small document that aliases blow up into a huge one."""
        self._values += 1
        if self._alias_depth:
            self._aliased += 1
        if self._aliased <= _ALIASES_ALWAYS or self._values <= _VALUES_ALWAYS:
            return
        span = (min(max(self._values, _FEW_VALUES), _MANY_VALUES) - _FEW_VALUES) / (_MANY_VALUES - _FEW_VALUES)
        if self._aliased / self._values > 0.99 - 0.89 * span:
            raise YAMLError("yaml: document contains excessive aliasing")


def _worded(error: yaml.MarkedYAMLError) -> str:
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        # Upstream counts from one only where its scanner complains.
        line = error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        line = error.context_mark.line
    where = f"line {line}: " if line else ""
    return f"yaml: {where}{error.problem or 'unknown problem parsing YAML content'}"


def _scalar(event: yaml.ScalarEvent) -> Json:
    text: str = event.value
    tag = event.tag or ""
    if tag == "!" or (not tag and not event.implicit[0]):
        return text
    if not tag:
        return _plain(text)
    if tag == _TAG + "binary":
        try:
            return base64.b64decode(text, validate=True).decode("utf-8", "replace")
        except ValueError:
            raise YAMLError("yaml: !!binary value contains invalid base64 data") from None
    wanted = tag.removeprefix(_TAG)
    if wanted not in ("bool", "int", "float", "null"):
        return text
    value = _plain(text)
    found = _tag_of(value)
    if wanted == found:
        return value
    if (wanted, found) == ("float", "int"):
        return float(value)
    raise YAMLError(f"yaml: cannot decode !!{found} `{text}` as a !!{wanted}")


def _tag_of(value: Json) -> str:
    if value is None:
        return "null"
    return {bool: "bool", int: "int", float: "float"}.get(type(value), "str")


def _plain(text: str) -> Json:
    """The value of a scalar without quotes."""
    if not text:
        return None
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
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


def _key(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
        return f"{value:.8g}" if not value.is_integer() else str(int(value))
    if isinstance(value, int):
        return str(value)
    if value is None:
        raise YAMLError("unsupported map key of type: %!s(<nil>), key: <nil>")
    raise YAMLError(f"yaml: invalid map key: {orjson.dumps(value).decode()}")
