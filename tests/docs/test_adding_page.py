"""Following docs/adding.md to the letter gives a kind, a controller and two plugins that work."""

import re
import shutil
from pathlib import Path

import pytest

from tests.docs.test_readme import ROOT, python

PAGE = (ROOT / "docs" / "adding.md").read_text()
BLOCK = re.compile(r"(?:<!-- (?P<how>file|edit|test): (?P<what>[^\n]+) -->\n)?```python\n(?P<code>.*?)```", re.DOTALL)
SECTIONS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])


def insert(path: Path, above: str, code: str) -> None:
    """Insert lines above the first line that has a text in it, as deep as that line."""
    lines = path.read_text().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if line.lstrip().startswith(above))
    depth = lines[number][:len(lines[number]) - len(lines[number].lstrip())]
    path.write_text("".join([*lines[:number], *(depth + line for line in code.splitlines(keepends=True)), *lines[number:]]))


def follow(section: str, folder: Path) -> tuple[str, str]:
    """Do what a section says in a copy of the packages. Its test, and the name of a file for that.
    """
    for package in (ROOT / "fakekube", ROOT / "controllers" / "fakekube_controllers"):
        shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    test = ""
    for match in BLOCK.finditer(section):
        path, _, above = (match["what"] or "").partition("; above: ")
        if match["how"] == "file":
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(match["code"])
        elif match["how"] == "edit":
            insert(folder / path, above, match["code"])
        else:
            test = match["code"]
    (folder / "test_page.py").write_text(test)
    return test, "test_page.py"


def test_every_block_is_used() -> None:
    """Given the page, when its blocks are counted, then each is a file, an edit or a test."""
    assert [match["code"] for match in BLOCK.finditer(PAGE) if not match["how"]] == []
    assert PAGE.count("```") == 2 * len(list(BLOCK.finditer(PAGE)))


@pytest.mark.parametrize("title", SECTIONS)
def test_an_example_works(tmp_path: Path, title: str) -> None:
    """Given the packages with what a section of the page adds, when its test is run, then it
    passes.
    """
    test, name = follow(SECTIONS[title], tmp_path)
    settings = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    assert f"{test.count('async def test_')} passed" in python(tmp_path, "-m", "pytest", *settings, name)
