"""How the command line refuses what is broken, and what short commands print.

``python -m tests.cli.words.words`` writes it down again, for review.
"""

import shlex
from pathlib import Path

from click.testing import CliRunner

from fakekube.cli.main import cli

FOLDER = Path(__file__).parent


def said(words: list[str]) -> list[str]:
    """The exit code, and every line."""
    runner = CliRunner(env={"COLUMNS": "100", "KUBECONFIG": "", "HOME": "/nowhere"})
    result = runner.invoke(cli, words, prog_name="fakekube", terminal_width=100)
    return [f"$ fakekube {shlex.join(words)}", f"exit code {result.exit_code}", *result.output.splitlines()]


def all_lines() -> list[str]:
    """Of every line that is broken what is said to it."""
    lines = map(shlex.split, (FOLDER / "broken.txt").read_text().splitlines())
    return [line for words in lines for line in said(words)]


if __name__ == "__main__":
    (FOLDER / "said.txt").write_text("\n".join(all_lines()) + "\n")
