"""What the page about security says is so."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fakekube.cli.main import cli
from fakekube.pytest_plugin import INI

PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text()


def block(how: str) -> str:
    """The code of the page that is marked so."""
    found = re.findall(rf"<!-- run: {how} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def test_the_command_that_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the page's command for all addresses / when it is run / then it ends with the sentence
    that names the option.
    """
    monkeypatch.chdir(tmp_path)
    words = shlex.split(block("refused"))
    assert words.pop(0) == "fakekube"
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 1
    assert "--insecure" in done.output
    assert list(tmp_path.iterdir()) == []


async def test_the_code_that_lets_a_page_in() -> None:
    """Given the page's Python / when it is run / then a cluster is served on loopback."""
    names: dict[str, Any] = {}
    exec(compile(block("allowed"), "security.md", "exec"), names)
    assert (await names["main"]()).startswith("http://127.0.0.1:")


def test_every_option_is_there() -> None:
    """Given the options that the page names / when they are looked up / then ``serve`` has them,
    and the marker those that it is said to have.
    """
    known = {name for parameter in cli.commands["serve"].params for name in parameter.opts}
    assert [name for name in re.findall(r"`(--[a-z-]+)", PAGE) if name not in known | {"--cors-allowed-origins"}] == []
    assert {"allow_host", "allow_origin"} <= set(INI)
