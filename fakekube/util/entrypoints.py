"""What installed packages offer under the name of a group: entry points.

The standard library's ``importlib.metadata`` reads them too, but takes longer to be imported than a
whole cluster to be built, for parsing e-mail headers and archives that hardly any entry point is
in. So what lies in directories is read here, by the same rules, and only where there is more than
that is the library asked. Specification: packaging.python.org, "Entry points" and "Recording
installed projects".
"""

# ruff: noqa: PTH113, PTH118, PTH123, PTH208
# pathlib would be a good part of what this saves.

import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any, NamedTuple

FILE = "entry_points.txt"
BACKPORT = "importlib_metadata"
METADATA_ENDINGS = (".dist-info", ".egg-info")


class EntryPoint(NamedTuple):
    """A name, and what it stands for: ``package.module:attribute``."""

    name: str
    value: str

    def load(self) -> Any:
        """Import what it stands for. Raises ImportError, AttributeError."""
        module, _, attributes = self.value.partition("[")[0].partition(":")
        found: Any = import_module(module.strip())
        for attribute in filter(None, attributes.strip().split(".")):
            found = getattr(found, attribute)
        return found


def entry_points(*groups: str) -> dict[str, list[EntryPoint]]:
    """The entry points of each group, in the order of ``sys.path``.

    Of a distribution that is found twice, the first one counts.
    """
    points: dict[str, list[EntryPoint]] = {group: [] for group in groups}
    if not _all_in_directories():
        from importlib import metadata

        return {group: [EntryPoint(point.name, point.value) for point in metadata.entry_points(group=group)] for group in groups}
    seen: dict[str, None] = {}
    for folder in sys.path:
        for entry in _metadata_folders(folder or os.curdir):
            distribution = re.sub(r"[-_.]+", "_", entry.rpartition(".")[0].partition("-")[0]).lower()
            if distribution not in seen:
                seen[distribution] = None
                for group, point in _read(os.path.join(folder, entry, FILE)):
                    if group in points:
                        points[group].append(point)
    return points


def _all_in_directories() -> bool:
    """Whether every distribution is in a directory.

    False where archives, eggs or finders with distributions of their own are in use.
    """
    if any(hasattr(finder, "find_distributions") and not _looks_in_directories(finder) for finder in sys.meta_path):
        return False
    return not any(folder.endswith(".egg") or os.path.isfile(folder) for folder in sys.path)


def _looks_in_directories(finder: object) -> bool:
    """Whether it is the interpreter's own, or that of its backport, which packages import."""
    return finder is PathFinder or type(finder).__module__ == BACKPORT


def _metadata_folders(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.lower().endswith(METADATA_ENDINGS)]
    except OSError:
        return []


def _read(path: str) -> Iterator[tuple[str, EntryPoint]]:
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:  # most distributions have none
        return
    section = ""
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield section, EntryPoint(name.strip(), value.strip())
