"""How many errors one answer tells."""

import pytest

from fakekube.apimachinery import field_errors

ERRORS = [field_errors.invalid("a", None, "") for _ in range(4)]
LENGTH = len("a: Invalid value: null")


@pytest.mark.parametrize(("room", "told"), [
    (9 * LENGTH, 4), (3 * LENGTH, 4), (3 * LENGTH - 1, 3), (2 * LENGTH, 3), (2 * LENGTH - 1, 2), (LENGTH, 2), (LENGTH - 1, 1),
    (0, 1),
])
def test_errors_are_told_until_they_are_too_long(monkeypatch: pytest.MonkeyPatch, room: int, told: int) -> None:
    """given four errors, when an answer has room for so many letters, then it tells those that
    begin in them, the first in any case
    """
    monkeypatch.setattr(field_errors, "MOST_TOLD", room)
    assert [*field_errors.tellable(ERRORS)] == ERRORS[:told]
    assert [*field_errors.tellable([])] == []
