"""The public way in: environments, programs, and what they raise."""

import pytest

from fakekube.cel import errors, types
from fakekube.cel.environment import Environment

SELF = types.object_type("Self", {"replicas": types.INT, "maxReplicas": types.INT, "names": types.list_of(types.STRING)})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.replicas <= self.maxReplicas", True),
        ("self.names.map(name, name + '!')", ["a!", "b!"]),
        ("has(self.names) && self.names.exists(name, name == 'b')", True),
        ("1 / 0 == 1 || true", True),
        ("{'a': [1, 2.5, null]}", {"a": [1, 2.5, None]}),
    ],
)
def test_values_in_and_out(text: str, value: object) -> None:
    """given an environment with a variable, when a text is evaluated, then Python values come"""
    program = Environment({"self": SELF}).compile(text)
    assert program.evaluate({"self": {"replicas": 1, "maxReplicas": 2, "names": ["a", "b"]}}) == value


def test_a_text_that_does_not_compile_says_where() -> None:
    """given a text with an unknown field, when it is compiled, then the error shows the place"""
    with pytest.raises(errors.CompileError) as refused:
        Environment({"self": SELF}).compile("self.replica > 1")
    assert str(refused.value) == "ERROR: <input>:1:5: undefined field 'replica'\n | self.replica > 1\n | ....^"
    assert [issue.message for issue in refused.value.issues] == ["undefined field 'replica'"]


def test_an_error_is_raised_and_a_cost_limit_stops() -> None:
    """given a program, when it fails or costs more than it may, then each has its own error"""
    environment = Environment({"self": SELF})
    with pytest.raises(errors.EvaluationError, match="division by zero"):
        environment.compile("1 / 0").evaluate({})
    program = environment.compile("self.names.all(name, name == 'a')")
    with pytest.raises(errors.CostExceeded, match="actual cost limit exceeded"):
        program.evaluate({"self": {"names": ["a"] * 1000}}, cost_limit=100)
