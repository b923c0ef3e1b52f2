"""``python -m benchmarks [NAME ...]``: all figures, or those of the modules named."""

import argparse
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from benchmarks.table import Figure, calibrate, show

FIRST = (
    "requests", "custom", "jobs", "explore", "recordings", "scheduling", "groups", "kueue", "http", "pauses", "memory", "startup")
"""What users meet: the figures that have aims, in the order of the table."""
OTHERS = ("inprocess", "patches", "selections", "watches", "load", "forks", "parts")
MODULES = tuple(name for name in FIRST + OTHERS if find_spec(f"benchmarks.{name}"))


def figures(names: list[str]) -> Iterator[Figure]:
    """Measured one after the other."""
    for name in names:
        yield from import_module(f"benchmarks.{name}").figures()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, and print one table.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODULES)}; all of them without a name")
    names = parser.parse_args().names or list(MODULES)
    for name in names:
        if name not in MODULES:
            parser.error(f"there is no {name}: there are {', '.join(MODULES)}")
    show(calibrate(), figures(names))


if __name__ == "__main__":
    main()
