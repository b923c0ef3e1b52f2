"""All that Kueue writes and says in the plays, and nothing besides."""

import pytest

from tests.controllers.kueue.restarts.telling import FOLDER, PLAYS, tell


@pytest.mark.parametrize("name", PLAYS)
async def test_what_kueue_does_in_a_play(name: str) -> None:
    """Given a play, when nobody dies in it, then Kueue writes this to each cluster, and says that.
    """
    assert await tell(PLAYS[name]) == (FOLDER / f"{name}.txt").read_text().splitlines()
