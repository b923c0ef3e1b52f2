"""What bodies become, to the last letter, also where values are at the edge of their types."""

import json
from typing import Any

import pytest

from tests.schema.decoded.answers import FILE, WAYS, answer

ROWS: list[list[Any]] = [json.loads(line) for line in FILE.read_text().splitlines()]


@pytest.mark.parametrize("way", WAYS)
def test_what_a_body_becomes(way: str) -> None:
    """Given bodies / when they are read / then they become what stands in the table: empty values
    are left out where Go leaves them out, what Go always prints is there, amounts and times are in
    their form, unknown fields are named, and refusals are in Go's words.
    """
    wanted = [row for row in ROWS if row[0] == way]
    assert wanted
    found = [[*row[:3], answer(*row[:3])] for row in wanted]
    assert [json.dumps(row, sort_keys=True) for row in found] == [json.dumps(row, sort_keys=True) for row in wanted]


def test_what_a_body_became_stays_as_it_is() -> None:
    """Given what bodies became / when it is read again / then it stays as it is, in the order in
    which it stands.
    """
    for way, kind, _, found in ROWS:
        if way == "decode" and isinstance(found, list):
            text = json.dumps(found[0])
            assert json.dumps(answer("decode", kind, text)) == json.dumps([found[0], []])
