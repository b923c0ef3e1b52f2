"""Demonstrations, word for word."""

import pytest

from fakekube.cli.demos.commands import STORIES
from tests.cli.stories.stories import FOLDER, told


@pytest.mark.parametrize("name", STORIES)
async def test_a_demonstration_prints_what_stands_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given virtual time and no terminal, when a demonstration shows what it creates and tells its
    story, then every line is as it was written down: sentences, rows, Events, times, and the end.
    """
    monkeypatch.setenv("COLUMNS", "80")
    assert (await told(name)).splitlines() == (FOLDER / f"{name}.txt").read_text().splitlines()
