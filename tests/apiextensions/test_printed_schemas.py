"""How schemas and versions are shown in errors, which fields a root may have beside a status, and
what is said of lists of items and of rules that no type can be made for.
"""

from typing import Any

import pytest

from fakekube.apiextensions.validation import internal, schemas
from fakekube.apiextensions.validation.schemas import Rules, has_unpruned_defaults, is_structural, schema_errors
from fakekube.apiextensions.validation.structural import unsupported
from fakekube.apimachinery.types import Tree

P = "x-kubernetes-"
TEXT: Tree = {"type": "string"}
RULE: Tree = {"rule": "true"}
BARE: Tree = {
    "ID": "", "Schema": "", "Ref": None, "Description": "", "Type": "", "Nullable": False, "Format": "", "Title": "",
    "Default": None, "Maximum": None, "ExclusiveMaximum": False, "Minimum": None, "ExclusiveMinimum": False, "MaxLength": None,
    "MinLength": None, "Pattern": "", "MaxItems": None, "MinItems": None, "UniqueItems": False, "MultipleOf": None, "Enum": None,
    "MaxProperties": None, "MinProperties": None, "Required": None, "Items": None, "AllOf": None, "OneOf": None, "AnyOf": None,
    "Not": None, "Properties": None, "AdditionalProperties": None, "PatternProperties": None, "Dependencies": None,
    "AdditionalItems": None, "Definitions": None, "ExternalDocs": None, "Example": None, "XPreserveUnknownFields": None,
    "XEmbeddedResource": False, "XIntOrString": False, "XListMapKeys": None, "XListType": None, "XMapType": None,
    "XValidations": None}
SHOWN_TEXT = {**BARE, "Type": "string"}


@pytest.mark.parametrize(("name", "value", "shown_as", "shown"), [
    *((name, value, go, value) for name, value, go in (
        ("id", "i", "ID"), ("$schema", "s", "Schema"), ("$ref", "r", "Ref"), ("description", "d", "Description"),
        ("type", "object", "Type"), ("nullable", True, "Nullable"), ("format", "f", "Format"), ("title", "t", "Title"),
        ("default", {"a": 1}, "Default"), ("maximum", 1, "Maximum"), ("exclusiveMaximum", True, "ExclusiveMaximum"),
        ("minimum", 1, "Minimum"), ("exclusiveMinimum", True, "ExclusiveMinimum"), ("maxLength", 1, "MaxLength"),
        ("minLength", 1, "MinLength"), ("pattern", "p", "Pattern"), ("maxItems", 1, "MaxItems"), ("minItems", 1, "MinItems"),
        ("uniqueItems", True, "UniqueItems"), ("multipleOf", 2, "MultipleOf"), ("enum", ["a"], "Enum"),
        ("maxProperties", 1, "MaxProperties"), ("minProperties", 1, "MinProperties"), ("required", ["a"], "Required"),
        ("example", {"b": 1}, "Example"), (f"{P}preserve-unknown-fields", True, "XPreserveUnknownFields"),
        (f"{P}embedded-resource", True, "XEmbeddedResource"), (f"{P}int-or-string", True, "XIntOrString"),
        (f"{P}list-map-keys", ["k"], "XListMapKeys"), (f"{P}list-type", "set", "XListType"),
        (f"{P}map-type", "atomic", "XMapType"))),
    *((name, [TEXT, {}], go, [SHOWN_TEXT, BARE]) for name, go in (("allOf", "AllOf"), ("oneOf", "OneOf"), ("anyOf", "AnyOf"))),
    *((name, [], go, None) for name, go in (("allOf", "AllOf"), ("oneOf", "OneOf"), ("anyOf", "AnyOf"))),
    ("items", TEXT, "Items", {"Schema": SHOWN_TEXT, "JSONSchemas": None}),
    ("items", [TEXT], "Items", {"Schema": None, "JSONSchemas": [SHOWN_TEXT]}), ("not", TEXT, "Not", SHOWN_TEXT),
    *((name, {"b": TEXT, "a": {}}, go, {"a": BARE, "b": SHOWN_TEXT}) for name, go in (
        ("properties", "Properties"), ("patternProperties", "PatternProperties"), ("definitions", "Definitions"))),
    *((name, value, go, shown) for name, go in (
        ("additionalProperties", "AdditionalProperties"), ("additionalItems", "AdditionalItems")) for value, shown in (
        (True, {"Allows": True, "Schema": None}), (False, {"Allows": False, "Schema": None}),
        (TEXT, {"Allows": True, "Schema": SHOWN_TEXT}))),
    ("dependencies", {"b": ["x"], "a": TEXT}, "Dependencies", {
        "a": {"Schema": SHOWN_TEXT, "Property": None}, "b": {"Schema": None, "Property": ["x"]}}),
    ("dependencies", {}, "Dependencies", None),
    ("externalDocs", {"url": "u", "description": "d"}, "ExternalDocs", {"Description": "d", "URL": "u"}),
    ("externalDocs", {}, "ExternalDocs", {"Description": "", "URL": ""}), (f"{P}validations", [], "XValidations", None),
    (f"{P}validations", [RULE, {"rule": "r", "message": "m", "messageExpression": "e", "reason": "FieldValueInvalid",
                                "fieldPath": ".a", "optionalOldSelf": False}], "XValidations", [
        {"Rule": "true", "Message": "", "MessageExpression": "", "Reason": None, "FieldPath": "", "OptionalOldSelf": None},
        {"Rule": "r", "Message": "m", "MessageExpression": "e", "Reason": "FieldValueInvalid", "FieldPath": ".a",
         "OptionalOldSelf": False}]),
])
def test_a_field_of_a_schema_as_it_is_shown(name: str, value: Any, shown_as: str, shown: Any) -> None:
    """Given a schema with one field / when it is shown / then all fields of Go's struct are, in
    their order, and maps by the alphabet.
    """
    found = internal.printed_schema({name: value})
    assert found == {**BARE, shown_as: shown}
    assert list(found) == list(BARE)
    assert repr(found[shown_as]) == repr(shown)


def test_versions_as_they_are_shown() -> None:
    """Given a version with nothing and one with all / when they are shown / then it is as Go's
    structs.
    """
    full = {
        "name": "v1", "served": True, "storage": True, "deprecated": True, "deprecationWarning": "w",
        "schema": {"openAPIV3Schema": TEXT}, "subresources": {"status": {}, "scale": {
            "specReplicasPath": ".spec.a", "statusReplicasPath": ".status.b", "labelSelectorPath": ".status.c"}},
        "additionalPrinterColumns": [{}, {"name": "N", "type": "string", "format": "date", "description": "d", "priority": 1,
                                          "jsonPath": ".a"}],
        "selectableFields": [{"jsonPath": ".spec.x"}, {}]}
    found = internal.printed_versions([{}, full, {"schema": {}, "subresources": {}}, {"subresources": {"scale": {}}}])
    assert repr(found) == repr([
        {"Name": "", "Served": False, "Storage": False, "Deprecated": False, "DeprecationWarning": None, "Schema": None,
         "Subresources": None, "AdditionalPrinterColumns": None, "SelectableFields": None},
        {"Name": "v1", "Served": True, "Storage": True, "Deprecated": True, "DeprecationWarning": "w",
         "Schema": {"OpenAPIV3Schema": SHOWN_TEXT}, "Subresources": {"Status": {}, "Scale": {
             "SpecReplicasPath": ".spec.a", "StatusReplicasPath": ".status.b", "LabelSelectorPath": ".status.c"}},
         "AdditionalPrinterColumns": [
             {"Name": "", "Type": "", "Format": "", "Description": "", "Priority": 0, "JSONPath": ""},
             {"Name": "N", "Type": "string", "Format": "date", "Description": "d", "Priority": 1, "JSONPath": ".a"}],
         "SelectableFields": [{"JSONPath": ".spec.x"}, {"JSONPath": ""}]},
        {"Name": "", "Served": False, "Storage": False, "Deprecated": False, "DeprecationWarning": None,
         "Schema": {"OpenAPIV3Schema": None}, "Subresources": {"Status": None, "Scale": None}, "AdditionalPrinterColumns": None,
         "SelectableFields": None},
        {"Name": "", "Served": False, "Storage": False, "Deprecated": False, "DeprecationWarning": None, "Schema": None,
         "Subresources": {"Status": None, "Scale": {"SpecReplicasPath": "", "StatusReplicasPath": "", "LabelSelectorPath": None}},
         "AdditionalPrinterColumns": None, "SelectableFields": None}])


def told(root: Tree, rules: Rules | None = None, *, status: bool = False) -> list[str]:
    found = schema_errors({"openAPIV3Schema": root}, "s", rules or Rules(release="1.37"), status=status)
    return [str(error).replace("s.openAPIV3Schema", "S") for error in found]


def of_spec(spec: Tree, rules: Rules | None = None) -> list[str]:
    return [text.replace("S.properties[spec]", "X") for text in told({"type": "object", "properties": {"spec": spec}}, rules)]


AT_ROOT = (
    "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems "
    "MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields "
    "are allowed at the root of the schema if the status subresource is enabled")


@pytest.mark.parametrize(("name", "value", "allowed"), [
    *((name, value, False) for name, value in (
        ("id", "i"), ("$schema", "s"), ("$ref", "r"), ("nullable", True), ("default", {}), ("default", {"a": 1}),
        ("enum", [{}]), ("maxProperties", 1), ("minProperties", 0), ("allOf", [{}]), ("oneOf", [{}]), ("anyOf", [{}]),
        ("not", {"required": ["a"]}), ("additionalProperties", True), ("patternProperties", {"a": TEXT}),
        ("dependencies", {"a": ["b"]}), ("additionalItems", True), ("definitions", {"a": TEXT}),
        (f"{P}embedded-resource", True), (f"{P}int-or-string", True), (f"{P}list-map-keys", ["a"]), (f"{P}list-type", "set"),
        (f"{P}map-type", "atomic")) if value != {}),
    *((name, value, True) for name, value in (
        ("description", "d"), ("format", "f"), ("title", "t"), ("maximum", 1), ("exclusiveMaximum", True), ("minimum", 1),
        ("exclusiveMinimum", True), ("maxLength", 1), ("minLength", 1), ("pattern", "p"), ("maxItems", 1), ("minItems", 1),
        ("multipleOf", 1), ("required", ["a"]), ("properties", {"a": TEXT}), ("externalDocs", {}), ("example", 1),
        (f"{P}preserve-unknown-fields", True), (f"{P}validations", [RULE]), ("nullable", False), ("enum", []))),
])
def test_what_a_root_may_have_beside_a_status(name: str, value: Any, allowed: bool) -> None:
    """Given a root with one more field / when there is a status sub-resource / then those that are
    not true of the status alone are refused.
    """
    texts = [text for text in told({"type": "object", name: value}, status=True) if "status subresource" in text]
    assert [text.endswith(AT_ROOT) and text.startswith('S: Invalid value: {"ID":') for text in texts] == [True] * (not allowed)
    assert not any("status subresource" in text for text in told({"type": "object", name: value}))


def test_a_root_of_another_type_beside_a_status() -> None:
    """Given a root that is no object / when there is a status sub-resource / then the type is told,
    but for what stands ahead of it in Go's struct.
    """
    wrong = 'S.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status '
    beside: list[Tree] = [{}, {"nullable": True}, {"enum": ["a"]}]
    for more in beside:
        assert told({**TEXT, **more}, status=True)[0] == f"{wrong}subresource is enabled"
    for name in ("id", "$schema", "$ref"):
        assert told({**TEXT, name: "a"}, status=True)[0].endswith(AT_ROOT)


WITHOUT_TYPE = (
    "Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert "
    "structural schema to CEL declarations")


@pytest.mark.parametrize(("spec", "rules"), [
    ({f"{P}preserve-unknown-fields": True, f"{P}validations": [RULE, RULE]}, Rules(release="1.37")),
    ({"type": "text", f"{P}validations": [RULE]}, Rules(valid_types=False, release="1.37")),
    ({"type": "array", "items": {f"{P}preserve-unknown-fields": True}, f"{P}validations": [RULE]}, Rules(release="1.37")),
])
def test_rules_of_what_has_no_type(spec: Tree, rules: Rules) -> None:
    """Given rules on a node that CEL can have no type of / when the schema is checked / then that
    is an internal error, once a node.
    """
    assert of_spec(spec, rules) == [f"X.{P}validations: {WITHOUT_TYPE}"]


NO_ARRAY = "Forbidden: items must be a schema object and not an array"
TYPES = 'supported values: "array", "boolean", "integer", "number", "object", "string"'


def test_items_that_are_a_list() -> None:
    """Given items as a list of schemas / when the schema is checked / then that is told, and each
    is looked at in its place.
    """
    inner: Tree = {"type": "object", "uniqueItems": True, "items": [{"type": "null"}]}
    schema: Tree = {"type": "array", "items": [{**TEXT, "id": "x"}, {"type": "text"}, inner], f"{P}validations": [RULE]}
    assert of_spec(schema) == [
        f"X.items: {NO_ARRAY}", "X.items[0].id: Forbidden: id is not supported",
        f'X.items[1].type: Unsupported value: "text": {TYPES}', f"X.items[2].items: {NO_ARRAY}",
        "X.items[2].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        f'X.items[2].items[0].type: Unsupported value: "null": {TYPES}',
        "X.items[2].items[0].type: Forbidden: type cannot be set to null, use nullable as an alternative"]
    found = of_spec({"type": "array", "items": [TEXT], f"{P}list-type": "map"})
    assert found[:2] == [
        f"X.items: {NO_ARRAY}", f"X.{P}list-map-keys: Required value: must not be empty if {P}list-type is map"]
    assert found[2].startswith('X.items: Invalid value: {"Schema":null,"JSONSchemas":[{"ID":"","Schema":"",')
    assert found[2].endswith(f"]}}: must only have a single schema if {P}list-type is map")
    assert of_spec({"type": "array", "items": [], f"{P}list-type": "map", f"{P}list-map-keys": ["a"]}) == [
        f'X.items: Invalid value: {{"Schema":null,"JSONSchemas":null}}: must only have a single schema if {P}list-type is map']


PLACES: list[Any] = [
    lambda bad: bad, lambda bad: {"properties": {"a": TEXT, "b": bad}}, lambda bad: {"items": bad}, lambda bad: {"not": bad},
    lambda bad: {"additionalProperties": bad}, lambda bad: {"allOf": [{}, bad]}, lambda bad: {"anyOf": [{}, bad]},
    lambda bad: {"oneOf": [{}, bad]}, lambda bad: {"items": {"properties": {"a": {"not": bad}}}}]


@pytest.mark.parametrize(("bad", "why"), [
    *(({name: value}, f"OpenAPIV3Schema '{told}' is not supported") for name, value, told in (
        ("id", "a", "id"), ("$schema", "a", "schema"), ("$ref", "a", "$ref"),
        ("patternProperties", {"a": TEXT}, "patternProperties"),
        ("dependencies", {"a": ["b"]}, "dependencies"), ("additionalItems", True, "additionalItems"),
        ("additionalItems", False, "additionalItems"), ("definitions", {"a": TEXT}, "definitions"))),
    ({f"{P}preserve-unknown-fields": False}, f"internal error: '{P}preserve-unknown-fields' must be true or undefined"),
    ({"items": [TEXT]}, "OpenAPIV3Schema 'items' must be a schema, but is an array"),
    *(({name: value}, "") for name, value in (
        ("id", ""), ("$ref", ""), ("patternProperties", {}), ("dependencies", {}), ("additionalItems", None), ("definitions", {}),
        (f"{P}preserve-unknown-fields", True), ("items", []), ("additionalProperties", True))),
])
def test_what_keeps_a_schema_from_being_read(bad: Tree, why: str) -> None:
    """Given a part of a schema that no structural one can have / when it stands anywhere / then it
    is said why, and selectable fields are told the same.
    """
    for place in PLACES:
        assert unsupported(place(bad)) == why
    root = {"type": "object", "properties": {"a": TEXT, "b": {"type": "array", **bad}}}
    found = schemas.selectable_errors({"selectableFields": [{"jsonPath": ".a"}]}, root, "v", any_number=False)
    assert [str(error) for error in found] == ([f'v.schema.openAPIV3Schema: Invalid value: "": {why}'] if why else [])
    assert not why or not is_structural(root)
    assert not why or not has_unpruned_defaults({**root, "default": {"c": 1}})


def test_defaults_that_are_not_pruned() -> None:
    """Given structural schemas / when a default has a field that its schema has not / then that is
    known, wherever it stands.
    """
    def of(default: Any, **more: Any) -> Tree:
        return {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": TEXT}, "default": default, **more}}}

    assert [has_unpruned_defaults(schema) for schema in (
        of({"b": "x"}), of({"c": 1}), of({"c": 1}, **{f"{P}preserve-unknown-fields": True}), of(None), of({}),
        {"type": "object", "properties": {"l": {"type": "array", "items": of({"c": 1})}}},
        {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": of({"c": 1})}}},
        {"type": "object", "properties": {"a": {"default": {"c": 1}}}},
    )] == [False, True, False, False, False, True, False, False]
