"""What the packages import from outside is declared, so that an installed wheel has all that it needs."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {"fakekube": ROOT / "fakekube", "fakekube_controllers": ROOT / "controllers" / "fakekube_controllers"}
DISTRIBUTIONS = {"yaml": "pyyaml"}
"""Of packages whose import name is not that of what is installed."""
GUEST_OF_PYTEST = "pytest_asyncio"
"""Imported only where a project's pytest has loaded it."""


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


def declared() -> set[str]:
    """The distributions that pyproject.toml names for users: dependencies and extras, in lower case."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    return {re.split(r"[<>=!~\[; ]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


def test_what_is_imported_is_declared() -> None:
    """Given all modules / when their imports are read / then each package from outside is a dependency or in an extra."""
    found = {(name, file.name) for folder in PACKAGES.values() for file in folder.rglob("*.py") for name in imported(file)}
    undeclared = {(name, file) for name, file in found if DISTRIBUTIONS.get(name, name) not in declared()}
    assert {(name, file) for name, file in undeclared if name != GUEST_OF_PYTEST} == set()


def test_what_is_declared_is_imported() -> None:
    """Given the dependencies / when the imports of all modules are read / then none is there for nothing."""
    found = {DISTRIBUTIONS.get(name, name) for folder in PACKAGES.values() for file in folder.rglob("*.py") for name in imported(file)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {re.split(r"[<>=!~\[; ]", each, maxsplit=1)[0].lower() for each in project["dependencies"]} <= found
