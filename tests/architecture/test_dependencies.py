"""What the packages import from outside is declared, so that an installed wheel has all that it
needs.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {"fakekube": ROOT / "fakekube", "fakekube_controllers": ROOT / "controllers" / "fakekube_controllers"}
DISTRIBUTIONS = {"_pytest": "pytest", "yaml": "pyyaml", "re2": "google-re2", "opentelemetry": "opentelemetry-sdk"}
"""Of packages whose import name is not that of what is installed."""
GUESTS = {"pytest_asyncio", "kopf"}
"""Imported only where a project's pytest has loaded it, or where an operator is written with it."""


def modules() -> Iterator[Path]:
    """All modules of the packages."""
    for folder in PACKAGES.values():
        yield from folder.rglob("*.py")


def imported(file: Path) -> Iterator[str]:
    """The packages from outside that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        else:
            continue
        yield from {name.partition(".")[0] for name in names} - sys.stdlib_module_names - set(PACKAGES)


def declared(*, extras: bool) -> set[str]:
    """The distributions that pyproject.toml names as dependencies, and in extras for users, in
    lower case.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = list(project["dependencies"])
    if extras:
        requirements += [each for extra in project["optional-dependencies"].values() for each in extra]
    return {re.split(r"[<>=!~\[; ]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


def test_what_is_imported_is_declared() -> None:
    """Given all modules / when their imports are read / then each package from outside is a
    dependency or in an extra.
    """
    known = declared(extras=True) | GUESTS
    found = {(name, file.name) for file in modules() for name in imported(file)}
    assert {(name, file) for name, file in found if DISTRIBUTIONS.get(name, name) not in known} == set()


def test_no_dependency_is_there_for_nothing() -> None:
    """Given the dependencies / when the imports of all modules are read / then each is imported
    somewhere.
    """
    found = {DISTRIBUTIONS.get(name, name) for file in modules() for name in imported(file)}
    assert declared(extras=False) <= found
