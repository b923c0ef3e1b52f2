"""What the value of a mutation's expression makes of an object.

Upstream: plugin/policy/mutating/patch.
"""

import base64
from typing import Any

from fakekube.admission import versions
from fakekube.admission.expressions import Activation, Expression
from fakekube.admission.services import Services
from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Json, Tree
from fakekube.cel import tree as syntax
from fakekube.cel import values
from fakekube.cel.admission import OBJECT
from fakekube.cel.standard.times import duration_text, timestamp_text
from fakekube.managedfields.atomics import AtomicsFound
from fakekube.managedfields.manager import FieldManager
from fakekube.managedfields.nodes import TypedError
from fakekube.patch import json_patch as patching
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

TEST_FAILED = ": test failed"


class PatchFailed(Exception):
    """A mutation that cannot be applied; the text is upstream's."""


def apply(services: Services, attrs: Attributes, kind: Kind, expression: Expression, activation: Activation) -> Tree | None:
    """The object with the configuration merged that an expression gives. Raises PatchFailed."""
    config = as_json(expression.value(activation))
    problems = _misnamed(expression.program.root, OBJECT)
    if problems:
        raise PatchFailed(f"type mismatch: {problems}")
    shown = versions.shown(services, attrs, attrs.obj, kind, final=False)
    assert shown is not None, "there is an object to change"
    gvk = versions.shown_kind(kind, attrs.subresource)
    fields = services.stores.store(kind).fields if gvk == kind.gvk else FieldManager(
        services.definitions.schema(gvk), gvk.api_version)
    assert isinstance(fields, FieldManager)
    try:
        return fields.merge(shown, {**config, "apiVersion": gvk.api_version, "kind": gvk.kind})
    except TypedError as error:
        raise PatchFailed(f"error applying patch: failed to convert patch object to typed object: {error}") from None
    except AtomicsFound as error:
        raise PatchFailed(f"error applying patch: invalid ApplyConfiguration: {error}") from None


def json_patch(
    services: Services, attrs: Attributes, kind: Kind, expression: Expression, activation: Activation,
) -> Tree | None:
    """The object after the operations that an expression gives; None when a test among them fails.

    Raises PatchFailed.
    """
    operations = []
    for each in expression.value(activation):
        operation = {name: each.get(name, "") for name in ("op", "path")}
        if each.get("from"):
            operation["from"] = each["from"]
        if "value" in each:
            operation["value"] = as_json(each["value"])
        operations.append(operation)
    shown = versions.shown(services, attrs, attrs.obj, kind, final=False)
    assert shown is not None, "there is an object to change"
    try:
        return patching.apply(shown, operations)
    except patching.PatchError as error:
        if str(error).endswith(TEST_FAILED):
            return None
        raise PatchFailed(f"JSON Patch: {error}") from None


def as_json(value: Any) -> Json:
    """A value of an expression as it stands in JSON."""
    if isinstance(value, dict):
        return {_key(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, values.Duration):
        return duration_text(value)
    if isinstance(value, values.Timestamp):
        return timestamp_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, str | bool | float):
        return value
    raise PatchFailed(
        f"JSONPath valueExpression evaluated to a type that could not marshal to JSON: {values.type_of(value)}")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise PatchFailed(f"map key {go_quote(str(key))} is of type {values.type_of(values.key_value(key))}, not string")


def _misnamed(node: Any, path: str) -> str:
    """What is wrong with the names of objects that stand where other types belong."""
    if isinstance(node, syntax.CreateStruct):
        if node.name.lstrip(".") != path:
            return (
                f"unexpected type name {go_quote(node.name.lstrip('.'))}, expected {go_quote(path)}, which matches field name "
                "path from root Object type")
        found = [_misnamed(entry.value, f"{path}.{entry.name}") for entry in node.entries]
    elif isinstance(node, syntax.CreateList):
        found = [_misnamed(each, path) for each in node.elements]
    elif isinstance(node, syntax.CreateMap):
        found = [_misnamed(entry.value, path) for entry in node.entries]
    elif isinstance(node, syntax.Call) and node.function == "_?_:_":
        found = [_misnamed(each, path) for each in node.arguments[1:]]
    else:
        return ""
    return "\n".join(text for text in found if text)
