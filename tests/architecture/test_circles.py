"""No circle of files: whoever reads a file never has to have read it already to understand what it
imports.

All imports count, those inside functions and those for type checkers alone too: a name that is
needed is needed. A package's ``__init__`` is a file like others, imported by whoever takes a name
from it.
"""

import sys
from pathlib import Path

import grimp
import pytest


def circles(*packages: str) -> list[list[str]]:
    """The modules that need each other, each group sorted: who imports one of them, by whatever
    way, imports them all.
    """
    graph = grimp.build_graph(*packages, cache_dir=None)
    needed = {module: graph.find_upstream_modules(module) for module in sorted(graph.modules)}
    groups = {
        frozenset({module, *(other for other in others if module in needed[other])}) for module, others in needed.items()}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def test_no_files_import_each_other() -> None:
    """Given every import of the library and of the controllers, when circles are searched, then
    there is none.
    """
    assert circles("fakekube", "fakekube_controllers") == []


def test_every_import_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a package whose files import each other, in a function, for the type checker, by the
    package's ``__init__``, when circles are searched, then it is one; a file that only imports is
    no part of it.
    """
    package = tmp_path / "of_circles"
    package.mkdir()
    (package / "__init__.py").write_text("from of_circles.first import NAME")
    (package / "first.py").write_text("NAME = 1\ndef late():\n    from of_circles import second\n    return second")
    (package / "second.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from of_circles import NAME")
    (package / "user.py").write_text("from of_circles import NAME")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert circles("of_circles") == [["of_circles", "of_circles.first", "of_circles.second"]]
    finally:
        sys.modules.pop("of_circles", None)
