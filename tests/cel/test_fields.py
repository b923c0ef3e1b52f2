"""What upstream says of rules on schemas: of fields of every kind, with good values and bad ones.

``upstream/schemas/main.go`` was asked; what it said stands in ``upstream/fields.json``: the schema
of ``self.f``, the values of self and oldSelf, and for each rule its type, estimates, cost, and
value or error.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from fakekube.cel import decltypes, errors, types, values
from fakekube.cel.library import kubernetes
from fakekube.schema.structural import from_openapi

RECORDED = json.loads((Path(__file__).parent / "upstream" / "fields.json").read_text())


def shown(value: Any) -> str:
    """A value as the record has it."""
    if isinstance(value, values.OptionalValue):
        return f"optional.of({shown(value.value)})" if value.present else "optional.none()"
    if isinstance(value, float):
        return f"double:{value}"
    if isinstance(value, bytes):
        return f"bytes:{value.hex()}"
    if isinstance(value, values.Duration):
        return f"duration:{value.nanoseconds}"
    if isinstance(value, values.Timestamp):
        return f"timestamp:{value.nanoseconds // 10**9}.{value.nanoseconds % 10**9:09d}"
    if isinstance(value, types.Type):
        return f"type:{value.name}"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{shown(values.key_value(key))}: {shown(held)}" for key, held in value.items())) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    return json.dumps(value, ensure_ascii=False)


def said(recorded: dict[str, Any], text: str) -> list[Any]:
    """The refusal of a rule; or its type, estimates, and value and cost or error."""
    declared = decltypes.of_schema(from_openapi(recorded["schema"]), root=recorded.get("root", False), names_end=True)
    if declared is None:
        return ["nothing is declared"]
    within = kubernetes.environment(37, stored=False).extended({"self": declared, "oldSelf": declared})
    try:
        program = within.compile(text)
    except errors.CompileError as error:
        return [str(error).partition("\n")[0]]
    told = [str(program.type), *program.estimate()]
    try:
        value, cost = program.run({"self": recorded["self"], "oldSelf": recorded["oldSelf"]}, 1_000_000)
    except errors.EvaluationError as error:
        return [*told, f"error: {error}"]
    return [*told, shown(value), cost]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["field"])
def test_rules_on_a_field_are_what_upstream_says(recorded: dict[str, Any]) -> None:
    """given a field of a schema and a value, when rules on it are compiled and run, then types,
    estimates, costs, values and errors are upstream's
    """
    assert {text: said(recorded, text) for text in recorded["rules"]} == recorded["rules"]
