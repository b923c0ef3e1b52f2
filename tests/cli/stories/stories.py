"""Everything that a demonstration prints, with the YAML of what it creates.

``python -m tests.cli.stories.stories`` writes it down again, for review.
"""

import asyncio
import contextlib
import io
import os
import re
from pathlib import Path

from fakekube.cli.demos import stage
from fakekube.cli.demos.commands import STORIES

FOLDER = Path(__file__).parent
GENERATED = re.compile(r"(?<=-)(?:[bcdfghjklmnpqrstvwxz2456789]{5}|[bcdf2456789ghjklmnpqrstvwxz]{8,10}|\d{8})(?![a-z0-9])")


def masked(text: str) -> str:
    """A text without the ends of generated names, as wide as it was."""
    return GENERATED.sub(lambda found: "*" * len(found[0]), text)


async def told(name: str) -> str:
    """What it prints on virtual time, 80 columns wide, without a terminal."""
    story, printed = stage.story_of(name), io.StringIO()
    story.shows_manifests = True
    with contextlib.redirect_stdout(printed):
        await stage.play(story, "manual")
    return masked(printed.getvalue())


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    for each in STORIES:
        (FOLDER / f"{each}.txt").write_text(asyncio.run(told(each)))
