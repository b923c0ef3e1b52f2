"""Several constraints of one claim, and several requests of several devices."""

from typing import Any

from tests.controllers.scheduler.devices.cases import DRIVER, claim, device, given, request, slice_of

A, B = (f"{DRIVER}/{name}" for name in "ab")


def listed(*values: tuple[str, Any, Any]) -> list[Any]:
    return [slice_of([device(name, {"a": one, "b": other}) for name, one, other in values])]


def test_all_constraints_must_hold() -> None:
    """Given a claim with two constraints / then devices are given that meet both, and none where
    only one can be met.
    """
    both = [{"matchAttribute": A}, {"distinctAttribute": B}]
    assert given(listed(("x", 1, 1), ("y", 1, 1), ("z", 1, 2)), claim(request(count=2), constraints=both)) == [["r=x", "r=z"]]
    assert given(listed(("x", 1, 1), ("y", 2, 2), ("z", 1, 2)), claim(request(count=2), constraints=both)) == [["r=x", "r=z"]]
    assert given(listed(("x", 1, 1), ("y", 2, 2), ("z", 1, 1)), claim(request(count=2), constraints=both)) is None


def test_a_device_that_is_taken_back_leaves_no_trace() -> None:
    """Given a device that meets the first constraint and not the second / then it counts for none,
    and the search goes on without it.
    """
    both = [{"distinctAttribute": A}, {"matchAttribute": B}]
    found = given(listed(("w", 1, 1), ("x", 2, 2), ("y", 2, 1), ("z", 3, 1)), claim(request(count=3), constraints=both))
    assert found == [["r=w", "r=y", "r=z"]]


def test_a_constraint_of_some_requests_leaves_the_others_free() -> None:
    """Given a constraint for one request / then devices of the other need not meet it."""
    only = [{"matchAttribute": A, "requests": ["r"]}]
    wanted = claim(request(count=2), request("s"), constraints=only)
    assert given(listed(("x", 1, 1), ("y", 2, 1), ("z", 1, 1)), wanted) == [["r=x", "r=z", "s=y"]]
    assert given(listed(("x", 1, 1), ("y", 2, 1), ("z", 3, 1)), wanted) is None
