"""The rules in CEL of a schema: the form of their fields.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/{validation,cel_validation}.go.
"""

from collections.abc import Iterator

from fakekube.apiextensions.validation import paths
from fakekube.apiextensions.validation.structural import unsupported
from fakekube.apimachinery.field_errors import FieldError, child, index, invalid, not_supported, required
from fakekube.apimachinery.types import Tree

VALIDATIONS = "x-kubernetes-validations"
REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def form_errors(schema: Tree, path: str) -> Iterator[FieldError]:
    """What is wrong with the fields of rules, whatever the rules say."""
    for number, rule in enumerate(schema[VALIDATIONS]):
        where = index(child(path, VALIDATIONS), number)
        yield from _text_errors(rule, where)
        reason, field = rule.get("reason"), rule.get("fieldPath", "")
        if reason is not None and reason not in REASONS:
            yield not_supported(child(where, "reason"), reason, REASONS)
        if field and not field.strip():
            yield invalid(child(where, "fieldPath"), field, "must be non-empty if specified")
        if _has_breaks(field):
            yield invalid(child(where, "fieldPath"), field, "must not contain line breaks")
        if field and not _is_path(field, schema):
            yield invalid(child(where, "fieldPath"), field, "must be a valid path")


def _text_errors(rule: Tree, path: str) -> Iterator[FieldError]:
    text, message, computed = rule.get("rule", ""), rule.get("message", ""), rule.get("messageExpression", "")
    if not text.strip():
        yield required(child(path, "rule"), "rule is not specified")
    elif message and not message.strip():
        yield invalid(child(path, "message"), message, "must be non-empty if specified")
    elif _has_breaks(message.strip()):
        yield invalid(child(path, "message"), message, "must not contain line breaks")
    elif _has_breaks(text.strip()) and not message.strip():
        yield required(child(path, "message"), "message must be specified if rule contains line breaks")
    if computed and not computed.strip():
        yield required(child(path, "messageExpression"), "messageExpression must be non-empty if specified")


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _is_path(text: str, schema: Tree) -> bool:
    if unsupported(schema):
        return True
    try:
        paths.looked_up(text, schema)
    except paths.BadPath:
        return False
    return True
