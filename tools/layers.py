"""Write the picture of the layers into docs/architecture.md, from the contracts in pyproject.toml.

Usage: python tools/layers.py [--check]

Each contract of type ``layers`` becomes a table: a package a line with the first sentence of its
docstring, and a rule between two layers. The other contracts follow by name. The picture stands
between two marker comments; the rest of the page is left alone.
"""

import argparse
import ast
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN = "<!-- written by tools/layers.py: begin -->"
END = "<!-- written by tools/layers.py: end -->"
SOURCES = (ROOT, ROOT / "controllers")
WIDTH = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the page differs")
    arguments = parser.parse_args()
    present = PAGE.read_text()
    wanted = with_picture(present)
    if arguments.check:
        if present != wanted:
            print(f"{PAGE.relative_to(ROOT)} differs: run python tools/layers.py", file=sys.stderr)
        return int(present != wanted)
    PAGE.write_text(wanted)
    return 0


def contracts() -> list[dict[str, Any]]:
    """What pyproject.toml says, in its order."""
    found: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return found


def layers_of(contract: dict[str, Any]) -> list[list[str]]:
    """The full names of the modules of each layer, highest first."""
    prefixes = [f"{container}." for container in contract.get("containers", [])] or [""]
    return [
        [prefix + name.strip(" ()") for prefix in prefixes for name in re.split("[|:]", layer)]
        for layer in contract["layers"]]


def with_picture(page: str) -> str:
    """The page with what the contracts say between its markers.

    Raises ValueError when there are none.
    """
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"{PAGE.name} needs the lines {BEGIN!r} and {END!r}, each once")
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{picture()}{END}{rest.partition(END)[2]}"


def picture() -> str:
    layered = [contract for contract in contracts() if contract["type"] == "layers"]
    others = [contract["name"] for contract in contracts() if contract["type"] != "layers"]
    tables = "\n".join(f"{contract['name']}.\n\n```text\n{table(contract)}```\n" for contract in layered)
    return f"\n{tables}\nChecked besides:\n\n" + "".join(f"- {name}\n" for name in others) + "\n"


def table(contract: dict[str, Any]) -> str:
    layers = layers_of(contract)
    prefix = f"{(contract.get('containers') or ['fakekube'])[0]}."
    width = max(len(name.removeprefix(prefix)) for layer in layers for name in layer)
    rule = "-" * WIDTH + "\n"
    return rule.join(
        "".join(line for name in layer for line in lines(name.removeprefix(prefix), purpose(name), width)) for layer in layers)


def lines(name: str, text: str, width: int) -> Iterator[str]:
    """A package with what it is for, on as many lines as that takes."""
    for index, part in enumerate(textwrap.wrap(text, WIDTH - width - 2)):
        yield f"{'' if index else name:{width}}  {part}\n"


def purpose(name: str) -> str:
    """The first sentence of a module's docstring.

    Raises ValueError for what is no module, or has none.
    """
    for source in SOURCES:
        path = source.joinpath(*name.split("."))
        for file in (path / "__init__.py", path.with_suffix(".py")):
            if file.exists():
                text = " ".join((ast.get_docstring(ast.parse(file.read_text())) or "").split())
                found = re.match(r".+?\.(?= |$)", text)
                if found is None:
                    raise ValueError(f"{name} does not say what it is for")
                return found[0]
    raise ValueError(f"{name} is no module")


if __name__ == "__main__":
    sys.exit(main())
