"""What expressions cost, before they run and when they have run, as upstream counts it.

``upstream/schemas/main.go`` compiles rules on a schema with apiserver v0.37.1 and runs them; what
it counted stands in ``upstream/costs.json``.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from fakekube.cel import decltypes, errors, types
from fakekube.cel.environment import Environment
from fakekube.cel.library import kubernetes
from fakekube.schema.structural import from_openapi

RECORDED = json.loads((Path(__file__).parent / "upstream" / "costs.json").read_text())


@pytest.fixture(scope="module")
def environment() -> Environment:
    """That of new rules in 1.37, on the schema of the recording."""
    declared = decltypes.of_schema(from_openapi(RECORDED["schema"]))
    assert declared is not None
    return kubernetes.environment(37, stored=False).extended({"self": declared, "oldSelf": declared})


@pytest.mark.spec("API-158")
@pytest.mark.parametrize("recorded", RECORDED["costs"], ids=lambda recorded: recorded["expr"][:60])
def test_costs_are_those_of_upstream(environment: Environment, recorded: dict[str, Any]) -> None:
    """given an expression on a schema, when its cost is counted, then upstream agrees"""
    program = environment.compile(recorded["expr"])
    assert program.estimate() == (recorded["min"], recorded["max"])
    variables = {"self": RECORDED["self"], "oldSelf": RECORDED["self"]}
    assert program.run(variables, 1_000_000)[1] == recorded["cost"]


@pytest.mark.parametrize(
    "text",
    [
        "[[1]].map(a, [a + a].map(b, " + "[b + b].map(b, " * 60 + "size(b)" + ")" * 62,
        "x.all(a, x.all(b, x == y || true))",
        "x.all(a, size(x + x) > 0)",
        "optional.of(x)" + ".optMap(a, a + a)" * 80,
        "x.all(a, [x] == [y] || true)",
        "x.all(a, x in [y] || true)",
    ],
)
def test_work_that_costs_little_is_bounded(text: str) -> None:
    """given expressions that copy or compare much for little cost, when they run, then they end"""
    environment = kubernetes.environment(37).extended({"x": types.DYN, "y": types.DYN})
    large: list[Any] = [[number] for number in range(20_000)]
    with pytest.raises(errors.CostExceeded):
        environment.compile(text).evaluate({"x": large, "y": [0, *large[1:]]}, cost_limit=100_000)
