"""Files that docstrings, comments and pages name are there: a file that is moved takes along what
is said of it.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("fakekube", "controllers", "tools", "tests", "benchmarks")
NAMED = re.compile(r"`([\w/.-]+\.py)(?:::?\w+)?`")
FILES = [f"/{path.relative_to(ROOT).as_posix()}" for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]


TO_BE_WRITTEN = "docs/adding.md"
"""The page on adding a kind names the files that its reader is to write."""


def texts() -> list[Path]:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    pages.remove(ROOT / TO_BE_WRITTEN)
    return [*pages, *(path for folder in ("fakekube", "controllers", "tools") for path in (ROOT / folder).rglob("*.py"))]


def named(text: str) -> list[str]:
    """The files that a text names, which are none of this repository."""
    return [name for name in NAMED.findall(text) if not any(path.endswith(f"/{name}") for path in FILES)]


def test_files_that_are_named_exist() -> None:
    """Given docstrings, comments and pages, when the files of Python that they name are searched,
    then all are there.
    """
    missing = {path.relative_to(ROOT).as_posix(): named(path.read_text()) for path in texts()}
    assert {path: names for path, names in missing.items() if names} == {}


@pytest.mark.parametrize(("text", "missing"), [
    ("read ``cluster.py``", []), ("`composition/cluster.py`, `nowhere/cluster.py`", ["nowhere/cluster.py"]),
    ("in ``no_such_module.py``.", ["no_such_module.py"]), ("run no_such_module.py", []),
])
def test_a_name_is_a_file_or_the_end_of_its_path(text: str, missing: list[str]) -> None:
    """Given a text, when it names a file by its name or the end of its path, then that is found,
    and nothing else is.
    """
    assert named(text) == missing
