"""What is said of the configuration of a component that its model does not take."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from fakekube.runtime.configmodels import STRICT, Int32, decoding_error


class Inner(BaseModel):
    model_config = STRICT

    max_wait: Int32 = 0


class Part(BaseModel):
    model_config = STRICT

    some_name: str = ""
    inner: Inner | None = None


class Whole(BaseModel):
    model_config = STRICT

    parts: list[Part] = []
    first: Part | None = None
    alone: Inner = Inner()
    by_name: dict[str, str] = {}
    odd: Int32 = 1

    @field_validator("odd")
    @classmethod
    def _is_odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError(f"{value} is even")
        return value


@pytest.mark.parametrize(("tree", "said"), [
    ({"x": 1}, 'strict decoding error: unknown field "x"'),
    ({"x": 1, "alone": {"y": None}}, 'strict decoding error: unknown field "alone.y", unknown field "x"'),
    ({"part": []}, 'strict decoding error: unknown field "part": did you mean parts?'),
    ({"parts": [{}, {"someNam": ""}]}, 'strict decoding error: unknown field "parts[1].someNam": did you mean someName?'),
    ({"first": {"inner": {"maxWaits": 1}}},
     'strict decoding error: unknown field "first.inner.maxWaits": did you mean maxWait?'),
    ({"alone": {"maxwait": 1}}, 'strict decoding error: unknown field "alone.maxwait": did you mean maxWait?'),
    ({"alone": {"someName": 1}}, 'strict decoding error: unknown field "alone.someName"'),
    ({"parts": {}}, "parts: Input should be a valid list"),
    ({"odd": 2**31}, "odd: Input should be less than 2147483648"),
    ({"odd": -(2**31) - 1}, "odd: Input should be greater than or equal to -2147483648"),
    ({"odd": 4}, "odd: 4 is even"),
    ({"parts": [{"inner": {"maxWait": "1"}}], "odd": 4},
     "parts[0].inner.maxWait: Input should be a valid integer; odd: 4 is even"),
    ({"byName": {"a": 1}}, "byName.a: Input should be a valid string"),
    ({"x": 1, "odd": 4}, 'odd: 4 is even; unknown field "x"'),
])
def test_what_is_said(tree: dict[str, Any], said: str) -> None:
    """Given a tree with fields that the model has not, or of other types / when it is read / then
    each is named with its place; fields that are only unknown are told as strict decoding does.
    """
    with pytest.raises(ValidationError) as refused:
        Whole.model_validate(tree)
    assert decoding_error(refused.value, Whole) == said


def test_the_bounds_of_numbers() -> None:
    """Given numbers at the ends of 32 bits / when they are read / then they are taken."""
    assert Whole.model_validate({"odd": 2**31 - 1}).odd == 2147483647
    assert Inner.model_validate({"maxWait": -(2**31)}).max_wait == -2147483648
