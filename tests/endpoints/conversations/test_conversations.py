"""Every answer of a conversation, to the last field and header."""

import pytest

from tests.endpoints.conversations.conversation import FOLDER, conversations, hold


@pytest.mark.parametrize("name", conversations())
def test_what_is_answered_in_a_conversation(name: str) -> None:
    """Given a server, when requests follow each other, then each has this answer, and watches these
    frames.
    """
    assert hold(name) == (FOLDER / f"{name}.txt").read_text().splitlines()
