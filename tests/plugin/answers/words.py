"""What pytest's help says of our options.

``python -m tests.plugin.answers.words`` writes it down again, for review.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from fakekube import pytest_plugin

FILE = Path(__file__).parent / "words.txt"


class Parser:
    """Notes what is added; it is its own group."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def getgroup(self, name: str) -> "Parser":
        self.lines.append(f"group {name}")
        return self

    def addini(self, name: str, text: str, type: str = "string") -> None:  # noqa: A002 - pytest's word
        self.lines.append(f"ini {name} ({type}): {text}")

    def addoption(self, name: str, **of: Any) -> None:
        self.lines.append(f"option {name} {json.dumps(of)}")


class Config:
    """Notes what is registered, with options that are not given."""

    def __init__(self, *plugins: str) -> None:
        self.pluginmanager, self._plugins, self.lines = self, plugins, list[str]()

    def addinivalue_line(self, name: str, line: str) -> None:
        self.lines.append(f"{name}: {line}")

    def getoption(self, _name: str) -> str:
        return ""

    def hasplugin(self, name: str) -> bool:
        return name in self._plugins

    def register(self, _plugin: object, name: str) -> None:
        self.lines.append(f"registered {name}")


def lines() -> Iterator[str]:
    """Every option, and what is registered with plugins that run async tests."""
    parser = Parser()
    pytest_plugin.pytest_addoption(cast("Any", parser))
    yield from parser.lines
    for plugins in ((), ("asyncio",), ("anyio",)):
        config = Config(*plugins)
        pytest_plugin.pytest_configure(cast("Any", config))
        yield f"with {', '.join(plugins) or 'neither'}"
        yield from config.lines


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n")
