"""All that controllers and the kubelet write and say in a story, and nothing besides."""

import pytest

from tests.controllers.stories.story import FOLDER, play, stories


@pytest.mark.parametrize("name", stories())
async def test_what_happens_in_a_story(name: str) -> None:
    """Given a cluster, when a story is played on it, then these writes follow each other, with
    these fields at these times, and these Events, and no others.
    """
    assert await play(name) == (FOLDER / f"{name}.txt").read_text().splitlines()
