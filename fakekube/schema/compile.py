"""From a schema node to the shape that reads it.

A shape is made once for each node and kept on it, so that every kind of a release shares those of
pod templates and metadata. What Go knows decides: the type text of a field tells widths and names,
its flags tell what is left out.
Upstream has no counterpart: Go's reflection does this.
"""

from collections.abc import Callable, Mapping

from fakekube.schema.composites import Alternatives, FieldPlan, ListOf, MapOf, Struct
from fakekube.schema.scalars import (
    Amount,
    Anything,
    Bytes,
    Flag,
    Integer,
    IntOrString,
    MicroTime,
    Number,
    Shape,
    Text,
    Time,
)
from fakekube.schema.structural import GoField, Schema

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
_SPECIAL: Mapping[str, Callable[[str], Shape]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": Amount,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": IntOrString,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": Anything,
    _META + "Time": Time,
    _META + "MicroTime": MicroTime,
    _META + "FieldsV1": Anything,
    _EXTENSIONS + "JSON": Anything,
}
# Lists that are left out when there are none, and that may not be empty: defaults and checks tell
# the one from the other.
_SEEN_WHEN_EMPTY = (("HPAScalingRules", "policies"),)
_ALTERNATIVES = {
    _EXTENSIONS + "JSONSchemaPropsOrArray": "schema",
    _EXTENSIONS + "JSONSchemaPropsOrBool": "bool",
    _EXTENSIONS + "JSONSchemaPropsOrStringArray": "string",
}


def shape_of(schema: Schema) -> Shape:
    """The shape of a definition.

    A struct is read as a whole body is: its name stands in complaints.
    """
    made = schema.shape
    if not isinstance(made, Shape):
        go = schema.go
        made = schema.shape = _shape(schema, f"{go.package}.{go.name}" if go else "interface {}")
    return made


def _shape(schema: Schema, go_type: str) -> Shape:
    """The shape of a field's node; ``go_type`` may say after ``=`` what a named list or map is made
    of.
    """
    printed, _, made_of = go_type.partition("=")
    special = _SPECIAL.get(schema.name)
    if special is not None:
        return special(printed)
    if schema.name in _ALTERNATIVES:
        return _alternatives(schema, printed)
    if schema.is_struct:
        return _struct(schema, printed)
    if schema.type == "array":
        assert schema.items is not None
        return ListOf(printed, _shape(schema.items, _element(printed, made_of)))
    if schema.additional is not None:
        return MapOf(printed, _shape(schema.additional, _element(printed, made_of)))
    if schema.type == "string":
        return Bytes("[]uint8") if schema.format == "byte" else Text(printed)
    if schema.type == "integer":
        return Integer(printed)
    if schema.type == "boolean":
        return Flag(printed)
    return Number(printed) if schema.type == "number" else Anything(printed)


def _element(printed: str, made_of: str) -> str:
    """The type of the items of a list or the values of a map."""
    named, inner = _inside(printed), _inside(made_of)
    if not named:
        return inner
    return f"{named}={inner}" if inner and inner != named else named


def _inside(go_type: str) -> str:
    if go_type.startswith("[]"):
        return go_type[2:]
    return go_type.partition("]")[2] if go_type.startswith("map[") else ""


def _struct(schema: Schema, go_type: str) -> Struct:
    if isinstance(schema.shape, Struct):
        return schema.shape

    def plan() -> dict[str, FieldPlan]:
        go = schema.go
        assert go is not None
        kind = schema.name.rpartition(".")[2]
        return {
            name: _field(name, field, schema.properties[name], seen_when_empty=(kind, name) in _SEEN_WHEN_EMPTY)
            for name, field in go.fields.items()
        }

    made = schema.shape = Struct(go_type, plan)
    return made


def _field(name: str, field: GoField, schema: Schema, *, seen_when_empty: bool = False) -> FieldPlan:
    shape = _shape(schema, field.type)
    omitted = field.omit_zero or (field.omit_empty and (field.pointer or shape.omittable))
    return FieldPlan(
        shape=shape,
        label=f"{field.embedded}.{name}" if field.embedded else name,
        omitted_when_empty=not field.pointer and omitted and not seen_when_empty,
        printed_when_missing=not omitted,
        pointer=field.pointer,
    )


def _alternatives(schema: Schema, go_type: str) -> Alternatives:
    whole = shape_of(schema.sibling(_EXTENSIONS + "JSONSchemaProps"))
    assert isinstance(whole, Struct)
    kind = _ALTERNATIVES[schema.name]
    items: Shape | None = {"schema": whole, "string": Text("string")}.get(kind)
    return Alternatives(go_type, whole, items, flag=kind == "bool")
