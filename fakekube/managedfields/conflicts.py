"""The refusal of an apply that would take fields from others.

Upstream: apimachinery/pkg/util/managedfields/internal/conflict.go.
"""

import orjson

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.field_errors import go_quote
from fakekube.managedfields import fieldset, fieldsv1
from fakekube.managedfields.entries import APPLY, UPDATE, Key, Owner, Stored
from fakekube.managedfields.fieldset import FieldSet

Conflicts = dict[Key, FieldSet]


def conflict_error(conflicts: Conflicts, managed: Stored) -> APIError:
    """409 with a cause for each field, managers in order of their identities."""
    owners = sorted(map(Owner._make, conflicts), key=_identity)
    paths = {owner: [fieldsv1.path_text(path) for path in fieldset.paths(conflicts[owner])] for owner in owners}
    names = {owner: manager_text(owner, managed[owner]["apiVersion"]) for owner in owners}
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {names[owner]}", "field": path}
        for owner in owners
        for path in paths[owner]
    ]
    if len(causes) == 1:
        text = f"1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        lines = [
            line for owner in owners for line in (f"conflicts with {names[owner]}:", *(f"- {path}" for path in paths[owner]))
        ]
        text = f"{len(causes)} conflicts: " + "\n".join(lines)
    return APIError(409, "Conflict", f"Apply failed with {text}", {"causes": causes})


def manager_text(owner: Owner, api_version: str) -> str:
    """``"m" with subresource "status" using v1``; appliers have no version."""
    text = go_quote(owner.manager)
    if owner.subresource:
        text += f" with subresource {go_quote(owner.subresource)}"
    return f"{text} using {api_version}" if owner.operation == UPDATE else text


def _identity(owner: Owner) -> str:
    """Upstream sorts managers by this JSON."""
    parts = {"manager": owner.manager, "operation": owner.operation}
    if owner.operation != APPLY:
        parts["apiVersion"] = owner.api_version
    return orjson.dumps(parts | ({"subresource": owner.subresource} if owner.subresource else {})).decode()
