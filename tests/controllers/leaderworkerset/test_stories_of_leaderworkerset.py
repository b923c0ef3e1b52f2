"""All that LeaderWorkerSet writes and says in a story, and nothing besides."""

from pathlib import Path

import pytest

from tests.controllers.stories.story import play, stories

FOLDER = Path(__file__).parent / "stories"


@pytest.mark.parametrize("name", stories(FOLDER))
async def test_what_happens_in_a_story(name: str) -> None:
    """Given a cluster with the add-on, when a story is played on it, then these writes follow each
    other, with these fields at these times, and these Events, and no others.
    """
    assert await play(name, FOLDER) == (FOLDER / f"{name}.txt").read_text().splitlines()
