"""Requests with alternatives, and others beside them in the same claim."""

from typing import Any

import pytest

from tests.controllers.scheduler.devices.cases import (
    DRIVER,
    body,
    claim,
    device,
    first_of,
    given,
    request,
    slice_of,
)


@pytest.mark.parametrize(("claims", "expected"), [
    ([claim(first_of("x", a=body(20), b=body(10)), first_of("y", c=body(20), d=body(15)))],
     [[f"x/b=d{number:02}" for number in range(10)] + [f"y/c=d{number:02}" for number in range(10, 30)]]),
    ([claim(first_of("x", a=body(20), b=body(12)), request("y", 20))],
     [[f"x/b=d{number:02}" for number in range(12)] + [f"y=d{number:02}" for number in range(12, 32)]]),
    ([claim(first_of("x", a=body(1, selectors=["false"]), b=body(2, selectors=["false"])))], None),
])
def test_alternatives_that_leave_room_for_the_rest(claims: Any, expected: Any) -> None:
    """Given requests whose first alternatives are more than a claim may have together / then the
    first ones that are not are taken; nothing is given where no alternative can be had.
    """
    made = [device(f"d{number:02}") for number in range(40)]
    assert given([slice_of(made)], *claims) == expected


def test_an_alternative_that_cannot_be_had_here_may_be_had_elsewhere() -> None:
    """Given a request whose device decides whether the first alternative of another can be had, and
    whose second one is too many / then other devices are tried for it.
    """
    made = [device(name, {"a": number}) for name, number in (("a", 1), ("b", 2), ("c", 2))]
    asked = claim(
        request("x"), first_of("y", c=body(1), d=body(40)),
        constraints=[{"matchAttribute": f"{DRIVER}/a", "requests": ["x", "y"]}])
    assert given([slice_of(made)], asked) == [["x=b", "y/c=c"]]
