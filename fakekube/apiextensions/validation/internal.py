"""How upstream prints schemas and versions in errors: as the Go structs of its internal version.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/{types,types_jsonschema}.go.
"""

from typing import Any

from fakekube.apiextensions.validation.structural import is_set
from fakekube.apimachinery.types import Tree

AT_ROOT = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength",
    "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
    "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
)
"""The fields that the root of a schema may have beside a status sub-resource, as Go calls them."""


NOT_AT_ROOT = {
    "id": "ID", "$schema": "Schema", "$ref": "Ref", "nullable": "Nullable", "default": "Default", "enum": "Enum",
    "maxProperties": "MaxProperties", "minProperties": "MinProperties", "allOf": "AllOf", "oneOf": "OneOf", "anyOf": "AnyOf",
    "not": "Not", "additionalProperties": "AdditionalProperties", "patternProperties": "PatternProperties",
    "dependencies": "Dependencies", "additionalItems": "AdditionalItems", "definitions": "Definitions",
    "x-kubernetes-embedded-resource": "XEmbeddedResource", "x-kubernetes-int-or-string": "XIntOrString",
    "x-kubernetes-list-map-keys": "XListMapKeys", "x-kubernetes-list-type": "XListType", "x-kubernetes-map-type": "XMapType",
}
"""All other fields, with their names in Go, in the order of Go's struct."""


def printed_schema(schema: Tree) -> Tree:
    """A schema as Go's JSON encoder prints the internal struct."""
    get = schema.get
    return {
        "ID": get("id", ""), "Schema": get("$schema", ""), "Ref": get("$ref"), "Description": get("description", ""),
        "Type": get("type", ""), "Nullable": get("nullable", False), "Format": get("format", ""), "Title": get("title", ""),
        "Default": get("default"), "Maximum": get("maximum"), "ExclusiveMaximum": get("exclusiveMaximum", False),
        "Minimum": get("minimum"), "ExclusiveMinimum": get("exclusiveMinimum", False), "MaxLength": get("maxLength"),
        "MinLength": get("minLength"), "Pattern": get("pattern", ""), "MaxItems": get("maxItems"), "MinItems": get("minItems"),
        "UniqueItems": get("uniqueItems", False), "MultipleOf": get("multipleOf"), "Enum": get("enum"),
        "MaxProperties": get("maxProperties"), "MinProperties": get("minProperties"), "Required": get("required"),
        "Items": _items(get("items")), "AllOf": _several(get("allOf")), "OneOf": _several(get("oneOf")),
        "AnyOf": _several(get("anyOf")), "Not": _one(get("not")), "Properties": _named(get("properties")),
        "AdditionalProperties": _or_bool(get("additionalProperties")), "PatternProperties": _named(get("patternProperties")),
        "Dependencies": _dependencies(get("dependencies")), "AdditionalItems": _or_bool(get("additionalItems")),
        "Definitions": _named(get("definitions")), "ExternalDocs": _documentation(get("externalDocs")),
        "Example": get("example"), "XPreserveUnknownFields": get("x-kubernetes-preserve-unknown-fields"),
        "XEmbeddedResource": get("x-kubernetes-embedded-resource", False),
        "XIntOrString": get("x-kubernetes-int-or-string", False), "XListMapKeys": get("x-kubernetes-list-map-keys"),
        "XListType": get("x-kubernetes-list-type"), "XMapType": get("x-kubernetes-map-type"),
        "XValidations": [printed_rule(rule) for rule in get("x-kubernetes-validations") or ()] or None,
    }


def printed_rule(rule: Tree) -> Tree:
    """A rule of x-kubernetes-validations."""
    get = rule.get
    return {
        "Rule": get("rule", ""), "Message": get("message", ""), "MessageExpression": get("messageExpression", ""),
        "Reason": get("reason"), "FieldPath": get("fieldPath", ""), "OptionalOldSelf": get("optionalOldSelf")}


def printed_versions(versions: list[Tree]) -> list[Tree]:
    """The versions of a definition, what is the same in all of them being taken out."""
    return [_version(entry) for entry in versions]


def first_field_not_at_root(schema: Tree) -> str:
    """The first field of Go's struct that is set and may not be at the root; empty when there is
    none.
    """
    return next((go for name, go in NOT_AT_ROOT.items() if is_set(schema.get(name))), "")


def _version(entry: Tree) -> Tree:
    schema = entry.get("schema")
    return {
        "Name": entry.get("name", ""), "Served": entry.get("served", False), "Storage": entry.get("storage", False),
        "Deprecated": entry.get("deprecated", False), "DeprecationWarning": entry.get("deprecationWarning"),
        "Schema": None if schema is None else {"OpenAPIV3Schema": _one(schema.get("openAPIV3Schema"))},
        "Subresources": _subresources(entry.get("subresources")),
        "AdditionalPrinterColumns": [_column(column) for column in entry.get("additionalPrinterColumns") or ()] or None,
        "SelectableFields": [{"JSONPath": each.get("jsonPath", "")} for each in entry.get("selectableFields") or ()] or None,
    }


def _subresources(declared: Tree | None) -> Tree | None:
    if declared is None:
        return None
    scale = declared.get("scale")
    return {
        "Status": declared.get("status"),
        "Scale": None if scale is None else {
            "SpecReplicasPath": scale.get("specReplicasPath", ""), "StatusReplicasPath": scale.get("statusReplicasPath", ""),
            "LabelSelectorPath": scale.get("labelSelectorPath")}}


def _column(column: Tree) -> Tree:
    get = column.get
    return {
        "Name": get("name", ""), "Type": get("type", ""), "Format": get("format", ""), "Description": get("description", ""),
        "Priority": get("priority", 0), "JSONPath": get("jsonPath", "")}


def _one(schema: Tree | None) -> Tree | None:
    return None if schema is None else printed_schema(schema)


def _several(schemas: list[Tree] | None) -> list[Tree] | None:
    return None if not schemas else [printed_schema(each) for each in schemas]


def _named(schemas: Tree | None) -> Tree | None:
    return None if not schemas else {name: printed_schema(schemas[name]) for name in sorted(schemas)}


def _items(items: Any) -> Tree | None:
    if items is None:
        return None
    if isinstance(items, list):
        return {"Schema": None, "JSONSchemas": _several(items)}
    return {"Schema": printed_schema(items), "JSONSchemas": None}


def _or_bool(value: Any) -> Tree | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return {"Allows": value, "Schema": None}
    return {"Allows": True, "Schema": printed_schema(value)}


def _dependencies(value: Tree | None) -> Tree | None:
    if not value:
        return None
    return {
        name: {"Schema": None, "Property": value[name]} if isinstance(value[name], list)
        else {"Schema": printed_schema(value[name]), "Property": None}
        for name in sorted(value)}


def _documentation(value: Tree | None) -> Tree | None:
    return None if value is None else {"Description": value.get("description", ""), "URL": value.get("url", "")}
