"""What selectors of devices may use by gate and release."""

import pytest

from fakekube.cel import devices


def takes(text: str, minor: int, *, stored: bool, lists: bool = False, multiple: bool = False) -> bool:
    """Whether a selector compiles."""
    of = devices.environment(minor, stored=stored, multiple_allocations=multiple, list_attributes=lists)
    try:
        devices.compiled(text, of)
    except devices.SelectorError:
        return False
    return True


@pytest.mark.parametrize(("text", "gate"), [
    ("[1].includes(1)", "lists"), ("device.attributes['a'].b.includes('c')", "lists"),
    ("device.allowMultipleAllocations", "multiple"),
])
def test_what_a_gate_brings(text: str, gate: str) -> None:
    """given a function or a field that a gate brings, when a new selector of the release before the
    one that has it anyway uses it, then the gate alone decides
    """
    minor = {"lists": 36, "multiple": 34}[gate]
    assert [takes(text, minor, stored=False, **{gate: on}) for on in (True, False)] == [True, False]
    other = {"lists": "multiple", "multiple": "lists"}[gate]
    assert not takes(text, minor, stored=False, **{other: True})
