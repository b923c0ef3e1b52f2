"""What a schema asks of values, node by node, read from an ``openAPIV3Schema``.

``structural.Schema`` keeps these keywords as they are; here they become what ``violations`` and
``acceptors`` work with. A node makes its children on first use. Upstream:
apiextensions-apiserver/pkg/apiserver/validation (ConvertJSONSchemaProps, formats.go).
"""

from collections.abc import Callable, Sequence

import orjson

from fakekube.apiextensions.objects.formats import Format, format_named
from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Json, Tree

# the minor number of the release in which numbers are held to the range of their format
RANGES_SINCE = 36
INTEGER_FORMATS = ("int32", "int64")
NUMBER_FORMATS = ("float", "double")

Number = int | float
Allowed = tuple[frozenset[str], tuple[Json, ...], FieldError]


class Constraints:
    """What one node asks.

    ``types`` are the types that are allowed, none for any. ``format`` is empty when it is not one
    that is checked. Bounds are None where there is none. ``number_type`` is integer or number when
    numbers are held to the range of their format, else empty.
    """

    __slots__ = (
        "_additional", "_allowed", "_items", "_properties", "_tree", "all_of", "any_of", "enum", "exclusive_maximum",
        "exclusive_minimum", "fits", "format", "is_format", "max_items", "max_length", "max_properties", "maximum", "min_items",
        "min_length", "min_properties", "minimum", "minor", "multiple_of", "not_", "nullable", "number_type", "one_of",
        "pattern", "required", "types",
    )  # fmt: skip

    def __init__(self, tree: Tree, minor: int) -> None:
        get = tree.get
        self._tree, self.minor = tree, minor
        self._properties: dict[str, Constraints] = {}
        self._items: Constraints | None = None
        self._additional: Constraints | None = None
        self._allowed: Allowed | None = None
        self.fits: Callable[[Json], bool] | None = None  # what ``acceptors`` made of this node
        kind: str = get("type", "")
        self.types: tuple[str, ...] = (kind,) if kind else ()
        if get("x-kubernetes-int-or-string"):
            self.types = ("integer", "string")
        self.nullable: bool = get("nullable", False)
        self.format = _checked_format(get("format", ""), self.types, minor)
        self.is_format: Format | None = None
        if self.format and self.types != ("integer",) and self.types != ("number",):
            self.is_format = format_named(self.format, minor)
        self.number_type = self.types[0] if len(self.types) == 1 and self.types[0] in ("integer", "number") else ""
        if minor < RANGES_SINCE:
            self.number_type = ""
        self.enum: Sequence[Json] = get("enum") or ()
        self.pattern: str = get("pattern", "")
        self.required: tuple[str, ...] = tuple(get("required") or ())
        self.minimum: Number | None = get("minimum")
        self.maximum: Number | None = get("maximum")
        self.exclusive_minimum: bool = get("exclusiveMinimum", False)
        self.exclusive_maximum: bool = get("exclusiveMaximum", False)
        self.multiple_of: Number | None = get("multipleOf")
        self.min_length: int | None = get("minLength")
        self.max_length: int | None = get("maxLength")
        self.min_items: int | None = get("minItems")
        self.max_items: int | None = get("maxItems")
        self.min_properties: int | None = get("minProperties")
        self.max_properties: int | None = get("maxProperties")
        self.all_of = self._several(get("allOf"))
        self.any_of = self._several(get("anyOf"))
        self.one_of = self._several(get("oneOf"))
        negated = get("not")
        self.not_ = Constraints(negated, minor) if negated is not None else None

    def _several(self, trees: Sequence[Tree] | None) -> "tuple[Constraints, ...]":
        return tuple(Constraints(tree, self.minor) for tree in trees or ())

    @property
    def property_names(self) -> Sequence[str]:
        """The names of the fields that the node knows, in the order of the schema."""
        return tuple(self._tree.get("properties") or ())

    def field(self, name: str) -> "Constraints | None":
        """What is asked of a field; None for one that the node does not know."""
        found = self._properties.get(name)
        if found is None:
            tree = (self._tree.get("properties") or {}).get(name)
            if tree is None:
                return None
            found = self._properties[name] = Constraints(tree, self.minor)
        return found

    @property
    def items(self) -> "Constraints | None":
        """What is asked of a list's items."""
        if self._items is None and isinstance(tree := self._tree.get("items"), dict):
            self._items = Constraints(tree, self.minor)
        return self._items

    @property
    def additional(self) -> "Constraints | None":
        """What is asked of the entries that are no properties."""
        if self._additional is None and isinstance(tree := self._tree.get("additionalProperties"), dict):
            self._additional = Constraints(tree, self.minor)
        return self._additional

    @property
    def allowed(self) -> "Allowed":
        """What ``enum`` allows: texts, other values, and the error for a value that is neither,
        yet without its place and value.
        """
        if self._allowed is None:
            shown = [value if isinstance(value, str) else orjson.dumps(value).decode() for value in self.enum]
            texts = frozenset(value for value in self.enum if isinstance(value, str))
            others = tuple(value for value in self.enum if not isinstance(value, str))
            self._allowed = texts, others, field_errors.not_supported("", "", shown)
        return self._allowed

    @property
    def has_junctors(self) -> bool:
        """Whether other schemas decide, too: allOf, anyOf, oneOf or not."""
        return bool(self.all_of or self.any_of or self.one_of or self.not_)

    @property
    def asks_besides_required(self) -> bool:
        """Whether the node asks more than that some fields are there."""
        return not self._tree.keys() <= {"required", "description"}

    @property
    def has_number_bounds(self) -> bool:
        """Whether anything is asked of numbers."""
        return self.minimum is not None or self.maximum is not None or self.multiple_of is not None

    @property
    def list_keys(self) -> tuple[str, ...]:
        """The keys by which items of a list are known from one version to the next; none for
        lists of other types.
        """
        if self._tree.get("type") != "array" or self._tree.get("x-kubernetes-list-type") != "map":
            return ()
        return tuple(self._tree.get("x-kubernetes-list-map-keys") or ())


def _checked_format(name: str, types: Sequence[str], minor: int) -> str:
    """The format, if it is one that is looked at for the type."""
    return name if name and is_checked_format(name, types[0] if len(types) == 1 else "", minor) else ""


def is_checked_format(name: str, type_: str, minor: int) -> bool:
    """Whether values of a type, empty for any, are checked against a format by a release."""
    if type_ == "integer":
        return name in INTEGER_FORMATS
    if type_ == "number":
        return name in NUMBER_FORMATS
    return type_ in ("", "string") and format_named(name, minor) is not None
