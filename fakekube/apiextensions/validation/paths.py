"""Paths in a definition: those of printer columns, of the scale sub-resource, of selectable fields.

Upstream: validation.go and ``ValidFieldPath`` in
apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
"""

from collections.abc import Iterator

from fakekube.apimachinery.field_errors import FieldError, child, duplicate, index, invalid, required, too_many
from fakekube.apimachinery.types import Tree

COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
SELECTABLE_TYPES = ("string", "boolean", "integer")
MAX_SELECTABLE_FIELDS = 8
NOT_SELECTABLE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.")
NO_FIELD = "does not refer to a valid field"
END = "unexpected end of JSON path"


class BadPath(ValueError):
    """A path that leads nowhere in a schema; the text says why."""


def simple_path_errors(text: str, path: str) -> list[FieldError]:
    """A path in dots: ``.spec.replicas``."""
    if not text:
        return [invalid(path, text, "must not be empty")]
    return [] if text[0] == "." else [invalid(path, text, "must be a simple json path starting with .")]


def column_errors(column: Tree, path: str) -> list[FieldError]:
    """One entry of additionalPrinterColumns."""
    found = [] if column.get("name") else [required(child(path, "name"))]
    type_, words = column.get("type", ""), f"must be one of {','.join(COLUMN_TYPES)}"
    if not type_:
        found.append(required(child(path, "type"), words))
    elif type_ not in COLUMN_TYPES:
        found.append(invalid(child(path, "type"), type_, words))
    if column.get("format") and column["format"] not in COLUMN_FORMATS:
        found.append(invalid(child(path, "format"), column["format"], f"must be one of {','.join(COLUMN_FORMATS)}"))
    text, where = column.get("jsonPath", ""), child(path, "JSONPath")
    return [*found, *(simple_path_errors(text, where) if text else [required(where)])]


def subresource_errors(declared: Tree | None, path: str) -> list[FieldError]:
    """The paths of the scale sub-resource."""
    scale = (declared or {}).get("scale")
    if scale is None:
        return []
    found = []
    for name, parent in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        text, where = scale.get(name, ""), child(path, "scale", name)
        if not text:
            found.append(required(where))
        elif wrong := simple_path_errors(text, where):
            found += wrong
        elif not text.startswith(f"{parent}."):
            found.append(invalid(where, text, f"should be a json path under {parent}"))
    text, where = scale.get("labelSelectorPath") or "", child(path, "scale", "labelSelectorPath")
    if text:
        wrong = simple_path_errors(text, where)
        if not wrong and not text.startswith((".spec.", ".status.")):
            wrong = [invalid(where, text, "should be a json path under either .spec or .status")]
        found += wrong
    return found


def selectable_field_errors(fields: list[Tree], schema: Tree, path: str, *, any_number: bool) -> list[FieldError]:
    """selectableFields, looked up in a structural schema.

    ``any_number``: there were too many of them before, and they are the same.
    """
    found: list[FieldError] = []
    unique: dict[str, None] = {}
    for number, field in enumerate(fields):
        text, where = field.get("jsonPath", ""), child(index(path, number), "jsonPath")
        if not text:
            found.append(required(where))
            continue
        try:
            names, target = looked_up(text, schema, arrays=False)
        except BadPath as error:
            found.append(invalid(where, text, f"is an invalid path: {error}"))
            continue
        if names and names[0] == "metadata":
            found.append(invalid(where, text, "must not point to fields in metadata"))
        if target.get("type") not in SELECTABLE_TYPES:
            found.append(invalid(where, text, NOT_SELECTABLE))
        if ".".join(names) in unique:
            found.append(duplicate(where, text))
        unique[".".join(names)] = None
    if len(unique) > MAX_SELECTABLE_FIELDS and not any_number:
        found.append(too_many(path, len(unique), MAX_SELECTABLE_FIELDS))
    return found


def looked_up(text: str, schema: Tree, *, arrays: bool = True) -> tuple[list[str], Tree]:
    """The names on a path of fields and map keys, and the schema that it leads to.

    ``arrays``: whether ``['name']`` is a way to write a name. Raises BadPath.
    """
    tokens, names = _tokens(text), []
    for mark in tokens:
        if mark == "[":
            if not arrays:
                raise BadPath("array notation is not allowed")
            name = _unquoted(next(tokens, None))
            schema = _below(schema, name)
            closing = next(tokens, None)
            if closing is None:
                raise BadPath(END)
            if closing != "]":
                raise BadPath(f"expected ] but got {closing}")
        elif mark == ".":
            following = next(tokens, None)
            if following is None:
                raise BadPath(END)
            name = following
            schema = _below(schema, name)
        else:
            raise BadPath(f"expected [ or . but got: {mark}")
        names.append(name)
    return names, schema


def _below(schema: Tree, name: str) -> Tree:
    properties, additional = schema.get("properties"), schema.get("additionalProperties")
    if properties:
        if name not in properties:
            raise BadPath(NO_FIELD)
        below: Tree = properties[name]
        return below
    if additional is None:
        raise BadPath(NO_FIELD)
    return additional if isinstance(additional, dict) else {}


def _unquoted(token: str | None) -> str:
    if token is None:
        raise BadPath(END)
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise BadPath(f"expected single quoted string but got {token}")
    return token[1:-1].replace("\\'", "'").replace("\\\\", "\\")


def _tokens(text: str) -> Iterator[str]:
    """Delimiters, and what stands between them; a text in single quotes is one token."""
    start = 0
    while start < len(text):
        end = start + 1
        if text[start] == "'":
            while end < len(text) and (text[end] != "'" or text[end - 1] == "\\"):
                end += 1
            end = min(end + 1, len(text))
        elif text[start] not in ".[]":
            while end < len(text) and text[end] not in ".[]":
                end += 1
        yield text[start:end]
        start = end
